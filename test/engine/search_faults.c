/* SPDX-License-Identifier: Apache-2.0 */
/* Faults, one after the other, as the scenario allows. */
#include <string.h>

#include "search.h"

enum { PATH_ROOM = 128 };

/* --- what the seed chooses --- */

/* 2^30, where the library warns; the largest; past it. */
static int64_t some_number(void)
{
    static const int64_t near[] = {1 << 30, INT32_MAX, INT32_MAX, 0};
    return near[zkf_below(4)] - zkf_below(zkf_chance(50) ? 4 : 40) + 2;
}

void search_choose_faults(struct scenario *s)
{
    s->epoch = zkf_chance(25) ? 0 : 1 + zkf_below(zkf_chance(50) ? 100 : INT32_MAX / 2);
    s->number = -1;
    s->margin_ppm = zkf_chance(60)   ? 0
                    : zkf_chance(30) ? 100000
                    : zkf_chance(50) ? 20000
                                     : 100 + zkf_below(5000);
    if (S.beyond) { /* who holds stands still, or behind a server that is cut off */
        s->sit = s->isolations = true;
        s->peace = s->kills = s->hands = false;
        s->longest_stop = 2 * s->session;
    }
    s->forbids = zkf_chance(s->peace ? 60 : 10);
    s->lapses = s->seed % 6 == 3;
    if (s->peace) {
        return;
    }
    s->disasters = !s->split && zkf_chance(12);
    s->replaces = s->hands && zkf_chance(60);
    s->throttles = zkf_chance(8);
    s->auth = zkf_chance(8);
    s->door = zkf_chance(12);
    s->starved = zkf_chance(6);
    s->visits = zkf_chance(20);
    s->remakes = zkf_chance(30);
    int64_t number = some_number();
    s->number = zkf_chance(12) && number >= 0 ? number : -1;
    s->forgetful = zkf_chance(25);
    s->narrow = zkf_chance(25);
    s->lies = zkf_chance(10);
    s->named = s->visits && zkf_chance(50);
    s->watch_most = zkf_chance(15) ? zkf_below(900) : 0;
}

int64_t search_skew(void)
{
    int64_t margin = S.s.margin_ppm > 0 ? S.s.margin_ppm : 1000;
    if (S.beyond) {
        return -margin - 200000;
    }
    return zkf_chance(30) ? (zkf_chance(50) ? margin : -margin)
                          : zkf_below(2 * margin) - margin;
}

/* The directories have been used before. */
static void begin_numbers(void)
{
    static const char *const above[] = {"/a", "/permits"};
    for (size_t i = 0; i < sizeof(above) / sizeof(above[0]); i++) {
        (void)zkf_stranger_create(above[i], false);
    }
    for (int i = 0; i < SEARCH_DIRS; i++) {
        if (zkf_stranger_create(search_dir(i), false)) {
            zkf_count_from(search_dir(i), (int)S.s.number);
        }
    }
}

static void some_limits(int64_t *least, int64_t *most)
{
    *least = S.s.tick * (2 + zkf_below(3));
    *most = *least + S.s.tick * zkf_below(8);
}

/* A session lasts 8 ticks at most: a server that grants few, one that grants all, and one between. */
static void unequal_limits(void)
{
    for (int i = 0; i < S.s.servers; i++) {
        int64_t few = S.s.tick * (2 + zkf_below(2));
        int64_t least = i == 0 ? few : i == 1 ? S.s.session : few + zkf_below(few);
        zkf_limits(i, least, i == 0 ? few : S.s.session);
    }
}

/* What a client has to watch in any case, as the count of a semaphore. */
enum { VITAL_WATCHES = 100 };

void search_begin_faults(void)
{
    search_begin_visitors();
    if (S.s.number >= 0) {
        S.did.numbers_spent++;
        begin_numbers();
    }
    if (S.s.grows) {
        unequal_limits();
    }
    for (int i = 0; i < S.s.servers && S.s.limits && !S.s.grows && zkf_chance(70);
         i++) {
        int64_t least, most;
        some_limits(&least, &most);
        zkf_limits(i, least, most); /* each has its own */
    }
    const struct zkf_door_faults door = {.open = S.s.door ? 6 : 0,
                                         .submit = S.s.door ? 150 : 0,
                                         .throttle = S.s.throttles ? 60 : 0,
                                         .lie = S.s.lies ? 15 : 0,
                                         .slow = S.s.door ? 3 : 0,
                                         .span = S.s.session / 2,
                                         .add_auth = S.s.auth ? 6 : 0,
                                         .refuse_auth = S.s.auth ? 12 : 0};
    zkf_door_faults(&door);
    zkf_most_watches(S.s.watch_most > 0 ? S.s.watch_most + VITAL_WATCHES : 0);
}

/* --- one after the other --- */

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

/* Under its name there is one of somebody else then; its client is told of neither, or in whichever way. */
static void replace(const struct zkf_node *node)
{
    char path[PATH_ROOM];
    struct contender *k = search_by_label(node->label);
    const struct zkf_node *other = some_node();
    int64_t owner = zkf_chance(50) && other->owner != node->owner ? other->owner : 0;
    if (node->owner == 0 || strlen(node->path) >= sizeof(path)) {
        return;
    }
    memcpy(path, node->path, strlen(node->path) + 1);
    if (k && zkf_chance(60)) {
        (void)zkf_cut(k->client, (enum zkf_cut)zkf_below(3));
    }
    /* A list knows no owner: who stands for less than a moment, and has no watch yet, may be granted by it once more. */
    const struct zkr__claim *claim = k ? search_claim(k) : NULL;
    bool watched =
        claim && claim->k.own == ZKR__OWN_SET && strcmp(claim->node, path) == 0;
    delete_by_hand(node);
    S.did.replaced += search_visit_as(path, owner);
    if (k && !watched) {
        k->excused = true;
        k->excused_at = zkf_now();
    }
}

static void by_hand(void)
{
    const struct zkf_node *node = some_node();
    if (!node) {
        return;
    }
    S.did.hands++;
    if (S.s.replaces && zkf_chance(40)) {
        replace(node);
    } else if (zkf_chance(25)) {
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
    int64_t least, most;
    some_limits(&least, &most);
    int first = (int)zkf_below(S.s.servers);
    int last = zkf_chance(50) ? first : first + S.s.servers - 1;
    for (int i = first; i <= last; i++) {
        zkf_limits(i % S.s.servers, least, most);
        zkf_crash(i % S.s.servers);
    }
}

static int some_holder(void)
{
    int64_t count = 0;
    int chosen = some_client();
    for (int i = 0; i < SEARCH_CONTENDERS; i++) {
        if (S.contenders[i].holding && zkf_below(++count) == 0) {
            chosen = S.contenders[i].client;
        }
    }
    return chosen;
}

/* A session goes to another server, whose limits are others; or nobody hears of it, and the leader is killed. */
static void move_or_forget(void)
{
    enum { SOON_MS = 1000 };
    int at = some_holder();
    if (S.s.peace && zkf_now() < S.members[at].moved_at + SOON_MS * ZKR__MS) {
        return; /* a connection that ends before it is answered would be a fault */
    }
    S.members[at].moved_at = zkf_now();
    if (S.s.peace || zkf_chance(70)) {
        zkf_direct(at, (int)zkf_below(S.s.servers));
        S.did.moves += zkf_cut(at, ZKF_CUT_ANSWERS);
    } else if (zkf_leader() >= 0) {
        zkf_blackhole(at, true);
        search_stalled(at, true);
        zkf_crash(zkf_leader());
        S.did.leaderless++;
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

static void disaster(void)
{
    if (zkf_chance(25)) {
        search_excuse_all();
        zkf_wipe();
    } else if (zkf_chance(50)) {
        zkf_restart_all();
    } else {
        int first = (int)zkf_below(S.s.servers);
        zkf_crash(first);
        zkf_crash((first + 1) % S.s.servers);
    }
}

static void permissions(void)
{
    static const char *const parents[] = {"/", "/a", "/permits"};
    if (zkf_chance(40)) {
        zkf_permit_all();
        return;
    }
    const struct zkf_node *node = some_node();
    if (node && zkf_chance(50)) {
        static const unsigned sets[] = {ZKF_READ, ZKF_WRITE, ZKF_READ | ZKF_WRITE};
        S.did.nodes_forbidden += zkf_forbid(node->path, sets[zkf_below(3)]);
        return;
    }
    const char *path = zkf_chance(30) ? parents[zkf_below(3)]
                                      : search_dir((int)zkf_below(SEARCH_DIRS));
    static const unsigned perms[] = {ZKF_READ, ZKF_CREATE, ZKF_DELETE, ZKF_QUOTA};
    S.did.forbidden +=
        zkf_forbid(path, zkf_chance(70) ? perms[zkf_below(4)]
                                        : ZKF_READ | ZKF_CREATE | ZKF_DELETE);
}

/* Of a node, or of a directory and all in it: whoever has a watch there hears nothing. */
static void lapse(void)
{
    const struct zkf_node *node = some_node();
    zkf_lapse(node && zkf_chance(60) ? node->path
                                     : search_dir((int)zkf_below(SEARCH_DIRS)));
}

void search_on_refused(int label, const char *deleted)
{
    if (!deleted) {
        search_refused(label);
    }
}

void search_clean_up(void)
{
    if (S.s.forbids) {
        zkf_permit_all();
    }
    (void)search_end_visits();
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
    if (S.s.grows && ((S.s.peace && !S.s.forbids) || zkf_chance(40))) {
        move_or_forget();
        return;
    }
    if (S.s.peace) { /* but for these */
        permissions();
        return;
    }
    if (search_remake()) {
        return;
    }
    if (S.s.replaces && zkf_chance(15)) {
        (void)search_end_visits();
    }
    if (S.s.visits && zkf_chance(30)) {
        search_visit();
        return;
    }
    if (S.s.resizes && zkf_chance(25)) {
        search_resize();
    }
    int64_t what = zkf_below(100);
    if (S.s.disasters && zkf_chance(15)) {
        disaster();
        return;
    }
    if (S.s.forbids && zkf_chance(25)) {
        permissions();
        return;
    }
    if (S.s.lapses && zkf_chance(40)) {
        lapse();
        return;
    }
    if (S.s.limits && !S.s.grows && zkf_chance(30)) {
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
    zkf_door_faults(NULL);
    zkf_lapse(NULL);
    S.s.starved = S.s.visits = S.s.remakes = S.s.replaces = false;
    search_clean_up();
    for (int i = 0; i < S.s.clients; i++) {
        zkf_blackhole(i, false);
        zkf_direct(i, -1);
        zkf_client_stop(i, false);
        search_stalled(i, false);
    }
    S.faults.due = ZKR__NEVER;
}
