/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of callbacks that the application runs by hand. */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "session/dispatch.h"
#include "unit.h"

enum { CALLS = 8 };

struct call {
    struct zkr__call call;
    struct zkr__dispatch *d;
    int number;
    struct call *next; /* posted when run */
};

static int ran[CALLS];
static int ran_count;

static struct zkr__dispatch *begin(struct zkr__dispatch *d)
{
    ran_count = 0;
    zkr__dispatch_init(d);
    assert_false(zkr__dispatch_by_hand(d));
    assert_int_equal(zkr__dispatch_begin_by_hand(d), 0);
    assert_true(zkr__dispatch_by_hand(d));
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
    assert_true(zkr__dispatch_is_self(c->d));
    ran[ran_count++] = c->number;
    if (c->next) {
        zkr__dispatch_post(c->d, &c->next->call);
    }
    return true;
}

static void post(struct zkr__dispatch *d, struct call *c, int number, const void *owner)
{
    c->d = d;
    c->number = number;
    c->call.owner = owner;
    c->call.run = c->call.run ? c->call.run : note;
    zkr__dispatch_post(d, &c->call);
}

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
    begin(&d);
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
    begin(&d);
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
    (void)call;
    return false;
}

/* Who says nothing is not counted, nor does it use up the maximum. */
ZKT_UNIT_CASE(what_says_nothing_is_not_counted)
{
    static struct call calls[5];
    struct zkr__dispatch d;
    begin(&d);
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
    begin(&d);
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
    begin(&d);
    post(&d, &calls[0], 0, &calls[0]);
    post(&d, &calls[1], 1, &calls[1]);
    zkr__dispatch_cancel(&d, &calls[0]);
    assert_true(readable(&d));
    zkr__dispatch_cancel(&d, &calls[1]);
    assert_false(readable(&d));
    end(&d);
    assert_int_equal(ran_count, 0);
}

static sem_t started, over;

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
    assert_int_equal(sem_init(&started, 0, 0), 0);
    assert_int_equal(sem_init(&over, 0, 0), 0);
    begin(&d);
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
    (void)sem_destroy(&started);
    (void)sem_destroy(&over);
}

/* Those of one owner are run out of turn, and the others stay. */
ZKT_UNIT_CASE(the_calls_of_one_owner_can_be_run)
{
    static struct call calls[3];
    struct zkr__dispatch d;
    begin(&d);
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
    begin(&one);
    begin(&other);
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
