/* SPDX-License-Identifier: Apache-2.0 */
/* How the fake's servers lose their leader, and elect another. */
#include "fake_impl.h"

static void block_links(struct zkf__server *server, bool blocked)
{
    zkf__channel_block(&server->from_leader, blocked);
    zkf__channel_block(&server->to_leader, blocked);
}

static void join(struct zkf__server *server)
{
    zkf__server_apply(server, zkf__w.log_len);
    server->serving = true;
    server->epoch = zkf__w.epoch;
    server->timer.due = ZKR__NEVER;
    block_links(server, false);
}

/* Returns whether the server can take part in an election and follow a leader. */
static bool is_up(const struct zkf__server *server)
{
    return !server->dead && !server->isolated;
}

static int quorum(void)
{
    return zkf__w.config.servers / 2 + 1;
}

/* All running servers look for a leader, and find one as soon as there are enough of them. */
static void look_for_leader(void)
{
    struct zkf__world *w = &zkf__w;
    for (int i = 0; i < w->config.servers; i++) {
        if (is_up(&w->servers[i])) {
            zkf__server_reset(&w->servers[i]);
            w->servers[i].timer.due = ZKR__NEVER;
        }
    }
    if (w->leader >= 0 && is_up(&w->servers[w->leader])) {
        w->leader = -1;
    }
    w->election.due = w->now + zkf_below(w->config.tick);
    zkf__rearm_expiry();
}

/*
 * A leader that has writes that it could not commit has the longest log, so it wins if it takes part. Otherwise, a
 * random server that is up wins.
 */
static struct zkf__server *winner(void)
{
    struct zkf__world *w = &zkf__w;
    if (w->pending_of >= 0 && is_up(&w->servers[w->pending_of])) {
        return &w->servers[w->pending_of];
    }
    int first = (int)zkf_below(w->config.servers);
    while (!is_up(&w->servers[first])) {
        first = (first + 1) % w->config.servers;
    }
    return &w->servers[first];
}

static void begin_epoch(void)
{
    struct zkf__world *w = &zkf__w;
    zkf__did.elections++;
    if (w->config.servers > 1) {
        w->epoch++;
        w->zxid = w->epoch << 32;
    }
    for (struct zkf__session *s = w->sessions; s; s = s->next) {
        s->touched = w->now;
        s->timeout = s->created_with;
        s->slack = 0;
    }
}

/* The other servers elect one of themselves. The new leader gives every session its full time again. */
void zkf__elect(void *ctx)
{
    struct zkf__world *w = &zkf__w;
    int lost = w->leader, up = 0;
    for (int i = 0; i < w->config.servers; i++) {
        up += is_up(&w->servers[i]);
    }
    if (up < quorum()) {
        look_for_leader();
        w->election.due = w->now + w->config.tick / 4;
        return;
    }
    w->election.due = ZKR__NEVER;
    w->old_leader = lost;
    w->leader = winner()->id;
    begin_epoch();
    if (w->leader == w->pending_of) {
        w->servers[w->leader].serving = true;
        zkf__commit_pending();
    } else {
        zkf__drop_pending();
    }
    for (int i = 0; i < w->config.servers; i++) {
        if (is_up(&w->servers[i])) {
            zkf__server_reset(&w->servers[i]);
            join(&w->servers[i]);
        }
    }
    zkf_trace("servers: %d leads, epoch %lld", w->leader, (long long)w->epoch);
    zkf__rearm_expiry();
}

/*
 * Runs at the timer of a server. A server that still serves has been cut off for too long, so it gives up. Any other
 * server is back, and joins the others if it can.
 */
void zkf__server_timer(void *ctx)
{
    struct zkf__server *server = ctx;
    struct zkf__world *w = &zkf__w;
    server->timer.due = w->now + w->config.tick / 4;
    if (server->serving) {
        zkf_trace("servers: %d gives up", server->id);
        zkf__server_reset(server);
        w->old_leader = w->old_leader == server->id ? -1 : w->old_leader;
        return;
    }
    server->dead = false;
    if (!server->isolated && zkf__has_quorum()) {
        zkf_trace("servers: %d is back", server->id);
        join(server);
    }
}

/* The leader gives up if too few servers are left. */
static void check_quorum(void)
{
    struct zkf__world *w = &zkf__w;
    int serving = 0;
    for (int i = 0; i < w->config.servers; i++) {
        serving += w->servers[i].serving && is_up(&w->servers[i]);
    }
    if (zkf__has_quorum() && serving < quorum()) {
        zkf_trace("servers: no quorum is left");
        look_for_leader();
    }
}

void zkf_isolate(int id)
{
    struct zkf__world *w = &zkf__w;
    struct zkf__server *server = &w->servers[id];
    if (w->config.servers < 3 || w->leader < 0 || zkf_isolated() || !server->serving) {
        return;
    }
    zkf_trace("fault: server %d is cut off%s", id,
              id == w->leader ? ", the leader" : "");
    server->isolated = true;
    server->timer.due = w->now + w->config.patience;
    for (int i = 0; i < w->config.servers; i++) {
        if (i == id || id == w->leader) {
            block_links(&w->servers[i], true);
        }
    }
    if (id == w->leader) {
        w->election.due = w->now + w->config.tick / 2 + zkf_below(w->config.tick);
        zkf__rearm_expiry();
    } else {
        check_quorum();
    }
}

/* A leader that has not been replaced yet goes on. Otherwise all vote, and the leader has the longest log. */
static void heal_leader(struct zkf__server *server)
{
    struct zkf__world *w = &zkf__w;
    if (!w->config.calm && zkf_chance(40)) {
        look_for_leader();
        return;
    }
    server->timer.due = ZKR__NEVER;
    w->election.due = ZKR__NEVER;
    for (int k = 0; k < w->config.servers; k++) {
        block_links(&w->servers[k], false);
    }
    zkf__commit_pending();
    zkf__rearm_expiry();
    check_quorum();
}

void zkf_heal(void)
{
    struct zkf__world *w = &zkf__w;
    for (int i = 0; i < w->config.servers; i++) {
        struct zkf__server *server = &w->servers[i];
        if (!server->isolated) {
            continue;
        }
        zkf_trace("fault: server %d is connected again", i);
        server->isolated = false;
        if (server->dead) {
            continue;
        }
        if (w->leader == i) {
            heal_leader(server);
        } else if (server->serving && server->epoch == w->epoch && w->leader >= 0 &&
                   w->old_leader != i) {
            server->timer.due = ZKR__NEVER;
            block_links(server, false);
        } else {
            w->old_leader = w->old_leader == i ? -1 : w->old_leader;
            zkf__server_reset(server);
            server->timer.due = w->now + zkf_below(w->config.tick);
        }
    }
}

static void kill_server(struct zkf__server *server)
{
    struct zkf__world *w = &zkf__w;
    zkf__server_reset(server);
    server->dead = true;
    server->timer.due = w->now + zkf_below(2 * w->config.tick);
    w->old_leader = w->old_leader == server->id ? -1 : w->old_leader;
    if (w->leader == server->id) {
        w->leader = -1;
    }
    if (w->pending_of == server->id && zkf_chance(50)) {
        zkf__drop_pending(); /* these writes had not reached its disk */
    }
}

void zkf_crash(int id)
{
    struct zkf__world *w = &zkf__w;
    struct zkf__server *server = &w->servers[id];
    if (server->dead) {
        return;
    }
    zkf_trace("fault: server %d is killed", id);
    bool led = w->leader == id;
    kill_server(server);
    if (led) {
        look_for_leader();
    } else {
        check_quorum();
    }
}

static void kill_all(void)
{
    struct zkf__world *w = &zkf__w;
    for (int i = 0; i < w->config.servers; i++) {
        if (!w->servers[i].dead) {
            kill_server(&w->servers[i]);
        }
    }
    look_for_leader();
}

void zkf_restart_all(void)
{
    zkf_trace("fault: all servers are killed");
    zkf__did.restarts++;
    kill_all();
}

void zkf_wipe(void)
{
    struct zkf__world *w = &zkf__w;
    zkf_trace("fault: all servers are killed, and their data are gone");
    zkf__did.wipes++;
    kill_all();
    zkf__drop_pending();
    w->epoch = zkf_chance(50) ? 0 : w->epoch;
    w->zxid = w->epoch << 32;
    zkf__log_wipe();
}
