/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>

#include "sim.h"

char sim_violated[400];
bool sim_beyond;
struct zkf_actor sim_faults;
struct scene scene;
struct process processes[SIM_CLIENTS];
struct sim_did did;
bool sim_quiet, sim_still;

const char *sim_dir(enum sim_dir dir)
{
    static const char *const dirs[] = {[AT_LOCK] = "/a/lock",
                                       [AT_SECOND] = "/b",
                                       [AT_THIRD] = "/a/c",
                                       [AT_RW] = "/rw",
                                       [AT_PERMITS] = "/permits/leases",
                                       [AT_LATCH] = "/latch",
                                       [AT_SELECTOR] = "/selector",
                                       [AT_GATE] = "/permits/locks"};
    return dirs[dir];
}

void sim_violation(const char *format, ...)
{
    if (sim_violated[0] != '\0') {
        return;
    }
    va_list args;
    va_start(args, format);
    (void)vsnprintf(sim_violated, sizeof(sim_violated), format, args);
    va_end(args);
    zkf_trace("VIOLATION: %s", sim_violated);
}

int64_t sim_patience(void)
{
    return 3 * scene.session;
}

bool sim_peace(void)
{
    return scene.peace && !scene.forbids;
}

const char *sim_written(enum sim_dir dir)
{
    static const char *const paths[] = {"/written-a", "/written-b", "/written-c",
                                        "/written-rw"};
    return paths[dir];
}

bool sim_no_thread(void)
{
    return scene.no_threads && !sim_quiet && zkf_chance(20);
}

/* --- choosing --- */

static void choose_world(struct scene *s)
{
    s->clients = 1 + (zkf_chance(85) ? 1 + (int)zkf_below(SIM_CLIENTS - 1) : 0);
    s->servers = zkf_chance(35) ? 1 : 3;
    s->session = 1000 * ZKR__MS * (1 + zkf_below(3));
    s->tick = s->session / (2 + zkf_below(3));
    s->length = s->session / 2 * (1 + zkf_below(6));
    s->pace = s->session / (2 << zkf_below(4));
    s->peace = zkf_chance(25);
    s->fault_pace = s->session / (1 + zkf_below(4));
    s->longest_stop = zkf_chance(40) ? s->session * 2 : 0;
    s->hands = zkf_chance(25);
    s->isolations = s->servers > 1 && zkf_chance(30);
    s->lags = s->servers > 1 && !s->peace && zkf_chance(20);
    s->attempts = zkf_chance(15) ? 3 : 0;
    s->kills = !s->peace && zkf_chance(40);
    s->split = s->servers > 1 && zkf_chance(10);
    s->sit = zkf_chance(25);
    if (s->split) {
        s->sit = s->isolations = true;
        s->kills = s->hands = false;
        s->length = s->session * (3 + zkf_below(3));
        s->pace = s->session / 4;
        s->fault_pace = s->session * 2;
    }
    s->limits = !s->split && !s->peace && zkf_chance(15);
    sim_choose_faults(s);
    if (s->limits) {
        s->sit = true;
        s->tick = s->session / 8;
        s->longest_stop = s->session * 2;
        s->length = s->session * (2 + zkf_below(3));
    }
    s->grows = s->limits && zkf_chance(40);
}

static void choose_recipes(struct scene *s)
{
    s->mutexes = zkf_chance(60);
    s->tickets = zkf_chance(35);
    s->rw = zkf_chance(35);
    s->permits = zkf_chance(25);
    s->multis = zkf_chance(20);
    s->latches = zkf_chance(20);
    s->selectors = zkf_chance(25);
    s->mutexes |= !s->tickets && !s->rw && !s->permits && !s->multis && !s->latches;
}

static void choose_manners(struct scene *s)
{
    static const int64_t switches[] = {0, 2, 5, 10, 25, 50};
    s->turns.switches = switches[zkf_below(6)];
    s->turns.late = zkf_chance(50) ? 0 : zkf_chance(70) ? 3 : 15;
    s->turns.spurious = zkf_chance(70) ? 0 : 3;
    s->apps = 1 + zkf_below(SIM_APPS - 1);
    s->ops = 2 + zkf_below(8);
    s->rush = zkf_chance(25);
    s->timeouts = zkf_chance(60);
    s->tries = zkf_chance(40);
    s->cancels = zkf_chance(25);
    s->shutdowns = zkf_chance(10);
    s->early_ends = zkf_chance(30);
    s->misuse = zkf_chance(40);
    s->no_threads = zkf_chance(4);
    s->reads = s->rw && zkf_chance(60);
    s->rush = s->rush || (s->reads && zkf_chance(60));
    s->wait_on_release = zkf_chance(25);
    s->by_hand = zkf_chance(15);
    s->watch_node = zkf_chance(20);
    s->max = 1 + zkf_below(3);
    s->rounds = zkf_chance(25) ? 2 : 1;
    s->wishes = zkf_chance(25);
    s->writes = zkf_chance(25);
    s->max_waiters = zkf_chance(30) ? 1 + zkf_below(2) : 0;
    if (scene.sit) {
        s->ops *= 2;
    }
}

/*
 * Choose a scene in which reading threads arrive within a tenth of a second of each other, while faults are frequent.
 */
static void crowd_readers(struct scene *s)
{
    if (scene.reads && zkf_chance(60)) {
        scene.apps = SIM_APPS;
        s->pace = 100 * ZKR__MS;
        s->hands = !s->peace;
        s->fault_pace = s->session / 8;
        s->clients = 1 + (int)zkf_below(2);
    }
}

void sim_choose(uint64_t seed, bool trace)
{
    struct zkf_config config = {.seed = seed, .servers = 3, .trace = trace};
    /* The world is begun only for its random numbers, because its settings depend on the scene. */
    zkf_begin(&config);
    scene = (struct scene){.seed = seed};
    choose_world(&scene);
    choose_recipes(&scene);
    choose_manners(&scene);
    crowd_readers(&scene);
    scene.resizes = scene.permits && zkf_chance(40);
    scene.counting = (enum zkf_counting)(seed / 5 % 6 > 2 ? 0 : 1 + seed / 5 % 6);
    scene.lacks = !scene.peace && seed / 23 % 8 == 6 ? (unsigned)(1 + seed % 7) : 0;
    scene.look_ahead = seed % 4 == 3 ? -1 : seed % 4 > 0;
    scene.renews = seed / 17 % 5 == 0 && !scene.limits;
    scene.guarded = seed / 11 % 3 == 0;
    scene.exits = seed / 13 % 6 == 0;
    scene.nearby = seed / 29 % 3 == 1;
    bool keeps = seed % 5 < 2 && !scene.wait_on_release;
    scene.keep_ms =
        keeps ? 1 + (int64_t)(seed / 5 % 8) * scene.session / 4 / ZKR__MS : 0;
    if (scene.nearby) { /* otherwise few of the processes have news for each other */
        scene.clients += scene.clients == 1;
        scene.mutexes = true;
        scene.keep_ms = seed % 2 == 0 ? 0 : scene.keep_ms;
        scene.rush = scene.rush || seed % 4 < 2;
    }
    zkf_end();
    config.servers = scene.servers;
    config.tick = scene.tick;
    config.epoch = scene.epoch;
    config.patience = scene.session * 2;
    config.slow = scene.peace ? 30 * ZKR__MS : scene.session / 20;
    config.stalls = !scene.peace;
    config.exists_asks = seed / 3 % 2 == 0;
    config.hushes = scene.lapses || seed / 7 % 2 == 0;
    config.finds_first = seed / 17 % 4 == 0;
    config.counting = scene.counting;
    config.lacks = scene.lacks;
    config.renews = scene.renews;
    config.seed = ~seed;
    config.hooks = (struct zkf_hooks){.act = sim_act,
                                      .on_submit = sim_on_submit,
                                      .on_deleting = sim_on_deleting,
                                      .on_shortened = sim_on_shortened,
                                      .on_expired = sim_on_expired,
                                      .may_hide = sim_may_hide,
                                      .wait = sim_stand};
    zkf_begin(&config);
    sim_begin_faults();
    for (int dir = AT_LOCK; dir <= AT_RW; dir++) {
        (void)zkf_stranger_create(sim_written((enum sim_dir)dir), false);
    }
}
