/* SPDX-License-Identifier: Apache-2.0 */
#include "clocks.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bad_host.h"
#include "clean.h"
#include "contender.h"
#include "fourlw.h"
#include "history.h"
#include "raw.h"
#include "report.h"
#include "stage.h"
#include "util.h"

/* Each path has two contenders. Each contender reaches one server, through its own proxy. */
enum { LANES = ZKC_PATHS, SIDES = 2, SKEWED = ZKC_SERVERS - 1 };
enum { PATIENCE_MS = 90000, MEASURE_MS = 300000, STEP_MS = 20, TRIES = 10 };

#define S(ns) ((double)(ns) / 1e9)

struct lane {
    zkt_proxy *proxy[SIDES];
    pid_t pid[SIDES];
    int holder;     /* the contender that holds; -1: neither has held yet */
    int64_t grants; /* grants since the last fault */
};

/* Since @begun, the clock of the leader has run at a rate between @least and @most. */
struct measure {
    int64_t uptime_ms, begun[2]; /* the uptime shown between these two times */
    double least, most;
};

struct run {
    const struct zkc_clocks *o;
    zkc_stage stage;
    struct lane lanes[LANES];
    size_t read; /* number of records read so far */
    struct measure measure;
    int walls;            /* how often a wall clock that had jumped was read */
    int64_t cut, stopped; /* hand-overs after a cut or a stop of the holder */
    struct zkc_gaps gaps;
    const char *stuck;
    struct zkc_verdict verdict;
};

bool zkc_is_rate(const char *text)
{
    const size_t n = strspn(text, "0123456789.");
    const double rate = strtod(text, NULL);
    return text[n] == '\0' && n < 16 && rate >= 0.5 && rate <= 2;
}

/* ---- servers ------------------------------------------------------------------------- */

static zkt_server *server(const struct run *run, int index)
{
    return zkt_ensemble_server(run->stage.ensemble, index);
}

static bool wait_leader(struct run *run)
{
    return zkc_stage_wait_leader(&run->stage, PATIENCE_MS) >= 0;
}

static void restart(struct run *run, int index)
{
    zkc_stage_kill(server(run, index));
    zkt_server_launch(server(run, index));
}

/* Among servers with the same log, ZooKeeper elects the one with the highest number. */
static bool make_leader(struct run *run)
{
    for (int i = 0; i < TRIES; i++) {
        const int leader = zkc_stage_wait_leader(&run->stage, PATIENCE_MS);
        if (leader == SKEWED || leader < 0) {
            return leader == SKEWED;
        }
        zkc_stage_kill(server(run, leader));
        (void)zkt_ensemble_wait(run->stage.ensemble, PATIENCE_MS);
        zkt_server_launch(server(run, leader));
    }
    return false;
}

static bool start_servers(struct run *run)
{
    const zkt_server_options o = {.tick_ms = ZKC_CLOCKS_TICK_MS,
                                  .max_session_ms = 3 * ZKC_CLOCKS_SESSION_MS,
                                  .sync_limit = 40};
    run->stage.ensemble = zkt_ensemble_start(ZKC_SERVERS, &o);
    if (!zkt_bad_clock(zkt_server_dir(server(run, SKEWED)), run->o->rate)) {
        run->stuck = "no libfaketime";
        return false;
    }
    for (int i = 0; i < SKEWED; i++) {
        run->stage.hosts[i] = zkt_bad_host(zkt_server_dir(server(run, i)));
    }
    restart(run, SKEWED);
    if (!wait_leader(run) || !make_leader(run)) {
        run->stuck = "the server whose clock is off does not lead";
    }
    return run->stuck == NULL;
}

/* Steps the wall clocks of the contenders and of the servers other than the leader. These clocks must not matter. */
static void step_walls(struct run *run, long long ahead_s)
{
    for (int i = 0; i < SKEWED; i++) {
        atomic_store(&run->stage.hosts[i]->wall_s, ahead_s);
    }
    atomic_store(&run->stage.control->wall_s, ahead_s);
}

/* ---- the leader's clock -------------------------------------------------------------- */

/*
 * Returns the uptime of the leader, or -1 if there is no answer. The uptime was read between the two times in @between.
 */
static int64_t ask_uptime(struct run *run, int64_t between[2])
{
    enum { CLOSE_NS = 1000000 };
    int64_t best = -1;
    between[0] = between[1] = zkc_now();
    for (int i = 0; i < TRIES && (best < 0 || between[1] - between[0] > CLOSE_NS);
         i++) {
        const int64_t before = zkc_now();
        const int64_t shown =
            zkt_mntr(zkt_server_host(server(run, SKEWED)), "zk_uptime");
        const int64_t after = zkc_now();
        if (shown >= 0 && (best < 0 || after - before < between[1] - between[0])) {
            best = shown;
            between[0] = before;
            between[1] = after;
        }
        (void)zkc_stage_pass(&run->stage, 0);
    }
    return best;
}

static void begin_measure(struct run *run)
{
    run->measure = (struct measure){.least = 0, .most = 10};
    run->measure.uptime_ms = ask_uptime(run, run->measure.begun);
}

/*
 * The server truncates its uptime to milliseconds. The uptime restarts when the server loses the lead and leads again:
 * a measurement that is far off is void.
 */
static void measure(struct run *run)
{
    static const double far = 0.01;
    const double rate = strtod(run->o->rate, NULL);
    struct measure *m = &run->measure;
    int64_t now[2];
    const double ms = (double)(ask_uptime(run, now) - m->uptime_ms);
    const double least = (ms - 1) * 1e6 / (double)(now[1] - m->begun[0]);
    const double most = (ms + 1) * 1e6 / (double)(now[0] - m->begun[1]);
    if (m->uptime_ms < 0 || rate < least - far || rate > most + far) {
        begin_measure(run);
        return;
    }
    m->least = least > m->least ? least : m->least;
    m->most = most < m->most ? most : m->most;
}

/* Returns whether the clock is known to run at the wanted rate, and not at the rate of this machine's clock. */
static bool is_measured(const struct run *run)
{
    static const double fault = 1e-4; /* possible error of both clocks */
    const double rate = strtod(run->o->rate, NULL);
    const struct measure *m = &run->measure;
    return rate >= m->least - fault && rate <= m->most + fault &&
           (rate == 1 || m->least > 1 || m->most < 1);
}

/* Measures until the rate is known. On a busy machine the answers, and therefore the measurement, take long. */
static void measure_on(struct run *run)
{
    const int64_t end = zkt_now_ms() + MEASURE_MS;
    do {
        measure(run);
    } while (!is_measured(run) && zkt_now_ms() < end &&
             zkc_stage_pass(&run->stage, 1000));
}

/* ---- contenders ---------------------------------------------------------------------- */

static void start_contender(struct run *run, int index, int side)
{
    struct lane *l = &run->lanes[index];
    char path[8];
    char process[8];
    char margin[24];
    (void)snprintf(path, sizeof path, "%d", index);
    (void)snprintf(process, sizeof process, "%d", SIDES * index + side);
    (void)snprintf(margin, sizeof margin, "%" PRId64, run->o->margin_ppm);
    l->proxy[side] = zkt_proxy_start(zkt_server_host(server(run, index % ZKC_SERVERS)));
    const char *const argv[] = {
        "chaos", "contender", run->stage.dir, zkt_proxy_host(l->proxy[side]),
        path,    process,     margin,         NULL};
    l->pid[side] = zkc_stage_spawn(&run->stage, argv);
}

static void start_contenders(struct run *run)
{
    for (int i = 0; i < LANES * SIDES; i++) {
        run->lanes[i / SIDES].holder = -1;
        start_contender(run, i / SIDES, i % SIDES);
    }
}

static void end_contenders(struct run *run)
{
    for (int i = 0; i < LANES * SIDES; i++) {
        struct lane *l = &run->lanes[i / SIDES];
        zkc_stage_end_process(&l->pid[i % SIDES]);
        zkt_proxy_stop(l->proxy[i % SIDES]);
    }
}

/* Reads the new records, and updates which contender holds each lock. */
static void look(struct run *run)
{
    zkc_record r;
    while (zkc_history_read(run->stage.history, &run->read, &r, 1) == 1) {
        if (r.kind == ZKC_GRANT && r.path < LANES) {
            run->lanes[r.path].holder = r.process % SIDES;
            run->lanes[r.path].grants++;
        }
    }
}

static int queued(const struct run *run, int index)
{
    char path[32];
    (void)snprintf(path, sizeof path, ZKC_CLOCKS_PATH "/%d", index);
    return zkt_children_count(zkt_server_host(server(run, 0)), path);
}

/* Waits until one contender holds on each path and the other waits. */
static bool wait_ready(struct run *run)
{
    const int64_t end = zkt_now_ms() + PATIENCE_MS;
    for (int i = 0; i < LANES; i++) {
        while (run->lanes[i].holder < 0 || queued(run, i) != SIDES) {
            if (!zkc_stage_pass(&run->stage, STEP_MS) || zkt_now_ms() >= end) {
                run->stuck = "contenders do not queue up";
                return false;
            }
            look(run);
        }
    }
    return true;
}

/* ---- faults -------------------------------------------------------------------------- */

/* Hits the holders of all paths: by turns cuts one off and stops the process of the next. */
static bool strike(struct run *run, uint64_t *random, int struck[LANES])
{
    for (int i = 0; i < LANES; i++) {
        static const long long steps[LANES] = {3600, -3600, 2, -2, 86400, -60};
        struct lane *l = &run->lanes[i];
        step_walls(run, steps[i]);
        if (!zkc_stage_pass(&run->stage, zkc_between(random, 0, ZKC_CLOCKS_TICK_MS))) {
            return false;
        }
        struck[i] = l->holder;
        l->grants = 0;
        if (i % 2 == 0) {
            zkt_proxy_blackhole(l->proxy[l->holder]);
        } else {
            (void)kill(l->pid[l->holder], SIGSTOP);
        }
    }
    return true;
}

/* The stopped holders continue as soon as the next contender holds. */
static bool wait_next(struct run *run, const int struck[LANES])
{
    const int64_t end = zkt_now_ms() + PATIENCE_MS;
    bool over[LANES] = {false};
    for (int left = LANES; left > 0;) {
        if (!zkc_stage_pass(&run->stage, 0) || zkt_now_ms() >= end) {
            run->stuck = "nobody holds behind one that was cut off or stopped";
            return false;
        }
        look(run);
        for (int i = 0; i < LANES; i++) {
            struct lane *l = &run->lanes[i];
            if (!over[i] && l->grants > 0) {
                over[i] = true;
                left--;
                (void)kill(l->pid[struck[i]], SIGCONT);
                *(i % 2 == 0 ? &run->cut : &run->stopped) += l->holder != struck[i];
            }
        }
    }
    return true;
}

static void heal(struct run *run)
{
    for (int i = 0; i < LANES * SIDES; i++) {
        zkt_proxy_heal(run->lanes[i / SIDES].proxy[i % SIDES]);
        (void)kill(run->lanes[i / SIDES].pid[i % SIDES], SIGCONT);
    }
}

/*
 * Returns false if the server lost the lead, as on a machine that is too busy. The measurement is then void; the server
 * is made leader again.
 */
static bool still_leads(struct run *run)
{
    if (zkt_mode_within(zkt_server_host(server(run, SKEWED)), PATIENCE_MS) ==
        ZKT_MODE_LEADER) {
        return true;
    }
    if (!make_leader(run)) {
        run->stuck = "the server whose clock is off does not lead again";
    }
    return false;
}

static void rounds(struct run *run)
{
    const int64_t end = zkt_now_ms() + run->o->seconds * 1000;
    const int64_t begun = zkt_now_ms();
    uint64_t random = run->o->seed;
    int struck[LANES];
    begin_measure(run);
    do {
        /* Wait until the leases rest on three writes, and no longer on the beginning of a session. */
        if (!wait_ready(run) ||
            !zkc_stage_pass(&run->stage, ZKC_CLOCKS_SESSION_MS / 8) ||
            !strike(run, &random, struck) || !wait_next(run, struck) ||
            !zkc_stage_pass(&run->stage, 500)) {
            return;
        }
        heal(run);
        step_walls(run, 0);
        if (still_leads(run)) {
            measure(run);
        } else {
            begin_measure(run);
        }
        (void)fprintf(stderr,
                      "chaos: %5.1f s  cut off %" PRId64 ", stopped %" PRId64 "\n",
                      (double)(zkt_now_ms() - begun) / 1000, run->cut, run->stopped);
    } while (run->stuck == NULL && zkc_signaled == 0 && zkt_now_ms() < end);
    measure_on(run);
}

/* ---- the verdict --------------------------------------------------------------------- */

static void judge_history(struct run *run)
{
    const struct zkc_expected expected = {.seconds = run->o->seconds};
    char file[256];
    size_t n;
    size_t count = 0;
    zkc_stage_file(&run->stage, ZKC_HISTORY_FILE, file, sizeof file);
    zkc_record *all = zkc_history_load(file, &n);
    zkc_hold *holds = all != NULL ? zkc_holds(all, n, &count) : NULL;
    if (holds == NULL) {
        zkt_fail("%s cannot be read", file);
    }
    qsort(holds, count, sizeof *holds, zkc_hold_by_time);
    run->gaps = zkc_gaps(holds, count, &run->verdict);
    zkc_stage_file(&run->stage, ZKC_TOLD_FILE, file, sizeof file);
    if (!zkc_history_tell(file, all, n, &expected)) {
        zkt_fail("%s cannot be written", file);
    }
    free(holds);
    free(all);
    (void)zkc_history_judge(file, &run->verdict);
}

/* A run in which the clock did not deviate proves nothing. */
static void judge_clock(struct run *run)
{
    if (!is_measured(run)) {
        zkc_bad_add(&run->verdict, ZKC_BAD_NO_MOVES,
                    "the leader's clock ran at %.5f to %.5f", run->measure.least,
                    run->measure.most);
    }
    if (run->cut == 0 || run->stopped == 0) {
        zkc_bad_add(&run->verdict, ZKC_BAD_NO_MOVES, "nobody was cut off, or stopped");
    }
    if (run->walls == 0) {
        zkc_bad_add(&run->verdict, ZKC_BAD_NO_MOVES, "no wall clock jumped");
    }
}

static void report(const struct run *run)
{
    const struct zkc_clocks *o = run->o;
    (void)printf("\n./run chaos --rate %s --margin %" PRId64 " --seconds %" PRId64
                 " --seed %" PRIu64 "\n\n",
                 o->rate, o->margin_ppm, o->seconds, o->seed);
    (void)printf("| %-56s | %10s |\n|---|---|\n", "", "");
    (void)printf("| %-56s | %10.5f |\n", "the leader's clock ran at least at",
                 run->measure.least);
    (void)printf("| %-56s | %10.5f |\n", "and at most at", run->measure.most);
    (void)printf("| %-56s | %10" PRId64 " |\n",
                 "locks that changed hands: holder cut off", run->cut);
    (void)printf("| %-56s | %10" PRId64 " |\n", "holder stopped until then",
                 run->stopped);
    (void)printf("| %-56s | %10d |\n", "reads of a wall clock that had jumped",
                 run->walls);
    (void)printf("| %-56s | %8.3f s |\n",
                 "from the end of a claim to the next hold, shortest",
                 S(run->gaps.shortest));
    (void)printf("| %-56s | %8.3f s |\n", "longest", S(run->gaps.longest));
    (void)printf("| %-56s | %10" PRId64 " |\n", "both believed to hold",
                 run->gaps.both);
    zkc_report_bad(&run->verdict);
    (void)fflush(stdout);
}

static int conclude(struct run *run)
{
    char why[512];
    end_contenders(run);
    run->walls = atomic_load(&run->stage.control->told);
    zkc_stage_end(&run->stage);
    int status = zkc_signaled != 0 ? 128 + zkc_signaled : 0;
    if (status == 0) {
        judge_history(run);
        judge_clock(run);
        if (run->stuck != NULL) {
            zkc_bad_add(&run->verdict, ZKC_BAD_STARVED, "%s", run->stuck);
        }
        if (!zkt_is_clean(NULL, NULL, why, sizeof why)) {
            zkc_bad_add(&run->verdict, ZKC_BAD_LEFT_OVER, "%.150s", why);
        }
        report(run);
        status = zkc_bad_count(&run->verdict) > 0;
        if (status != 0 || run->o->keep) {
            zkc_stage_keep(&run->stage, ZKC_TOLD_FILE);
            zkc_stage_keep(&run->stage, ZKC_OUTPUT_FILE);
        }
    }
    zkc_stage_remove_dir(&run->stage);
    return status;
}

int zkc_clocks_run(const struct zkc_clocks *o)
{
    static struct run run;
    run.o = o;
    (void)fprintf(stderr,
                  "chaos: seed %" PRIu64 ", %" PRId64 " s, the leader's clock at %s\n",
                  o->seed, o->seconds, o->rate);
    zkc_stage_begin(&run.stage, o->seed);
    if (start_servers(&run)) {
        start_contenders(&run);
        rounds(&run);
    }
    return conclude(&run);
}
