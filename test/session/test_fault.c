/* SPDX-License-Identifier: Apache-2.0 */
/* A fault of the library itself ends the client and not the process. In tests, it ends the process. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actor.h"
#include "fixture.h"
#include "queue/claim_run.h"
#include "session/must.h"

enum { SESSION_MS = 6000, PATIENCE_MS = 30000 };

/* --- in a test --- */

ZKR__TSA(no_thread_safety_analysis)
static void violate(zkr_client *c, int one)
{
    ZKR__MUST(c, one == 2);
}

/* SIGABRT has its default action, because a stack trace of the child would count as a crash of the test. */
ZKT_CASE(a_violated_condition_ends_a_test)
{
    const zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    const struct rlimit none = {0, 0};
    int status = 0;
    assert_true(zkr__must_aborts);
    pid_t child = fork();
    if (child == 0) {
        (void)setrlimit(RLIMIT_CORE, &none);
        (void)signal(SIGABRT, SIG_DFL);
        zkr_client *c = zkr__client_new(&o);
        if (c) {
            violate(c, 2);
            violate(c, 1);
        }
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

/* --- in an application --- */

struct seen {
    atomic_int lost, reason, faults, at_file;
    char line[512]; /* the first line about a fault */
};

static void on_lost(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    struct seen *s = ctx;
    atomic_store(&s->reason, (int)lost->reason);
    atomic_fetch_add(&s->lost, 1);
}

static void on_line(int level, const char *line, void *ctx)
{
    struct seen *s = ctx;
    if (strstr(line, "event=fault ")) {
        (void)snprintf(s->line, sizeof(s->line), "%s", line);
        atomic_fetch_add(&s->faults, level == ZKR_LOG_ERROR);
    }
}

enum way { PROBED, UNPROBED, ASKED, MISCOUNTED };

/* Count failures in a hold, a state that no step leads to. */
ZKR__TSA(no_thread_safety_analysis)
static void break_a_hold(zkr_client *c)
{
    zkr__lock(c);
    struct zkr__claim *claim = ((struct zkr__engine *)c->engine)->held;
    claim->k.failures = 7;
    zkr__claim_tell(claim, ZKR__EV_QUIET);
    assert_false(zkr__claim_sure(claim));
    if (zkt_way() == ASKED) { /* by its owner, before the service runs */
        zkr__claim_check(claim);
    } else if (zkt_way() == MISCOUNTED) {
        c->stats.held = 0;
    }
    zkr__unlock(c);
}

static int64_t valid_for_ms(zkr_mutex *m)
{
    int64_t ms = zkr_mutex_valid_for_ms(m);
    return ms == ZKR_UNKNOWN ? SESSION_MS : ms;
}

/* Without lease probes, the client promises one session timeout. */
ZKT_CASE_WAYS(a_fault_ends_the_client,
              {"a_fault_ends_the_client", a_fault_ends_the_client, PROBED, 0},
              {"a_fault_ends_the_client, unprobed", a_fault_ends_the_client, UNPROBED,
               0},
              {"a_fault_ends_the_client, asked", a_fault_ends_the_client, ASKED, 0},
              {"a_fault_ends_the_client, miscounted", a_fault_ends_the_client,
               MISCOUNTED, 0})
{
    struct seen s = {0};
    zkr__must_aborts = false;
    zkr_client *c =
        ZKT_CLIENT_WITH(zkt_servers(), .session_timeout_ms = SESSION_MS,
                        .lease_probe_ms = zkt_way() == UNPROBED ? -1 : 0,
                        .log = on_line, .log_ctx = &s, .log_level = ZKR_LOG_ERROR);
    zkr_mutex *m = ZKT_MUTEX_WITH(c, .on_lost = on_lost, .on_lost_ctx = &s);
    zkr_mutex *others = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    struct zkt_actor waiter, other;
    zkt_actor_queue(&waiter, c, m, NULL);
    zkt_actor_start(&other, others, ZKR_FOREVER, NULL);
    ZKT_EVENTUALLY(zkt_nodes() == 3, PATIENCE_MS);

    int64_t until = zkt_now_ms() + valid_for_ms(m);
    break_a_hold(c);
    assert_false(zkr_mutex_is_held(m));
    assert_int_equal(zkr_mutex_valid_for_ms(m), 0);
    assert_int_equal(zkr_client_valid_for_ms(c), 0);
    zkt_actor_is_refused(&waiter, ZKR_ECLOSED);
    ZKT_BECOMES(atomic_load(&s.lost), 1, PATIENCE_MS);
    assert_int_equal(atomic_load(&s.reason), ZKR_LOST_SESSION);
    ZKT_BECOMES(atomic_load(&s.faults), 1, PATIENCE_MS);
    assert_non_null(strstr(s.line, " at=lib/queue/claim_run.c:"));
    assert_non_null(strstr(s.line, "reason=\"held but failing\""));

    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    ZKT_RC(zkr_mutex_acquire(m, PATIENCE_MS), ZKR_ECLOSED);
    assert_int_equal(zkr_client_state(c), ZKR_STATE_LOST);
    assert_int_equal(zkt_stats(c).sessions, 1);

    /* The lock is free only after the promised time, because the application could rely on that promise. */
    ZKT_MUST(zkt_actor_acquired(&other));
    ZKT_IN_RANGE(zkt_now_ms(), until - 100, until + PATIENCE_MS);
    ZKT_MUST(zkt_actor_end(&other));
    assert_int_equal(zkt_stats(c).sessions, 1);
    zkt_destroy(m);
    zkt_close(c);
}
