/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refused calls: each public function without its object, in a forked child and, if it blocks, in a callback; and
 * invalid arguments. static.refused compares the rows with the headers.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zkr/guard.h>

#include "latches.h"
#include "session/client.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 20000, SECOND = 1000 };

struct objects {
    zkr_client *c;
    zkr_mutex *m;  /* held by the thread */
    zkr_ticket *t; /* held */
    zkr_rwlock *rw;
    zkr_semaphore *permits; /* has three permits */
    zkr_multi_lock *both;
    zkr_leader_latch *l;    /* leads */
    zkr_leader_selector *s; /* leads */
    _Atomic(zkr_leadership *) lead;
    zkr_contenders *list;
    zkr_survey *survey;
};

/* Refused calls leave all of this unchanged. */
static struct objects made;
static zkr_ticket *ticket;
static char text[256], small[4];
static int64_t number;
static size_t room;
static struct zoo_op op;
static zoo_op_result_t result;
static zkr_node node;
static zkr_lost lost;
static zkr_stats stats;

/* Set by any thread or child. The first unexpected result is reported and sets wrong, and no further calls are made. */
static atomic_int checked, wrong;

static void check(int64_t is, int64_t wanted, const char *says, const char *call)
{
    const zkr_error *e = zkr_last_error();
    checked++;
    if (is != wanted || (wanted < 0 && (e->code != wanted || e->message[0] == '\0')) ||
        !strstr(e->message, says)) {
        (void)fprintf(stderr, "%s is %lld, not %lld; %s\n", call, (long long)is,
                      (long long)wanted, e->message);
        wrong = 1;
    }
}

/* --- without an object, in a child, in a callback --- */

enum how { WITHOUT, CHILD, CALLBACK };
enum { UNTRIED = 1 << 20 };

#define ROW(without, child, callback, call)                                            \
    do {                                                                               \
        const int64_t wanted_[] = {(without), (child), (callback)};                    \
        if (wanted_[how] != UNTRIED && !wrong) {                                       \
            check((int64_t)(call), wanted_[how], "", #call);                           \
        }                                                                              \
    } while (0)
#define BLOCKS(call) ROW(ZKR_EINVAL, ZKR_ESTATE, ZKR_ESTATE, call)
#define CALLS(call) ROW(ZKR_EINVAL, ZKR_ESTATE, UNTRIED, call)
#define IS(value, call) ROW(value, value, UNTRIED, call)
#define ENDS(call) ROW(ZKR_OK, ZKR_ESTATE, UNTRIED, call)

static void no_warning(zkr_mutex *m, int64_t token, int64_t left_ms, void *ctx)
{
}

static void no_leader(zkr_leadership *lead, void *ctx)
{
}

// clang-format off
static void call_of_clients(const struct objects *o, enum how how)
{
    BLOCKS(zkr_client_wait_connected(o->c, SECOND));
    BLOCKS(zkr_client_flush(o->c, SECOND));
    BLOCKS(zkr_client_finish(o->c, SECOND));
    BLOCKS(zkr_client_get(o->c, "/", NULL, 0, &node, sizeof(node)));
    BLOCKS(zkr_client_dispatch(o->c, 0));
    BLOCKS(zkr_survey_read(o->c, "/", 0, &made.survey));
    ROW(ZKR_OK, ZKR_ESTATE, ZKR_ESTATE, zkr_client_close(o->c)); /* BLOCKS */
    CALLS(zkr_client_event_fd(o->c));
    CALLS(zkr_client_set_servers(o->c, "127.0.0.1:1"));
    CALLS(zkr_client_rebalance(o->c));
    CALLS(zkr_client_guard_group(o->c, 0));
    CALLS(zkr_client_guard_pipe(o->c, 0));
    CALLS(zkr_client_metrics(o->c, text, sizeof(text), NULL));
    CALLS(zkr_client_stats(o->c, &stats, sizeof(stats)));
    CALLS(zkr_client_shutdown(o->c));
    IS(ZKR_STATE_CLOSED, zkr_client_state(o->c));
    IS(0, zkr_client_session_id(o->c));
    IS(0, zkr_client_session_timeout_ms(o->c));
    IS(0, zkr_client_valid_for_ms(o->c));
    CALLS(zkr_mutex_create(&made.m, o->c, "/x", NULL));
    CALLS(zkr_rwlock_create(&made.rw, o->c, "/x", NULL));
    CALLS(zkr_semaphore_create(&made.permits, o->c, "/x", 1, NULL));
    CALLS(zkr_multi_lock_create(&made.both, o->c, (const char *const[]){"/x"}, 1, NULL));
    CALLS(zkr_leader_latch_create(&made.l, o->c, "/x", "", NULL));
    CALLS(zkr_leader_selector_create(&made.s, o->c, "/x", "", no_leader, NULL, NULL));
}

static void call_of_mutexes(const struct objects *o, enum how how)
{
    BLOCKS(zkr_mutex_acquire(o->m, SECOND));
    BLOCKS(zkr_mutex_acquire(o->m, 0));
    BLOCKS(zkr_mutex_contenders(o->m, &made.list));
    BLOCKS(zkr_mutex_watch(o->m, SECOND));
    BLOCKS(zkr_mutex_await_free(o->m, SECOND));
    BLOCKS(zkr_mutex_revoke(o->m));
    BLOCKS(zkr_mutex_revoke_node(o->m, "x-lock-0000000000"));
    BLOCKS(zkr_mutex_evict(o->m, "x-lock-0000000000"));
    BLOCKS(zkr_mutex_multi(o->m, 0, NULL, NULL, SECOND));
    BLOCKS(zkr_mutex_release_multi(o->m, 0, NULL, NULL, SECOND));
    CALLS(zkr_mutex_request(o->m, SECOND, NULL, NULL, &ticket));
    CALLS(zkr_mutex_release(o->m));
    CALLS(zkr_mutex_cancel(o->m));
    CALLS(zkr_mutex_fencing_token(o->m, &number));
    CALLS(zkr_mutex_pass(o->m, &number));
    CALLS(zkr_mutex_node(o->m, text, sizeof(text)));
    CALLS(zkr_mutex_guard(o->m, &op));
    IS(false, zkr_mutex_is_held(o->m));
    IS(false, zkr_mutex_is_held_in_process(o->m));
    IS(0, zkr_mutex_depth(o->m));
    IS(0, zkr_mutex_valid_for_ms(o->m));
    ENDS(zkr_mutex_destroy(o->m));
    CALLS(zkr_mutex_release(zkr_rwlock_reader(o->rw)));
    CALLS(zkr_mutex_release(zkr_rwlock_writer(o->rw)));
    ENDS(zkr_rwlock_destroy(o->rw));
}

static void call_of_tickets(const struct objects *o, enum how how)
{
    BLOCKS(zkr_ticket_wait(o->t, SECOND));
    BLOCKS(zkr_ticket_multi(o->t, 0, NULL, NULL, SECOND));
    BLOCKS(zkr_ticket_release_multi(o->t, 0, NULL, NULL, SECOND));
    BLOCKS(zkr_semaphore_acquire(o->permits, 1, SECOND, &ticket));
    BLOCKS(zkr_semaphore_holders(o->permits, &made.list));
    BLOCKS(zkr_multi_lock_acquire(o->both, SECOND, &ticket));
    CALLS(zkr_semaphore_request(o->permits, 1, SECOND, NULL, NULL, &ticket));
    CALLS(zkr_multi_lock_request(o->both, SECOND, NULL, NULL, &ticket));
    CALLS(zkr_ticket_state(o->t));
    CALLS(zkr_ticket_error(o->t));
    CALLS(zkr_ticket_position(o->t, &number));
    CALLS(zkr_ticket_ahead(o->t, &made.list));
    CALLS(zkr_ticket_fencing_token(o->t, &number));
    CALLS(zkr_ticket_pass(o->t, &number));
    CALLS(zkr_ticket_lost(o->t, &lost, sizeof(lost)));
    CALLS(zkr_ticket_node(o->t, text, sizeof(text)));
    CALLS(zkr_ticket_guard(o->t, &op));
    CALLS(zkr_ticket_release(o->t));
    IS(0, zkr_ticket_valid_for_ms(o->t));
    ENDS(zkr_ticket_destroy(o->t));
    ENDS(zkr_semaphore_destroy(o->permits));
    ENDS(zkr_multi_lock_destroy(o->both));
}

static void call_of_leaders(const struct objects *o, enum how how)
{
    BLOCKS(zkr_leader_latch_await(o->l, SECOND));
    BLOCKS(zkr_leader_latch_leader(o->l, text, sizeof(text)));
    BLOCKS(zkr_leader_latch_participants(o->l, &made.list));
    BLOCKS(zkr_leader_latch_watch(o->l, SECOND));
    CALLS(zkr_leader_latch_start(o->l));
    CALLS(zkr_leader_latch_set_fit(o->l, 1));
    CALLS(zkr_leader_latch_stop(o->l, ZKR_LATCH_NOTIFY));
    CALLS(zkr_leader_latch_state(o->l));
    CALLS(zkr_leader_latch_fencing_token(o->l, &number));
    CALLS(zkr_leader_latch_node(o->l, text, sizeof(text)));
    IS(false, zkr_leader_latch_has_leadership(o->l));
    IS(0, zkr_leader_latch_valid_for_ms(o->l));
    IS(0, zkr_leader_latch_term_valid_for_ms(o->l, 1));
    ENDS(zkr_leader_latch_destroy(o->l));
    BLOCKS(zkr_leader_selector_leader(o->s, text, sizeof(text)));
    BLOCKS(zkr_leader_selector_participants(o->s, &made.list));
    BLOCKS(zkr_leadership_wait(o->lead, SECOND));
    CALLS(zkr_leader_selector_start(o->s));
    CALLS(zkr_leader_selector_requeue(o->s));
    CALLS(zkr_leader_selector_interrupt(o->s));
    /* A callback may call this function, because the function does not wait in a callback. */
    CALLS(zkr_leader_selector_stop(o->s, 0));
    CALLS(zkr_leader_selector_state(o->s));
    CALLS(zkr_leadership_node(o->lead, text, sizeof(text)));
    IS(false, zkr_leader_selector_has_leadership(o->s));
    IS(0, zkr_leadership_valid_for_ms(o->lead));
    IS(0, zkr_leadership_fencing_token(o->lead));
    ENDS(zkr_leader_selector_destroy(o->s));
}

/* A list belongs to no client: a child may read and free its copy. */
static void call_of_lists(const struct objects *o, enum how how)
{
    ROW(0, 1, UNTRIED, zkr_contenders_count(o->list));
    ROW(0, 1, UNTRIED, zkr_contenders_get(o->list, 0) != NULL);
    IS(0, zkr_contender_field(how == CHILD ? zkr_contenders_get(o->list, 0) : NULL, "no such") != NULL);
    ROW(0, 1, UNTRIED, zkr_survey_count(o->survey));
    ROW(0, 1, UNTRIED, zkr_survey_get(o->survey, 0) != NULL);
    IS(0, zkr_survey_denied(o->survey));
    if (how != CALLBACK) {
        zkr_contenders_free(o->list);
        zkr_survey_free(o->survey);
    }
}
// clang-format on

static void call_all(const struct objects *o, enum how how)
{
    call_of_clients(o, how);
    call_of_mutexes(o, how);
    call_of_tickets(o, how);
    call_of_leaders(o, how);
    call_of_lists(o, how);
}

static void leave_nothing_made(void)
{
    static const struct objects nothing;
    assert_int_equal(wrong, 0);
    assert_true(checked > 0);
    assert_memory_equal(&made, &nothing, sizeof(made));
    assert_null(ticket);
}

ZKT_CASE(null_is_refused)
{
    static const struct objects nothing;
    call_all(&nothing, WITHOUT);
    leave_nothing_made();
}

/* --- all objects, in use --- */

static struct objects all;

static void lead(zkr_leadership *now, void *ctx)
{
    struct objects *o = ctx;
    o->lead = now;
    (void)zkr_leadership_wait(now, ZKR_FOREVER);
    o->lead = NULL;
}

static const char *const two_paths[] = {"/one", "/two"};

static struct objects *open_all(void)
{
    struct objects *o = &all;
    zkr_client *c = o->c = zkt_client(zkt_servers(), SESSION_MS);
    o->m = zkt_mutex_at(c, zkt_child("mutex"), NULL);
    ZKT_MUST(zkr_mutex_acquire(o->m, PATIENCE_MS));
    o->t = zkt_ticket(zkt_mutex_at(c, zkt_child("ticket"), NULL));
    ZKT_MUST(zkr_ticket_wait(o->t, PATIENCE_MS));
    ZKT_MUST(zkr_rwlock_create(&o->rw, c, zkt_child("rw"), NULL));
    ZKT_MUST(zkr_semaphore_create(&o->permits, c, zkt_child("permits"), 3, NULL));
    ZKT_MUST(zkr_multi_lock_create(&o->both, c, two_paths, 2, NULL));
    ZKT_MUST(zkr_leader_latch_create(&o->l, c, zkt_child("latch"), "", NULL));
    zkt_lead(o->l);
    ZKT_MUST(
        zkr_leader_selector_create(&o->s, c, zkt_child("selector"), "", lead, o, NULL));
    ZKT_MUST(zkr_leader_selector_start(o->s));
    ZKT_EVENTUALLY(o->lead, PATIENCE_MS);
    o->list = zkt_contenders(o->m);
    ZKT_MUST(zkr_survey_read(c, zkt_child("mutex"), 0, &o->survey));
    return o;
}

/* Check that each object still holds what it held, and close all. */
static void close_all(struct objects *o)
{
    assert_int_equal(zkr_mutex_depth(o->m), 1);
    assert_int_equal(zkr_ticket_state(o->t), ZKR_TICKET_HELD);
    assert_true(zkr_leader_latch_has_leadership(o->l));
    assert_true(zkr_leader_selector_has_leadership(o->s));
    ZKT_MUST(zkr_mutex_release(o->m));
    zkt_end_ticket(o->t);
    ZKT_MUST(zkr_rwlock_destroy(o->rw));
    ZKT_MUST(zkr_semaphore_destroy(o->permits));
    ZKT_MUST(zkr_multi_lock_destroy(o->both));
    end_kept_latch(o->l);
    ZKT_MUST(zkr_leader_selector_stop(o->s, PATIENCE_MS));
    ZKT_MUST(zkr_leader_selector_destroy(o->s));
    zkr_survey_free(o->survey);
}

static atomic_bool called;

static void call_all_in_callback(zkr_ticket *t, int state, void *ctx)
{
    call_all(ctx, CALLBACK);
    called = true;
}

/* A call that waits in a callback would wait for itself. */
ZKT_CASE(what_blocks_is_refused_in_a_callback)
{
    struct objects *o = open_all();
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_mutex_request(zkr_rwlock_writer(o->rw), ZKR_FOREVER,
                               call_all_in_callback, o, &t));
    ZKT_EVENTUALLY(called, PATIENCE_MS);
    zkt_end_ticket(t);
    leave_nothing_made();
    close_all(o);
}

static int call_all_in_child(void *o)
{
    call_all(o, CHILD);
    return wrong;
}

static pthread_key_t last;
static int rounds;

/* End the process in the second round of destructors, which comes after all destructors of the first round. */
static void end_process(void *arg)
{
    if (rounds++ > 0) {
        _exit(0);
    }
    (void)pthread_setspecific(last, arg);
}

/* In the child, the copy of the holding thread ends, and the process ends with it. */
static int end_thread(void *arg)
{
    if (pthread_key_create(&last, end_process) != 0 ||
        pthread_setspecific(last, arg) != 0) {
        return 1;
    }
    pthread_exit(NULL);
}

/* Nothing that a child does, including its end, affects the holds of its parent. */
ZKT_CASE(a_child_is_refused_all)
{
    static int (*const lives[])(void *arg) = {call_all_in_child, end_thread};
    struct objects *o = open_all();
    int64_t before, after;
    ZKT_MUST(zkr_mutex_fencing_token(o->m, &before));
    for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++) {
        /* As another thread might; the child can then never take the lock. */
        zkr__lock(o->c);
        pid_t pid = zkt_fork(lives[i], o);
        zkr__unlock(o->c);
        assert_int_equal(zkt_join(pid, PATIENCE_MS), 0);
    }
    ZKT_MUST(zkr_mutex_fencing_token(o->m, &after));
    assert_int_equal(after, before);
    assert_int_equal(zkt_children_count(zkt_servers(), zkt_child("mutex")), 1);
    close_all(o);
}

/* --- arguments --- */

#define CODE(code, says, call)                                                         \
    do {                                                                               \
        if (!wrong) {                                                                  \
            check((call), (code), (says), #call);                                      \
        }                                                                              \
    } while (0)
#define SAYS(says, call) CODE(ZKR_EINVAL, says, call)
#define BAD(call) SAYS("", call)

#define OPTIONS(type, ...)                                                             \
    (&(const zkr_##type##_options){.size = sizeof(zkr_##type##_options), __VA_ARGS__})
#define SIZE(type, bytes) (&(const zkr_##type##_options){.size = (bytes)})

#define OPEN(...) zkr_client_open(&made.c, "a:1", OPTIONS(client, __VA_ARGS__))
#define OUT_OF_RANGE(option, value) SAYS(#option, OPEN(.option = (value)))
#define MUTEX(...) zkr_mutex_create(&made.m, o->c, "/a", OPTIONS(mutex, __VA_ARGS__))
#define PERMITS(...)                                                                   \
    zkr_semaphore_create(&made.permits, o->c, "/a", 1, OPTIONS(semaphore, __VA_ARGS__))
#define SELECTOR(...)                                                                  \
    zkr_leader_selector_create(&made.s, o->c, "/a", "", no_leader, NULL,               \
                               OPTIONS(leader_selector, __VA_ARGS__))
#define WRITE_BADLY(write, hold)                                                       \
    do {                                                                               \
        BAD(write(hold, -1, &op, &result, 0));                                         \
        BAD(write(hold, 1, NULL, &result, 0));                                         \
        BAD(write(hold, 1, &op, &result, -2));                                         \
        BAD(write(hold, 1, &op, &result, 0));                                          \
    } while (0)
#define MULTI_LOCK(count, ...)                                                         \
    zkr_multi_lock_create(&made.both, o->c, (const char *const[]){__VA_ARGS__}, count, \
                          NULL)

// clang-format off
static void open_badly(void)
{
    static const char *const lists[] = {
        NULL,      "",           "/",        "/chroot",  ":2181",       "host:",
        "host:0",  "host:65536", "host:x",   "a:1,,b:1", "a:1,",        "a b:1",
        "a:1/no/", "a:1//no",    "a:1/./no", "[::1",     "[::1]x:2181", "host:99999"};
    struct {
        zkr_client_options known;
        int64_t unknown;
    } newer = {{.size = sizeof(newer)}, 1};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        BAD(zkr_client_open(&made.c, lists[i], NULL));
    }
    BAD(zkr_client_open(NULL, "a:1", NULL));
    BAD(zkr_client_open(&made.c, "a:1", SIZE(client, 3)));
    BAD(zkr_client_open(&made.c, "a:1", &newer.known));
    BAD(OPEN(.auth_cert = "x"));
    BAD(OPEN(.guardian = ZKR_GUARDIAN_TRY + 1));
    OUT_OF_RANGE(session_timeout_ms, -1);
    OUT_OF_RANGE(session_timeout_ms, INT64_MAX);
    OUT_OF_RANGE(connect_timeout_ms, -1);
    OUT_OF_RANGE(retry_base_ms, -1);
    OUT_OF_RANGE(retry_max_ms, 1); /* less than the first pause */
    OUT_OF_RANGE(retry_attempts, -1);
    OUT_OF_RANGE(log_level, -1);
    OUT_OF_RANGE(log_level, ZKR_LOG_DEBUG + 1);
    OUT_OF_RANGE(server_tick_ms, -1);
    OUT_OF_RANGE(lease_margin_ppm, -1);
    OUT_OF_RANGE(lease_margin_ppm, 500001);
    BAD(OPEN(.session_timeout_ms = 3999, .server_tick_ms = 2000));
}

/* Check the path in every recipe, and in functions that read a path. */
static void name_badly(const struct objects *o, const char *path)
{
    BAD(zkr_mutex_create(&made.m, o->c, path, NULL));
    BAD(zkr_rwlock_create(&made.rw, o->c, path, NULL));
    BAD(zkr_semaphore_create(&made.permits, o->c, path, 1, NULL));
    BAD(MULTI_LOCK(2, "/a", path));
    BAD(zkr_leader_latch_create(&made.l, o->c, path, "", NULL));
    BAD(zkr_leader_selector_create(&made.s, o->c, path, "", no_leader, NULL, NULL));
    if (path) {
        BAD(PERMITS(.max_from = path));
    }
    if (!path || strcmp(path, "/") != 0) {
        BAD(zkr_client_get(o->c, path, text, sizeof(text), &node, sizeof(node)));
        BAD(zkr_survey_read(o->c, path, 0, &made.survey));
    }
}

static void make_badly(const struct objects *o)
{
    BAD(zkr_mutex_create(NULL, o->c, "/a", NULL));
    BAD(zkr_mutex_create(&made.m, o->c, "/a", SIZE(mutex, SIZE_MAX)));
    BAD(MUTEX(.data_len = 5));
    BAD(MUTEX(.data = "x", .data_len = SIZE_MAX));
    BAD(MUTEX(.keep_ms = -1));
    BAD(MUTEX(.keep_ms = 1, .wait_on_release = 1));
    BAD(MUTEX(.keep_ms = 1, .robust = 1));
    BAD(MUTEX(.keep_ms = 1, .max_waiters = 1));
    BAD(MUTEX(.max_waiters = -1));
    BAD(MUTEX(.warn_ms = -1));
    BAD(MUTEX(.warn_ms = INT64_MAX));
    BAD(MUTEX(.on_warn = no_warning));
    BAD(zkr_rwlock_create(NULL, o->c, "/a", NULL));
    BAD(zkr_rwlock_create(&made.rw, o->c, "/a", SIZE(rwlock, 0)));
    BAD(zkr_rwlock_create(&made.rw, o->c, "/a", OPTIONS(rwlock, .data_len = 3)));
    BAD(zkr_semaphore_create(NULL, o->c, "/a", 1, NULL));
    BAD(zkr_semaphore_create(&made.permits, o->c, "/a", 0, NULL));
    BAD(zkr_semaphore_create(&made.permits, o->c, "/a", -1, NULL));
    BAD(zkr_semaphore_create(&made.permits, o->c, "/a", INT64_MIN, NULL));
    BAD(zkr_semaphore_create(&made.permits, o->c, "/a", INT64_C(2147483648), NULL));
    BAD(zkr_semaphore_create(&made.permits, o->c, "/a", INT64_MAX, NULL));
    BAD(zkr_semaphore_create(&made.permits, o->c, "/a", 1, SIZE(semaphore, 3)));
    BAD(PERMITS(.data_len = 1));
    BAD(PERMITS(.data = "x", .data_len = 65537));
    BAD(zkr_multi_lock_create(NULL, o->c, two_paths, 2, NULL));
    BAD(zkr_multi_lock_create(&made.both, o->c, NULL, 1, NULL));
    BAD(MULTI_LOCK(0, "/a"));
    SAYS("/a", MULTI_LOCK(3, "/a", "/b", "/a"));
    SAYS("/a/b/c", MULTI_LOCK(3, "/a/b/c", "/x", "/a"));
    SAYS("below /a", MULTI_LOCK(3, "/a/b/c", "/x", "/a"));
    BAD(MULTI_LOCK(2, "/a", "/a/b"));
    BAD(zkr_leader_latch_create(NULL, o->c, "/a", "", NULL));
    BAD(zkr_leader_latch_create(&made.l, o->c, "/a", "",
                                OPTIONS(leader_latch, .warn_ms = 1)));
    BAD(zkr_multi_lock_create(&made.both, o->c, two_paths, 2,
                              OPTIONS(multi_lock, .warn_ms = -1)));
    BAD(PERMITS(.warn_ms = -1));
    BAD(zkr_leader_selector_create(NULL, o->c, "/a", "", no_leader, NULL, NULL));
    BAD(zkr_leader_selector_create(&made.s, o->c, "/a", "", NULL, NULL, NULL));
    BAD(SELECTOR(.requeue_delay_ms = -1));
}

static void ask_badly(const struct objects *o)
{
    BAD(zkr_client_wait_connected(o->c, -2));
    BAD(zkr_client_wait_connected(o->c, INT64_MIN));
    BAD(zkr_client_flush(o->c, -2));
    BAD(zkr_client_finish(o->c, -2));
    BAD(zkr_client_stats(o->c, NULL, sizeof(stats)));
    BAD(zkr_client_stats(o->c, &stats, 0));
    BAD(zkr_client_metrics(o->c, NULL, 0, &room));
    BAD(zkr_client_metrics(o->c, NULL, 5, &room));
    BAD(zkr_client_get(o->c, "/", NULL, 8, &node, sizeof(node)));
    BAD(zkr_client_get(o->c, "/", text, 8, NULL, sizeof(node)));
    BAD(zkr_client_get(o->c, "/", text, 8, &node, 0));
    /* The callbacks have their own thread. */
    CODE(ZKR_ESTATE, "", zkr_client_event_fd(o->c));
    CODE(ZKR_ESTATE, "", zkr_client_dispatch(o->c, 0));
    /* The client has no guardian. */
    CODE(ZKR_ESTATE, "", zkr_client_guard_group(o->c, 0));
    CODE(ZKR_ESTATE, "", zkr_client_guard_pipe(o->c, STDOUT_FILENO));

    BAD(zkr_mutex_acquire(o->m, -2));
    BAD(zkr_mutex_watch(o->m, -2));
    BAD(zkr_mutex_await_free(o->m, -2));
    BAD(zkr_mutex_fencing_token(o->m, NULL));
    BAD(zkr_mutex_pass(o->m, NULL));
    BAD(zkr_mutex_node(o->m, NULL, 100));
    BAD(zkr_mutex_node(o->m, small, sizeof(small)));
    BAD(zkr_mutex_guard(o->m, NULL));
    BAD(zkr_mutex_contenders(o->m, NULL));
    BAD(zkr_mutex_request(o->m, 0, NULL, NULL, NULL));
    BAD(zkr_mutex_request(o->m, -2, NULL, NULL, &ticket));
    WRITE_BADLY(zkr_mutex_multi, o->m);
    WRITE_BADLY(zkr_mutex_release_multi, o->m);

    BAD(zkr_ticket_wait(o->t, -2));
    BAD(zkr_ticket_fencing_token(o->t, NULL));
    BAD(zkr_ticket_node(o->t, NULL, 100));
    BAD(zkr_ticket_node(o->t, small, sizeof(small)));
    BAD(zkr_ticket_guard(o->t, NULL));
    WRITE_BADLY(zkr_ticket_multi, o->t);
    WRITE_BADLY(zkr_ticket_release_multi, o->t);

    BAD(zkr_semaphore_acquire(o->permits, 1, -2, &ticket));
    BAD(zkr_semaphore_acquire(o->permits, 1, 100, NULL));
    BAD(zkr_semaphore_request(o->permits, 1, 100, NULL, NULL, NULL));
    BAD(zkr_semaphore_holders(o->permits, NULL));
    BAD(zkr_multi_lock_acquire(o->both, 0, NULL));
    BAD(zkr_multi_lock_acquire(o->both, -2, &ticket));
    BAD(zkr_multi_lock_request(o->both, 0, NULL, NULL, NULL));

    BAD(zkr_leader_latch_stop(o->l, 7));
    BAD(zkr_leader_latch_await(o->l, -2));
    BAD(zkr_leader_latch_watch(o->l, -2));
    BAD(zkr_leader_latch_fencing_token(o->l, NULL));
    BAD(zkr_leader_latch_participants(o->l, NULL));
    BAD(zkr_leader_latch_leader(o->l, small, 0));
    BAD(zkr_leader_latch_node(o->l, small, sizeof(small)));
    BAD(zkr_leader_latch_node(o->l, NULL, 1000));
    BAD(zkr_leader_selector_stop(o->s, -2));
    BAD(zkr_leadership_node(o->lead, NULL, 1000));
}
// clang-format on

/* No hold can ever have these numbers of permits. */
static void take_badly(const struct objects *o)
{
    static const int numbers[] = {
        0, -1, INT32_MIN, 4, ZKR_SEMAPHORE_PERMITS_MAX + 1, INT32_MAX};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        BAD(zkr_semaphore_acquire(o->permits, numbers[i], SECOND, &ticket));
        BAD(zkr_semaphore_request(o->permits, numbers[i], SECOND, NULL, NULL, &ticket));
    }
}

ZKT_CASE(nonsense_is_refused)
{
    enum { HUGE = 2 << 20 };
    static const char *const paths[] = {NULL,   "",      "/",     "relative",
                                        "a",    "/a/",   "//a",   "/a//b",
                                        "/a/.", "/../b", "/a\nb", "/a\x7f"};
    struct objects *o = open_all();
    char *huge = calloc(1, HUGE);
    zoo_set_op_init(&op, "no path", "x", 1, -1, NULL);
    open_badly();
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        name_badly(o, paths[i]);
    }
    memset(huge, 'a', HUGE - 1);
    huge[0] = '/';
    name_badly(o, huge);
    free(huge);
    make_badly(o);
    ask_badly(o);
    take_badly(o);
    leave_nothing_made();
    close_all(o);
}
