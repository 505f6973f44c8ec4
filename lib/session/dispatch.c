/* SPDX-License-Identifier: Apache-2.0 */
#include "session/dispatch.h"

#include <errno.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/table.h"
#include "base/thread.h"

/*
 * The queues whose calls a thread is running, innermost first. Frames nest because a call may run calls of another
 * client.
 */
struct frame {
    const struct zkr__dispatch *d;
    const struct frame *outer;
};

void zkr__dispatch_init(struct zkr__dispatch *d)
{
    *d = (struct zkr__dispatch){.tail = &d->head, .event_fd = -1};
    zkr__mu_init(&d->mu);
    zkr__cv_init(&d->changed);
}

void zkr__dispatch_destroy(struct zkr__dispatch *d)
{
    zkr__cv_destroy(&d->changed);
    zkr__mu_destroy(&d->mu);
}

int zkr__dispatch_begin_by_hand(struct zkr__dispatch *d)
{
    d->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return d->event_fd < 0 ? errno : 0;
}

/*
 * For an edge-triggered poll, each write is an event. If the counter is full, the write fails, but an event is then
 * pending anyway.
 */
static void raise_event(struct zkr__dispatch *d) ZKR__NEEDS(d->mu)
{
    const uint64_t one = 1;
    if (d->event_fd >= 0) {
        ssize_t n = write(d->event_fd, &one, sizeof(one));
        (void)n;
    }
}

static void clear_event(struct zkr__dispatch *d) ZKR__NEEDS(d->mu)
{
    uint64_t count;
    if (d->event_fd >= 0 && !d->head) {
        ssize_t n = read(d->event_fd, &count, sizeof(count));
        (void)n;
    }
}

/* Take the first call of @owner off the queue. @owner NULL = any owner. Returns NULL if there is no such call. */
static struct zkr__call *take(struct zkr__dispatch *d, const void *owner)
    ZKR__NEEDS(d->mu)
{
    struct zkr__call **at = &d->head;
    while (*at && owner && (*at)->owner != owner) {
        at = &(*at)->next;
    }
    struct zkr__call *call = *at;
    if (call) {
        *at = call->next;
        if (!call->next) {
            d->tail = at;
        }
        call->queued = false;
        clear_event(d);
    }
    return call;
}

/* --- one call --- */

struct visit {
    struct zkr__dispatch *d;
    struct zkr__call *call;
    struct frame frame;
    bool called;
};

static void visit(void *arg)
{
    struct visit *v = arg;
    v->called = v->call->run(v->call);
}

static void *run(void *dispatch);

/* Let another thread run the remaining calls, because the application ended the calling thread during a call. */
static void give_up_thread(struct zkr__dispatch *d) ZKR__NEEDS(d->mu)
{
    if (zkr__dispatch_by_hand(d)) {
        d->taken = false;
        if (d->head) {
            raise_event(d);
        }
    } else if (d->started && zkr__thread_is_self(d->thread)) {
        int error = zkr__thread_replace(&d->thread, "zkr-dispatch", run, d);
        while (error != 0 && !d->stop) {
            zkr__mu_unlock(&d->mu);
            zkr__thread_rest();
            zkr__mu_lock(&d->mu);
            error = zkr__thread_replace(&d->thread, "zkr-dispatch", run, d);
        }
        d->over = error != 0;
    }
}

static void leave(void *arg, bool cut)
{
    const struct visit *v = arg;
    struct zkr__dispatch *d = v->d;
    zkr__thread_self()->calls = v->frame.outer;
    zkr__mu_lock(&d->mu);
    d->running = NULL;
    d->ran++;
    if (cut) {
        give_up_thread(d);
    }
    zkr__cv_broadcast(&d->changed);
    zkr__mu_unlock(&d->mu);
}

/* Returns true if the application was called. */
static bool run_call(struct zkr__dispatch *d, struct zkr__call *call)
{
    struct zkr__thread *self = zkr__thread_self();
    struct visit v = {.d = d, .call = call, .frame = {.d = d, .outer = self->calls}};
    self->calls = &v.frame;
    zkr__thread_call_cancelable(visit, leave, &v);
    return v.called;
}

static struct zkr__call *take_next(struct zkr__dispatch *d)
{
    zkr__mu_lock(&d->mu);
    struct zkr__call *call = take(d, NULL);
    if (call) {
        d->running = call->owner;
    }
    zkr__mu_unlock(&d->mu);
    return call;
}

bool zkr__dispatch_run_one(struct zkr__dispatch *d)
{
    struct zkr__call *call = take_next(d);
    if (call) {
        (void)run_call(d, call);
    }
    return call != NULL;
}

/* --- application mode --- */

static void end_turn(struct zkr__dispatch *d)
{
    zkr__mu_lock(&d->mu);
    d->taken = false;
    if (d->head) {
        raise_event(d); /* an edge-triggered poll must notice that calls are left */
    }
    zkr__cv_broadcast(&d->changed);
    zkr__mu_unlock(&d->mu);
}

static int count_calls(const struct zkr__dispatch *d) ZKR__NEEDS(d->mu)
{
    int count = 0;
    for (const struct zkr__call *call = d->head; call; call = call->next) {
        count++;
    }
    return count;
}

int zkr__dispatch_run(struct zkr__dispatch *d, int max)
{
    zkr__mu_lock(&d->mu);
    bool mine = !d->taken;
    d->taken = true;
    int left = count_calls(d);
    zkr__mu_unlock(&d->mu);
    if (!mine) {
        return -1;
    }
    int told = 0;
    while (left-- > 0 && (max == 0 || told < max)) {
        struct zkr__call *call = take_next(d);
        told += call && run_call(d, call);
    }
    end_turn(d);
    return told;
}

void zkr__dispatch_run_owner(struct zkr__dispatch *d, const void *owner)
{
    zkr__mu_lock(&d->mu);
    while (d->taken) {
        (void)zkr__cv_wait(&d->changed, &d->mu, ZKR__NEVER);
    }
    d->taken = true;
    struct zkr__call *call;
    while ((call = take(d, owner)) != NULL) {
        d->running = owner;
        zkr__mu_unlock(&d->mu);
        (void)run_call(d, call);
        zkr__mu_lock(&d->mu);
    }
    zkr__mu_unlock(&d->mu);
    end_turn(d);
}

/* --- on a thread of the library --- */

static void *run(void *arg)
{
    struct zkr__dispatch *d = arg;
    bool over;
    zkr__mu_lock(&d->mu);
    while (d->held && !d->stop) {
        (void)zkr__cv_wait(&d->changed, &d->mu, ZKR__NEVER);
    }
    zkr__mu_unlock(&d->mu);
    do {
        while (zkr__dispatch_run_one(d)) {
        }
        zkr__mu_lock(&d->mu);
        while (!d->head && !d->stop) {
            (void)zkr__cv_wait(&d->changed, &d->mu, ZKR__NEVER);
        }
        over = !d->head;
        if (over) {
            d->over = true;
            zkr__cv_broadcast(&d->changed);
        }
        zkr__mu_unlock(&d->mu);
    } while (!over);
    return NULL;
}

static void set_held(struct zkr__dispatch *d, bool held)
{
    zkr__mu_lock(&d->mu);
    d->held = held;
    zkr__cv_broadcast(&d->changed);
    zkr__mu_unlock(&d->mu);
}

void zkr__dispatch_hold(struct zkr__dispatch *d)
{
    set_held(d, true);
}

void zkr__dispatch_go(struct zkr__dispatch *d)
{
    set_held(d, false);
}

int zkr__dispatch_start(struct zkr__dispatch *d)
{
    int rc = zkr__thread_start(&d->thread, "zkr-dispatch", run, d);
    d->started = rc == 0;
    return rc;
}

void zkr__dispatch_stop(struct zkr__dispatch *d)
{
    zkr__mu_lock(&d->mu);
    d->stop = true;
    zkr__cv_broadcast(&d->changed);
    while (d->started && !d->over) {
        /* d->thread may change meanwhile. */
        (void)zkr__cv_wait(&d->changed, &d->mu, ZKR__NEVER);
    }
    zkr__mu_unlock(&d->mu);
    if (d->started) {
        zkr__thread_join(d->thread);
    }
    while (zkr__dispatch_run_one(d)) {
    }
    zkr__mu_lock(&d->mu);
    if (d->event_fd >= 0) {
        (void)close(d->event_fd);
        d->event_fd = -1;
    }
    zkr__mu_unlock(&d->mu);
}

void zkr__dispatch_post(struct zkr__dispatch *d, struct zkr__call *call)
{
    zkr__mu_lock(&d->mu);
    if (!call->queued) {
        call->queued = true;
        call->next = NULL;
        *d->tail = call;
        d->tail = &call->next;
        zkr__cv_broadcast(&d->changed);
        raise_event(d);
    }
    zkr__mu_unlock(&d->mu);
}

/* Move all calls of @owner from the queue to @taken. */
static void take_all(struct zkr__dispatch *d,
                     const void *owner,
                     struct zkr__call **taken) ZKR__NEEDS(d->mu)
{
    struct zkr__call *call;
    while ((call = take(d, owner)) != NULL) {
        LL_PREPEND(*taken, call);
    }
}

void zkr__dispatch_cancel(struct zkr__dispatch *d, const void *owner)
{
    struct zkr__call *dropped = NULL;
    zkr__mu_lock(&d->mu);
    take_all(d, owner, &dropped);
    if (d->running == owner && zkr__dispatch_is_self(d)) {
        /* The call may have destroyed its owner, whose address may soon be reused. */
        d->running = NULL;
    }
    while (d->running == owner) {
        (void)zkr__cv_wait(&d->changed, &d->mu, ZKR__NEVER);
        take_all(d, owner, &dropped); /* posted by the running call */
    }
    zkr__mu_unlock(&d->mu);
    while (dropped) {
        struct zkr__call *call = dropped;
        dropped = call->next;
        if (call->drop) {
            call->drop(call);
        }
    }
}

void zkr__dispatch_await_call(struct zkr__dispatch *d, const void *owner)
{
    zkr__mu_lock(&d->mu);
    uint64_t ran = d->ran;
    while (d->running == owner && d->ran == ran) {
        (void)zkr__cv_wait(&d->changed, &d->mu, ZKR__NEVER);
    }
    zkr__mu_unlock(&d->mu);
}

bool zkr__dispatch_is_self(const struct zkr__dispatch *d)
{
    const struct frame *frame = zkr__thread_self()->calls;
    while (frame && frame->d != d) {
        frame = frame->outer;
    }
    return frame != NULL || zkr__thread_is_of(d);
}
