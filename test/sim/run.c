/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "sim.h"

static int64_t last_now;

/* Count the time for which a fault keeps a client stopped. */
static void count_stops(void)
{
    static bool stopped[SIM_CLIENTS];
    int64_t passed = zkf_now() - last_now;
    last_now = zkf_now();
    for (int i = 0; i < scene.clients; i++) {
        processes[i].stopped += stopped[i] ? passed : 0;
        stopped[i] = *zkf_client_stopped(i);
    }
}

/* Detect threads that loop without any progress of time. */
static void check_progress(void)
{
    enum { AT_ONCE = 5000 };
    static long since;
    static int64_t at;
    if (zkf_now() != at || did.steps < since) {
        at = zkf_now();
        since = did.steps;
    } else if (did.steps > since + AT_ONCE) {
        (void)sim_threads_left(true);
        sim_violation("%d steps, and no time has passed", AT_ONCE);
    }
}

static bool step(int64_t end)
{
    if (!zkf_step(end)) {
        return false;
    }
    check_progress();
    count_stops();
    did.steps++;
    sim_check();
    return sim_violated[0] == '\0';
}

static bool is_over(void)
{
    return sim_threads_left(false) == 0;
}

static void report_stuck(void)
{
    const struct sim_thread *t = sim_stuck();
    (void)sim_threads_left(true);
    if (t) {
        sim_violation(
            "thread %s of client %d waits for %s for ever, %d threads are left",
            t->name, t->client, sim_wait_name(t->wait), sim_threads_left(false));
    } else {
        sim_violation("%d threads never end", sim_threads_left(false));
    }
}

/* Check that without faults, all threads end in bounded time. */
static void finish(void)
{
    count_stops();
    sim_calm();
    sim_threads_calm();
    int64_t end = zkf_now() + sim_patience() + scene.session;
    sim_still = scene.seed % 4 == 0 && !scene.peace;
    while (sim_still && !is_over() && step(end)) {
    }
    sim_still = false;
    sim_quiet = true;
    end = zkf_now() + 60 * scene.session;
    while (!is_over() && step(end)) {
        sim_resize_enough();
        sim_clean_up();
    }
    if (!is_over() && sim_violated[0] == '\0') {
        report_stuck();
    }
    end = zkf_now() + 20 * scene.session;
    while ((!sim_end_visits() || zkf_session_count() > 0 || zkf_watch_count() > 0) &&
           step(end)) {
    }
    for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
        if (n->owner != 0) {
            sim_violation("%s is left", n->path);
        }
    }
    if (zkf_session_count() > 0 || zkf_watch_count() > 0) {
        sim_violation("%zu sessions and %zu watches are left", zkf_session_count(),
                      zkf_watch_count());
    }
}

static void check_memory(long before)
{
    if (sim_violated[0] == '\0' && sim_blocks() != before) {
        sim_violation("%ld blocks of memory are left", sim_blocks() - before);
    }
}

bool sim_run(uint64_t seed, bool trace)
{
    long blocks = sim_blocks();
    sim_violated[0] = '\0';
    memset(processes, 0, sizeof(processes));
    sim_quiet = sim_still = false;
    sim_choose(seed, trace);
    sim_habits_begin();
    sim_threads_begin(&scene.turns);
    sim_check_begin();
    sim_guardian_begin();
    sim_nearby_begin();
    sim_history_begin();
    last_now = zkf_now();
    count_stops();
    for (int i = 0; i < scene.clients; i++) {
        sim_process_start(i);
    }
    int64_t first = zkf_now() + zkf_below(scene.fault_pace);
    sim_faults = (struct zkf_actor){
        .due = scene.peace && !scene.forbids ? ZKR__NEVER : first, .act = sim_fault};
    zkf_actor_add(&sim_faults);
    int64_t end = zkf_now() + scene.length;
    while (!is_over() && step(end)) {
    }
    if (sim_violated[0] == '\0') {
        finish();
    }
    sim_habits_end();
    sim_threads_end();
    check_memory(blocks);
    zkf_forget();
    zkf_end();
    return sim_violated[0] == '\0';
}
