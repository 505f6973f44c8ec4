/* SPDX-License-Identifier: Apache-2.0 */
#include "threads.h"

#include <string.h>

#include "base/clock.h"
#include "sim.h"
#include "util.h"

enum { THREADS = 512 };

static struct sim_thread threads[THREADS];
static int count;
static uint64_t last_id;
static struct sim_thread *self;
static struct sim_pace pace;
static int64_t lateness[ZKF_CLIENTS];

struct sim_thread *sim_self(void)
{
    return self;
}

void sim_threads_begin(const struct sim_pace *with)
{
    pace = *with;
    count = 0;
    self = NULL;
    memset(lateness, 0, sizeof(lateness));
}

void sim_threads_end(void)
{
    for (int i = 0; i < count; i++) {
        if (threads[i].co) {
            coro_free(threads[i].co);
            zkf_actor_remove(&threads[i].actor);
        }
    }
    count = 0;
}

void sim_threads_calm(void)
{
    pace = (struct sim_pace){0};
}

/* --- turns --- */

static int64_t some_delay(int client)
{
    int64_t delay = !zkf_chance((int)pace.late) ? 0
                    : zkf_chance(80)            ? zkf_below(2 * ZKR__MS)
                                                : zkf_below(20 * ZKR__MS);
    lateness[client] += delay;
    return delay;
}

/* Let the thread continue. Meanwhile, the fake runs calls as the client of this thread, or as no client. */
static void go_on(struct sim_thread *t)
{
    self = t;
    zkf_enter(t->client);
    bool goes_on = coro_resume(t->co);
    self = NULL;
    if (!goes_on || t->wait == SIM_ENDED) {
        zkf_actor_remove(&t->actor);
        coro_free(t->co);
        t->co = NULL;
    }
}

static void give_way(void)
{
    coro_yield();
    zkf_enter(self->client);
}

/* Returns whether the client's clock has not reached the deadline, because the span was rounded when it was converted
   between clocks. */
static bool too_early(struct sim_thread *t)
{
    if (t->wait != SIM_CONDITION || t->woken || t->deadline == ZKR__NEVER) {
        return false;
    }
    zkf_enter(t->client);
    int64_t left = t->deadline - zkf_door.now();
    if (left > 0) {
        t->actor.due = zkf_now() + 1 + zkf_client_span(t->client, left);
    }
    return left > 0;
}

static void take_turn(void *ctx)
{
    struct sim_thread *t = ctx;
    if (!too_early(t)) {
        t->actor.due = ZKR__NEVER;
        go_on(t);
    }
}

void sim_point(void)
{
    if (self && zkf_chance((int)pace.switches)) {
        sim_sleep(some_delay(self->client));
    }
}

void sim_sleep(int64_t ns)
{
    self->actor.due = zkf_now() + ns;
    give_way();
}

void sim_block(enum sim_wait wait, const void *on, int64_t deadline)
{
    struct sim_thread *t = self;
    if (!t) {
        zkt_fail("the program itself would wait");
    }
    t->wait = wait;
    t->on = on;
    t->deadline = deadline;
    t->woken = false;
    int64_t left = deadline == ZKR__NEVER ? ZKR__NEVER : deadline - zkf_door.now();
    int64_t early = zkf_below(100 * ZKR__MS);
    if (wait == SIM_CONDITION && early < left && zkf_chance((int)pace.spurious)) {
        t->deadline = ZKR__NEVER;
        t->actor.due = zkf_now() + early;
    } else if (deadline != ZKR__NEVER) {
        left = left > 0 ? zkf_client_span(t->client, left) : 0;
        t->actor.due = zkf_now() + left + some_delay(t->client);
    }
    give_way();
    t->wait = SIM_RUNS;
    t->on = NULL;
}

void sim_wake(struct sim_thread *t)
{
    t->woken = true;
    t->actor.due = zkf_now() + some_delay(t->client);
}

bool sim_take(struct sim_thread **list, struct sim_thread *t)
{
    for (; *list; list = &(*list)->next) {
        if (*list == t) {
            *list = t->next;
            return true;
        }
    }
    return false;
}

struct sim_thread *sim_take_any(struct sim_thread **list)
{
    struct sim_thread *chosen = NULL;
    int64_t seen = 0;
    for (struct sim_thread *t = *list; t; t = t->next) {
        if (zkf_below(++seen) == 0) {
            chosen = t;
        }
    }
    if (chosen) {
        (void)sim_take(list, chosen);
    }
    return chosen;
}

/* --- life --- */

static void wake_joiner(const struct sim_thread *ended)
{
    for (int i = 0; i < count; i++) {
        if (threads[i].wait == SIM_JOIN && threads[i].on == ended) {
            sim_wake(&threads[i]);
        }
    }
}

static void end_duties(struct sim_thread *t)
{
    while (t->self.exit_hooks) {
        struct zkr__exit_hook *hook = t->self.exit_hooks;
        zkr__exit_hook_drop(hook);
        hook->at_exit(hook);
    }
}

static void end(struct sim_thread *t)
{
    end_duties(t);
    if (t->locks != 0) {
        sim_violation("thread %s of client %d ends with %d locks", t->name, t->client,
                      t->locks);
    }
    t->wait = SIM_ENDED;
    wake_joiner(t);
}

static void run(void *ctx)
{
    struct sim_thread *t = ctx;
    (void)t->fn(t->arg);
    end(t);
}

void sim_thread_exit(void)
{
    end(self);
    coro_yield();
}

static struct sim_thread *
make(int client, const char *name, void *(*fn)(void *arg), void *arg)
{
    if (count == THREADS) {
        zkt_fail("too many threads");
    }
    struct sim_thread *t = &threads[count++];
    memset(t, 0, sizeof(*t));
    t->client = client;
    t->name = name;
    t->fn = fn;
    t->arg = arg;
    t->self.id = ++last_id;
    t->co = coro_make(run, t);
    t->actor = (struct zkf_actor){.due = ZKR__NEVER,
                                  .act = take_turn,
                                  .ctx = t,
                                  .stopped = zkf_client_stopped(client)};
    zkf_actor_add(&t->actor);
    return t;
}

struct sim_thread *
sim_thread_start(int client, const char *name, void *(*fn)(void *arg), void *arg)
{
    struct sim_thread *t = make(client, name, fn, arg);
    t->actor.due = zkf_now() + some_delay(client);
    return t;
}

void sim_thread_join(struct sim_thread *t)
{
    if (t == self || t->joined || t->detached) {
        sim_violation("thread %s is joined twice, by itself, or once detached",
                      t->name);
    }
    while (t->wait != SIM_ENDED) {
        sim_block(SIM_JOIN, t, ZKR__NEVER);
    }
    t->joined = true;
}

void sim_thread_detach(struct sim_thread *t)
{
    t->detached = true;
}

/* --- threads of libzookeeper --- */

static void wake_closer(void)
{
    for (int i = 0; i < count; i++) {
        if (threads[i].wait == SIM_CLOSE) {
            sim_wake(&threads[i]);
        }
    }
}

static void *call(void *arg)
{
    struct zkf_actor *actor = arg;
    actor->act(actor->ctx);
    actor->busy = false;
    wake_closer();
    return NULL;
}

static bool is_called(int client)
{
    for (int i = 0; i < count; i++) {
        if (threads[i].caller && threads[i].co && threads[i].client == client) {
            return true;
        }
    }
    return false;
}

void sim_stand(int client, int64_t span)
{
    lateness[client] += span;
    sim_sleep(span);
    while (is_called(client)) {
        sim_block(SIM_CLOSE, NULL, ZKR__NEVER);
    }
}

/* One slot serves many calls, because most end at once. */
void sim_act(struct zkf_actor *actor)
{
    struct sim_thread *t = NULL;
    for (int i = count - 1; i >= 0 && !t; i--) {
        bool done = threads[i].caller && threads[i].wait == SIM_ENDED;
        t = done && !threads[i].co && threads[i].client == actor->library - 1
                ? &threads[i]
                : NULL;
    }
    if (t) {
        t->wait = SIM_RUNS;
        t->arg = actor;
        t->co = coro_make(run, t);
        zkf_actor_add(&t->actor);
    } else {
        t = make(actor->library - 1, "libzookeeper", call, actor);
    }
    t->caller = actor;
    go_on(t);
}

/* --- for the checker --- */

int64_t sim_lateness(int client)
{
    return lateness[client];
}

const char *sim_wait_name(enum sim_wait wait)
{
    static const char *const names[] = {
        "runs", "a lock", "a condition", "a thread's end", "a call from a handle",
        "ended"};
    return names[wait];
}

int sim_threads_left(bool report)
{
    int left = 0;
    for (int i = 0; i < count; i++) {
        const struct sim_thread *t = &threads[i];
        if (!t->co) {
            continue;
        }
        left++;
        if (report) {
            zkf_trace("thread %s of client %d: %s %p%s", t->name, t->client,
                      sim_wait_name(t->wait), t->on,
                      t->actor.due == ZKR__NEVER ? "" : ", until some time");
        }
    }
    return left;
}

const struct sim_thread *sim_stuck(void)
{
    for (int i = 0; i < count; i++) {
        if (threads[i].co && threads[i].actor.due == ZKR__NEVER) {
            return &threads[i];
        }
    }
    return NULL;
}
