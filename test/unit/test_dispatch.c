/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of callbacks: run by a thread of its own, or by the application by hand. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "session/dispatch.h"
#include "unit.h"

enum { CALLS = 100, YIELDS = 1000 };

struct call {
    struct zkr__call call;
    struct zkr__dispatch *d;
    int number;
    bool dropped;
    struct call *next; /* posted when run */
};

/* What ran, in order. Written by one thread at a time, read after a stop. */
static int ran[CALLS + 1];
static int ran_count;
static int dropped_count;
static sem_t started, over;

__attribute__((constructor)) static void make_semaphores(void)
{
    (void)sem_init(&started, 0, 0);
    (void)sem_init(&over, 0, 0);
}

/* Who runs the calls. */
enum runs { NOBODY, THREAD, BY_HAND };

static void begin(struct zkr__dispatch *d, enum runs runs)
{
    ran_count = 0;
    dropped_count = 0;
    zkr__dispatch_init(d);
    if (runs == THREAD) {
        assert_int_equal(zkr__dispatch_start(d), 0);
    }
    assert_false(zkr__dispatch_by_hand(d));
    if (runs == BY_HAND) {
        assert_int_equal(zkr__dispatch_begin_by_hand(d), 0);
        assert_true(zkr__dispatch_by_hand(d));
    }
}

static void end(struct zkr__dispatch *d)
{
    zkr__dispatch_stop(d);
    zkr__dispatch_destroy(d);
}

static bool note(struct zkr__call *call)
{
    struct call *c = (struct call *)call;
    assert_true(zkr__dispatch_is_self(c->d)); /* whoever runs it */
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
    begin(&d, THREAD);
    for (int i = 0; i < CALLS; i++) {
        post(&d, &calls[i], i, NULL);
    }
    end(&d);
    assert_int_equal(ran_count, CALLS);
    for (int i = 0; i < CALLS; i++) {
        assert_int_equal(ran[i], i);
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
        begin(&d, thread ? THREAD : NOBODY);
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
    begin(&d, NOBODY);
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
    assert_false(zkr__dispatch_is_self(&d));
    end(&d);
}

/* Canceling drops the queued calls of one owner and of nobody else; order is kept. */
ZKT_UNIT_CASE(a_cancel_drops_the_calls_of_its_owner_only)
{
    int mine;
    int other;
    struct zkr__dispatch d;
    struct call calls[8] = {{.number = 0}};
    begin(&d, NOBODY);
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
    begin(&d, NOBODY);
    zkr__dispatch_post(&d, &c.call);
    zkr__dispatch_cancel(&d, &d);
    zkr__dispatch_cancel(&d, &d);
    assert_false(zkr__dispatch_run_one(&d));
    end(&d);
}

/* --- a cancel while a call runs --- */

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
    begin(&d, THREAD);
    post(&d, &running, 1, &d);
    post(&d, &queued, 2, &d);
    assert_int_equal(sem_wait(&started), 0);
    zkr__dispatch_cancel(&d, &d);
    assert_true(finished);
    assert_true(queued.dropped);
    assert_false(running.dropped);
    end(&d);
}

/* Runs until the other owner's cancel is over: had it waited for this, that would be never. */
static bool run_until_told(struct zkr__call *call)
{
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
    begin(&d, THREAD);
    post(&d, &running, 1, &other);
    post(&d, &queued, 2, &d);
    zkr__dispatch_cancel(&d, &d);
    assert_int_equal(sem_post(&started), 0);
    end(&d);
    assert_true(queued.dropped);
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
    begin(&d, THREAD);
    post(&d, &running, 1, &d);
    post(&d, &queued, 2, &d);
    assert_int_equal(sem_post(&started), 0);
    end(&d);
    assert_true(queue_was_empty);
    assert_true(queued.dropped);
    assert_int_equal(ran_count, 0);
}

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
    begin(&d, THREAD);
    post(&d, &running, 1, &d);
    (void)sem_wait(&started);
    zkr__dispatch_cancel(&d, &d);
    (void)sem_post(&over);
    end(&d);
}

/* --- by hand: the application has a descriptor --- */

static bool readable(const struct zkr__dispatch *d)
{
    struct pollfd p = {.fd = d->event_fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

/* The descriptor is readable exactly while calls wait. */
ZKT_UNIT_CASE(the_descriptor_is_readable_while_calls_wait)
{
    static struct call calls[3];
    struct zkr__dispatch d;
    begin(&d, BY_HAND);
    assert_false(readable(&d));
    for (int i = 0; i < 3; i++) {
        post(&d, &calls[i], i, &d);
    }
    assert_true(readable(&d));
    assert_int_equal(zkr__dispatch_run(&d, 2), 2);
    assert_true(readable(&d));
    assert_int_equal(zkr__dispatch_run(&d, 0), 1);
    assert_false(readable(&d));
    assert_int_equal(zkr__dispatch_run(&d, 0), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ran[i], i);
    }
    end(&d);
}

/* What a callback posts waits for the next time, so that a run ends. */
ZKT_UNIT_CASE(a_run_leaves_what_is_posted_meanwhile)
{
    static struct call first, second;
    struct zkr__dispatch d;
    begin(&d, BY_HAND);
    second = (struct call){.d = &d, .number = 1, .call = {.run = note}};
    first.next = &second;
    post(&d, &first, 0, &d);
    assert_int_equal(zkr__dispatch_run(&d, 0), 1);
    assert_true(readable(&d));
    assert_int_equal(zkr__dispatch_run(&d, 0), 1);
    assert_int_equal(ran_count, 2);
    end(&d);
}

/* One who finds that there is nothing to say any more. */
static bool say_nothing(struct zkr__call *call)
{
    return false;
}

/* Who says nothing is not counted, nor does it use up the maximum. */
ZKT_UNIT_CASE(what_says_nothing_is_not_counted)
{
    static struct call calls[5];
    struct zkr__dispatch d;
    begin(&d, BY_HAND);
    for (int i = 0; i < 5; i++) {
        calls[i].call.run = i % 2 == 0 ? say_nothing : note;
        post(&d, &calls[i], i, &d);
    }
    assert_int_equal(zkr__dispatch_run(&d, 1), 1);
    assert_int_equal(ran_count, 1);
    assert_true(readable(&d));
    assert_int_equal(zkr__dispatch_run(&d, 0), 1);
    assert_int_equal(ran_count, 2);
    assert_false(readable(&d));
    post(&d, &calls[0], 0, &d);
    assert_int_equal(zkr__dispatch_run(&d, 1), 0);
    assert_false(readable(&d));
    end(&d);
}

static bool edge(int epoll)
{
    struct epoll_event e;
    return epoll_wait(epoll, &e, 1, 0) == 1;
}

/* Each call that is posted, and each run that leaves some, is news to who waits for edges. */
ZKT_UNIT_CASE(each_post_is_an_edge)
{
    static struct call calls[3];
    struct zkr__dispatch d;
    begin(&d, BY_HAND);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event e = {.events = EPOLLIN | EPOLLET};
    assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, d.event_fd, &e), 0);
    assert_false(edge(epoll));
    for (int i = 0; i < 3; i++) {
        post(&d, &calls[i], i, &d);
        assert_true(edge(epoll));
        assert_false(edge(epoll));
    }
    assert_int_equal(zkr__dispatch_run(&d, 1), 1);
    assert_true(edge(epoll));
    assert_int_equal(zkr__dispatch_run(&d, 0), 2);
    assert_false(edge(epoll));
    (void)close(epoll);
    end(&d);
}

ZKT_UNIT_CASE(a_cancel_makes_it_unreadable)
{
    static struct call calls[2];
    struct zkr__dispatch d;
    begin(&d, BY_HAND);
    post(&d, &calls[0], 0, &calls[0]);
    post(&d, &calls[1], 1, &calls[1]);
    zkr__dispatch_cancel(&d, &calls[0]);
    assert_true(readable(&d));
    zkr__dispatch_cancel(&d, &calls[1]);
    assert_false(readable(&d));
    end(&d);
    assert_int_equal(ran_count, 0);
}

static bool stay(struct zkr__call *call)
{
    (void)sem_post(&started);
    (void)sem_wait(&over);
    return note(call);
}

static void *run_all(void *d)
{
    (void)zkr__dispatch_run(d, 0);
    return NULL;
}

static void *run_owner(void *d)
{
    zkr__dispatch_run_owner(d, d);
    return NULL;
}

/* One at a time: another thread is turned away, and one that needs a call run waits for its turn. */
ZKT_UNIT_CASE(one_thread_has_the_turn)
{
    static struct call first, second;
    pthread_t running, waiting;
    struct zkr__dispatch d;
    begin(&d, BY_HAND);
    first.call.run = stay;
    post(&d, &first, 0, &first);
    assert_int_equal(pthread_create(&running, NULL, run_all, &d), 0);
    (void)sem_wait(&started);
    post(&d, &second, 1, &d);
    assert_int_equal(zkr__dispatch_run(&d, 0), -1);
    assert_int_equal(pthread_create(&waiting, NULL, run_owner, &d), 0);
    (void)sem_post(&over);
    (void)pthread_join(running, NULL);
    (void)pthread_join(waiting, NULL);
    assert_int_equal(ran_count, 2);
    assert_int_equal(ran[1], 1);
    assert_false(readable(&d));
    end(&d);
}

/* --- threads that end in a call --- */

static bool end_thread(struct zkr__call *call)
{
    (void)note(call);
    pthread_exit(NULL);
}

static bool end_thread_without_memory(struct zkr__call *call)
{
    zkt_allow_allocations(0);
    (void)sem_post(&started);
    return end_thread(call);
}

static bool note_last(struct zkr__call *call)
{
    (void)note(call);
    (void)sem_post(&over);
    return true;
}

/* The next calls run on another thread, as soon as there can be one; and a stop does not wait for one. */
ZKT_UNIT_CASE(a_call_may_end_the_dispatch_thread)
{
    enum shortage { NONE, SHORT, LASTING, SHORTAGES };
    static struct call calls[CALLS];
    struct zkr__dispatch d;
    for (int shortage = NONE; shortage < SHORTAGES; shortage++) {
        begin(&d, THREAD);
        for (int i = 0; i < CALLS; i++) {
            calls[i].call.run = i % 2 ? note : end_thread;
        }
        calls[2].call.run = shortage == NONE ? end_thread : end_thread_without_memory;
        calls[CALLS - 1].call.run = note_last;
        for (int i = 0; i < CALLS; i++) {
            post(&d, &calls[i], i, NULL);
        }
        if (shortage != NONE) {
            (void)sem_wait(&started);
        }
        if (shortage == SHORT) {
            (void)usleep(YIELDS);
            zkt_allow_allocations(-1);
        }
        for (int i = 3; shortage == LASTING && i < CALLS; i++) {
            calls[i].call.run = note; /* by this thread, which is to go on */
        }
        if (shortage != LASTING) {
            (void)sem_wait(&over);
        }
        end(&d);
        zkt_allow_allocations(-1);
        assert_int_equal(ran_count, CALLS);
        for (int i = 0; i < CALLS; i++) {
            assert_int_equal(ran[i], i);
        }
    }
}

/* By hand: the turn of the thread is over. */
ZKT_UNIT_CASE(a_call_may_end_the_thread_that_has_the_turn)
{
    static struct call calls[2];
    pthread_t running;
    struct zkr__dispatch d;
    for (int owner = 0; owner < 2; owner++) {
        begin(&d, BY_HAND);
        calls[0].call.run = end_thread;
        post(&d, &calls[0], 0, &d);
        post(&d, &calls[1], 1, &calls[1]);
        assert_int_equal(
            pthread_create(&running, NULL, owner ? run_owner : run_all, &d), 0);
        (void)pthread_join(running, NULL);
        assert_int_equal(ran_count, 1);
        assert_true(readable(&d));
        zkr__dispatch_await_call(&d, &d);
        assert_int_equal(zkr__dispatch_run(&d, 0), 1);
        assert_int_equal(ran[1], 1);
        end(&d);
    }
}

/* Those of one owner are run out of turn, and the others stay. */
ZKT_UNIT_CASE(the_calls_of_one_owner_can_be_run)
{
    static struct call calls[3];
    struct zkr__dispatch d;
    begin(&d, BY_HAND);
    post(&d, &calls[0], 0, &calls[0]);
    post(&d, &calls[1], 1, &calls[1]);
    post(&d, &calls[2], 2, &calls[0]);
    zkr__dispatch_run_owner(&d, &calls[0]);
    assert_int_equal(ran_count, 2);
    assert_int_equal(ran[0], 0);
    assert_int_equal(ran[1], 2);
    assert_true(readable(&d));
    end(&d);
    assert_int_equal(ran_count, 3);
}

static bool run_other(struct zkr__call *call)
{
    struct call *c = (struct call *)call;
    assert_int_equal(zkr__dispatch_run(c->next->d, 0), 1);
    assert_true(zkr__dispatch_is_self(c->d));
    assert_false(zkr__dispatch_is_self(c->next->d));
    return true;
}

static bool look_out(struct zkr__call *call)
{
    struct call *c = (struct call *)call;
    assert_true(zkr__dispatch_is_self(c->d));
    assert_true(zkr__dispatch_is_self(c->next->d)); /* of the one that runs this one */
    ran_count++;
    return true;
}

/* A callback of one client may run those of another, and is inside both then. */
ZKT_UNIT_CASE(a_call_below_another_is_inside_both)
{
    static struct call outer, inner;
    struct zkr__dispatch one, other;
    begin(&one, BY_HAND);
    begin(&other, BY_HAND);
    outer.call.run = run_other;
    outer.next = &inner;
    inner.call.run = look_out;
    inner.next = &outer;
    post(&other, &inner, 0, &other);
    post(&one, &outer, 1, &one);
    assert_int_equal(zkr__dispatch_run(&one, 0), 1);
    assert_int_equal(ran_count, 1);
    end(&one);
    end(&other);
}
