/* SPDX-License-Identifier: Apache-2.0 */
/* Faults, one after another, as the scene allows. */
#include <string.h>

#include "sim.h"

enum { BEGUN_DIRS = AT_PERMITS + 1 };

/* --- what the seed chooses --- */

/* Returns a number near 2^30, where the library warns, or near the largest number, or beyond it. */
static int64_t some_number(void)
{
    static const int64_t near[] = {1 << 30, INT32_MAX, INT32_MAX, 0};
    return near[zkf_below(4)] - zkf_below(zkf_chance(50) ? 4 : 40) + 2;
}

void sim_choose_faults(struct scene *s)
{
    s->epoch = zkf_chance(25) ? 0 : 1 + zkf_below(zkf_chance(50) ? 100 : INT32_MAX / 2);
    s->number = -1;
    s->margin_ppm = zkf_chance(60)   ? 0
                    : zkf_chance(30) ? 100000
                    : zkf_chance(50) ? 20000
                                     : 100 + zkf_below(5000);
    if (sim_beyond) { /* holders stand still, or are behind a server that is cut off */
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
    s->remakes = zkf_chance(30);
    int64_t number = some_number();
    s->number = zkf_chance(12) && number >= 0 ? number : -1;
    s->visits =
        s->number < 0 && zkf_chance(20); /* strangers would use up the numbers */
    s->forgetful = zkf_chance(25);
    s->narrow = zkf_chance(25);
    s->lies = zkf_chance(10);
    s->named = s->visits && zkf_chance(50);
    s->watch_most = zkf_chance(15) ? zkf_below(900) : 0;
}

int64_t sim_skew(void)
{
    int64_t margin = scene.margin_ppm > 0 ? scene.margin_ppm : 1000;
    if (sim_beyond) {
        return -margin - 200000;
    }
    if (zkf_chance(30)) {
        did.drifts++;
        return zkf_chance(50) ? margin : -margin;
    }
    return zkf_below(2 * margin) - margin;
}

/* Let the directories start with numbers of earlier use. */
static void begin_numbers(void)
{
    static const char *const above[] = {"/a", "/permits"};
    for (size_t i = 0; i < sizeof(above) / sizeof(above[0]); i++) {
        (void)zkf_stranger_create(above[i], false);
    }
    for (int i = 0; i < BEGUN_DIRS; i++) {
        if (zkf_stranger_create(sim_dir((enum sim_dir)i), false)) {
            zkf_count_from(sim_dir((enum sim_dir)i), (int)scene.number);
        }
    }
}

static void some_limits(int64_t *least, int64_t *most)
{
    *least = scene.tick * (2 + zkf_below(3));
    *most = *least + scene.tick * zkf_below(8);
}

/*
 * Give the servers unequal limits. A session lasts at most 8 ticks. One server grants few of them, one grants all, and
 * one is between.
 */
static void unequal_limits(void)
{
    for (int i = 0; i < scene.servers; i++) {
        int64_t few = scene.tick * (2 + zkf_below(2));
        int64_t least = i == 0 ? few : i == 1 ? scene.session : few + zkf_below(few);
        zkf_limits(i, least, i == 0 ? few : scene.session);
    }
}

/* Room for the watches that a client always needs, such as the watch on the count of a semaphore. */
enum { VITAL_WATCHES = 100 };

void sim_begin_faults(void)
{
    sim_begin_visitors();
    if (scene.number >= 0) {
        did.numbers_spent++;
        begin_numbers();
    }
    if (scene.grows) {
        unequal_limits();
    }
    for (int i = 0; i < scene.servers && scene.limits && !scene.grows && zkf_chance(70);
         i++) {
        int64_t least, most;
        some_limits(&least, &most);
        zkf_limits(i, least, most); /* each server has its own limits */
    }
    const struct zkf_door_faults door = {.open = scene.door ? 6 : 0,
                                         .submit = scene.door ? 150 : 0,
                                         .throttle = scene.throttles ? 60 : 0,
                                         .lie = scene.lies ? 15 : 0,
                                         .slow = scene.door ? 3 : 0,
                                         .span = scene.session / 2,
                                         .add_auth = scene.auth ? 6 : 0,
                                         .refuse_auth = scene.auth ? 12 : 0};
    zkf_door_faults(&door);
    zkf_most_watches(scene.watch_most > 0 ? scene.watch_most + VITAL_WATCHES : 0);
}

/* --- one after the other --- */

static int some_client(void)
{
    return (int)zkf_below(scene.clients);
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
    sim_excuse(node);
    (void)zkf_stranger_delete(node->path);
}

/* Delete a waiting node and the node ahead of it. Before that, use up the watch of the waiting node. */
static void delete_two(const struct zkf_node *node)
{
    const struct zkf_node *ahead = sim_ahead(node);
    if (zkf_chance(50)) {
        /* The client learns of both deletions when it is connected again. */
        (void)zkf_cut(node->label - 1, ZKF_CUT_ANSWERS);
    } else {
        sim_touch(node);
    }
    delete_by_hand(node);
    if (ahead) {
        delete_by_hand(ahead);
    }
}

/*
 * Delete the node, and create another client's node with the same name. The client of the deleted node learns of either
 * change in any way, or of neither.
 */
static void replace(const struct zkf_node *node)
{
    char path[SIM_PATH];
    const struct zkf_node *other = some_node();
    int64_t owner = zkf_chance(50) && other->owner != node->owner ? other->owner : 0;
    if (node->owner == 0 || strlen(node->path) >= sizeof(path)) {
        return;
    }
    memcpy(path, node->path, strlen(node->path) + 1);
    if (zkf_chance(60)) {
        (void)zkf_cut(node->label - 1, (enum zkf_cut)zkf_below(3));
    }
    /* A list shows no owner: directly behind its create, a claim may still be granted by the list. */
    sim_excuse_always(node);
    (void)zkf_stranger_delete(path);
    did.replaced += sim_visit_as(path, owner);
}

static void by_hand(void)
{
    const struct zkf_node *node = some_node();
    if (!node) {
        return;
    }
    did.hands++;
    if (scene.replaces && zkf_chance(40)) {
        replace(node);
    } else if (zkf_chance(25)) {
        delete_two(node);
    } else if (zkf_chance(40)) {
        sim_touch(node);
    } else if (zkf_chance(70)) {
        delete_by_hand(node);
    } else if (zkf_session_alive(node->owner) && !zkf_isolated() && zkf_leader() >= 0) {
        for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
            if (n->owner == node->owner) {
                sim_excuse(n);
            }
        }
        zkf_expire(node->owner);
    }
}

static void stop_one(void)
{
    int at = some_client();
    bool stopped = *zkf_client_stopped(at);
    if (!stopped && scene.longest_stop == 0) {
        return;
    }
    zkf_trace("fault: client %d is %s", at, stopped ? "going on" : "stopped");
    zkf_client_stop(at, !stopped);
    sim_stalled(at, !stopped);
    did.stops += !stopped;
}

static void network(void)
{
    int at;
    switch (zkf_below(4)) {
    case 0:
    case 1:
        did.cuts += zkf_cut(some_client(), (enum zkf_cut)zkf_below(3));
        break;
    case 2:
        at = some_client();
        zkf_blackhole(at, true);
        sim_stalled(at, true);
        did.silences++;
        break;
    default:
        for (int i = 0; i < scene.clients; i++) {
            zkf_blackhole(i, false);
            sim_stalled(i, *zkf_client_stopped(i));
        }
        break;
    }
}

/* Restart one server, or all in turn, with another configuration. */
static void change_limits(void)
{
    int64_t least, most;
    some_limits(&least, &most);
    int first = (int)zkf_below(scene.servers);
    int last = zkf_chance(50) ? first : first + scene.servers - 1;
    for (int i = first; i <= last; i++) {
        zkf_limits(i % scene.servers, least, most);
        zkf_crash(i % scene.servers);
    }
}

/* Move a session to another server, with other limits, or cut a client off and kill the leader. */
static void move_or_forget(void)
{
    int at = some_client();
    if (zkf_chance(70)) {
        zkf_direct(at, (int)zkf_below(scene.servers));
        did.moves += zkf_cut(at, ZKF_CUT_ANSWERS);
    } else if (zkf_leader() >= 0) {
        zkf_blackhole(at, true);
        sim_stalled(at, true);
        zkf_crash(zkf_leader());
        did.leaderless++;
    }
}

/*
 * Often, a leader that was cut off is connected again before the other servers have elected another. The writes that
 * only this leader has logged then commit.
 */
static bool heals_soon;

static void cut_off_one(void)
{
    int at = (int)zkf_below(scene.servers);
    heals_soon = at == zkf_leader() && zkf_chance(50);
    if (heals_soon) {
        sim_faults.due = zkf_now() + zkf_below(scene.tick);
    }
    zkf_isolate(at);
    did.isolations++;
}

static void servers(void)
{
    int at = (int)zkf_below(scene.servers);
    if (scene.lags && zkf_chance(30)) {
        did.lags += at != zkf_leader();
        zkf_lag(at, at != zkf_leader());
        return;
    }
    if (zkf_chance(scene.split && !zkf_isolated() ? 0 : 30)) {
        zkf_heal();
    } else if (zkf_chance(75) && scene.isolations) {
        cut_off_one();
    } else {
        zkf_crash((int)zkf_below(scene.servers));
        did.crashes++;
    }
}

static void disaster(void)
{
    if (zkf_chance(25)) {
        sim_excuse_all();
        zkf_wipe();
    } else if (zkf_chance(50)) {
        zkf_restart_all();
    } else {
        int first = (int)zkf_below(scene.servers);
        zkf_crash(first);
        zkf_crash((first + 1) % scene.servers);
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
        (void)zkf_forbid(node->path, sets[zkf_below(3)]);
        return;
    }
    const char *path = zkf_chance(30) ? parents[zkf_below(3)]
                                      : sim_dir((enum sim_dir)zkf_below(BEGUN_DIRS));
    static const unsigned perms[] = {ZKF_READ, ZKF_CREATE, ZKF_DELETE, ZKF_QUOTA,
                                     ZKF_QUOTA};
    (void)zkf_forbid(path, zkf_chance(70) ? perms[zkf_below(5)]
                                          : ZKF_READ | ZKF_CREATE | ZKF_DELETE);
}

/* For a while, the watches of a node, or of a directory and its children, get no event. */
static void lapse(void)
{
    const struct zkf_node *node = some_node();
    zkf_lapse(node && zkf_chance(60) ? node->path
                                     : sim_dir((enum sim_dir)zkf_below(BEGUN_DIRS)));
}

void sim_clean_up(void)
{
    if (scene.forbids) {
        zkf_permit_all();
    }
    (void)sim_end_visits();
}

static void strangers(void)
{
    if (zkf_chance(60)) {
        did.swept += zkf_reap();
    } else {
        /* The delete succeeds only if the directory is empty. */
        (void)zkf_stranger_delete(sim_dir((enum sim_dir)zkf_below(BEGUN_DIRS)));
    }
}

void sim_fault(void *unused)
{
    /* While the servers disagree, a client that changes servers is the most useful test. */
    bool split = zkf_isolated();
    sim_faults.due =
        zkf_now() +
        zkf_below(split ? scene.fault_pace / (scene.split ? 1 : 4) : scene.fault_pace);
    did.faults++;
    if (heals_soon) {
        heals_soon = false;
        zkf_heal();
        return;
    }
    if (scene.grows && zkf_chance(40)) {
        move_or_forget();
        return;
    }
    if (scene.peace) { /* peace allows only this fault */
        permissions();
        return;
    }
    if (sim_remake()) {
        return;
    }
    if (scene.replaces && zkf_chance(15)) {
        (void)sim_end_visits();
    }
    if (scene.visits && zkf_chance(30)) {
        sim_visit();
        return;
    }
    if (scene.resizes && zkf_chance(25)) {
        sim_resize();
    }
    int64_t what = zkf_below(100);
    if (scene.disasters && zkf_chance(15)) {
        disaster();
        return;
    }
    if (scene.forbids && zkf_chance(25)) {
        permissions();
        return;
    }
    if (scene.lapses && zkf_chance(40)) {
        lapse();
        return;
    }
    if (scene.limits && !scene.grows && zkf_chance(30)) {
        change_limits();
        did.crashes++;
        return;
    }
    if (scene.split && zkf_chance(70)) {
        servers();
    } else if (split && zkf_chance(50)) {
        did.cuts += zkf_cut(some_client(), (enum zkf_cut)zkf_below(3));
    } else if (what < 40) {
        network();
    } else if (what < 60) {
        servers();
    } else if (what < 72) {
        stop_one();
    } else if (what < 92 && scene.hands) {
        by_hand();
    } else {
        strangers();
    }
}

void sim_calm(void)
{
    for (int i = 0; i < scene.servers; i++) {
        zkf_lag(i, false);
    }
    zkf_heal();
    heals_soon = false;
    zkf_slow(30 * ZKR__MS);
    zkf_door_faults(NULL);
    zkf_lapse(NULL);
    scene.visits = scene.remakes = scene.replaces = false;
    sim_clean_up();
    for (int i = 0; i < scene.clients; i++) {
        zkf_blackhole(i, false);
        zkf_direct(i, -1);
        zkf_client_stop(i, false);
        sim_stalled(i, false);
    }
    sim_faults.due = ZKR__NEVER;
}
