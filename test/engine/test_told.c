/* SPDX-License-Identifier: Apache-2.0 */
/* What the application learns about a hold, and why: on the fake, in virtual time. */
#include <string.h>

#include "keep.h"
#include "on_fake.h"

/* --- the first question after the end of the lease --- */

static int ask_token(zkr_ticket *t)
{
    int64_t token;
    return zkr_ticket_fencing_token(t, &token);
}

static int ask_pass(zkr_ticket *t)
{
    int64_t pass;
    return zkr_ticket_pass(t, &pass);
}

static int ask_node(zkr_ticket *t)
{
    char node[256];
    return zkr_ticket_node(t, node, sizeof(node));
}

static int ask_position(zkr_ticket *t)
{
    int64_t ahead;
    return zkr_ticket_position(t, &ahead);
}

static int ask_lost(zkr_ticket *t)
{
    zkr_lost lost;
    return zkr_ticket_lost(t, &lost, sizeof(lost));
}

static int ask_valid(zkr_ticket *t)
{
    return (int)zkr_ticket_valid_for_ms(t);
}

/* Any function that is called first, before a thread of the library runs, reports the loss. */
ZKT_UNIT_CASE(every_function_knows_of_the_end)
{
    static const struct {
        int (*ask)(zkr_ticket *t);
        int answer;
    } rows[] = {
        {zkr_ticket_release, ZKR_ESESSION},
        {zkr_ticket_error, ZKR_ESESSION},
        {zkr_ticket_state, ZKR_TICKET_LOST},
        {zkr_ticket_destroy, ZKR_OK},
        {ask_token, ZKR_ESESSION},
        {ask_pass, ZKR_ESESSION},
        {ask_node, ZKR_ESESSION},
        {ask_position, ZKR_ESTATE},
        {ask_lost, ZKR_OK},
        {ask_valid, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        zkr_client *c = open_client(NULL);
        zkr_ticket *t = hold(c, mutex_at(c, "/lock", NULL));
        between.asleep = 2 * ZKF_SESSION_MS * ZKR__MS;
        assert_int_equal(rows[i].ask(t), rows[i].answer);
        assert_int_equal(zkr_client_valid_for_ms(c), 0);
        if (rows[i].ask == zkr_ticket_destroy) {
            zkt_unkeep(t);
        } else {
            ZKT_RC(zkr_ticket_release(t), ZKR_ESESSION);
            ZKT_RC(zkr_ticket_release(t), ZKR_ESESSION);
        }
    }
}

/* Whichever function notices the timeout first, the error names the path that another contender holds. */
ZKT_UNIT_CASE(a_late_multi_lock_names_the_held_path)
{
    static const char *const paths[] = {"/first", "/second", "/third"};
    enum { PATHS = sizeof(paths) / sizeof(paths[0]) };
    for (int held = 0; held < PATHS; held++) {
        zkr_multi_lock *l;
        zkr_ticket *t;
        zkr_client *c = open_client(NULL);
        (void)hold(c, mutex_at(c, paths[held], NULL));
        ZKT_MUST(zkr_multi_lock_create(&l, c, paths, PATHS, NULL));
        ZKT_MUST(zkr_multi_lock_request(l, SECOND, NULL, NULL, &t));
        zkf_pass_to(c, SECOND / 2, t, ZKR_TICKET_WAITING);
        zkf_client_clock(0, SECOND * ZKR__MS, 0); /* no timer has run yet */
        assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_FAILED);
        assert_int_equal(zkr_ticket_error(t), ZKR_ETIMEDOUT);
        assert_string_equal(zkr_last_error()->path, paths[held]);
        zkf_client_clock(0, 0, 0);
        ZKT_MUST(zkr_ticket_destroy(t));
        ZKT_MUST(zkr_multi_lock_destroy(l));
    }
}

static void lose_list(struct zkr__op *op)
{
    if (op->kind == ZKR__OP_CHILDREN && strcmp(op->path, "/b") == 0) {
        between.on_submit = NULL;
        zkf_blackhole(0, true);
    }
}

/* "/a" is held, and the last list for "/b" is never answered. Which member's timer fires first depends on the order. */
ZKT_UNIT_CASE(a_late_multi_lock_with_a_lost_answer_timed_out)
{
    enum { PATHS = 3 };
    static const char *const orders[][PATHS] = {
        {"/a", "/b", "/c"}, {"/b", "/a", "/c"}, {"/b", "/c", "/a"}};
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        zkr_multi_lock *l;
        zkr_ticket *t;
        zkr_client *c = open_client(NULL);
        assert_true(zkf_stranger_create("/a", false));
        assert_true(zkf_stranger_create("/b", false));
        assert_true(zkf_stranger_create("/a/x-lock-", true));
        assert_true(zkf_stranger_create("/b/x-lock-", true));
        assert_true(zkf_stranger_create("/b/x-lock-", true));
        ZKT_MUST(zkr_multi_lock_create(&l, c, orders[i], PATHS, NULL));
        ZKT_MUST(zkr_multi_lock_request(l, 4 * SECOND, NULL, NULL, &t));
        zkf_pass_to(c, SECOND, t, ZKR_TICKET_WAITING);
        between.on_submit = lose_list;
        assert_true(zkf_stranger_delete("/b/x-lock-0000000001"));
        zkf_pass_to(c, 4 * SECOND, t, ZKR_TICKET_FAILED);
        assert_null(between.on_submit);
        assert_int_equal(zkr_ticket_error(t), ZKR_ETIMEDOUT);
        zkf_blackhole(0, false);
        zkf_pass(c, SECOND);
        ZKT_MUST(zkr_ticket_destroy(t));
        ZKT_MUST(zkr_multi_lock_destroy(l));
    }
}

/* --- the wait --- */

static void note_state(zkr_ticket *t, int state, void *ctx)
{
    *(int *)ctx = state;
}

/*
 * Tickets wait behind holds of the same client, which keeps the node. They queue in the client, without nodes
 * of their own.
 */
ZKT_UNIT_CASE(a_ticket_in_the_line_of_its_client_is_queued)
{
    int told[2] = {0};
    int64_t ahead = 0;
    zkr_client *c = open_client(NULL);
    const zkr_mutex_options o = {
        .size = sizeof(o), .keep_ms = 100 * SECOND, .tell_queued = 1};
    zkr_mutex *m = mutex_at(c, "/lock", &o);
    zkr_ticket *first = hold(c, m), *t[2];
    for (int i = 0; i < 2; i++) {
        ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, note_state, &told[i], &t[i]));
    }
    zkf_pass(c, SECOND);
    zkf_call_back(c);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(told[i], ZKR_TICKET_QUEUED);
        ZKT_MUST(zkr_ticket_position(t[i], &ahead));
        assert_int_equal(ahead, i + 1);
    }
    end(first);
    zkf_pass(c, SECOND);
    zkf_call_back(c);
    assert_int_equal(told[0], ZKR_TICKET_HELD);
    ZKT_MUST(zkr_ticket_position(t[1], &ahead));
    assert_int_equal(ahead, 1);
    for (int i = 0; i < 2; i++) {
        ZKT_MUST(zkr_ticket_release(t[i]));
        ZKT_MUST(zkr_ticket_destroy(t[i]));
    }
}

/* Tickets are also reported as queued if the queue forms only when the client connects. */
ZKT_UNIT_CASE(a_ticket_that_lines_up_late_is_queued)
{
    int told[2] = {0};
    zkr_client *c = open_client(NULL);
    const zkr_mutex_options o = {
        .size = sizeof(o), .keep_ms = 100 * SECOND, .tell_queued = 1};
    zkr_mutex *m = mutex_at(c, "/lock", &o);
    zkr_ticket *t[2];
    zkf_blackhole(0, true);
    zkf_pass(c, 8 * SECOND);
    assert_int_not_equal(zkr_client_state(c), ZKR_STATE_CONNECTED);
    for (int i = 0; i < 2; i++) {
        ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, note_state, &told[i], &t[i]));
    }
    zkf_blackhole(0, false);
    zkf_pass(c, 5 * SECOND);
    zkf_call_back(c);
    assert_int_equal(told[0], ZKR_TICKET_HELD);
    assert_int_equal(told[1], ZKR_TICKET_QUEUED);
    for (int i = 0; i < 2; i++) {
        ZKT_MUST(zkr_ticket_release(t[i]));
        ZKT_MUST(zkr_ticket_destroy(t[i]));
    }
}

/* --- the cause --- */

/* A stop of the process explains a loss for one session timeout, and not later. */
ZKT_UNIT_CASE(a_stop_of_long_ago_is_not_blamed)
{
    static const struct {
        int64_t later_ms;
        bool blamed;
    } rows[] = {{ZKF_SESSION_MS / 10, true}, {3 * ZKF_SESSION_MS, false}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        zkr_lost lost;
        zkr_client *c = open_client(NULL);
        zkr_ticket *t = hold(c, mutex_at(c, "/lock", NULL));
        zkf_pass(c, 5 * SECOND);
        between.asleep = ZKF_SESSION_MS / 3 * ZKR__MS;
        zkf_pass_to(c, rows[i].later_ms, t, ZKR_TICKET_HELD);
        zkf_blackhole(0, true);
        zkf_pass_to(c, 2 * ZKF_SESSION_MS, t, ZKR_TICKET_LOST);
        ZKT_MUST(zkr_ticket_lost(t, &lost, sizeof(lost)));
        assert_int_equal(lost.stopped_ms > 0, rows[i].blamed);
        assert_int_equal(strstr(lost.text, "did not run") != NULL, rows[i].blamed);
        zkf_blackhole(0, false);
    }
}

static void stop_process(void)
{
    between.asleep += ZKF_SESSION_MS / 3 * ZKR__MS;
}

static void stop_at_a_probe(struct zkr__op *op)
{
    if (op->kind == ZKR__OP_CHECK) {
        between.on_submit = NULL;
        stop_process();
    }
}

/*
 * Returns a loss after a stop. With @in_a_turn, the stop is during a run of the service. Otherwise it is after a call
 * has requested a run, and before that run.
 */
static zkr_lost lost_after_a_stop(bool in_a_turn)
{
    zkr_lost lost;
    zkr_client *c = open_client(NULL);
    zkr_mutex *m = mutex_at(c, "/lock", NULL);
    zkf_pass(c, SECOND); /* nothing is due */
    zkr_ticket *t = ask(m, ZKR_FOREVER);
    if (!in_a_turn) {
        stop_process();
    }
    zkf_pass_to(c, SECOND, t, ZKR_TICKET_HELD);
    if (in_a_turn) {
        between.on_submit = stop_at_a_probe;
    }
    zkf_pass_to(c, ZKF_SESSION_MS / 10, t, ZKR_TICKET_HELD);
    assert_null(between.on_submit);
    zkf_blackhole(0, true);
    zkf_pass_to(c, 2 * ZKF_SESSION_MS, t, ZKR_TICKET_LOST);
    ZKT_MUST(zkr_ticket_lost(t, &lost, sizeof(lost)));
    zkf_blackhole(0, false);
    return lost;
}

/* A process may stop at any moment, also during a run of the service, and before a run that a call has requested. */
ZKT_UNIT_CASE(a_stop_at_any_moment_is_seen)
{
    ZKT_IN_RANGE(lost_after_a_stop(true).stopped_ms, ZKF_SESSION_MS / 4,
                 ZKF_SESSION_MS);
    ZKT_IN_RANGE(lost_after_a_stop(false).stopped_ms, ZKF_SESSION_MS / 4,
                 ZKF_SESSION_MS);
}

/* The second hold by a kept node counts from its own grant. */
ZKT_UNIT_CASE(a_hold_by_a_kept_node_is_as_old_as_its_grant)
{
    zkr_lost lost;
    int64_t pass = 0;
    zkr_client *c = open_client(NULL);
    const zkr_mutex_options o = {.size = sizeof(o), .keep_ms = 30 * SECOND};
    zkr_mutex *m = mutex_at(c, "/lock", &o);
    end(hold(c, m));
    zkf_pass(c, 20 * SECOND);
    zkr_ticket *t = hold(c, m);
    ZKT_MUST(zkr_ticket_pass(t, &pass));
    assert_int_equal(pass, 2);
    zkf_expire(zkr_client_session_id(c));
    zkf_pass_to(c, SECOND, t, ZKR_TICKET_LOST);
    ZKT_MUST(zkr_ticket_lost(t, &lost, sizeof(lost)));
    ZKT_IN_RANGE(lost.held_ms, 0, 5 * SECOND);
}

/* --- requests to release --- */

static const char request[] = "__REVOKE__";
static int requests;

static void count_request(zkr_mutex *m, void *ctx)
{
    requests++;
}

static const char *lock_node(void)
{
    for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
        if (strncmp(n->path, "/lock/", 6) == 0) {
            return n->path;
        }
    }
    return NULL;
}

static void request_again(struct zkr__op *op)
{
    if (op->kind == ZKR__OP_SET) {
        between.on_submit = NULL;
        assert_true(zkf_stranger_set(op->path, request, sizeof(request) - 1));
    }
}

/* The second request arrives while the client restores the data of its node after the first one. */
ZKT_UNIT_CASE(a_request_during_the_answer_to_another_is_told)
{
    zkr_client *c = open_client(NULL);
    const zkr_mutex_options o = {.size = sizeof(o), .on_revoke = count_request};
    requests = 0;
    (void)hold(c, mutex_at(c, "/lock", &o));
    zkf_pass(c, 5 * SECOND);
    between.on_submit = request_again;
    assert_true(zkf_stranger_set(lock_node(), request, sizeof(request) - 1));
    zkf_pass(c, SECOND);
    assert_null(between.on_submit);
    zkf_call_back(c);
    assert_int_equal(requests, 2);
}

/* The session has ended, and this counts, although the process also stopped shortly before. */
ZKT_UNIT_CASE(the_end_of_a_session_is_counted_as_that)
{
    static char text[1 << 16];
    zkr_lost lost;
    zkr_client *c = open_client(NULL);
    zkr_ticket *t = hold(c, mutex_at(c, "/lock", NULL));
    zkf_pass(c, 5 * SECOND);
    stop_process();
    zkf_pass_to(c, SECOND, t, ZKR_TICKET_HELD);
    zkf_expire(zkr_client_session_id(c));
    /* The answer to a probe would report the end of the node first. */
    assert_true(zkf_cut(0, ZKF_CUT_ANSWERS));
    zkf_pass_to(c, SECOND, t, ZKR_TICKET_LOST);
    ZKT_MUST(zkr_ticket_lost(t, &lost, sizeof(lost)));
    assert_int_equal(lost.reason, ZKR_LOST_SESSION);
    assert_true(lost.stopped_ms > 0);
    ZKT_MUST(zkr_client_metrics(c, text, sizeof(text), NULL));
    assert_non_null(
        strstr(text, "zkr_lost_total{path=\"/lock\",reason=\"session\"} 1\n"));
    assert_non_null(
        strstr(text, "zkr_lost_total{path=\"/lock\",reason=\"stopped\"} 0\n"));
}

/* --- the warning --- */

/* A shorter timeout brings the end of the lease nearer. The holder is warned of the new end. */
ZKT_UNIT_CASE(a_shorter_timeout_is_warned_of)
{
    const int64_t shorter = ZKF_SESSION_MS / 5;
    int told = 0;
    zkr_ticket *t = NULL;
    zkr_client *c = open_client(NULL);
    const zkr_mutex_options o = {.size = sizeof(o), .warn_ms = shorter / 4};
    ZKT_MUST(zkr_mutex_request(mutex_at(c, "/lock", &o), ZKR_FOREVER, note_state, &told,
                               &t));
    zkf_pass_to(c, 6 * SECOND, t, ZKR_TICKET_HELD);
    zkf_limits(0, shorter * ZKR__MS, shorter * ZKR__MS);
    assert_true(zkf_cut(0, ZKF_CUT_REQUESTS));
    while (zkr_client_session_timeout_ms(c) != shorter) {
        zkf_pass(c, 1);
    }
    zkf_pass_to(c, SECOND / 10, t, ZKR_TICKET_HELD);
    zkf_call_back(c);
    assert_int_equal(told, ZKR_TICKET_HELD);
    zkf_blackhole(0, true);
    while (told == ZKR_TICKET_HELD) {
        zkf_pass(c, 1);
        zkf_call_back(c);
    }
    assert_int_equal(told, ZKR_TICKET_WARNED);
    zkf_blackhole(0, false);
    (void)zkr_ticket_release(t);
    ZKT_MUST(zkr_ticket_destroy(t));
}

/* --- the maximum of a semaphore --- */

static void make_count(struct zkr__op *op)
{
    static const unsigned char two[] = {0, 0, 0, 2};
    if (op->kind == ZKR__OP_EXISTS && zkf_stranger_create("/max", false)) {
        assert_true(zkf_stranger_set("/max", two, sizeof(two)));
    }
}

/* The count is created after a read has found none, and before the watch on its absence is set. */
ZKT_UNIT_CASE(a_count_made_in_between_counts)
{
    zkr_client *c = open_client(NULL);
    zkr_semaphore *s = NULL;
    zkr_ticket *two = NULL, *three = NULL;
    zkr_semaphore_options o = ZKR_SEMAPHORE_OPTIONS_INIT;
    o.max_from = "/max";
    between.on_submit = make_count;
    ZKT_MUST(zkr_semaphore_create(&s, c, "/permits", 5, &o));
    ZKT_MUST(zkr_semaphore_request(s, 2, ZKR_FOREVER, NULL, NULL, &two));
    ZKT_MUST(zkr_semaphore_request(s, 3, ZKR_FOREVER, NULL, NULL, &three));
    zkf_pass_to(c, SECOND, two, ZKR_TICKET_HELD);
    end(two);
    zkf_pass_to(c, SECOND, three, ZKR_TICKET_WAITING);
    end(three);
    ZKT_MUST(zkr_semaphore_destroy(s));
}

/* --- a latch --- */

struct terms {
    int gains, losses;
    int64_t reason, held_ms;
};

static void on_gain(zkr_leader_latch *l, int64_t token, void *ctx)
{
    ((struct terms *)ctx)->gains++;
}

static void on_loss(zkr_leader_latch *l, const zkr_lost *lost, void *ctx)
{
    struct terms *terms = ctx;
    terms->losses++;
    terms->reason = lost->reason;
    terms->held_ms = lost->held_ms;
}

/* Let the lease of the latch end and begin again. */
static void interrupt(zkr_client *c, zkr_leader_latch *l)
{
    int64_t token = 0;
    zkf_blackhole(0, true);
    while (zkr_leader_latch_has_leadership(l)) {
        zkf_pass(c, SECOND / 100);
    }
    zkf_blackhole(0, false);
    while (zkr_leader_latch_await(l, 0) != ZKR_OK) {
        zkf_pass(c, SECOND / 100);
    }
    ZKT_MUST(zkr_leader_latch_fencing_token(l, &token));
    assert_int_equal(zkr_leader_latch_valid_for_ms(l), 0); /* on_loss is due */
    assert_int_equal(zkr_leader_latch_term_valid_for_ms(l, token), 0);
    zkf_call_back(c);
    assert_true(zkr_leader_latch_valid_for_ms(l) > 0);
    assert_true(zkr_leader_latch_term_valid_for_ms(l, token) > 0);
}

/*
 * The lease ended and began again before the callbacks could run. The leadership was not certain in between, so the
 * callbacks report the gap.
 */
ZKT_UNIT_CASE(a_gap_in_a_term_is_told)
{
    enum { LONG = 60 * SECOND };
    struct terms terms = {0};
    zkr_client *c = open_client(NULL);
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    o.on_gain = on_gain;
    o.on_loss = on_loss;
    o.ctx = &terms;
    zkr_leader_latch *l = latch_with(c, &o);
    ZKT_MUST(zkr_leader_latch_start(l));
    zkf_pass(c, 5 * SECOND);
    zkf_call_back(c);
    assert_int_equal(terms.gains, 1);
    interrupt(c, l);
    assert_int_equal(terms.losses, 1);
    assert_int_equal(terms.reason, ZKR_LOST_LEASE);
    assert_int_equal(terms.gains, 2);

    zkf_pass(c, LONG);
    interrupt(c, l);
    assert_int_equal(terms.losses, 2);
    /* The duration belongs to this loss, not to the first one. */
    assert_true(terms.held_ms >= LONG);
}
