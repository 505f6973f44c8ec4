/* SPDX-License-Identifier: Apache-2.0 */
/* Kill processes with a guardian, and guardians, at any moment. A supervisor may also report to the guardian. */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"

enum { SESSION_MS = 8000, SOON_MS = 5000, PATIENCE_MS = 30000 };

struct victim {
    char hosts[256], path[128];
    _Atomic(int64_t) session;
    /* The last time, by CLOCK_MONOTONIC in ns, at which the victim surely held. */
    _Atomic(int64_t) sure_at;
    atomic_int holds, moment; /* the moment: what the process was doing */
    atomic_int guardian;      /* the option */
};

enum moment { OPENING, ACQUIRING, HOLDING, RELEASING, CLOSING, MOMENTS };

static int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Hold for a moment, and record the current time as long as the hold is sure. */
static void hold(struct victim *v, zkr_mutex *m)
{
    const int64_t end = now_ns() + 500000;
    atomic_store(&v->moment, HOLDING);
    atomic_fetch_add(&v->holds, 1);
    for (int64_t now = now_ns(); now < end; now = now_ns()) {
        if (zkr_mutex_valid_for_ms(m) > 0) {
            atomic_store(&v->sure_at, now);
        }
    }
}

/* Open a client, hold several times, close the client, and repeat until killed. */
static int live(void *arg)
{
    struct victim *v = arg;
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = SESSION_MS;
    o.guardian = atomic_load(&v->guardian);
    for (;;) {
        zkr_client *c = NULL;
        zkr_mutex *m = NULL;
        atomic_store(&v->moment, OPENING);
        ZKT_MUST(zkr_client_open(&c, v->hosts, &o));
        ZKT_MUST(zkr_mutex_create(&m, c, v->path, NULL));
        for (int i = 0; i < 5; i++) {
            atomic_store(&v->moment, ACQUIRING);
            ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
            atomic_store(&v->session, zkr_client_session_id(c));
            hold(v, m);
            atomic_store(&v->moment, RELEASING);
            (void)zkr_mutex_release(m);
        }
        atomic_store(&v->moment, CLOSING);
        ZKT_MUST(zkr_mutex_destroy(m));
        if (zkr_client_close(c) != ZKR_OK) {
            return 1;
        }
    }
}

static struct victim *make_victim(const char *hosts)
{
    struct victim *v = zkt_shared(sizeof(*v));
    (void)snprintf(v->hosts, sizeof(v->hosts), "%s", hosts);
    (void)snprintf(v->path, sizeof(v->path), "%s", zkt_path());
    return v;
}

/* Pause for at most @most_ns, a different time in each round. */
static void pause_for(int round, int factor, int64_t most_ns)
{
    const struct timespec pause = {.tv_nsec =
                                       (long)(round * factor % 1000 * most_ns / 1000)};
    (void)nanosleep(&pause, NULL);
}

/* Kill at any moment from the start on, in some rounds just after the connection broke or the servers ended the
   session. */
static void kill_at(struct victim *v, zkt_proxy *way, pid_t pid, int round)
{
    const bool connects_again = round % 5 == 3;
    const bool opens_again = round % 5 == 4 && atomic_load(&v->session) != 0;
    pause_for(round, 7919, 40000000);
    if (connects_again) {
        zkt_proxy_drop_connections(way);
    }
    if (opens_again) {
        (void)zkt_expire_session(zkt_servers(), atomic_load(&v->session));
    }
    if (connects_again || opens_again) {
        pause_for(round, 104729, 10000000);
    }
    assert_int_equal(kill(pid, SIGKILL), 0);
}

/* The next contender is granted long before the session can have timed out, but not before the victim is dead. */
ZKT_CASE(whenever_it_is_killed_the_next_holds_soon)
{
    enum { ROUNDS = 100 };
    zkt_proxy *way = zkt_proxy_start(zkt_servers());
    struct victim *v = make_victim(zkt_proxy_host(way));
    int64_t longest = 0;
    int killed_at[MOMENTS] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        atomic_store(&v->session, 0);
        atomic_store(&v->sure_at, 0);
        /* With TRY, the victim may be killed before its guardian has started. */
        atomic_store(&v->guardian, i % 2 ? ZKR_GUARDIAN_TRY : ZKR_GUARDIAN_REQUIRED);
        pid_t pid = zkt_fork(live, v);
        kill_at(v, way, pid, i);
        const int64_t before = zkt_now_ms();
        zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
        zkr_mutex *m = zkt_mutex(c);
        if (zkr_mutex_acquire(m, SOON_MS) != ZKR_OK) {
            zkt_fail("not free %d ms after kill %d, in moment %d", SOON_MS, i,
                     atomic_load(&v->moment));
        }
        const int64_t granted = now_ns(), took = zkt_now_ms() - before;
        assert_true(atomic_load(&v->sure_at) < granted);
        assert_int_equal(zkt_join(pid, PATIENCE_MS), 128 + SIGKILL);
        assert_true(atomic_load(&v->sure_at) < granted);
        killed_at[atomic_load(&v->moment)]++;
        longest = took > longest ? took : longest;
        ZKT_MUST(zkr_mutex_release(m));
        zkt_destroy(m);
        zkt_close(c);
    }
    print_message(
        "killed while opening %d, acquiring %d, holding %d, releasing %d, closing %d; "
        "%d holds; the next after %lld ms at most\n",
        killed_at[OPENING], killed_at[ACQUIRING], killed_at[HOLDING],
        killed_at[RELEASING], killed_at[CLOSING], atomic_load(&v->holds),
        (long long)longest);
}

/* --- a supervisor with a pipe --- */

struct supervised {
    char hosts[256], path[128];
    atomic_int ready, go; /* 1 = report that nothing acts, 2 = end without a report */
};

/* Hold, with a child that reports through a pipe when nothing acts any more. */
static int supervise(void *arg)
{
    struct supervised *s = arg;
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    zkr_client *c = NULL;
    zkr_mutex *m = NULL;
    int over[2];
    o.session_timeout_ms = SESSION_MS;
    o.guardian = ZKR_GUARDIAN_REQUIRED;
    ZKT_MUST(zkr_client_open(&c, s->hosts, &o));
    ZKT_MUST(zkr_mutex_create(&m, c, s->path, NULL));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_RC(zkr_client_guard_pipe(c, -1), ZKR_EINVAL);
    ZKT_RC(zkr_client_guard_pipe(c, open("/dev/null", O_RDONLY | O_CLOEXEC)),
           ZKR_EINVAL);
    zkt_pipe(over);
    if (fork() == 0) {
        ZKT_EVENTUALLY(atomic_load(&s->go) != 0, PATIENCE_MS);
        _exit(atomic_load(&s->go) == 1 && write(over[1], "", 1) == 1 ? 0 : 1);
    }
    ZKT_MUST(zkr_client_guard_pipe(c, over[0]));
    zkt_pipe_close(over);
    atomic_store(&s->ready, 1);
    for (;;) {
        zkt_sleep_ms(2);
    }
}

/* Kill the process. Its session continues until the supervisor has reported that nothing acts. */
static void kill_supervised(int go)
{
    enum { A_WHILE_MS = 700 };
    struct supervised *s = zkt_shared(sizeof(*s));
    (void)snprintf(s->hosts, sizeof(s->hosts), "%s", zkt_servers());
    (void)snprintf(s->path, sizeof(s->path), "%s", zkt_path());
    pid_t pid = zkt_fork(supervise, s);
    ZKT_EVENTUALLY(atomic_load(&s->ready), PATIENCE_MS);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(zkt_join(pid, PATIENCE_MS), 128 + SIGKILL);
    zkt_sleep_ms(A_WHILE_MS);
    assert_int_equal(zkt_nodes(), 1);
    atomic_store(&s->go, go);
}

ZKT_CASE(a_pipe_that_tells_the_end_frees_the_lock)
{
    kill_supervised(1);
    ZKT_BECOMES(zkt_nodes(), 0, SOON_MS);
}

ZKT_CASE(a_pipe_that_ends_without_a_word_frees_nothing)
{
    enum { A_WHILE_MS = 700 };
    kill_supervised(2);
    zkt_sleep_ms(A_WHILE_MS);
    assert_int_equal(zkt_nodes(), 1);
    ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS); /* the servers end the session */
}
