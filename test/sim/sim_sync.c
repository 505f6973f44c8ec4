/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation of lib/base/sync.c: each function is a point of choice. */
#include "base/clock.h"
#include "base/sync.h"
#include "sim.h"
#include "threads.h"

/* These structs use the memory of the real ones. */
struct __attribute__((may_alias)) lock {
    struct sim_thread *owner, *waiting;
    bool alive;
};

struct __attribute__((may_alias)) condition {
    struct sim_thread *waiting;
    bool alive;
};

_Static_assert(sizeof(struct lock) <= sizeof(pthread_mutex_t), "no room");
_Static_assert(sizeof(struct condition) <= sizeof(pthread_cond_t), "no room");

static struct lock *lock_of(struct zkr__mu *mu)
{
    return (struct lock *)(void *)&mu->m;
}

static struct condition *condition_of(struct zkr__cv *cv)
{
    return (struct condition *)(void *)&cv->c;
}

bool sim_locked(struct zkr__mu *mu)
{
    return lock_of(mu)->owner != NULL;
}

void zkr__mu_init(struct zkr__mu *mu)
{
    *lock_of(mu) = (struct lock){.alive = true};
}

void zkr__cv_init(struct zkr__cv *cv)
{
    *condition_of(cv) = (struct condition){.alive = true};
}

void zkr__mu_destroy(struct zkr__mu *mu)
{
    struct lock *l = lock_of(mu);
    if (!l->alive || l->owner || l->waiting) {
        sim_violation("a lock is destroyed that is in use, or is none");
    }
    l->alive = false;
}

void zkr__cv_destroy(struct zkr__cv *cv)
{
    struct condition *c = condition_of(cv);
    if (!c->alive || c->waiting) {
        sim_violation("a condition is destroyed that is waited for, or is none");
    }
    c->alive = false;
}

int zkr__cancel_hold(void)
{
    struct sim_thread *self = sim_self();
    bool before = self && self->canceled_off;
    if (self) {
        self->canceled_off = true;
    }
    return before;
}

void zkr__cancel_restore(int cancel_state)
{
    if (sim_self()) {
        sim_self()->canceled_off = cancel_state != 0;
    }
}

/* Take the lock. The test program itself only observes, and finds each lock free. */
static void take(struct lock *l)
{
    struct sim_thread *self = sim_self();
    if (!l->alive || (self && l->owner == self)) {
        sim_violation("%s locks what it has locked, or no lock",
                      self ? self->name : "the test");
    }
    while (self && l->owner) {
        self->next = l->waiting;
        l->waiting = self;
        sim_block(SIM_LOCK, l, ZKR__NEVER);
    }
    l->owner = self;
    if (self) {
        self->locks++;
    }
}

static void give(struct lock *l)
{
    struct sim_thread *self = sim_self();
    if (l->owner != self) {
        sim_violation("%s unlocks what it has not locked",
                      self ? self->name : "the test");
    }
    if (self) {
        self->locks--;
    }
    l->owner = NULL;
    struct sim_thread *next = sim_take_any(&l->waiting);
    if (next) {
        sim_wake(next);
    }
}

ZKR__TSA(no_thread_safety_analysis)
void zkr__mu_lock(struct zkr__mu *mu)
{
    int before = zkr__cancel_hold();
    sim_point();
    take(lock_of(mu));
    mu->cancel_state = before;
}

ZKR__TSA(no_thread_safety_analysis)
void zkr__mu_unlock(struct zkr__mu *mu)
{
    int before = mu->cancel_state;
    give(lock_of(mu));
    sim_point();
    zkr__cancel_restore(before);
}

static void wake(struct condition *c)
{
    struct sim_thread *t = sim_take_any(&c->waiting);
    if (t) {
        t->signals++;
        sim_wake(t);
    }
}

void zkr__cv_signal(struct zkr__cv *cv)
{
    struct condition *c = condition_of(cv);
    if (!c->alive) {
        sim_violation("a condition is signaled that is none");
    }
    wake(c);
    sim_point();
}

void zkr__cv_broadcast(struct zkr__cv *cv)
{
    struct condition *c = condition_of(cv);
    if (!c->alive) {
        sim_violation("a condition is signaled that is none");
    }
    while (c->waiting) {
        wake(c);
    }
    sim_point();
}

bool zkr__cv_wait(struct zkr__cv *cv, struct zkr__mu *mu, int64_t deadline)
{
    struct condition *c = condition_of(cv);
    struct lock *l = lock_of(mu);
    struct sim_thread *self = sim_self();
    int before = mu->cancel_state; /* other threads hold the lock meanwhile */
    if (!self) {
        sim_violation("the test waits");
        return false;
    }
    if (!c->alive || self->locks != 1 || !self->canceled_off) {
        sim_violation("%s waits with other locks held, or can be canceled there",
                      self->name);
    }
    if (deadline != ZKR__NEVER && self->over == deadline && self->over_on == c) {
        sim_violation("%s waits again for a time that has passed", self->name);
    }
    give(l);
    self->next = c->waiting;
    c->waiting = self;
    sim_block(SIM_CONDITION, c, deadline);
    bool signaled = self->woken;
    (void)sim_take(&c->waiting, self);
    bool over = !signaled && deadline != ZKR__NEVER && zkf_door.now() >= deadline;
    self->over = over ? deadline : ZKR__NEVER;
    self->over_on = c;
    take(l);
    mu->cancel_state = before;
    return !over;
}
