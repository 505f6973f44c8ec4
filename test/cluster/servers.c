/* SPDX-License-Identifier: Apache-2.0 */
#include "servers.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fourlw.h"
#include "server.h"
#include "util.h"

enum { DOCKER_MS = 30000, SERVE_MS = 60000, LOOK_MS = 500 };

struct command {
    const char *verb;
    char container[128];
};

static int run_docker(void *arg)
{
    const struct command *c = arg;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    (void)dup2(null, STDOUT_FILENO);
    (void)execlp("docker", "docker", c->verb, c->container, (char *)NULL);
    return 127;
}

static void docker(const char *verb, int index)
{
    struct command c = {.verb = verb};

    const char *project = getenv("ZKR_CLUSTER"); /* set by ./run cluster */
    (void)snprintf(c.container, sizeof c.container, "%s-zk%d",
                   project ? project : "zkrecipes", index + 1);
    int status = zkt_join(zkt_fork(run_docker, &c), DOCKER_MS);
    if (status != 0) {
        zkt_fail("docker %s %s: status %d", verb, c.container, status);
    }
}

const char *cluster_host(int index)
{
    static char host[CLUSTER_SIZE][64];

    if (!zkt_host_at(zkt_servers(), index, host[index], sizeof host[index])) {
        zkt_fail("$ZKR_SERVERS does not name the servers of ./run cluster");
    }
    return host[index];
}

/* Returns the leader's index or -1, ignoring the server @but. Sets *@serving to the number of servers that serve. */
static int survey(int but, int *serving)
{
    int leader = -1;

    *serving = 0;
    for (int i = 0; i < CLUSTER_SIZE; i++) {
        enum zkr__test_mode mode =
            i == but ? ZKT_MODE_NONE : zkt_mode_within(cluster_host(i), LOOK_MS);
        *serving += mode != ZKT_MODE_NONE;
        leader = mode == ZKT_MODE_LEADER ? i : leader;
    }
    return leader;
}

int cluster_leader(int old)
{
    const int64_t end = zkt_now_ms() + SERVE_MS;

    while (zkt_now_ms() < end) {
        int serving;
        int leader = survey(old, &serving);
        if (leader >= 0 && serving > CLUSTER_SIZE / 2) {
            return leader;
        }
        zkt_sleep_ms(10);
    }
    zkt_fail("no leader within %d ms", SERVE_MS);
}

/* The servers that are stopped or paused, one bit each. */
static unsigned stopped;
static unsigned paused;

void cluster_kill(int index)
{
    docker("kill", index);
    stopped |= 1U << index;
}

void cluster_start(int index)
{
    docker("start", index);
    stopped &= ~(1U << index);
}

void cluster_pause(int index)
{
    docker("pause", index);
    paused |= 1U << index;
}

void cluster_unpause(int index)
{
    docker("unpause", index);
    paused &= ~(1U << index);
}

static bool all_serve(void)
{
    int serving;
    return survey(-1, &serving) >= 0 && serving == CLUSTER_SIZE;
}

void cluster_heal(void)
{
    for (int i = 0; i < CLUSTER_SIZE; i++) {
        if (paused & 1U << i) {
            cluster_unpause(i);
        }
        if (stopped & 1U << i) {
            cluster_start(i);
        }
    }
    ZKT_EVENTUALLY(all_serve(), SERVE_MS);
}
