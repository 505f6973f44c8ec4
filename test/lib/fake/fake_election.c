/* SPDX-License-Identifier: Apache-2.0 */
/* How the fake's servers lose their leader and find another. */
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
    server->timer.due = ZKR__NEVER;
    block_links(server, false);
}

/* The others elect one of them, and give every session all its time again. */
void zkf__elect(void *ctx)
{
    (void)ctx;
    struct zkf__world *w = &zkf__w;
    int lost = w->leader;
    int first = (int)zkf_below(w->config.servers);
    w->election.due = ZKR__NEVER;
    w->old_leader = lost;
    w->leader = -1;
    for (int i = 0; i < w->config.servers; i++) {
        struct zkf__server *server = &w->servers[(first + i) % w->config.servers];
        bool dead = server->timer.due != ZKR__NEVER;
        if (server->id != lost && !dead) {
            zkf__server_reset(server);
            if (w->leader < 0) {
                w->leader = server->id;
            }
            join(server);
        }
    }
    for (struct zkf__session *s = w->sessions; s; s = s->next) {
        s->touched = w->now;
        s->timeout = s->created_with;
        s->slack = 0;
    }
    zkf_trace("servers: %d leads", w->leader);
    zkf__rearm_expiry();
}

/* Serving: it gives up. Else: it comes back. */
void zkf__server_timer(void *ctx)
{
    struct zkf__server *server = ctx;
    struct zkf__world *w = &zkf__w;
    server->timer.due = w->now + w->config.tick / 4;
    if (server->serving) {
        zkf_trace("servers: %d gives up", server->id);
        zkf__server_reset(server);
        w->old_leader = w->old_leader == server->id ? -1 : w->old_leader;
    } else if (!server->isolated && w->leader >= 0 && zkf__has_quorum()) {
        zkf_trace("servers: %d is back", server->id);
        join(server);
    }
}

void zkf_isolate(int id)
{
    struct zkf__world *w = &zkf__w;
    struct zkf__server *server = &w->servers[id];
    for (int i = 0; i < w->config.servers; i++) {
        if (w->servers[i].isolated || !w->servers[i].serving) {
            return; /* one at a time: else there is no quorum */
        }
    }
    if (w->config.servers < 3 || w->leader < 0) {
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
        w->election.due = w->now + zkf_below(w->config.tick);
        zkf__rearm_expiry();
    }
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
        if (w->old_leader == i || !server->serving) {
            w->old_leader = -1;
            zkf__server_reset(server);
            server->timer.due = w->now + zkf_below(w->config.tick);
            continue;
        }
        server->timer.due = ZKR__NEVER;
        w->election.due = ZKR__NEVER;
        for (int k = 0; k < w->config.servers; k++) {
            block_links(&w->servers[k], false);
        }
        zkf__rearm_expiry();
    }
}

static void elect_after_crash(void)
{
    struct zkf__world *w = &zkf__w;
    for (int i = 0; i < w->config.servers; i++) {
        zkf__server_reset(&w->servers[i]);
        w->servers[i].timer.due = ZKR__NEVER;
    }
    int dead = w->leader;
    w->leader = -1;
    if (w->config.servers > 1) {
        w->servers[dead].timer.due = w->now + zkf_below(2 * w->config.tick);
    }
    w->election.due = w->now + zkf_below(w->config.tick);
    w->expiry.due = ZKR__NEVER;
}

void zkf_crash(int id)
{
    struct zkf__world *w = &zkf__w;
    for (int i = 0; i < w->config.servers; i++) {
        if (w->servers[i].isolated || !w->servers[i].serving) {
            return;
        }
    }
    zkf_trace("fault: server %d is killed", id);
    if (id == w->leader) {
        elect_after_crash();
    } else {
        zkf__server_reset(&w->servers[id]);
        w->servers[id].timer.due = w->now + zkf_below(2 * w->config.tick);
    }
}
