/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of callbacks, which its own thread or the application runs. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/dispatch.h"
#include "unit.h"

enum { CALLS = 100, YIELDS = 1000, PATIENCE_MS = 10000 };

struct call {
    struct zkr__call call;
    struct zkr__dispatch *d;
    int number;
    bool dropped;
    struct call *next; /* posted when this call runs */
};

/* The calls that ran, in order. One thread at a time writes these, and the test reads them after the stop. */
static int ran[CALLS + 1];
static int ran_count;
static int dropped_count;
static sem_t started, over;

__attribute__((constructor)) static void make_semaphores(void)
{
    (void)sem_init(&started, 0, 0);
    (void)sem_init(&over, 0, 0);
}

/* Which thread runs the calls. */
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
    assert_true(zkr__dispatch_is_self(c->d)); /* whichever thread runs it */
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

/* One thread runs the calls one after another, in the order in which they were posted. */
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

/* A stop runs the queued calls, and the calls that these post, with or without a thread. */
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
        /* Each call ran once; the thread may have begun early. */
        assert_int_equal(ran_count, 3);
        assert_int_equal(ran[0] + ran[1] + ran[2], 1 + 2 + 3);
        assert_int_equal(dropped_count, 0);
    }
}

/* --- in one thread --- */

/*
 * Actions and expectations, in one row. "a0" posts call 0 for owner a. Behind it, "-" means that the call reports
 * nothing, "!" that it has no drop function, and ">1" that it posts call 1. "run:2=1" runs at most two calls and
 * expects that one of them reports something. "one" and "none" run one call and expect that there was one or none.
 * "cancel:a" cancels owner a, and "owner:a" runs the calls of owner a. "ran:02" and "dropped:1" list all calls since
 * the beginning. The application's descriptor is "readable" or "quiet", and has an "edge" or is "flat".
 */
static const struct {
    enum runs runs;
    const char *words;
} rows[] = {
    /* Without the thread, the caller runs one call at a time. A queue that was emptied works as a new one. */
    {NOBODY, "none a0 a1 one ran:0 one none a2 one ran:012 none"},
    /* A cancel drops the queued calls of one owner, the first and the last among them, and keeps the order of the
       others. */
    {NOBODY, "a0 b1 a2 b3 a4 b5 a6 cancel:a dropped:0246 a7 end ran:1357"},
    {NOBODY, "a0! cancel:a cancel:a none dropped:"},
    {BY_HAND, "quiet a0 a1 a2 readable run:2=2 readable run:0=1 quiet run:0=0 ran:012"},
    /* A call that a callback posts waits for the next run, so that each run ends. */
    {BY_HAND, "a0>1 run:0=1 readable run:0=1 ran:01"},
    /* A call that reports nothing is not counted, and does not use up the maximum. */
    {BY_HAND,
     "a0- a1 a2- a3 a4- run:1=1 ran:1 readable run:0=1 ran:13 quiet a5- run:1=0 quiet"},
    /* A caller that waits for edges gets one for each posted call, and for each run that leaves calls. */
    {BY_HAND, "flat a0 edge flat a1 edge flat a2 edge flat run:1=1 edge run:0=2 flat"},
    {BY_HAND, "a0 b1 cancel:a readable cancel:b quiet end ran: dropped:01"},
    /* The calls of one owner run out of turn, and the other calls stay. */
    {BY_HAND, "a0 b1 a2 owner:a ran:02 readable end ran:021"},
};

static bool readable(const struct zkr__dispatch *d)
{
    struct pollfd p = {.fd = d->event_fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

static bool edge(int epoll)
{
    struct epoll_event e;
    return epoll_wait(epoll, &e, 1, 0) == 1;
}

static bool say_nothing(struct zkr__call *call)
{
    return false;
}

static const char owners[] = "ab";

static void post_word(struct zkr__dispatch *d, struct call *calls, const char *word)
{
    struct call *c = &calls[word[1] - '0'], *next = &calls[1];
    c->call.run = word[2] == '-' ? say_nothing : note;
    if (word[2] == '>') {
        *next = (struct call){.d = d, .number = 1, .call = {.run = note}};
        c->next = next;
    }
    post(d, c, word[1] - '0', strchr(owners, word[0]));
    c->call.drop = word[2] == '!' ? NULL : note_drop;
}

/* Returns whether exactly the calls with these digits ran, in this order. */
static bool have_run(const char *digits)
{
    bool same = (int)strlen(digits) == ran_count;
    for (int i = 0; same && i < ran_count; i++) {
        same = ran[i] == digits[i] - '0';
    }
    return same;
}

static bool are_dropped(const struct call *calls, const char *digits)
{
    bool same = true;
    for (int i = 0; i < 8; i++) {
        same = same && calls[i].dropped == (strchr(digits, '0' + i) != NULL);
    }
    return same;
}

static bool is_so(struct zkr__dispatch *d, struct call *calls, int epoll, char *word)
{
    char *of = strchr(word, ':');
    const size_t len = of ? (size_t)(of++ - word) : strlen(word);
    const bool is_run = strncmp(word, "run", len) == 0;
    if (word[1] >= '0' && word[1] <= '9') {
        post_word(d, calls, word);
    } else if (strncmp(word, "cancel", len) == 0) {
        zkr__dispatch_cancel(d, strchr(owners, *of));
    } else if (strncmp(word, "owner", len) == 0) {
        zkr__dispatch_run_owner(d, strchr(owners, *of));
    } else if (strncmp(word, "end", len) == 0) {
        zkr__dispatch_stop(d);
    } else {
        return is_run ? zkr__dispatch_run(d, of[0] - '0') == of[2] - '0'
               : strncmp(word, "ran", len) == 0      ? have_run(of)
               : strncmp(word, "dropped", len) == 0  ? are_dropped(calls, of)
               : strncmp(word, "readable", len) == 0 ? readable(d)
               : strncmp(word, "quiet", len) == 0    ? !readable(d)
               : strncmp(word, "edge", len) == 0     ? edge(epoll)
               : strncmp(word, "flat", len) == 0     ? !edge(epoll)
               : strncmp(word, "one", len) == 0      ? zkr__dispatch_run_one(d)
                                                     : !zkr__dispatch_run_one(d);
    }
    return true;
}

ZKT_UNIT_CASE(calls_are_run_or_dropped_one_after_the_other)
{
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        struct zkr__dispatch d;
        struct call calls[8] = {{.number = 0}};
        struct epoll_event e = {.events = EPOLLIN | EPOLLET};
        char text[128], *at = NULL;
        begin(&d, rows[i].runs);
        const int epoll = epoll_create1(EPOLL_CLOEXEC);
        if (rows[i].runs == BY_HAND) {
            assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, d.event_fd, &e), 0);
        }
        (void)snprintf(text, sizeof(text), "%s", rows[i].words);
        for (char *w = strtok_r(text, " ", &at); w; w = strtok_r(NULL, " ", &at)) {
            if (!is_so(&d, calls, epoll, w)) {
                fail_msg("not so: %s, in %s", w, rows[i].words);
            }
        }
        (void)close(epoll);
        end(&d);
        assert_false(zkr__dispatch_is_self(&d));
    }
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

/* Run until the cancel has emptied the queue, and some time longer. */
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

/* A cancel returns only after the owner's running call has returned. */
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

/* Post another call of the owner during the cancel, and run until the cancel has taken it from the queue. */
static bool post_while_canceled(struct zkr__call *call)
{
    struct call *c = (struct call *)call;
    (void)run_until_canceled(call);
    post(c->d, c->next, 3, call->owner);
    const int64_t end = zkr__clock_now() + PATIENCE_MS * ZKR__MS;
    while (!queue_is_empty(c->d) && zkr__clock_now() < end) {
        (void)sched_yield();
    }
    return true;
}

/* A cancel also drops the calls that the running call posts. */
ZKT_UNIT_CASE(a_cancel_drops_what_the_running_call_posts)
{
    struct zkr__dispatch d;
    struct call late = {.number = 0};
    struct call running = {.call = {.run = post_while_canceled}, .next = &late};
    struct call queued = {.number = 0};
    begin(&d, THREAD);
    post(&d, &running, 1, &d);
    post(&d, &queued, 2, &d);
    assert_int_equal(sem_wait(&started), 0);
    zkr__dispatch_cancel(&d, &d);
    assert_true(queued.dropped);
    assert_true(late.dropped);
    end(&d);
    assert_int_equal(ran_count, 0);
}

/* Run until the other owner's cancel has returned. If that cancel waited for this call, both would wait for ever. */
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
    (void)sem_wait(&started); /* until all calls are posted */
    zkr__dispatch_cancel(c->d, call->owner);
    queue_was_empty = queue_is_empty(c->d);
    return true;
}

/* A call may cancel its own owner. The cancel drops the other calls and does not wait for the running one. */
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

/* After such a cancel, the owner is forgotten: a new owner at the same address need not wait for the running call. */
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

/* One thread at a time runs calls: another thread is refused, and a thread that needs a certain call run waits for its
   turn. */
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

/* The next calls run on another thread as soon as one can be started. A stop does not wait for that thread. */
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
            calls[i].call.run = note; /* run by this thread, which must continue */
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

/* In application mode, the end of the thread ends its turn. */
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
    /* This thread also runs a callback of the other client. */
    assert_true(zkr__dispatch_is_self(c->next->d));
    ran_count++;
    return true;
}

/* A callback of one client may run callbacks of another, and is then inside both. */
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
