/* SPDX-License-Identifier: Apache-2.0 */
/* Faults, one after the other, as the scenario allows. */
#include <string.h>

#include "search.h"

static int some_client(void)
{
    return (int)zkf_below(S.s.clients);
}

static const struct zkf_node *some_node(void)
{
    int64_t count = 0;
    const struct zkf_node *chosen = NULL;
    for (const struct zkf_node *node = zkf_nodes(); node; node = node->next) {
        if (node->label != 0 && zkf_below(++count) == 0) {
            chosen = node;
        }
    }
    return chosen;
}

static void delete_by_hand(const struct zkf_node *node)
{
    struct contender *k = search_by_label(node->label);
    const struct contender before = k ? *k : (struct contender){0};
    search_excuse(node);
    if (!zkf_stranger_delete(node->path) && k) {
        k->excused = before.excused;
    }
}

/* One who waits, and whom it waits for; its watch on itself is used up first. */
static void delete_two(const struct zkf_node *node)
{
    const struct zkf_node *ahead = search_ahead(node);
    const struct contender *k = search_by_label(node->label);
    if (k && zkf_chance(50)) {
        (void)zkf_cut(k->client,
                      ZKF_CUT_ANSWERS); /* it learns of both when it is back */
    } else {
        search_touch(node);
    }
    delete_by_hand(node);
    if (ahead) {
        delete_by_hand(ahead);
    }
}

static void by_hand(void)
{
    const struct zkf_node *node = some_node();
    if (!node) {
        return;
    }
    S.did.hands++;
    if (zkf_chance(25)) {
        delete_two(node);
    } else if (zkf_chance(40)) {
        search_touch(node);
    } else if (zkf_chance(70)) {
        delete_by_hand(node);
    } else if (zkf_session_alive(node->owner) && !zkf_isolated() && zkf_leader() >= 0) {
        for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
            if (n->owner == node->owner) {
                search_excuse(n);
            }
        }
        zkf_expire(node->owner);
    }
}

static void stop_one(void)
{
    int at = some_client();
    bool stopped = *zkf_client_stopped(at);
    if (!stopped && S.s.longest_stop == 0) {
        return;
    }
    zkf_trace("fault: client %d is %s", at, stopped ? "going on" : "stopped");
    zkf_client_stop(at, !stopped);
    search_stalled(at, !stopped);
    S.did.stops += !stopped;
}

static void network(void)
{
    int at;
    switch (zkf_below(4)) {
    case 0:
    case 1:
        S.did.cuts += zkf_cut(some_client(), (enum zkf_cut)zkf_below(3));
        break;
    case 2:
        at = some_client();
        zkf_blackhole(at, true);
        search_stalled(at, true);
        break;
    default:
        for (int i = 0; i < S.s.clients; i++) {
            zkf_blackhole(i, false);
            search_stalled(i, *zkf_client_stopped(i));
        }
        break;
    }
}

/* They start again with another configuration: one of them, or all in turn. */
static void change_limits(void)
{
    int64_t least = S.s.tick * (2 + zkf_below(3));
    int64_t most = least + S.s.tick * zkf_below(8);
    int first = (int)zkf_below(S.s.servers);
    int last = zkf_chance(50) ? first : first + S.s.servers - 1;
    for (int i = first; i <= last; i++) {
        zkf_limits(i % S.s.servers, least, most);
        zkf_crash(i % S.s.servers);
    }
}

static void servers(void)
{
    if (zkf_chance(S.s.split && !zkf_isolated() ? 0 : 30)) {
        zkf_heal();
    } else if (zkf_chance(75) && S.s.isolations) {
        zkf_isolate((int)zkf_below(S.s.servers));
        S.did.isolations++;
    } else {
        zkf_crash((int)zkf_below(S.s.servers));
        S.did.crashes++;
    }
}

static void strangers(void)
{
    if (zkf_chance(60)) {
        zkf_reap();
    } else {
        /* Only when it is empty. */
        (void)zkf_stranger_delete(search_dir((int)zkf_below(SEARCH_DIRS)));
    }
}

void search_fault(void *unused)
{
    (void)unused;
    /* While the servers disagree, a client that changes between them is worth the most. */
    bool split = zkf_isolated();
    S.faults.due = zkf_now() + zkf_below(split ? S.s.fault_pace / (S.s.split ? 1 : 4)
                                               : S.s.fault_pace);
    S.did.faults++;
    if (S.s.resizes && zkf_chance(25)) {
        search_resize();
    }
    int64_t what = zkf_below(100);
    if (S.s.limits && zkf_chance(30)) {
        change_limits();
        S.did.crashes++;
        return;
    }
    if (S.s.split && zkf_chance(70)) {
        servers();
    } else if (split && zkf_chance(50)) {
        S.did.cuts += zkf_cut(some_client(), (enum zkf_cut)zkf_below(3));
    } else if (what < 40) {
        network();
    } else if (what < 60) {
        servers();
    } else if (what < 72) {
        stop_one();
    } else if (what < 92 && S.s.hands) {
        by_hand();
    } else {
        strangers();
    }
}

void search_calm(void)
{
    zkf_heal();
    zkf_slow(30 * ZKR__MS);
    for (int i = 0; i < S.s.clients; i++) {
        zkf_blackhole(i, false);
        zkf_client_stop(i, false);
        search_stalled(i, false);
    }
    S.faults.due = ZKR__NEVER;
}
