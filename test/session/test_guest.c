/* SPDX-License-Identifier: Apache-2.0 */
/* The effects of the client's threads on the process. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include "fixture.h"
#include "threads.h"

enum { SESSION_MS = 5000, PATIENCE_MS = 30000 };

/* --- a client, and a selector that leads --- */

struct guest {
    zkr_client *c;
    zkr_leader_selector *s;
    atomic_bool leading;
};

static void lead_on(zkr_leadership *lead, void *ctx)
{
    struct guest *g = ctx;
    atomic_store(&g->leading, true);
    (void)zkr_leadership_wait(lead, ZKR_FOREVER);
}

static void move_in(struct guest *g)
{
    g->c = zkt_client(zkt_servers(), SESSION_MS);
    ZKT_MUST(
        zkr_leader_selector_create(&g->s, g->c, zkt_path(), "me", lead_on, g, NULL));
    ZKT_MUST(zkr_leader_selector_start(g->s));
    ZKT_EVENTUALLY(atomic_load(&g->leading), PATIENCE_MS);
}

static void move_out(struct guest *g)
{
    ZKT_MUST(zkr_leader_selector_stop(g->s, PATIENCE_MS));
    ZKT_MUST(zkr_leader_selector_destroy(g->s));
    zkt_close(g->c);
}

/* --- threads --- */

/* Signals that may be sent to any thread are the program's, so the client's threads block them. Signals that a thread
   causes itself are not blocked. */
ZKT_CASE(threads_have_names_and_block_signals)
{
    static const struct {
        const char *name;
        int count;
    } expected[] = {{"zkr-service", 3}, {"zkr-dispatch", 1}, {"zkr-selector", 1}};
    static const int blocked[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGABRT, SIGUSR1,
                                  SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGCHLD,
                                  SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG,
                                  SIGIO,   SIGPWR,  SIGWINCH};
    static const int open[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL,
                               SIGTRAP, SIGSYS, SIGPROF};
    struct guest g = {0};
    int others = zkt_thread_count();
    move_in(&g);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        uint64_t by_all;
        uint64_t by_some;
        ZKT_BECOMES(zkt_threads_named(expected[i].name, &by_all, &by_some),
                    expected[i].count, PATIENCE_MS);
        others += expected[i].count;
        for (size_t j = 0; j < sizeof(blocked) / sizeof(blocked[0]); j++) {
            assert_true(by_all & ZKT_SIGNAL(blocked[j]));
        }
        assert_true(by_all & ZKT_SIGNAL(SIGRTMIN));
        assert_true(by_all & ZKT_SIGNAL(SIGRTMAX));
        for (size_t j = 0; j < sizeof(open) / sizeof(open[0]); j++) {
            assert_false(by_some & ZKT_SIGNAL(open[j]));
        }
    }
    assert_int_equal(zkt_thread_count(), others);
    move_out(&g);
}

static int await_signal(void *arg)
{
    struct guest g = {0};
    sigset_t ends;
    const struct timespec patience = {.tv_sec = PATIENCE_MS / 1000};
    move_in(&g);
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGTERM);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &ends, NULL), 0);
    assert_int_equal(kill(getpid(), SIGTERM), 0);
    assert_int_equal(sigtimedwait(&ends, NULL, &patience), SIGTERM);
    move_out(&g);
    return 0;
}

/* If a program blocks a signal only after it has opened its client, a waiting thread still receives the signal. */
ZKT_CASE(a_signal_blocked_late_reaches_who_waits)
{
    assert_int_equal(zkt_join(zkt_fork(await_signal, NULL), PATIENCE_MS), 0);
}

/* --- threads that the application ends --- */

/* Each callback ends its thread. */
struct ender {
    atomic_int states, lines, losses, gains, tickets, opens;
};

static void end_at_state(zkr_client *c, int state, void *ctx)
{
    struct ender *e = ctx;
    atomic_fetch_add(&e->states, 1);
    pthread_exit(NULL);
}

static void end_at_line(int level, const char *line, void *ctx)
{
    struct ender *e = ctx;
    atomic_fetch_add(&e->lines, 1);
    (void)pthread_cancel(pthread_self());
    pthread_testcancel();
}

static void end_at_loss(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    atomic_fetch_add(&((struct ender *)ctx)->losses, 1);
    pthread_exit(NULL);
}

static void end_at_gain(zkr_leader_latch *l, int64_t token, void *ctx)
{
    atomic_fetch_add(&((struct ender *)ctx)->gains, 1);
    pthread_exit(NULL);
}

static void end_at_end_of_term(zkr_leader_latch *l, const zkr_lost *lost, void *ctx)
{
    end_at_loss(NULL, lost, ctx);
}

static void end_at_ticket(zkr_ticket *t, int state, void *ctx)
{
    atomic_fetch_add(&((struct ender *)ctx)->tickets, 1);
    (void)pthread_cancel(pthread_self()); /* takes effect at the end of the callback */
}

static zkr_client *open_ender(struct ender *e)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = SESSION_MS;
    o.on_state = end_at_state;
    o.log = end_at_line;
    o.on_state_ctx = o.log_ctx = e;
    return zkt_client_with(zkt_servers(), &o);
}

/* Callbacks continue on another thread, and nothing remains of the ended threads and their calls. */
ZKT_CASE(a_callback_may_end_its_thread)
{
    struct ender e = {0};
    uint64_t open, blocked;
    zkr_client *c = open_ender(&e);
    zkr_mutex_options mo = ZKR_MUTEX_OPTIONS_INIT;
    mo.on_lost = end_at_loss;
    mo.on_lost_ctx = &e;
    zkr_mutex *m = NULL;
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_mutex_create(&m, c, zkt_path(), &mo));
    for (int i = 1; i <= 2; i++) {
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        zkt_expire(c);
        ZKT_BECOMES(atomic_load(&e.losses), i, PATIENCE_MS);
        ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
        ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, end_at_ticket, &e, &t));
        ZKT_BECOMES(atomic_load(&e.tickets), i, PATIENCE_MS);
        ZKT_MUST(zkr_ticket_release(t));
        ZKT_MUST(zkr_ticket_destroy(t));
    }
    ZKT_MUST(zkr_mutex_destroy(m));
    assert_true(atomic_load(&e.states) > 4);
    assert_true(atomic_load(&e.lines) > 4);
    ZKT_BECOMES(zkt_threads_named("zkr-dispatch", &blocked, &open), 1, PATIENCE_MS);
    zkt_close(c);
    assert_int_equal(zkt_threads_named("zkr-dispatch", &blocked, &open), 0);
}

ZKT_CASE(the_terms_of_a_latch_outlive_the_threads_that_tell_of_them)
{
    struct ender e = {0};
    zkr_leader_latch *l = NULL;
    zkr_client *c = open_ender(&e);
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    o.on_gain = end_at_gain;
    o.on_loss = end_at_end_of_term;
    o.ctx = &e;
    ZKT_MUST(zkr_leader_latch_create(&l, c, zkt_path(), "me", &o));
    ZKT_MUST(zkr_leader_latch_start(l));
    for (int i = 1; i <= 3; i++) {
        ZKT_BECOMES(atomic_load(&e.gains), i, PATIENCE_MS);
        ZKT_EVENTUALLY(zkr_leader_latch_has_leadership(l), PATIENCE_MS);
        ZKT_MUST(zkr_leader_latch_set_fit(l, 0));
        ZKT_BECOMES(atomic_load(&e.losses), i, PATIENCE_MS);
        ZKT_MUST(zkr_leader_latch_set_fit(l, 1));
    }
    ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_NOTIFY));
    ZKT_MUST(zkr_leader_latch_destroy(l));
    zkt_close(c);
}

static struct _zhandle *open_second(const char *servers,
                                    zkr_watcher_fn watcher,
                                    int session_timeout_ms,
                                    void *watcher_ctx,
                                    void *ctx)
{
    if (atomic_fetch_add(&((struct ender *)ctx)->opens, 1) == 0) {
        pthread_exit(NULL);
    }
    return zookeeper_init(servers, watcher, session_timeout_ms, NULL, watcher_ctx,
                          ZOO_NO_LOG_CLIENTENV);
}

/* The library treats this as one handle that could not be opened. */
ZKT_CASE(an_open_handle_may_end_its_thread)
{
    struct ender e = {0};
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = SESSION_MS;
    o.open_handle = open_second;
    o.open_handle_ctx = &e;
    zkr_client *c = zkt_client_with(zkt_servers(), &o);
    zkr_mutex *m = zkt_mutex(c);
    zkt_in_and_out(m);
    assert_int_equal(atomic_load(&e.opens), 2);
}

/* --- destructors of thread-specific data in threads of the client --- */

enum { IN_CALLBACK, AT_EXIT, IN_OPEN_HANDLE };

struct closer {
    int way;
    pthread_key_t key;
    _Atomic(zkr_client *) c;
    atomic_int calls, closed;
};

static void close_at_end(void *closer)
{
    struct closer *e = closer;
    zkr_client *c;
    while ((c = atomic_load(&e->c)) == NULL) {
        zkt_sleep_ms(1);
    }
    atomic_store(&e->closed, zkr_client_close(c));
}

static void close_at_state(zkr_client *c, int state, void *ctx)
{
    struct closer *e = ctx;
    if (e->way != IN_OPEN_HANDLE && atomic_fetch_add(&e->calls, 1) == 0) {
        (void)pthread_setspecific(e->key, e);
        if (e->way == IN_CALLBACK) {
            pthread_exit(NULL);
        }
    }
}

static struct _zhandle *close_at_open(const char *servers,
                                      zkr_watcher_fn watcher,
                                      int session_timeout_ms,
                                      void *watcher_ctx,
                                      void *ctx)
{
    struct closer *e = ctx;
    if (e->way == IN_OPEN_HANDLE && atomic_fetch_add(&e->calls, 1) == 0) {
        (void)pthread_setspecific(e->key, e);
        pthread_exit(NULL);
    }
    return zookeeper_init(servers, watcher, session_timeout_ms, NULL, watcher_ctx,
                          ZOO_NO_LOG_CLIENTENV);
}

/* The close would wait for this thread. So it is refused, as in a callback. */
ZKT_CASE_WAYS(a_destructor_cannot_close_its_client,
              {"a_destructor_in_the_thread_of_callbacks_cannot_close_the_client",
               a_destructor_cannot_close_its_client, IN_CALLBACK, NULL},
              {"a_destructor_at_the_close_cannot_close_the_client",
               a_destructor_cannot_close_its_client, AT_EXIT, NULL},
              {"a_destructor_in_the_thread_of_open_handle_cannot_close_the_client",
               a_destructor_cannot_close_its_client, IN_OPEN_HANDLE, NULL})
{
    struct closer e = {.way = zkt_way()};
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    zkr_client *c = NULL;
    assert_int_equal(pthread_key_create(&e.key, close_at_end), 0);
    o.on_state = close_at_state;
    o.open_handle = close_at_open;
    o.on_state_ctx = o.open_handle_ctx = &e;
    ZKT_MUST(zkr_client_open(&c, zkt_servers(), &o));
    atomic_store(&e.c, c);
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    ZKT_BECOMES(atomic_load(&e.calls) > 0, 1, PATIENCE_MS);
    if (e.way != AT_EXIT) {
        ZKT_BECOMES(atomic_load(&e.closed), ZKR_ESTATE, PATIENCE_MS);
    }
    ZKT_MUST(zkr_client_close(c));
    assert_int_equal(atomic_load(&e.closed), ZKR_ESTATE);
    assert_int_equal(pthread_key_delete(e.key), 0);
}

/* --- a limit of threads --- */

/* The limit of threads does not apply to root. */
static void become_nobody(void)
{
    enum { FIRST = 61000, MANY = 4000 }; /* user ids that nobody else has */
    if (geteuid() == 0) {
        assert_int_equal(setuid((uid_t)(FIRST + getpid() % MANY)), 0);
    }
}

/* Limit the threads of this user to @count; 0 = as many as possible. */
static void limit_threads(int count)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NPROC, &limit), 0);
    limit.rlim_cur = count > 0 ? (rlim_t)count : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NPROC, &limit), 0);
}

static void *do_nothing(void *arg)
{
    return arg;
}

static void no_thread_starts(void)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, do_nothing, NULL), EAGAIN);
}

static bool has_tried(zkr_client *c)
{
    return zkr_client_wait_connected(c, 50) != ZKR_OK &&
           strstr(zkr_last_error()->message, "errno 11") != NULL;
}

static int expire_without_threads(void *arg)
{
    become_nobody();
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    limit_threads(1);
    no_thread_starts();
    zkt_expire_start(c);
    ZKT_EVENTUALLY(has_tried(c), PATIENCE_MS);
    limit_threads(zkt_thread_count() + 1); /* the next session needs two */
    for (int i = 0; i < 5; i++) {
        ZKT_EVENTUALLY(has_tried(c), PATIENCE_MS); /* and nothing else happens */
    }
    limit_threads(0);
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    zkt_in_and_out(m);
    zkt_destroy(m);
    zkt_close(c);
    return 0;
}

/* Without threads, libzookeeper would end the process. The client opens the next session only when it can start the
   threads. */
ZKT_CASE(a_program_without_threads_to_spare_lives_on)
{
    assert_int_equal(zkt_join(zkt_fork(expire_without_threads, NULL), PATIENCE_MS), 0);
}

static int expire_with_just_enough(void *arg)
{
    enum { TIMES = 10 };
    become_nobody();
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    limit_threads(zkt_thread_count());
    no_thread_starts();
    for (int i = 0; i < TIMES; i++) {
        zkt_expire(c);
        ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    }
    no_thread_starts();
    limit_threads(0);
    zkt_close(c);
    return 0;
}

/* The threads of the last session have ended before those of the next session start. */
ZKT_CASE(a_program_with_just_enough_threads_keeps_its_client)
{
    if (geteuid() != 0) {
        zkt_skip("the limit counts all threads of this user, not only those here");
    }
    assert_int_equal(zkt_join(zkt_fork(expire_with_just_enough, NULL), PATIENCE_MS), 0);
}
