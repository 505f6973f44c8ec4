/* SPDX-License-Identifier: Apache-2.0 */
#include "nemesis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"
#include "util.h"

enum { RECOVER_MS = 90000, SERVE_STEP_MS = 20, RAW_MS = 1000 };

/* What a fault is about; @leader is of the moment before it. */
struct strike {
    zkc_stage *s;
    const zkc_fault *f;
    int leader;
};

static zkt_server *server(const struct strike *x, int index)
{
    return zkt_ensemble_server(x->s->ensemble, index % ZKC_SERVERS);
}

/* The leader for 0, else one of the others. */
static zkt_server *from_leader(const struct strike *x, int distance)
{
    return server(x, x->leader + distance);
}

static int follower(const struct strike *x)
{
    return (x->leader + 1 + (int)(x->f->who % (ZKC_SERVERS - 1))) % ZKC_SERVERS;
}

static bool pass(const struct strike *x, int64_t ms)
{
    return zkc_stage_pass(x->s, ms);
}

/* ---- servers ------------------------------------------------------------------------ */

/* Until all of them serve; one that could not bind its port is launched again. */
static bool wait_serving(zkc_stage *s)
{
    const int64_t end = zkt_now_ms() + RECOVER_MS;
    for (int i = 0; i < ZKC_SERVERS && zkt_now_ms() < end; i++) {
        zkt_server *at = zkt_ensemble_server(s->ensemble, i);
        while (!zkt_server_wait(at, SERVE_STEP_MS)) {
            if (zkt_server_pid(at) == 0) {
                zkt_server_launch(at);
            }
            if (!zkc_stage_pass(s, SERVE_STEP_MS) || zkt_now_ms() >= end) {
                return false;
            }
        }
    }
    return zkt_now_ms() < end;
}

static bool restart(const struct strike *x, zkt_server *which)
{
    zkt_server_kill(which);
    (void)pass(x, x->f->span_ms);
    zkt_server_launch(which);
    return true;
}

static bool kill_leader(const struct strike *x)
{
    return restart(x, from_leader(x, 0));
}

static bool kill_follower(const struct strike *x)
{
    return restart(x, server(x, follower(x)));
}

static bool restart_all(const struct strike *x)
{
    for (int i = 0; i < ZKC_SERVERS; i++) {
        zkt_server_kill(server(x, i));
    }
    (void)pass(x, x->f->span_ms);
    for (int i = 0; i < ZKC_SERVERS; i++) {
        zkt_server_launch(server(x, i));
    }
    return true;
}

static bool freeze_server(const struct strike *x)
{
    zkt_server *which = from_leader(x, (int)(x->f->who % ZKC_SERVERS));
    zkt_server_freeze(which);
    (void)pass(x, x->f->span_ms);
    zkt_server_thaw(which);
    return true;
}

/* In both directions, or in one. */
static bool cut_follower(const struct strike *x)
{
    zkt_proxy *link = x->s->links[follower(x)][x->leader];
    if (x->f->how % 3 == 0) {
        zkt_proxy_blackhole(link);
    } else {
        zkt_proxy_freeze(link, x->f->how % 3 == 1 ? ZKT_TO_SERVER : ZKT_TO_CLIENT);
    }
    (void)pass(x, x->f->span_ms);
    zkt_proxy_heal(link);
    return true;
}

/* The others elect a new one; the old one keeps its connections, on which nobody speaks. */
static bool cut_leader(const struct strike *x)
{
    for (int i = 1; i < ZKC_SERVERS; i++) {
        zkt_proxy_orphan(x->s->links[(x->leader + i) % ZKC_SERVERS][x->leader]);
    }
    (void)pass(x, x->f->span_ms);
    for (int i = 1; i < ZKC_SERVERS; i++) {
        zkt_proxy_heal(x->s->links[(x->leader + i) % ZKC_SERVERS][x->leader]);
    }
    return true;
}

/* ---- clients ------------------------------------------------------------------------ */

/* One that runs, counted from @who on, or NULL. */
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

static bool kill_client(const struct strike *x)
{
    const struct zkc_client *c = running(x, x->f->who);
    return c != NULL && kill(c->pid, SIGKILL) == 0;
}

/* One or two at once. */
static bool freeze_clients(const struct strike *x)
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
    (void)pass(x, x->f->span_ms);
    for (int i = 0; i < count; i++) {
        /* Not reaped meanwhile by another's hand: then the number may be a stranger's. */
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

/* The way of one client to all servers. */
static zkt_proxy **doors(const struct strike *x)
{
    return x->s->doors[x->f->who % ZKC_PROXIED];
}

static void heal_doors(const struct strike *x)
{
    for (int i = 0; i < ZKC_SERVERS; i++) {
        zkt_proxy_heal(doors(x)[i]);
    }
}

static bool drop_connections(const struct strike *x)
{
    for (uint32_t n = 0; n <= x->f->how % 3; n++) {
        for (int i = 0; i < ZKC_SERVERS; i++) {
            zkt_proxy_drop_connections(doors(x)[i]);
        }
        (void)pass(x, x->f->span_ms);
    }
    return true;
}

static bool cut_off(const struct strike *x)
{
    for (int i = 0; i < ZKC_SERVERS; i++) {
        zkt_proxy_blackhole(doors(x)[i]);
    }
    (void)pass(x, x->f->span_ms);
    heal_doors(x);
    return true;
}

static bool refuse(const struct strike *x)
{
    for (int i = 0; i < ZKC_SERVERS; i++) {
        zkt_proxy_cut(doors(x)[i]);
    }
    (void)pass(x, x->f->span_ms);
    heal_doors(x);
    return true;
}

static bool slow_down(const struct strike *x)
{
    for (int i = 0; i < ZKC_SERVERS; i++) {
        zkt_proxy_delay(doors(x)[i], ZKT_TO_SERVER, 20 + x->f->how % 300);
        zkt_proxy_delay(doors(x)[i], ZKT_TO_CLIENT, 20 + x->f->how / 300 % 300);
    }
    (void)pass(x, x->f->span_ms);
    heal_doors(x);
    return true;
}

static int triggered(const struct strike *x)
{
    int sum = 0;
    for (int i = 0; i < ZKC_SERVERS; i++) {
        sum += zkt_proxy_triggered(doors(x)[i]);
    }
    return sum;
}

static bool lose_reply(const struct strike *x)
{
    const int before = triggered(x);
    const int n = 1 + (int)(x->f->how / 2 % 12);
    const int64_t end = zkt_now_ms() + x->f->span_ms;
    for (int i = 0; i < ZKC_SERVERS; i++) {
        if (x->f->how % 2 == 0) {
            zkt_proxy_cut_after_request(doors(x)[i], n);
        } else {
            zkt_proxy_drop_reply(doors(x)[i], n);
        }
    }
    while (triggered(x) == before && zkt_now_ms() < end && pass(x, 10)) {
    }
    heal_doors(x);
    return triggered(x) > before;
}

/* ---- nodes -------------------------------------------------------------------------- */

/* Until it says yes, or the time is up. */
static bool with_session(const struct strike *x,
                         bool (*attempt)(const struct strike *x, zkt_raw *raw))
{
    const int64_t end = zkt_now_ms() + x->f->span_ms;
    bool done = false;
    zkt_raw *raw = NULL;
    while (!done && zkt_now_ms() < end && pass(x, 0)) {
        if (raw == NULL) {
            raw = zkt_raw_open(zkt_ensemble_hosts(x->s->ensemble), 10000);
        }
        if (raw != NULL) {
            zkt_raw_timeout(raw, RAW_MS);
            done = attempt(x, raw);
            if (zkt_raw_exists(raw, "/", false, NULL) == ZKT_LOST) {
                zkt_raw_abandon(raw);
                raw = NULL;
            }
        }
    }
    if (raw != NULL) {
        (void)zkt_raw_close(raw);
    }
    return done;
}

static bool delete_parent(const struct strike *x, zkt_raw *raw)
{
    for (int path = ZKC_PATHS - 1; path >= 0; path--) {
        char name[64];
        zkc_record r = {.kind = ZKC_PARENT, .at = zkc_now(), .path = (uint8_t)path};
        (void)snprintf(name, sizeof name, "%s/%d", ZKC_LOCKS, path);
        r.code = zkt_raw_delete(raw, name);
        if (r.code == ZKT_OK || r.code == ZKT_LOST) {
            zkc_stage_put(x->s, r);
        }
        if (r.code == ZKT_OK) {
            return true;
        }
    }
    return false;
}

static bool delete_empty_parent(const struct strike *x)
{
    return with_session(x, delete_parent);
}

/* The one with the lowest number, or NULL. */
static const char *first_of(const zkt_list *list)
{
    const char *first = NULL;
    for (int i = 0; i < list->count; i++) {
        size_t length = strlen(list->name[i]);
        if (length >= 10 && (first == NULL || strcmp(list->name[i] + length - 10,
                                                     first + strlen(first) - 10) < 0)) {
            first = list->name[i];
        }
    }
    return first;
}

static bool delete_first(const struct strike *x, zkt_raw *raw)
{
    const int path = (int)(x->f->who % 2); /* those that are always wanted */
    char dir[64];
    char node[384] = "";
    zkt_list list = {0};
    zkt_stat st;
    (void)snprintf(dir, sizeof dir, "%s/%d", ZKC_LOCKS, path);
    if (zkt_raw_children(raw, dir, false, &list) == ZKT_OK && first_of(&list) != NULL) {
        (void)snprintf(node, sizeof node, "%s/%s", dir, first_of(&list));
    }
    zkt_list_free(&list);
    if (node[0] == '\0' || zkt_raw_exists(raw, node, false, &st) != ZKT_OK) {
        return false;
    }
    zkc_record r = {
        .kind = ZKC_DELETED, .at = zkc_now(), .token = st.czxid, .path = (uint8_t)path};
    r.code = zkt_raw_delete(raw, node);
    if (r.code == ZKT_OK || r.code == ZKT_LOST) {
        zkc_stage_put(x->s, r);
    }
    return r.code == ZKT_OK;
}

static bool delete_holder(const struct strike *x)
{
    return with_session(x, delete_first);
}

/* ---- all of them -------------------------------------------------------------------- */

bool zkc_nemesis_strike(zkc_stage *s, const zkc_fault *fault)
{
    static bool (*const strikes[ZKC_FAULT_KINDS])(const struct strike *x) = {
        [ZKC_LEADER_KILLED] = kill_leader,
        [ZKC_FOLLOWER_KILLED] = kill_follower,
        [ZKC_SERVER_PAUSED] = freeze_server,
        [ZKC_SERVER_STOPPED] = freeze_server,
        [ZKC_CLIENT_PAUSED] = freeze_clients,
        [ZKC_CLIENT_STOPPED] = freeze_clients,
        [ZKC_CLIENT_KILLED] = kill_client,
        [ZKC_CLIENT_DROPPED] = drop_connections,
        [ZKC_CLIENT_CUT_OFF] = cut_off,
        [ZKC_CLIENT_REFUSED] = refuse,
        [ZKC_CLIENT_SLOWED] = slow_down,
        [ZKC_FOLLOWER_CUT_OFF] = cut_follower,
        [ZKC_LEADER_CUT_OFF] = cut_leader,
        [ZKC_REPLY_LOST] = lose_reply,
        [ZKC_ALL_RESTARTED] = restart_all,
        [ZKC_PARENT_DELETED] = delete_empty_parent,
        [ZKC_HOLDER_DELETED] = delete_holder,
    };
    struct strike x = {
        .s = s, .f = fault, .leader = zkc_stage_wait_leader(s, RECOVER_MS)};
    if (x.leader < 0) {
        return false;
    }
    zkc_record r = {.kind = ZKC_FAULT, .at = zkc_now(), .code = (int32_t)fault->kind};
    if (strikes[fault->kind](&x)) {
        zkc_stage_put(s, r);
    }
    return zkc_signaled == 0 && wait_serving(s) &&
           zkc_stage_wait_leader(s, RECOVER_MS) >= 0;
}
