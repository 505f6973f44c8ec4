/* SPDX-License-Identifier: Apache-2.0 */
#include "session/dispatch.h"

#include <stddef.h>

#include "base/clock.h"
#include "base/thread.h"

static _Thread_local const struct zkr__dispatch *self;

int zkr__dispatch_init(struct zkr__dispatch *d)
{
    *d = (struct zkr__dispatch){0};
    d->tail = &d->head;
    int rc = zkr__mu_init(&d->mu);
    if (rc != 0) {
        return rc;
    }
    rc = zkr__cv_init(&d->work);
    if (rc == 0) {
        rc = zkr__cv_init(&d->idle);
        if (rc != 0) {
            zkr__cv_destroy(&d->work);
        }
    }
    if (rc != 0) {
        zkr__mu_destroy(&d->mu);
    }
    return rc;
}

void zkr__dispatch_destroy(struct zkr__dispatch *d)
{
    zkr__cv_destroy(&d->idle);
    zkr__cv_destroy(&d->work);
    zkr__mu_destroy(&d->mu);
}

bool zkr__dispatch_run_one(struct zkr__dispatch *d)
{
    zkr__mu_lock(&d->mu);
    struct zkr__call *call = d->head;
    if (!call) {
        zkr__mu_unlock(&d->mu);
        return false;
    }
    d->head = call->next;
    if (!d->head) {
        d->tail = &d->head;
    }
    d->running = call->owner;
    zkr__mu_unlock(&d->mu);

    const struct zkr__dispatch *outer = self;
    self = d;
    call->run(call);
    self = outer;

    zkr__mu_lock(&d->mu);
    d->running = NULL;
    zkr__cv_broadcast(&d->idle);
    zkr__mu_unlock(&d->mu);
    return true;
}

static void *run(void *arg)
{
    struct zkr__dispatch *d = arg;
    for (;;) {
        while (zkr__dispatch_run_one(d)) {
        }
        zkr__mu_lock(&d->mu);
        while (!d->head && !d->stop) {
            (void)zkr__cv_wait(&d->work, &d->mu, ZKR__NEVER);
        }
        bool over = !d->head;
        zkr__mu_unlock(&d->mu);
        if (over) {
            return NULL;
        }
    }
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
    zkr__cv_signal(&d->work);
    zkr__mu_unlock(&d->mu);
    if (d->started) {
        (void)pthread_join(d->thread, NULL);
    }
    while (zkr__dispatch_run_one(d)) {
    }
}

void zkr__dispatch_post(struct zkr__dispatch *d, struct zkr__call *call)
{
    call->next = NULL;
    zkr__mu_lock(&d->mu);
    *d->tail = call;
    d->tail = &call->next;
    zkr__cv_signal(&d->work);
    zkr__mu_unlock(&d->mu);
}

/* Take the calls of @owner off the queue, onto @taken. */
static void take(struct zkr__dispatch *d, const void *owner, struct zkr__call **taken)
    ZKR__NEEDS(d->mu)
{
    struct zkr__call **at = &d->head;
    while (*at) {
        struct zkr__call *call = *at;
        if (call->owner == owner) {
            *at = call->next;
            call->next = *taken;
            *taken = call;
        } else {
            at = &call->next;
        }
    }
    d->tail = at;
}

void zkr__dispatch_cancel(struct zkr__dispatch *d, const void *owner)
{
    struct zkr__call *dropped = NULL;
    zkr__mu_lock(&d->mu);
    take(d, owner, &dropped);
    if (d->running == owner && zkr__dispatch_is_self(d)) {
        d->running = NULL; /* it ends its owner, whose address may be another's soon */
    }
    while (d->running == owner) {
        (void)zkr__cv_wait(&d->idle, &d->mu, ZKR__NEVER);
        take(d, owner, &dropped); /* what the running one has posted */
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

bool zkr__dispatch_is_self(const struct zkr__dispatch *d)
{
    return self == d;
}
