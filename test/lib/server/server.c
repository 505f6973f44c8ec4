/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clean.h"
#include "expect.h"
#include "keep.h"
#include "testing/server.h"

static zkt_server *shared;
static char shared_hosts[1024];

/* Containers stay unless a case requests otherwise, because a path may be empty between two checks of a case. */
static zkt_server_options sized(const zkt_server_options *o)
{
    enum { DAY_MS = 86400000 };
    zkt_server_options with = {0};
    if (o != NULL) {
        with = *o;
    }
    with.size = sizeof with;
    with.container_check_ms =
        with.container_check_ms > 0 ? with.container_check_ms : DAY_MS;
    return with;
}

static void end_server(void *s)
{
    zkt_server_stop(s);
}

zkt_server *zkt_server_start(const zkt_server_options *o)
{
    const zkt_server_options with = sized(o);
    zkt_server *s = NULL;
    ZKT_MUST(zkr_test_server_start(&s, &with));
    zkt_keep(s, end_server);
    return s;
}

void zkt_server_stop(zkt_server *s)
{
    zkt_unkeep(s);
    ZKT_MUST(zkr_test_server_stop(s));
}

void zkt_server_freeze(zkt_server *s)
{
    ZKT_MUST(zkr_test_server_freeze(s));
}

void zkt_server_thaw(zkt_server *s)
{
    ZKT_MUST(zkr_test_server_thaw(s));
}

void zkt_server_kill(zkt_server *s)
{
    ZKT_MUST(zkr_test_server_kill(s));
}

static void end_ensemble(void *e)
{
    zkt_ensemble_stop(e);
}

zkt_ensemble *zkt_ensemble_start(int n, const zkt_server_options *o)
{
    const zkt_server_options with = sized(o);
    zkt_ensemble *e = NULL;
    ZKT_MUST(zkr_test_ensemble_start(&e, n, &with));
    zkt_keep(e, end_ensemble);
    return e;
}

void zkt_ensemble_stop(zkt_ensemble *e)
{
    zkt_unkeep(e);
    ZKT_MUST(zkr_test_ensemble_stop(e));
}

int zkt_ensemble_size(const zkt_ensemble *e)
{
    int n = 0;
    while (zkr_test_ensemble_server(e, n) != NULL) {
        n++;
    }
    return n;
}

int zkt_ensemble_leader(const zkt_ensemble *e)
{
    int serving;
    return zkr__test_ensemble_survey(e, &serving);
}

int zkt_ensemble_wait(const zkt_ensemble *e, int64_t timeout_ms)
{
    const int leader = zkr_test_ensemble_leader(e, timeout_ms);
    ZKT_MUST(leader < 0 ? leader : ZKR_OK);
    return leader;
}

/* ---- the server that the cases of a program share -------------------------------------- */

const char *zkt_servers(void)
{
    const char *env = getenv("ZKR_SERVERS");

    if (shared_hosts[0] == '\0') {
        if (env != NULL && *env != '\0') {
            (void)snprintf(shared_hosts, sizeof shared_hosts, "%s", env);
        } else {
            shared = zkt_server_start(NULL);
            zkt_unkeep(shared); /* all cases share it */
            (void)snprintf(shared_hosts, sizeof shared_hosts, "%s",
                           zkt_server_host(shared));
        }
    }
    return shared_hosts;
}

const char *zkt_direct(const char *hosts)
{
    static _Thread_local char text[512];
    const char *direct = getenv("ZKR_TEST_DIRECT");
    const char *front = getenv("ZKR_SERVERS");
    const size_t length = front != NULL ? strlen(front) : 0;

    if (direct == NULL || front == NULL || strncmp(hosts, front, length) != 0 ||
        (hosts[length] != '\0' && hosts[length] != '/')) {
        return hosts;
    }
    (void)snprintf(text, sizeof text, "%s%s", direct, hosts + length);
    return text;
}

const char *zkt_servers_known(void)
{
    return shared_hosts[0] != '\0' ? shared_hosts : NULL;
}

bool zkt_servers_private(void)
{
    return shared != NULL;
}

void zkt_servers_anew(void)
{
    if (shared != NULL) {
        zkt_server_restart(shared, true);
    }
}

int zkt_group_setup(void **state)
{
    (void)zkt_servers();
    zkt_baseline();
    return 0;
}

int zkt_group_teardown(void **state)
{
    zkt_server_stop(shared);
    shared = NULL;
    shared_hosts[0] = '\0';
    return 0;
}
