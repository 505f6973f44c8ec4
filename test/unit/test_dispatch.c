/* SPDX-License-Identifier: Apache-2.0 */
/* The thread on which callbacks run. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include "session/dispatch.h"
#include "unit.h"

enum { CALLS = 100, YIELDS = 1000 };

struct call {
    struct zkr__call call;
    struct zkr__dispatch *d;
    int number;
    bool on_dispatch_thread;
    bool dropped;
    struct call *next; /* posted when run */
};

/* What ran, in order. Written by one thread at a time, read after a stop. */
static int ran[CALLS + 1];
static int ran_count;
static int dropped_count;

static struct zkr__dispatch *begin(struct zkr__dispatch *d, bool thread)
{
    ran_count = 0;
    dropped_count = 0;
    zkr__dispatch_init(d);
    if (thread) {
        assert_int_equal(zkr__dispatch_start(d), 0);
    }
    return d;
}

static void end(struct zkr__dispatch *d)
{
    zkr__dispatch_stop(d);
    zkr__dispatch_destroy(d);
}

static bool note(struct zkr__call *call)
{
    struct call *c = (struct call *)call;
    c->on_dispatch_thread = zkr__dispatch_is_self(c->d);
    ran[ran_count++] = c->number;
    if (c->next) {
        zkr__dispatch_post(c->d, &c->next->call);
    }
    return true;
}

static void note_drop(struct zkr__call *call)
{
    struct call *c = (struct call *)call;
    c->dropped = true;
    dropped_count++;
}

static void post(struct zkr__dispatch *d, struct call *c, int number, const void *owner)
{
    c->d = d;
    c->number = number;
    c->call.owner = owner;
    c->call.run = c->call.run ? c->call.run : note;
    c->call.drop = note_drop;
    zkr__dispatch_post(d, &c->call);
}

/* Calls run one after the other, in the order they were posted in, on the one thread. */
ZKT_UNIT_CASE(calls_run_in_order_on_the_dispatch_thread)
{
    static struct call calls[CALLS];
    struct zkr__dispatch d;
    begin(&d, true);
    for (int i = 0; i < CALLS; i++) {
        post(&d, &calls[i], i, NULL);
    }
    end(&d);
    assert_int_equal(ran_count, CALLS);
    for (int i = 0; i < CALLS; i++) {
        assert_int_equal(ran[i], i);
        assert_true(calls[i].on_dispatch_thread);
    }
    assert_false(zkr__dispatch_is_self(&d));
}

/* A stop runs what is queued, and what that posts, with or without a thread. */
ZKT_UNIT_CASE(a_stop_drains_the_queue)
{
    for (int thread = 0; thread < 2; thread++) {
        struct zkr__dispatch d;
        struct call last = {.call = {.run = note}, .d = &d, .number = 3};
        struct call first = {.next = &last};
        struct call second = {.number = 0};
        begin(&d, thread != 0);
        post(&d, &first, 1, NULL);
        post(&d, &second, 2, NULL);
        end(&d);
        assert_int_equal(ran_count, 3); /* each once; the thread may have begun early */
        assert_int_equal(ran[0] + ran[1] + ran[2], 1 + 2 + 3);
        assert_int_equal(dropped_count, 0);
    }
}

/* Without the thread, calls are run one at a time by whoever asks, until none is left. */
ZKT_UNIT_CASE(one_call_is_run_at_a_time)
{
    struct zkr__dispatch d;
    struct call calls[2] = {{.number = 0}};
    begin(&d, false);
    assert_false(zkr__dispatch_run_one(&d));
    post(&d, &calls[0], 0, NULL);
    post(&d, &calls[1], 1, NULL);
    assert_true(zkr__dispatch_run_one(&d));
    assert_int_equal(ran_count, 1);
    assert_true(zkr__dispatch_run_one(&d));
    assert_false(zkr__dispatch_run_one(&d));
    post(&d, &calls[0], 7, NULL); /* the end of an emptied queue is its beginning */
    assert_true(zkr__dispatch_run_one(&d));
    assert_int_equal(ran[2], 7);
    end(&d);
}

/* Canceling drops the queued calls of one owner and of nobody else; order is kept. */
ZKT_UNIT_CASE(a_cancel_drops_the_calls_of_its_owner_only)
{
    int mine;
    int other;
    struct zkr__dispatch d;
    struct call calls[8] = {{.number = 0}};
    begin(&d, false);
    for (int i = 0; i < 7; i++) {
        post(&d, &calls[i], i, i % 2 ? (void *)&other : (void *)&mine);
    }
    zkr__dispatch_cancel(&d, &mine); /* the first and the last among them */
    assert_int_equal(dropped_count, 4);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(calls[i].dropped, i % 2 == 0);
    }
    post(&d, &calls[7], 7, &mine);
    end(&d);
    assert_int_equal(ran_count, 4);
    static const int wanted[] = {1, 3, 5, 7};
    assert_memory_equal(ran, wanted, sizeof(wanted));
}

/* A call without a drop function may be canceled; so may an owner without calls. */
ZKT_UNIT_CASE(a_cancel_needs_no_drop_function)
{
    struct zkr__dispatch d;
    struct call c = {.call = {.owner = &d, .run = note}};
    begin(&d, false);
    zkr__dispatch_post(&d, &c.call);
    zkr__dispatch_cancel(&d, &d);
    zkr__dispatch_cancel(&d, &d);
    assert_false(zkr__dispatch_run_one(&d));
    end(&d);
}

/* --- a cancel while a call runs --- */

static sem_t started;
static bool finished;
static bool queue_was_empty;

static bool queue_is_empty(struct zkr__dispatch *d)
{
    zkr__mu_lock(&d->mu);
    bool empty = d->head == NULL;
    zkr__mu_unlock(&d->mu);
    return empty;
}

/* Goes on until the cancel has emptied the queue, and then some. */
static bool run_until_canceled(struct zkr__call *call)
{
    struct call *c = (struct call *)call;
    (void)sem_post(&started);
    while (!queue_is_empty(c->d)) {
        (void)sched_yield();
    }
    for (int i = 0; i < YIELDS; i++) {
        (void)sched_yield();
    }
    finished = true;
    return true;
}

/* A cancel returns only when the owner's running call has returned. */
ZKT_UNIT_CASE(a_cancel_waits_for_a_running_call)
{
    struct zkr__dispatch d;
    struct call running = {.call = {.run = run_until_canceled}};
    struct call queued = {.number = 0};
    assert_int_equal(sem_init(&started, 0, 0), 0);
    finished = false;
    begin(&d, true);
    post(&d, &running, 1, &d);
    post(&d, &queued, 2, &d);
    assert_int_equal(sem_wait(&started), 0);
    zkr__dispatch_cancel(&d, &d);
    assert_true(finished);
    assert_true(queued.dropped);
    assert_false(running.dropped);
    end(&d);
    (void)sem_destroy(&started);
}

/* Runs until the other owner's cancel is over: had it waited for this, that would be never. */
static bool run_until_told(struct zkr__call *call)
{
    (void)call;
    (void)sem_wait(&started);
    return true;
}

/* A cancel does not wait for the running call of another owner. */
ZKT_UNIT_CASE(a_cancel_waits_for_no_other_owner)
{
    int other;
    struct zkr__dispatch d;
    struct call running = {.call = {.run = run_until_told}};
    struct call queued = {.number = 0};
    assert_int_equal(sem_init(&started, 0, 0), 0);
    begin(&d, true);
    post(&d, &running, 1, &other);
    post(&d, &queued, 2, &d);
    zkr__dispatch_cancel(&d, &d);
    assert_int_equal(sem_post(&started), 0);
    end(&d);
    assert_true(queued.dropped);
    (void)sem_destroy(&started);
}

static bool cancel_own(struct zkr__call *call)
{
    struct call *c = (struct call *)call;
    (void)sem_wait(&started); /* until all is posted */
    zkr__dispatch_cancel(c->d, call->owner);
    queue_was_empty = queue_is_empty(c->d);
    return true;
}

/* A call may cancel its own owner: that drops the rest and does not wait for itself. */
ZKT_UNIT_CASE(a_call_may_cancel_its_own_owner)
{
    struct zkr__dispatch d;
    struct call running = {.call = {.run = cancel_own}};
    struct call queued = {.number = 0};
    assert_int_equal(sem_init(&started, 0, 0), 0);
    queue_was_empty = false;
    begin(&d, true);
    post(&d, &running, 1, &d);
    post(&d, &queued, 2, &d);
    assert_int_equal(sem_post(&started), 0);
    end(&d);
    assert_true(queue_was_empty);
    assert_true(queued.dropped);
    assert_int_equal(ran_count, 0);
    (void)sem_destroy(&started);
}

static sem_t over;

static bool cancel_own_and_stay(struct zkr__call *call)
{
    struct call *c = (struct call *)call;
    zkr__dispatch_cancel(c->d, call->owner);
    (void)sem_post(&started);
    (void)sem_wait(&over);
    return true;
}

/* Once it has, its owner is no more: what comes to live at that address need not wait for it. */
ZKT_UNIT_CASE(a_canceled_owner_is_forgotten)
{
    struct zkr__dispatch d;
    struct call running = {.call = {.run = cancel_own_and_stay}};
    assert_int_equal(sem_init(&started, 0, 0), 0);
    assert_int_equal(sem_init(&over, 0, 0), 0);
    begin(&d, true);
    post(&d, &running, 1, &d);
    (void)sem_wait(&started);
    zkr__dispatch_cancel(&d, &d);
    (void)sem_post(&over);
    end(&d);
    (void)sem_destroy(&started);
    (void)sem_destroy(&over);
}

/* A call that is run by hand is inside as well: it may cancel its own owner and not hang. */
ZKT_UNIT_CASE(a_call_run_by_hand_is_inside)
{
    struct zkr__dispatch d;
    struct call c = {.d = begin(&d, false)};
    c.call.run = note;
    zkr__dispatch_post(&d, &c.call);
    assert_false(zkr__dispatch_is_self(&d));
    assert_true(zkr__dispatch_run_one(&d));
    assert_true(c.on_dispatch_thread);
    assert_false(zkr__dispatch_is_self(&d));
    end(&d);
}
