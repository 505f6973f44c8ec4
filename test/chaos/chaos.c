/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chaos [--seconds N] [--seed S] [--keep] [--nemesis KIND,...] [--plan | --rate R [--margin PPM]]: six processes
 * contend for locks while a nemesis injects faults into a real ensemble. Afterwards checkers judge the history. Exit
 * status: 0 if there is no violation; 1 if there are violations (the history is then kept, as with --keep); 64 on wrong
 * usage; 128 + N if signal N ended the run. --plan only prints the faults. --rate selects the run of clocks.h instead.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "clean.h"
#include "clocks.h"
#include "contender.h"
#include "fourlw.h"
#include "history.h"
#include "nemesis.h"
#include "raw.h"
#include "report.h"
#include "stage.h"
#include "util.h"

enum { DEFAULT_S = 60, CLEAN_MS = 30000 };

struct run {
    int64_t seconds;
    bool keep;
    const char *nemesis;
    zkc_stage stage;
    struct zkc_progress progress;
    struct zkc_expected expected;
    struct zkc_verdict verdict;
    zkc_store_reply store[ZKC_PATHS];
    const char *stuck; /* why the run could not go on, or NULL */
    int spoiled;       /* servers that log that their data is inconsistent */
    char left[512];    /* what the clients left on the servers */
};

static void on_signal(int number)
{
    zkc_signaled = number;
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    const struct sigaction caught = {.sa_handler = on_signal};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        (void)sigaction(numbers[i], &caught, NULL);
    }
    (void)signal(SIGPIPE, SIG_IGN);
}

/* ---- the run ------------------------------------------------------------------------ */

/* Returns the kinds of faults that must take effect and have not done so yet. */
static zkc_kinds missing(const struct run *run)
{
    return zkc_is_each_expected(&run->expected)
               ? run->expected.kinds & ~run->progress.took
               : 0;
}

/* A fault may find no process that it affects. Retry such faults at the end, in some more rounds. */
static void strike_until(struct run *run, int64_t end)
{
    enum { ROUNDS = 5 };
    zkc_stage *s = &run->stage;
    zkc_plan plan;
    zkc_plan_begin(&plan, s->seed, run->expected.kinds);
    for (int left = ROUNDS * plan.kinds; zkc_signaled == 0;) {
        const bool over = zkt_now_ms() >= end;
        if (over && (missing(run) == 0 || left-- == 0)) {
            return;
        }
        const zkc_fault fault = zkc_plan_next(&plan);
        if (over && !zkc_has_kind(missing(run), (int)fault.kind)) {
            continue;
        }
        zkc_progress_say(&run->progress, zkc_fault_name((int)fault.kind));
        if (!zkc_nemesis_strike(s, &fault)) {
            run->stuck = "the servers do not serve again after a fault";
            return;
        }
        run->progress.doing = "-";
        (void)zkc_stage_pass(s, fault.rest_ms);
    }
}

static void read_store(struct run *run)
{
    char socket[256];
    int fd = zkc_store_connect(
        zkc_stage_file(&run->stage, ZKC_STORE_FILE, socket, sizeof socket));
    for (int path = 0; path < ZKC_PATHS; path++) {
        const zkc_store_request ask = {.op = ZKC_STATUS, .path = path};
        if (fd < 0 || !zkc_store_ask(fd, &ask, &run->store[path])) {
            run->stuck = "the store does not answer";
        }
        run->expected.paths[path].store_value = run->store[path].value;
        run->expected.paths[path].store_writes = run->store[path].writes;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

static void read_counters(struct run *run)
{
    const char *hosts = zkt_ensemble_hosts(run->stage.ensemble);
    for (int i = 0; i < ZKC_PATHS; i++) {
        char path[64];
        char text[32] = "";
        (void)snprintf(path, sizeof path, "%s/%d", ZKC_COUNTERS, i);
        if (zkt_get(hosts, path, text, sizeof text, NULL) != ZKT_OK) {
            run->stuck = "a counter cannot be read";
        }
        run->expected.paths[i].counter = strtoll(text, NULL, 10);
    }
}

/* Returns whether the clients have left nothing on the servers. Otherwise run->left describes the leftovers. */
static bool servers_clean(struct run *run)
{
    static const char *const queues[] = {"0", "1", "2", "3", "4/locks", "4/leases"};
    const char *hosts = zkt_ensemble_hosts(run->stage.ensemble);
    int children = 0;
    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "%s/%s", ZKC_LOCKS, queues[i]);
        int n = zkt_children_count(hosts, path);
        children = n < 0 || children < 0 ? -1 : children + n;
    }
    const int64_t watches = zkt_watch_count(hosts);
    const int64_t owned = zkt_ephemerals(hosts);
    (void)snprintf(run->left, sizeof run->left,
                   "children %d, watches %" PRId64 ", ephemeral nodes %" PRId64,
                   children, watches, owned);
    return children == 0 && watches == 0 && owned == 0;
}

static void expect_clean_servers(struct run *run)
{
    const int64_t end = zkt_now_ms() + CLEAN_MS;
    while (!servers_clean(run)) {
        if (zkt_now_ms() >= end || !zkc_stage_pass(&run->stage, 50)) {
            return;
        }
    }
    run->left[0] = '\0';
}

static void perform(struct run *run)
{
    zkc_stage *s = &run->stage;
    run->progress.history = s->history;
    run->progress.started = zkt_now_ms();
    s->each_tick = zkc_progress_tick;
    s->each_tick_ctx = &run->progress;
    zkc_progress_say(&run->progress, "clients start");
    zkc_stage_start_clients(s);
    (void)zkc_stage_pass(s, 1500);
    strike_until(run, zkt_now_ms() + run->seconds * 1000);
    if (run->stuck == NULL && zkc_signaled == 0) {
        zkc_progress_say(&run->progress, "calm: everybody once more");
        if (!zkc_stage_calm(s, ZKC_CALM_MS)) {
            run->stuck = "clients do not end after the nemesis has stopped";
        }
    }
    if (run->stuck == NULL && zkc_signaled == 0) {
        read_store(run);
        read_counters(run);
        run->expected.ended = run->stuck == NULL;
        expect_clean_servers(run);
    }
    s->each_tick = NULL;
    for (int i = 0; i < ZKC_SERVERS; i++) {
        run->spoiled += zkt_server_log_says(zkt_ensemble_server(s->ensemble, i),
                                            "Digests are not matching");
    }
}

/* ---- the verdict -------------------------------------------------------------------- */

static void judge(struct run *run)
{
    char file[256];
    char why[512];
    size_t n;
    zkc_stage_file(&run->stage, ZKC_HISTORY_FILE, file, sizeof file);
    zkc_record *all = zkc_history_load(file, &n);
    if (all == NULL) {
        zkt_fail("%s cannot be read", file);
    }
    zkc_check(all, n, &run->expected, &run->verdict);
    zkc_stage_file(&run->stage, ZKC_TOLD_FILE, file, sizeof file);
    if (!zkc_history_tell(file, all, n, &run->expected)) {
        zkt_fail("%s cannot be written", file);
    }
    free(all);
    if (!zkc_history_judge(file, &run->verdict)) {
        (void)fprintf(stderr, "chaos: no judge of who held what: %s needs Go\n",
                      ZKT_JUDGE);
    }
    if (run->stuck != NULL) {
        zkc_bad_add(&run->verdict, ZKC_BAD_STARVED, "%s", run->stuck);
    }
    if (run->left[0] != '\0') {
        zkc_bad_add(&run->verdict, ZKC_BAD_LEFT_OVER, "%.150s", run->left);
    }
    if (run->stage.crashed > 0) {
        zkc_bad_add(&run->verdict, ZKC_BAD_CRASHED, "%s", run->stage.crash);
    }
    if (!zkt_is_clean(NULL, NULL, why, sizeof why)) {
        zkc_bad_add(&run->verdict, ZKC_BAD_LEFT_OVER, "%.150s", why);
    }
}

static int conclude(struct run *run)
{
    zkc_stage_end(&run->stage);
    int status = zkc_signaled != 0 ? 128 + zkc_signaled : 0;
    if (status == 0) {
        judge(run);
        const struct zkc_outcome_text text = {.seed = run->stage.seed,
                                              .seconds = run->seconds,
                                              .kinds = run->expected.kinds,
                                              .nemesis = run->nemesis,
                                              .verdict = &run->verdict,
                                              .store = run->store};
        zkc_report(&text);
        status = zkc_bad_count(&run->verdict) > 0;
        if (status != 0 && run->spoiled > 0) {
            (void)printf("note: %d servers say that their data is spoiled; the fault "
                         "may be theirs, see "
                         "test/chaos/README.md\n",
                         run->spoiled);
        }
        if (status != 0 || run->keep) {
            zkc_stage_keep(&run->stage, ZKC_HISTORY_FILE);
            zkc_stage_keep(&run->stage, ZKC_TOLD_FILE);
            zkc_stage_keep(&run->stage, ZKC_OUTPUT_FILE);
        }
    }
    zkc_stage_remove_dir(&run->stage);
    return status;
}

/* ---- command line ------------------------------------------------------------------- */

static bool to_number(const char *text, uint64_t *out)
{
    char *end = NULL;
    errno = 0;
    *out = text != NULL ? strtoull(text, &end, 10) : 0;
    return text != NULL && *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

static int usage(void)
{
    (void)fprintf(stderr, "usage: chaos [--seconds N] [--seed S] [--keep] "
                          "[--nemesis KIND,...]\n"
                          "             [--plan | --rate R [--margin PPM]]\n");
    return 64;
}

struct asked {
    uint64_t seconds, seed, margin;
    const char *rate;
    zkc_kinds kinds;
    const char *nemesis;
    bool plan, keep;
};

static int run_chaos(const struct asked *a)
{
    static struct run run;
    run.keep = a->keep;
    run.seconds = (int64_t)a->seconds;
    run.expected = (struct zkc_expected){
        .seconds = run.seconds, .kinds = a->kinds, .each = a->nemesis != NULL};
    run.nemesis = a->nemesis;
    (void)fprintf(stderr, "chaos: seed %" PRIu64 ", %" PRId64 " s; starting servers\n",
                  a->seed, run.seconds);
    zkc_stage_open(&run.stage, a->seed, a->kinds);
    perform(&run);
    return conclude(&run);
}

/* Prints what a run with this seed does, for as many faults as fit into the run. */
static int show_plan(const struct asked *a)
{
    zkc_plan plan;
    zkc_plan_begin(&plan, a->seed, a->kinds);
    for (int64_t ms = 0; ms < (int64_t)a->seconds * 1000;) {
        const zkc_fault f = zkc_plan_next(&plan);
        (void)printf("%-40s %5" PRId64 " ms  who %10" PRIu32 "  how %10" PRIu32
                     "  then %4" PRId64 " ms\n",
                     zkc_fault_name((int)f.kind), f.span_ms, f.who, f.how, f.rest_ms);
        ms += f.rest_ms + (f.kind == ZKC_PARENT_DELETED || f.kind == ZKC_HOLDER_DELETED
                               ? 0
                               : f.span_ms);
    }
    return 0;
}

static int client_main(char **argv)
{
    uint64_t index = 0;
    uint64_t life = 0;
    struct zkc_client_args args = {.dir = argv[0], .servers = argv[1]};
    if (!to_number(argv[2], &index) || !to_number(argv[3], &life) ||
        !to_number(argv[4], &args.seed)) {
        return usage();
    }
    args.index = (int)index;
    args.life = (int)life;
    return zkc_client_run(&args);
}

static bool read_arguments(char **argv, struct asked *a)
{
    for (; *argv != NULL; argv++) {
        const bool last = argv[1] == NULL;
        if (strcmp(*argv, "--seconds") == 0 && to_number(argv[1], &a->seconds) &&
            a->seconds > 0 && a->seconds <= 1000000) {
            argv++;
        } else if (strcmp(*argv, "--seed") == 0 && to_number(argv[1], &a->seed)) {
            argv++;
        } else if (strcmp(*argv, "--rate") == 0 && !last && zkc_is_rate(argv[1])) {
            a->rate = *++argv;
        } else if (strcmp(*argv, "--margin") == 0 && to_number(argv[1], &a->margin) &&
                   a->margin < 1000000) {
            argv++;
        } else if (strcmp(*argv, "--nemesis") == 0 && !last &&
                   zkc_kinds_read(argv[1], &a->kinds)) {
            a->nemesis = *++argv;
        } else if (strcmp(*argv, "--plan") == 0) {
            a->plan = true;
        } else if (strcmp(*argv, "--keep") == 0) {
            a->keep = true;
        } else {
            return false;
        }
    }
    return a->rate == NULL ? a->margin == 0 : !a->plan && a->nemesis == NULL;
}

int main(int argc, char **argv)
{
    struct asked a = {.seconds = DEFAULT_S,
                      .seed = (uint64_t)zkc_now() / 1000 % 1000000000,
                      .kinds = ZKC_USUAL};
    (void)setenv("ZKR_GUARDIAN_PATH", ZKT_GUARDIAN, 0);
    if (argc == 7 && strcmp(argv[1], "client") == 0) {
        (void)prctl(PR_SET_NAME, "chaos client"); /* ps would say "exe" */
        return client_main(argv + 2);
    }
    if (argc == 3 && strcmp(argv[1], "store") == 0) {
        (void)prctl(PR_SET_NAME, "chaos store");
        return zkc_store_serve(argv[2]);
    }
    if (argc == 7 && strcmp(argv[1], "contender") == 0) {
        (void)prctl(PR_SET_NAME, "chaos contender");
        return zkc_contender_run(argv + 2);
    }
    if (!read_arguments(argv + 1, &a)) {
        return usage();
    }
    if (a.plan) {
        return show_plan(&a);
    }
    catch_signals();
    zkt_baseline();
    const struct zkc_clocks clocks = {.rate = a.rate,
                                      .margin_ppm = (int64_t)a.margin,
                                      .seconds = (int64_t)a.seconds,
                                      .seed = a.seed,
                                      .keep = a.keep};
    return a.rate != NULL ? zkc_clocks_run(&clocks) : run_chaos(&a);
}
