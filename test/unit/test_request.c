/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that are not sent, and requests whose answers arrive when no thread waits for them any more. */
#include <pthread.h>
#include <time.h>

#include "look/node_watch.h"
#include "session/open.h"
#include "session/request.h"
#include "session/service.h"
#include "session/session.h"
#include "unit.h"

/* A fake connection that records what it is given. */
static struct {
    struct zkr__handle_owner *owner;
    struct zkr__asker *asker;
    int closed, submitted, lists;
    int refusal; /* ZooKeeper's code; 0 = accept the request */
    int opened;
    const struct zkr__answer
        *at_close; /* the answer to the last request while the handle is closed */
    bool has_tap;
    /* The tap reads bytes that look like the answer to the end of the session. */
    bool confirms;
    int64_t now; /* the time of its clock; 0 = the real time */
} door;

static void *open_kept(const struct zkr__open_args *args)
{
    door.owner = args->owner;
    door.opened++;
    return &door;
}

static void close_kept(void *zh)
{
    door.closed++;
    if (door.at_close) {
        door.asker->answer(door.asker, door.at_close);
    }
    door.at_close = NULL;
}

static int tap_kept(void *zh)
{
    return door.has_tap ? 1 : -1;
}

static bool tap_end_kept(int tap, size_t answers)
{
    return door.confirms;
}

static void password_kept(void *zh, unsigned char password[16])
{
    memset(password, 0, 16);
}

static int submit_kept(void *zh,
                       const struct zkr__op *op,
                       struct zkr__asker *asker,
                       struct zkr__handle_owner *owner)
{
    if (door.refusal != 0) {
        return door.refusal;
    }
    door.submitted++;
    door.lists += op->kind == ZKR__OP_CHILDREN;
    door.asker = asker;
    return 0;
}

static int64_t session_id_kept(void *zh)
{
    return 1;
}

enum { SESSION_MS = 1000 };

static int timeout_kept(void *zh)
{
    return SESSION_MS;
}

static int64_t now_kept(void)
{
    return door.now != 0 ? door.now : zkr__clock_now();
}

static const struct zkr__door kept = {
    .open = open_kept,
    .close = close_kept,
    .tap = tap_kept,
    .tap_end = tap_end_kept,
    .password = password_kept,
    .submit = submit_kept,
    .session_id = session_id_kept,
    .timeout_ms = timeout_kept,
    .now = now_kept,
    .boot = zkr__clock_boot,
};

/* The answers, in the order of their arrival. */
static struct {
    size_t count;
    int last;
    unsigned tags[ZKR__SPARES + 1];
} answers;

static void note_answer(void *ctx, unsigned tag, const struct zkr__answer *answer)
{
    answers.last = answer->code;
    answers.tags[answers.count++ % ZKT_COUNT(answers.tags)] = tag;
}

static zkr_client *open_client(void)
{
    const struct zkr__env env = {.door = &kept, .no_threads = true};
    zkr_client *c = NULL;
    memset(&door, 0, sizeof(door));
    ZKT_MUST(zkr__client_open(&c, "127.0.0.1:1", NULL, &env));
    return c;
}

static void turn(zkr_client *c)
{
    zkr__lock(c);
    zkr__service_run(c);
    zkr__unlock(c);
}

static zkr_client *connected_client(void)
{
    zkr_client *c = open_client();
    turn(c);
    door.owner->session(door.owner, ZKR__SESSION_UP);
    return c;
}

static void ask(zkr_client *c, unsigned tag)
{
    struct zkr__op op = {.kind = ZKR__OP_GET, .path = "/x"};
    zkr__lock(c);
    size_t before = answers.count;
    zkr__submit(c, &op, note_answer, NULL, tag);
    /* An answer never arrives inside the call. */
    assert_int_equal(answers.count, before);
    zkr__unlock(c);
}

static int64_t requests(zkr_client *c)
{
    zkr_stats stats;
    ZKT_MUST(zkr_client_stats(c, &stats, sizeof(stats)));
    return stats.requests;
}

/* --- the end of a client --- */

static const struct zkr__answer lost = {.code = ZKR_ECONNLOSS, .zk_rc = -4},
                                dropped = {.code = ZKR_ECONNLOSS, .zk_rc = -116};

/*
 * A client ends its session while a delete has no answer. @at_close is the answer to the delete while the handle is
 * closed. With @confirms, the tap then reads bytes that look like the answer to the end of the session.
 */
static zkr_client *ending_client(const struct zkr__answer *at_close, bool confirms)
{
    static const struct zkr__answer none = {.code = ZKR_ENONODE};
    zkr_client *c = connected_client();
    door.asker->answer(door.asker, &none);
    ask(c, 1);
    c->stats.pending_deletes = 1;
    door.at_close = at_close;
    door.has_tap = true;
    door.confirms = confirms;
    ZKT_RC(zkr_client_finish(c, 0), ZKR_ETIMEDOUT);
    turn(c);
    turn(c);
    assert_true(door.closed > 0);
    return c;
}

static void end(zkr_client *c)
{
    c->stats.pending_deletes = 0;
    ZKT_MUST(zkr_client_close(c));
}

/* The client gave up the connection just before the close. No end of the session was sent, whatever the tap reads. */
ZKT_UNIT_CASE(an_end_that_was_not_sent_is_not_confirmed)
{
    zkr_client *c = ending_client(&dropped, true);
    ZKT_MUST(zkr_client_finish(c, 0));
    end(c);
    c = ending_client(&lost, true);
    ZKT_RC(zkr_client_finish(c, 0), ZKR_ETIMEDOUT);
    turn(c);
    assert_int_equal(door.opened, 2);
    end(c);
}

/* The first new attempt to end the session follows at once, the next one after a pause. */
ZKT_UNIT_CASE(an_end_without_an_answer_is_sent_again_with_pauses)
{
    zkr_client *c = ending_client(&dropped, false);
    turn(c);
    assert_int_equal(door.opened, 2);
    door.owner->session(door.owner, ZKR__SESSION_UP);
    for (int i = 0; i < 3; i++) {
        turn(c);
    }
    assert_int_equal(door.closed, 2);
    assert_int_equal(door.opened, 2);
    assert_true(c->service_at > zkr__clock_now());
    end(c);
}

/* The servers may end the session a tick after its timeout, and a tick may be half of the timeout. */
ZKT_UNIT_CASE(an_end_without_an_answer_is_awaited_for_one_and_a_half_timeouts)
{
    const int64_t span = SESSION_MS * ZKR__MS * 3 / 2;
    const int64_t before = zkr__clock_now();
    zkr_client *c = ending_client(&dropped, false);
    const int64_t after = zkr__clock_now();
    door.now = before + span - 1;
    turn(c);
    ZKT_RC(zkr_client_finish(c, 0), ZKR_ETIMEDOUT);
    door.now = after + span;
    turn(c);
    ZKT_MUST(zkr_client_finish(c, 0));
    end(c);
}

/* One turn notices that no delete is pending any more. The next turn ends the session. */
ZKT_UNIT_CASE(the_last_delete_wakes_the_service)
{
    zkr_client *c = connected_client();
    c->stats.pending_deletes = 1;
    ZKT_RC(zkr_client_finish(c, 0), ZKR_ETIMEDOUT);
    zkr__lock(c);
    c->service_at = ZKR__NEVER;
    c->stats.pending_deletes = 0;
    zkr__deletes_done(c);
    zkr__unlock(c);
    assert_true(c->service_at <= zkr__clock_now());
    end(c);
}

/* A handle may get a new server list between its connection and the event of that connection. It then comes
   up a second time, without having gone down. */
ZKT_UNIT_CASE(a_handle_comes_up_twice)
{
    zkr_client *c = connected_client();
    static const struct zkr__answer none = {.code = ZKR_ENONODE};
    door.asker->answer(door.asker, &none);
    door.owner->session(door.owner, ZKR__SESSION_UP);
    assert_int_equal(zkr_client_state(c), ZKR_STATE_CONNECTED);
    ZKT_MUST(zkr_client_close(c));
}

/* A request without a connection is answered by the next turn, in order, and is not counted. */
ZKT_UNIT_CASE(what_was_not_sent_is_answered_by_the_next_turn)
{
    zkr_client *c = open_client();
    ask(c, 7);
    ask(c, 8);
    assert_true(c->service_at <= zkr__clock_now()); /* the service is woken */
    turn(c);
    assert_int_equal(answers.count, 2);
    ZKT_RC(answers.last, ZKR_ECONNLOSS);
    assert_int_equal(answers.tags[0], 7);
    assert_int_equal(answers.tags[1], 8);
    assert_int_equal(requests(c), 0);
    ZKT_MUST(zkr_client_close(c));
    assert_int_equal(answers.count, 2);
}

ZKT_UNIT_CASE(a_refusal_of_the_door_is_the_answer)
{
    zkr_client *c = connected_client();
    /* The client sends a request of its own first on each connection. */
    int64_t before = requests(c);
    door.refusal = -4;
    ask(c, 0);
    assert_int_equal(requests(c), before);
    turn(c);
    assert_int_equal(answers.count, 1);
    ZKT_RC(answers.last, ZKR_ECONNLOSS);
    ZKT_MUST(zkr_client_close(c));
}

/*
 * libzookeeper reports "bad argument" both for a bad path and for want of memory for a path. A name in a server's list
 * may be bad. Paths from the application are not checked.
 */
ZKT_UNIT_CASE(a_bad_argument_is_want_of_memory_if_all_paths_are_good)
{
    static const char *const paths[] = {"/x", "/x/y", "x"};
    static const struct zkr__creation creations[] = {{.path = "/x"}, {.path = "/x//y"}};
    static const struct {
        struct zkr__op op;
        int code;
    } rows[] = {
        {{.kind = ZKR__OP_GET, .path = "/"}, ZKR_ENOMEM},
        {{.kind = ZKR__OP_GET, .path = "/x"}, ZKR_ENOMEM},
        {{.kind = ZKR__OP_GET, .path = "/x/.."}, ZKR_EINVAL},
        {{.kind = ZKR__OP_CHECK, .paths = paths, .path_count = 2}, ZKR_ENOMEM},
        {{.kind = ZKR__OP_CHECK, .paths = paths, .path_count = 3}, ZKR_EINVAL},
        {{.kind = ZKR__OP_CREATES, .creations = creations, .creation_count = 1},
         ZKR_ENOMEM},
        {{.kind = ZKR__OP_CREATES, .creations = creations, .creation_count = 2},
         ZKR_EINVAL},
        {{.kind = ZKR__OP_MULTI}, ZKR_EINVAL},
    };
    zkr_client *c = connected_client();
    door.refusal = -8;
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        zkr__lock(c);
        zkr__submit(c, &rows[i].op, note_answer, NULL, 0);
        zkr__unlock(c);
        turn(c);
        assert_int_equal(answers.count, i + 1);
        ZKT_RC(answers.last, rows[i].code);
    }
    ZKT_MUST(zkr_client_close(c));
}

/* The event of a new connection arrives after the answers that are due from before the connection. */
ZKT_UNIT_CASE(what_was_not_sent_is_answered_before_the_next_session)
{
    zkr_client *c = open_client();
    turn(c);
    ask(c, 0);
    door.owner->session(door.owner, ZKR__SESSION_UP);
    assert_int_equal(answers.count, 1);
    ZKT_MUST(zkr_client_close(c));
}

ZKT_UNIT_CASE(what_was_not_sent_is_answered_at_the_close)
{
    zkr_client *c = open_client();
    ask(c, 0);
    ZKT_MUST(zkr_client_close(c));
    assert_int_equal(answers.count, 1);
}

/* Without memory, the spares keep the answers. The spares can be used again afterwards. */
ZKT_UNIT_CASE(answers_are_kept_without_memory)
{
    zkr_client *c = connected_client();
    for (int round = 0; round < 2; round++) {
        memset(&answers, 0, sizeof(answers));
        zkt_allow_allocations(0);
        for (unsigned i = 0; i < ZKR__SPARES; i++) {
            ask(c, i);
        }
        turn(c);
        zkt_allow_allocations(-1);
        assert_int_equal(answers.count, ZKR__SPARES);
        ZKT_RC(answers.last, ZKR_ENOMEM);
        assert_int_equal(answers.tags[ZKR__SPARES - 1], ZKR__SPARES - 1);
        assert_int_equal(zkr_client_state(c), ZKR_STATE_CONNECTED);
    }
    ZKT_MUST(zkr_client_close(c));
}

/* A watch that cannot be counted is not set. A request that needs the watch fails. A request that does not need it is
   sent without the watch. */
ZKT_UNIT_CASE(without_memory_to_count_a_watch_none_is_set)
{
    struct zkr__op op = {.kind = ZKR__OP_GET, .path = "/x"};
    zkr_client *c = connected_client();
    struct zkr__asker *asker = NULL;
    zkr__watches_free(&c->link->watches); /* as in a new client */
    for (int spare = 0; spare < 2; spare++) {
        op.watch = spare ? ZKR__WATCH_SPARE : ZKR__WATCH_NEEDED;
        /* The first request has no memory; the next one has. */
        zkt_allow_allocations(!spare);
        int64_t before = requests(c);
        zkr__lock(c);
        zkr__submit(c, &op, note_answer, NULL, 0);
        zkr__unlock(c);
        asker = door.asker;
        assert_int_equal(requests(c) - before, spare);
        zkt_allow_allocations(-1);
        turn(c);
        assert_int_equal(answers.count, 1);
        ZKT_RC(answers.last, ZKR_ENOMEM);
    }
    assert_int_equal(c->link->watches.count, 0);
    static const struct zkr__answer late = {.code = ZKR_OK};
    asker->answer(asker, &late);
    ZKT_MUST(zkr_client_close(c));
}

/* The spares are allocated when the client is opened. Without memory for them, the client is not opened, and nothing
   leaks. */
ZKT_UNIT_CASE(no_client_is_opened_without_memory_for_its_answers)
{
    const struct zkr__env env = {.door = &kept, .no_threads = true};
    zkr_client *c = NULL;
    int64_t allowed = 0;
    int rc = ZKR_ENOMEM;
    for (; rc != ZKR_OK; allowed++) {
        ZKT_RC(rc, ZKR_ENOMEM);
        zkt_allow_allocations(allowed);
        rc = zkr__client_open(&c, "127.0.0.1:1", NULL, &env);
        zkt_allow_allocations(-1);
    }
    assert_true(allowed > ZKR__SPARES);
    ZKT_MUST(zkr_client_close(c));
}

/* With one answer more than spares, the client gives up the session, and each requester learns of that. */
ZKT_UNIT_CASE(an_answer_that_cannot_be_kept_ends_the_session)
{
    zkr_client *c = connected_client();
    zkt_allow_allocations(0);
    for (unsigned i = 0; i <= ZKR__SPARES; i++) {
        ask(c, i);
    }
    assert_int_equal(zkr_client_state(c), ZKR_STATE_CONNECTED);
    turn(c);
    zkt_allow_allocations(-1);
    assert_int_equal(answers.count, ZKR__SPARES);
    assert_int_not_equal(zkr_client_state(c), ZKR_STATE_CONNECTED);
    assert_int_equal(door.closed, 1);
    ZKT_MUST(zkr_client_close(c));
}

/* A watch that has a callback sends its requests by itself. */
static void ignore_number(void *ctx, int64_t number)
{
}

/* The loss of an answer must not leave a node watch without its ZooKeeper watch: the next session sends the request
   again. */
ZKT_UNIT_CASE(a_watch_whose_answer_was_dropped_asks_in_the_next_session)
{
    zkr_client *c = open_client();
    struct zkr__node_watch *watch = NULL;
    turn(c);
    zkr__lock(c);
    ZKT_MUST(zkr__node_watch_create(&watch, c, "/x", ZKR__FOLLOW_CONTENDERS,
                                    ignore_number, NULL));
    zkr__unlock(c);
    zkt_allow_allocations(0);
    for (unsigned i = 0; i < ZKR__SPARES; i++) {
        ask(c, i);
    }
    door.owner->session(door.owner, ZKR__SESSION_UP);
    assert_int_equal(zkr_client_state(c), ZKR_STATE_CONNECTED);
    assert_true(c->overrun);
    assert_int_equal(door.lists, 0);
    zkt_allow_allocations(-1);
    turn(c); /* this turn gives up the session */
    turn(c);
    door.owner->session(door.owner, ZKR__SESSION_UP);
    assert_int_equal(door.lists, 1);
    zkr__lock(c);
    zkr__node_watch_end(watch);
    zkr__unlock(c);
    ZKT_MUST(zkr_client_close(c));
}

static void count(void *engine)
{
    ++*(int *)engine;
}

static void nothing(void *engine)
{
}

static int64_t never(void *engine, int64_t now)
{
    return ZKR__NEVER;
}

/* The engine is notified once of a shutdown. Long waits end at once, and no new wait begins. */
ZKT_UNIT_CASE(a_shutdown_ends_waits)
{
    static const struct zkr__upcalls upcalls = {.connected = nothing,
                                                .session_over = nothing,
                                                .run_timers = never,
                                                .shutdown = count,
                                                .free = nothing};
    zkr_client *c = open_client();
    int shutdowns = 0;
    c->engine = &shutdowns;
    c->up = &upcalls;
    ZKT_MUST(zkr_client_shutdown(c));
    ZKT_MUST(zkr_client_shutdown(c));
    assert_int_equal(shutdowns, 1);
    ZKT_RC(zkr_client_wait_connected(c, ZKR_FOREVER), ZKR_ECLOSED);
    ZKT_MUST(zkr_client_flush(c, ZKR_FOREVER));
    zkr__lock(c);
    c->stats.pending_deletes++;
    zkr__unlock(c);
    ZKT_RC(zkr_client_flush(c, ZKR_FOREVER), ZKR_ECLOSED);
    zkr__lock(c);
    c->stats.pending_deletes--;
    ZKT_RC(zkr__client_enlist(c, "/x"), ZKR_ECLOSED);
    zkr__unlock(c);
    ZKT_MUST(zkr_client_close(c));
    assert_int_equal(shutdowns, 1);
}

static void count_event(void *engine, const char *path, enum zkr__node_event event)
{
    assert_string_equal(path, "/x");
    assert_int_equal(event, ZKR__NODE_DELETED);
    count(engine);
}

static const struct zkr__upcalls counts_events = {.connected = nothing,
                                                  .session_over = nothing,
                                                  .run_timers = never,
                                                  .node_event = count_event,
                                                  .shutdown = nothing,
                                                  .free = nothing};

/*
 * The engine is notified of node events while the session lives. After the client has given up a session, a late answer
 * may arrive, and then an event of the watch that the request set. The memory for both is still valid, and nobody is
 * notified.
 */
ZKT_UNIT_CASE(event_of_a_session_given_up_meets_nobody)
{
    zkr_client *c = connected_client();
    int events = 0;
    c->engine = &events;
    c->up = &counts_events;
    door.owner->node(door.owner, "/x", ZKR__NODE_DELETED);
    assert_int_equal(events, 1);
    struct zkr__op op = {.kind = ZKR__OP_GET, .path = "/x", .watch = true};
    zkr__lock(c);
    zkr__submit(c, &op, note_answer, NULL, 0);
    zkr__session_over(c, "by the test");
    zkr__unlock(c);
    assert_int_equal(answers.count, 1); /* ZKR_ESESSION */

    const struct zkr__answer late = {.code = ZKR_OK};
    door.asker->answer(door.asker, &late);
    door.owner->node(door.owner, "/x", ZKR__NODE_DELETED);
    door.owner->node(door.owner, NULL, ZKR__NODE_DELETED);
    assert_int_equal(answers.count, 1);
    assert_int_equal(events, 1);
    assert_false(c->overrun);

    ZKT_MUST(zkr_client_close(c));
    assert_int_equal(door.closed, 1);
}

/* An event without memory for its path may concern any node. */
ZKT_UNIT_CASE(an_event_that_cannot_be_told_ends_the_session)
{
    zkr_client *c = connected_client();
    int events = 0;
    c->engine = &events;
    c->up = &counts_events;
    door.owner->node(door.owner, NULL, ZKR__NODE_DELETED);
    assert_int_equal(events, 0);
    assert_true(c->service_at <= zkr__clock_now());
    turn(c);
    assert_int_not_equal(zkr_client_state(c), ZKR_STATE_CONNECTED);
    ZKT_MUST(zkr_client_close(c));
}

/* --- close --- */

static void *answer_late(void *arg)
{
    const struct zkr__answer answer = {.code = ZKR_OK};
    struct timespec pause = {.tv_nsec = 20 * ZKR__MS};
    int *closed_before = arg;
    (void)nanosleep(&pause, NULL); /* by then, the close waits */
    *closed_before = door.closed;
    door.asker->answer(door.asker, &answer);
    return NULL;
}

/* If a connection is closed with unread answers, the connection is reset, and the end of the session may be lost. */
ZKT_UNIT_CASE(a_close_waits_for_answers)
{
    pthread_t thread;
    int closed_before = 0;
    zkr_client *c = connected_client();
    ask(c, 0);
    assert_int_equal(pthread_create(&thread, NULL, answer_late, &closed_before), 0);
    ZKT_MUST(zkr_client_close(c));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(closed_before, 0);
    assert_int_equal(answers.count, 1);
    ZKT_MUST(answers.last);
    assert_int_equal(door.closed, 1);
}

/* The close does not wait for ever. */
ZKT_UNIT_CASE(a_close_waits_a_second_at_most)
{
    zkr_client *c = connected_client();
    ask(c, 0);
    int64_t before = zkr__clock_now();
    ZKT_MUST(zkr_client_close(c));
    ZKT_IN_RANGE((zkr__clock_now() - before) / ZKR__MS, 900, 10000);
    ZKT_RC(answers.last, ZKR_ESESSION);
    assert_int_equal(door.closed, 1);
}
