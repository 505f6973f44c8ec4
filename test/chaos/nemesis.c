/* SPDX-License-Identifier: Apache-2.0 */
#include "nemesis.h"

#include "fourlw.h"
#include "strike.h"
#include "util.h"

enum { RECOVER_MS = 90000, SERVE_STEP_MS = 20, LOOK_MS = 200, AIM_MS = 5000 };

static zkt_server *server(const struct strike *x, int index)
{
    return zkt_ensemble_server(x->s->ensemble, index % ZKC_SERVERS);
}

/* Returns the leader if @distance is 0, else another server. */
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

bool zkc_wait_server(zkc_stage *s, int index, int64_t end)
{
    zkt_server *at = zkt_ensemble_server(s->ensemble, index);
    while (!zkt_server_wait(at, SERVE_STEP_MS)) {
        if (zkt_server_pid(at) == 0) {
            zkt_server_launch(at);
        }
        if (!zkc_stage_pass(s, SERVE_STEP_MS) || zkt_now_ms() >= end) {
            return false;
        }
    }
    return true;
}

static bool wait_serving(zkc_stage *s)
{
    const int64_t end = zkt_now_ms() + RECOVER_MS;
    bool serving = true;
    for (int i = 0; i < ZKC_SERVERS && serving; i++) {
        serving = zkc_wait_server(s, i, end);
    }
    return serving && zkt_now_ms() < end;
}

static bool restart(const struct strike *x, zkt_server *which)
{
    zkc_stage_kill(which);
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
        zkc_stage_kill(server(x, i));
    }
    (void)pass(x, x->f->span_ms);
    for (int i = 0; i < ZKC_SERVERS; i++) {
        zkt_server_launch(server(x, i));
    }
    return true;
}

/* Restarts one server after the other, each with its own limits or all with the same. */
static bool change_limits(const struct strike *x)
{
    const int how = (int)(x->f->how % (2 * ZKC_SERVERS));
    for (int i = 0; i < ZKC_SERVERS; i++) {
        zkt_server *which = from_leader(x, i);
        zkc_stage_kill(which);
        zkc_stage_limit(which, how < ZKC_SERVERS ? how + i : how);
        (void)pass(x, x->f->span_ms);
        zkt_server_launch(which);
        if (!zkc_wait_server(x->s, (x->leader + i) % ZKC_SERVERS,
                             zkt_now_ms() + RECOVER_MS)) {
            return false;
        }
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

/* Cuts the link in both directions, or in one. */
static bool cut_follower(const struct strike *x)
{
    zkt_proxy *link = x->s->links[follower(x)][x->leader];
    if (link == NULL) {
        return false;
    }
    zkc_aim(x, follower(x), AIM_MS);
    if (x->f->how % 3 == 0) {
        zkt_proxy_blackhole(link);
    } else {
        zkt_proxy_freeze(link, x->f->how % 3 == 1 ? ZKT_TO_SERVER : ZKT_TO_CLIENT);
    }
    (void)pass(x, x->f->span_ms);
    zkt_proxy_heal(link);
    return true;
}

static int count_leaders(const struct strike *x)
{
    int n = 0;
    for (int i = 0; i < ZKC_SERVERS; i++) {
        n += zkt_mode_within(zkt_server_host(server(x, i)), LOOK_MS) == ZKT_MODE_LEADER;
    }
    return n;
}

/*
 * The other servers elect a new leader. The old leader keeps its connections, but they are silent. The fault has taken
 * effect if two servers said at the same time that they lead.
 */
static bool cut_leader(const struct strike *x)
{
    bool stale = false;
    if (x->s->links[0][1] == NULL) {
        return false;
    }
    zkc_aim(x, x->leader, AIM_MS);
    const int64_t end = zkt_now_ms() + x->f->span_ms;
    for (int i = 1; i < ZKC_SERVERS; i++) {
        zkt_proxy_orphan(x->s->links[(x->leader + i) % ZKC_SERVERS][x->leader]);
    }
    while (zkt_now_ms() < end && pass(x, LOOK_MS)) {
        stale = stale || count_leaders(x) > 1;
    }
    for (int i = 1; i < ZKC_SERVERS; i++) {
        zkt_proxy_heal(x->s->links[(x->leader + i) % ZKC_SERVERS][x->leader]);
    }
    return stale;
}

/* ---- all of them -------------------------------------------------------------------- */

bool zkc_nemesis_strike(zkc_stage *s, const zkc_fault *fault)
{
    static bool (*const strikes[ZKC_FAULT_KINDS])(const struct strike *x) = {
        [ZKC_LEADER_KILLED] = kill_leader,
        [ZKC_FOLLOWER_KILLED] = kill_follower,
        [ZKC_SERVER_PAUSED] = freeze_server,
        [ZKC_SERVER_STOPPED] = freeze_server,
        [ZKC_CLIENT_PAUSED] = zkc_freeze_clients,
        [ZKC_CLIENT_STOPPED] = zkc_freeze_clients,
        [ZKC_CLIENT_KILLED] = zkc_kill_client,
        [ZKC_GUARDIAN_KILLED] = zkc_kill_guardian,
        [ZKC_CLIENT_DROPPED] = zkc_drop_connections,
        [ZKC_CLIENT_CUT_OFF] = zkc_cut_off,
        [ZKC_CLIENT_REFUSED] = zkc_refuse,
        [ZKC_CLIENT_SLOWED] = zkc_slow_down,
        [ZKC_FOLLOWER_CUT_OFF] = cut_follower,
        [ZKC_LEADER_CUT_OFF] = cut_leader,
        [ZKC_REPLY_LOST] = zkc_lose_reply,
        [ZKC_ALL_RESTARTED] = restart_all,
        [ZKC_LIMITS_CHANGED] = change_limits,
        [ZKC_SERVER_MOVED] = zkc_move_servers,
        [ZKC_PARENT_DELETED] = zkc_delete_parent,
        [ZKC_HOLDER_DELETED] = zkc_delete_holder,
        [ZKC_HOLDER_REPLACED] = zkc_replace_holder,
        [ZKC_FORBIDDEN] = zkc_forbid,
        [ZKC_WALL_STEPPED] = zkc_step_walls,
        [ZKC_DISK_SLOW] = zkc_slow_disk,
        [ZKC_DISK_FULL] = zkc_fill_disk,
        [ZKC_LACKING] = zkc_lack,
        [ZKC_NEW_SESSIONS] = zkc_renew_sessions,
        [ZKC_NO_LEADER] = zkc_refuse_sessions,
        [ZKC_COUNTS_CHANGES] = zkc_count_changes,
        [ZKC_RECONFIGURED] = zkc_reconfigure,
        [ZKC_ROLLED] = zkc_roll,
        [ZKC_SNAPSHOT_TAKEN] = zkc_take_snapshot,
        [ZKC_SNAPSHOT_RESTORED] = zkc_restore_snapshot,
    };
    /* On a busy machine a server may have ended without a fault. */
    const int leader = wait_serving(s) ? zkc_stage_wait_leader(s, RECOVER_MS) : -1;
    struct strike x = {.s = s, .f = fault, .leader = leader};
    if (leader < 0) {
        return false;
    }
    if (fault->kind != ZKC_LEADER_CUT_OFF && fault->kind != ZKC_FOLLOWER_CUT_OFF) {
        atomic_store(&s->control->stay, fault->how >> 8 & 1);
    }
    zkc_record r = {.kind = ZKC_FAULT, .at = zkc_now(), .code = (int32_t)fault->kind};
    if (strikes[fault->kind](&x)) {
        zkc_stage_put(s, r);
    }
    atomic_store(&s->control->stay, 0);
    return zkc_signaled == 0 && wait_serving(s) &&
           zkc_stage_wait_leader(s, RECOVER_MS) >= 0;
}
