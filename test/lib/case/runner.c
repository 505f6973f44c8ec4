/* SPDX-License-Identifier: Apache-2.0 */
#include "runner.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clean.h"
#include "server.h"
#include "stack.h"

enum { SKIPPED = 77, USAGE = 64, GRACE_MS = 5000, CASE_SECONDS = 300 };

struct outcome {
    int64_t ms;
    int seconds; /* the time limit */
    bool late;
    int status; /* as returned by waitpid() */
};

static struct {
    bool in_process;
    size_t passed;
    size_t skipped;
    size_t failed;
} run;

_Noreturn void zkt_skip(const char *why)
{
    (void)printf("skipped: %s\n", why);
    exit(SKIPPED);
}

/* ---- selecting cases --------------------------------------------------------------- */

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static bool is_named(const char *name, int count, char **names)
{
    for (int i = 0; i < count; i++) {
        if (begins(name, names[i])) {
            return true;
        }
    }
    return count == 0;
}

/* Returns whether each argument is the beginning of a case's name. */
static bool
all_known(int count, char **names, const struct CMUnitTest *tests, size_t tests_count)
{
    for (int i = 0; i < count; i++) {
        size_t t = 0;
        while (t < tests_count && !begins(tests[t].name, names[i])) {
            t++;
        }
        if (t == tests_count) {
            (void)fprintf(stderr, "no case '%s'; -l lists them\n", names[i]);
            return false;
        }
    }
    return true;
}

/* ---- one case ---------------------------------------------------------------------- */

static int case_seconds(void)
{
    const char *text = getenv("ZKT_CASE_SECONDS");
    const long seconds = text != NULL ? strtol(text, NULL, 10) : 0;
    return seconds > 0 ? (int)seconds : CASE_SECONDS;
}

static void call(CMFixtureFunction fixture, void **state, const char *what)
{
    if (fixture != NULL && fixture(state) != 0) {
        zkt_fail("the %s failed", what);
    }
}

/* Runs in the process of the case. exit() lets sanitizers check for leaks. */
static _Noreturn void live(const struct CMUnitTest *t, void *state)
{
    state = t->initial_state != NULL ? t->initial_state : state;
    zkt_baseline();
    call(t->setup_func, &state, "set-up");
    t->test_func(&state);
    call(t->teardown_func, &state, "teardown");
    exit(0);
}

static pid_t begin(const struct CMUnitTest *t, void *state)
{
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) {
        zkt_fail("fork: %s", strerror(errno));
    }
    (void)setpgid(pid, pid); /* in both processes, because either may run first */
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(1);
        }
        live(t, state);
    }
    return pid;
}

/*
 * Waits for the end of the process, and polls less and less often, because most cases are over quickly. A case that is
 * late is first made to print its stack, by SIGABRT.
 */
static struct outcome outcome_of(pid_t pid, int seconds)
{
    const int64_t start = zkt_now_ms();
    const int64_t end = start + (int64_t)seconds * 1000;
    struct outcome o = {.seconds = seconds};
    long pause_us = 100;
    pid_t done;
    while ((done = waitpid(pid, &o.status, WNOHANG)) == 0 ||
           (done < 0 && errno == EINTR)) {
        if (!o.late && zkt_now_ms() > end) {
            o.late = true;
            (void)kill(pid, SIGABRT);
        } else if (zkt_now_ms() > end + GRACE_MS) {
            (void)kill(-pid, SIGKILL);
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = pause_us * 1000}, NULL);
        pause_us = pause_us < 4000 ? pause_us * 5 / 4 : pause_us;
    }
    (void)kill(-pid, SIGKILL); /* kills processes that the case has left */
    o.ms = zkt_now_ms() - start;
    return o;
}

static bool judge(const char *name, const struct outcome *o)
{
    const bool exited = WIFEXITED(o->status);
    const int code = exited ? WEXITSTATUS(o->status) : WTERMSIG(o->status);
    const double s = (double)o->ms / 1000;
    if (o->late) {
        (void)printf("[  FAILED  ] %s: not over after %d s\n", name, o->seconds);
        /* A failed check has reported the reason. */
    } else if (!exited && code == SIGABRT) {
        (void)printf("[  FAILED  ] %s, %.2f s\n", name, s);
    } else if (!exited) {
        (void)printf("[  FAILED  ] %s: %s, after %.2f s\n", name, strsignal(code), s);
    } else if (code == SKIPPED) {
        (void)printf("[  SKIPPED ] %s\n", name);
        run.skipped++;
        return true;
    } else if (code != 0) {
        (void)printf("[  FAILED  ] %s: exit status %d, after %.2f s\n", name, code, s);
    } else {
        (void)printf("[       OK ] %s, %.2f s\n", name, s);
        run.passed++;
        return true;
    }
    run.failed++;
    return false;
}

/* ---- all cases --------------------------------------------------------------------- */

static bool run_case(const struct CMUnitTest *t, void *state)
{
    (void)printf("[ RUN      ] %s\n", t->name);
    (void)fflush(NULL);
    if (run.in_process) {
        live(t, state);
    }
    const struct outcome o = outcome_of(begin(t, state), case_seconds());
    return judge(t->name, &o);
}

static void add_name(char **names, const char *name)
{
    char *more = NULL;
    if (asprintf(&more, "%s%s%s", *names != NULL ? *names : "",
                 *names != NULL ? ", " : "", name) >= 0) {
        free(*names);
        *names = more;
    }
}

static void summary(const char *failed, int64_t ms)
{
    (void)printf("%zu of %zu passed in %.1f s", run.passed,
                 run.passed + run.skipped + run.failed, (double)ms / 1000);
    if (run.skipped > 0) {
        (void)printf(", %zu skipped", run.skipped);
    }
    if (run.failed > 0) {
        (void)printf("; failed: %s", failed);
    }
    (void)printf("\n");
    (void)fflush(stdout);
}

int zkt_run_cases(int argc,
                  char **argv,
                  const struct CMUnitTest *tests,
                  size_t count,
                  CMFixtureFunction setup,
                  CMFixtureFunction teardown)
{
    const int64_t start = zkt_now_ms();
    int first = 1;
    void *state = NULL;
    char *failed = NULL;

    memset(&run, 0, sizeof run);
    if (argc > 1 && strcmp(argv[1], "-l") == 0) {
        for (size_t i = 0; i < count; i++) {
            (void)printf("%s\n", tests[i].name);
        }
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "--no-fork") == 0) {
        run.in_process = true;
        first++;
    }
    if (!all_known(argc - first, argv + first, tests, count)) {
        return USAGE;
    }
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    (void)setenv("CMOCKA_TEST_ABORT", "1", 1);
    (void)setenv("ZKR_GUARDIAN_PATH", ZKT_GUARDIAN, 0);
    zkt_stack_at_failure();
    call(setup, &state, "set-up of the group");
    for (size_t i = 0; i < count; i++) {
        if (is_named(tests[i].name, argc - first, argv + first) &&
            !run_case(&tests[i], state)) {
            add_name(&failed, tests[i].name);
            zkt_servers_anew();
        }
    }
    call(teardown, &state, "teardown of the group");
    summary(failed, zkt_now_ms() - start);
    free(failed);
    return run.failed > 0;
}
