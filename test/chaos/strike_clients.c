/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of clients and of their connections. */
#include <dirent.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strike.h"
#include "util.h"

/* Returns the first running client, counted from @who on, or NULL. */
static struct zkc_client *running(const struct strike *x, uint32_t who)
{
    for (uint32_t i = 0; i < ZKC_PROCESSES; i++) {
        struct zkc_client *c =
            &x->s->clients[(who % ZKC_PROCESSES + i) % ZKC_PROCESSES];
        if (c->pid > 0) {
            return c;
        }
    }
    return NULL;
}

bool zkc_kill_client(const struct strike *x)
{
    const struct zkc_client *c = running(x, x->f->who);
    return c != NULL && kill(c->pid, SIGKILL) == 0;
}

/* Returns the child of @pid with this name, or 0. */
static pid_t child_of(pid_t pid, const char *name)
{
    DIR *dir = opendir("/proc");
    const struct dirent *entry;
    pid_t found = 0;
    while (dir != NULL && found == 0 && (entry = readdir(dir)) != NULL) {
        char path[300];
        char text[256] = "";
        (void)snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *file = fopen(path, "re");
        if (file != NULL) {
            (void)!fgets(text, sizeof text, file);
            (void)fclose(file);
        }
        const char *end = strrchr(text, ')');
        if (end != NULL && strstr(text, name) != NULL &&
            strtol(end + 4, NULL, 10) == pid) {
            found = (pid_t)strtol(entry->d_name, NULL, 10);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return found;
}

/* Kills the guardian alone, or its client right before it or right after it. */
bool zkc_kill_guardian(const struct strike *x)
{
    const struct zkc_client *c = running(x, x->f->who | 1);
    const pid_t guardian = c != NULL ? child_of(c->pid, "(zkr-guardian)") : 0;
    if (guardian == 0) {
        return false;
    }
    if (x->f->how % 3 == 1) {
        (void)kill(c->pid, SIGKILL);
    }
    const bool done = kill(guardian, SIGKILL) == 0;
    if (x->f->how % 3 == 2) {
        (void)kill(c->pid, SIGKILL);
    }
    return done;
}

/* Stops one client, or two at once. */
bool zkc_freeze_clients(const struct strike *x)
{
    const int count = 1 + (int)(x->f->how % 2);
    struct zkc_client *stopped[2] = {NULL, NULL};
    pid_t pids[2] = {0, 0};
    const int64_t at = zkc_now();
    for (int i = 0; i < count; i++) {
        stopped[i] = running(x, x->f->who + (uint32_t)i * 3);
        pids[i] = stopped[i] != NULL ? stopped[i]->pid : 0;
        if (pids[i] > 0) {
            (void)kill(pids[i], SIGSTOP);
        }
    }
    (void)zkc_stage_pass(x->s, x->f->span_ms);
    for (int i = 0; i < count; i++) {
        /* Skip a process that was reaped meanwhile: its pid may belong to another process. */
        if (pids[i] > 0 && stopped[i]->pid == pids[i]) {
            (void)kill(pids[i], SIGCONT);
            zkc_stage_put(
                x->s, (zkc_record){.kind = ZKC_STOPPED,
                                   .at = at,
                                   .process = (uint8_t)(stopped[i] - x->s->clients)});
        }
    }
    return pids[0] > 0;
}

/* Returns the proxy between the client and a server. */
static zkt_proxy *door(const struct strike *x, int server)
{
    return zkc_stage_door(x->s, (int)(x->f->who % ZKC_PROXIED), server);
}

void zkc_doors(const struct strike *x, void (*what)(zkt_proxy *p))
{
    for (int i = 0; i < ZKC_SERVERS; i++) {
        what(door(x, i));
    }
}

static void heal_doors(const struct strike *x)
{
    zkc_doors(x, zkt_proxy_heal);
}

bool zkc_drop_connections(const struct strike *x)
{
    for (uint32_t n = 0; n <= x->f->how % 3; n++) {
        for (int i = 0; i < ZKC_SERVERS; i++) {
            zkt_proxy_drop_connections(door(x, i));
        }
        (void)zkc_stage_pass(x->s, x->f->span_ms);
    }
    return true;
}

bool zkc_cut_off(const struct strike *x)
{
    for (int i = 0; i < ZKC_SERVERS; i++) {
        zkt_proxy_blackhole(door(x, i));
    }
    (void)zkc_stage_pass(x->s, x->f->span_ms);
    heal_doors(x);
    return true;
}

bool zkc_refuse(const struct strike *x)
{
    for (int i = 0; i < ZKC_SERVERS; i++) {
        zkt_proxy_cut(door(x, i));
    }
    (void)zkc_stage_pass(x->s, x->f->span_ms);
    heal_doors(x);
    return true;
}

bool zkc_slow_down(const struct strike *x)
{
    for (int i = 0; i < ZKC_SERVERS; i++) {
        zkt_proxy_delay(door(x, i), ZKT_TO_SERVER, 20 + x->f->how % 300);
        zkt_proxy_delay(door(x, i), ZKT_TO_CLIENT, 20 + x->f->how / 300 % 300);
    }
    (void)zkc_stage_pass(x->s, x->f->span_ms);
    heal_doors(x);
    return true;
}

static int triggered(const struct strike *x)
{
    int sum = 0;
    for (int i = 0; i < ZKC_SERVERS; i++) {
        sum += zkt_proxy_triggered(door(x, i));
    }
    return sum;
}

bool zkc_lose_reply(const struct strike *x)
{
    const int before = triggered(x);
    const int n = 1 + (int)(x->f->how / 2 % 12);
    const int64_t end = zkt_now_ms() + x->f->span_ms;
    for (int i = 0; i < ZKC_SERVERS; i++) {
        if (x->f->how % 2 == 0) {
            zkt_proxy_cut_after_request(door(x, i), n);
        } else {
            zkt_proxy_drop_reply(door(x, i), n);
        }
    }
    while (triggered(x) == before && zkt_now_ms() < end && zkc_stage_pass(x->s, 10)) {
    }
    heal_doors(x);
    return triggered(x) > before;
}

/* Moves one or more servers to other addresses, under the same names. */
bool zkc_move_servers(const struct strike *x)
{
    const int first = (int)(x->f->who % ZKC_SERVERS);
    int64_t before = 0;
    int64_t after = 0;
    for (int i = 0; i <= (int)(x->f->how % ZKC_SERVERS); i++) {
        const int server = (first + i) % ZKC_SERVERS;
        for (int client = 0; client < ZKC_PROXIED; client++) {
            zkt_proxy_cut(zkc_stage_door(x->s, client, server));
        }
        (void)atomic_fetch_xor(&x->s->control->moved, 1 << server);
        for (int client = 0; client < ZKC_PROXIED; client++) {
            zkt_proxy *now = zkc_stage_door(x->s, client, server);
            before += zkt_proxy_counters(now).connections;
            zkt_proxy_heal(now);
        }
    }
    (void)zkc_stage_pass(x->s, x->f->span_ms);
    for (int i = 0; i <= (int)(x->f->how % ZKC_SERVERS); i++) {
        for (int client = 0; client < ZKC_PROXIED; client++) {
            zkt_proxy *now = zkc_stage_door(x->s, client, (first + i) % ZKC_SERVERS);
            after += zkt_proxy_counters(now).connections;
        }
    }
    return after > before;
}

/* ---- servers that are not ZooKeeper --------------------------------------------------- */

static zkt_proxy_counts counts(const struct strike *x)
{
    zkt_proxy_counts sum = {.connections = 0};
    for (int i = 0; i < ZKC_SERVERS; i++) {
        const zkt_proxy_counts one = zkt_proxy_counters(door(x, i));
        sum.connections += one.connections;
        sum.requests += one.requests;
    }
    return sum;
}

/*
 * Makes the client connect to servers with these habits, and reconnect normally at the end. Returns what passed
 * meanwhile.
 */
static zkt_proxy_counts have_habits(const struct strike *x, int habits)
{
    const zkt_proxy_counts before = counts(x);
    for (int i = 0; i < ZKC_SERVERS; i++) {
        zkt_proxy_habits(door(x, i), habits);
    }
    zkc_doors(x, zkt_proxy_drop_connections);
    (void)zkc_stage_pass(x->s, x->f->span_ms);
    zkt_proxy_counts passed = counts(x);
    passed.connections -= before.connections;
    passed.requests -= before.requests;
    for (int i = 0; i < ZKC_SERVERS; i++) {
        zkt_proxy_habits(door(x, i), 0);
    }
    zkc_doors(x, zkt_proxy_drop_connections);
    return passed;
}

/*
 * Such a server closes the connection when it gets the operation. The client has two handles; one of them guards its
 * counters.
 */
bool zkc_lack(const struct strike *x)
{
    enum { HANDLES = 2 };
    return have_habits(x, zkt_lacking[x->f->how % ZKT_LACKING]).connections > HANDLES;
}

bool zkc_renew_sessions(const struct strike *x)
{
    return have_habits(x, ZKR_TEST_NEW_SESSIONS).connections > 0;
}

bool zkc_refuse_sessions(const struct strike *x)
{
    return have_habits(x, ZKR_TEST_NO_LEADER).connections > 0;
}

bool zkc_count_changes(const struct strike *x)
{
    return have_habits(x, ZKR_TEST_COUNTS_CHANGES).requests > 0;
}
