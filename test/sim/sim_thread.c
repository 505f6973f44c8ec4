/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/thread.c of the simulation. */
#include <errno.h>

#include "base/thread.h"
#include "sim.h"
#include "threads.h"

static struct zkr__thread outside; /* the program's own */

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
    *thread = (pthread_t)(uintptr_t)t;
    sim_point();
    return 0;
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
