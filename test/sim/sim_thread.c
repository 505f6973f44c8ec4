/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation of lib/base/thread.c. */
#include <errno.h>

#include "base/thread.h"
#include "sim.h"
#include "threads.h"

static struct zkr__thread outside; /* the program's own thread */

struct zkr__thread *zkr__thread_self(void)
{
    return sim_self() ? &sim_self()->self : &outside;
}

static struct sim_thread *thread_of(pthread_t thread)
{
    return (struct sim_thread *)(uintptr_t)thread;
}

int zkr__thread_start(pthread_t *thread,
                      const char *name,
                      void *(*fn)(void *arg),
                      void *arg)
{
    if (sim_no_thread()) {
        return EAGAIN;
    }
    struct sim_thread *t = sim_thread_start(sim_self()->client, name, fn, arg);
    t->self.ours = true;
    t->self.arg = arg;
    *thread = (pthread_t)(uintptr_t)t;
    sim_point();
    return 0;
}

int zkr__thread_replace(pthread_t *thread,
                        const char *name,
                        void *(*fn)(void *arg),
                        void *arg)
{
    int rc = zkr__thread_start(thread, name, fn, arg);
    if (rc == 0) {
        sim_thread_detach(sim_self());
    }
    return rc;
}

void zkr__thread_rest(void)
{
    sim_sleep(10 * ZKR__MS);
}

/* --- code of the application --- */

/* The calls of application code in progress, the innermost first. */
struct sim_visit {
    struct sim_visit *outer;
    void (*finish)(void *arg, bool cut);
    void *arg;
};

void zkr__thread_call(void (*fn)(void *arg),
                      void (*finish)(void *arg, bool cut),
                      void *arg)
{
    struct sim_thread *self = sim_self();
    struct sim_visit visit = {.outer = self->visits, .finish = finish, .arg = arg};
    self->visits = &visit;
    fn(arg);
    if (!self->cut) {
        self->visits = visit.outer;
        finish(arg, false);
        return;
    }
    for (struct sim_visit *v = &visit; v; v = v->outer) {
        v->finish(v->arg, true);
    }
    sim_thread_exit();
}

void zkr__thread_call_cancelable(void (*fn)(void *arg),
                                 void (*finish)(void *arg, bool cut),
                                 void *arg)
{
    zkr__thread_call(fn, finish, arg);
}

void zkr__thread_join(pthread_t thread)
{
    if (!sim_self()->canceled_off || sim_self()->locks != 0) {
        sim_violation("%s joins with a lock held, or can be canceled there",
                      sim_self()->name);
    }
    sim_point();
    sim_thread_join(thread_of(thread));
}

void zkr__thread_detach(pthread_t thread)
{
    sim_thread_detach(thread_of(thread));
}

bool zkr__thread_pin_code(void)
{
    return true;
}

bool zkr__thread_is_self(pthread_t thread)
{
    return thread_of(thread) == sim_self();
}

int zkr__thread_try_two(void)
{
    return sim_no_thread() ? EAGAIN : 0;
}

uint64_t zkr__thread_id(void)
{
    return zkr__thread_self()->id;
}

long zkr__thread_os_id(void)
{
    return (long)zkr__thread_self()->id;
}

unsigned zkr__fork_generation(void)
{
    return 0;
}

bool zkr__exit_hook_add(struct zkr__exit_hook *hook)
{
    struct zkr__thread *self = zkr__thread_self();
    hook->next = self->exit_hooks;
    hook->link = &self->exit_hooks;
    if (self->exit_hooks) {
        self->exit_hooks->link = &hook->next;
    }
    self->exit_hooks = hook;
    return true;
}

void zkr__exit_hook_drop(struct zkr__exit_hook *hook)
{
    if (hook->link) {
        *hook->link = hook->next;
        if (hook->next) {
            hook->next->link = hook->link;
        }
        hook->next = NULL;
        hook->link = NULL;
    }
}
