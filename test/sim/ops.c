/* SPDX-License-Identifier: Apache-2.0 */
#include "ops.h"

#include <inttypes.h>

/* --- calls --- */

struct moment sim_moment(const struct process *p)
{
    return (struct moment){.at = zkf_door.now(),
                           .late = sim_lateness(p->client) + p->stopped};
}

/* The library itself takes no time in the simulation, but late threads do. A clock may be fast by an eighth. */
int64_t sim_since(const struct process *p, const struct moment *moment)
{
    int64_t late = sim_lateness(p->client) + p->stopped - moment->late;
    int64_t since = zkf_door.now() - moment->at - late - late / 8;
    return since > 0 ? since : 0;
}

struct call sim_call(struct app *a, const char *name, int64_t timeout_ms)
{
    const struct process *p = a->p;
    did.calls++;
    zkf_trace("client %d: thread %d: %s, %" PRId64, p->client, a->at, name, timeout_ms);
    return (struct call){
        .a = a, .name = name, .timeout_ms = timeout_ms, .started = sim_moment(p)};
}

/* A try takes one round trip, and at most a third of a session timeout. */
static int64_t limit(const struct call *call)
{
    return call->timeout_ms == 0 ? scene.session / 3 : call->timeout_ms * ZKR__MS;
}

static void check_time(const struct call *call, int rc)
{
    const struct process *p = call->a->p;
    int64_t took = zkf_door.now() - call->started.at;
    if (call->timeout_ms != ZKR_FOREVER &&
        sim_since(p, &call->started) > limit(call) + SIM_SLACK) {
        sim_violation("client %d: %s with a time-out of %" PRId64 " ms takes %.1f ms",
                      p->client, call->name, call->timeout_ms, (double)took / 1e6);
    }
    bool over = rc == ZKR_ETIMEDOUT;
    if (over && call->timeout_ms > 0 && took < limit(call)) {
        sim_violation("client %d: %s with a time-out of %" PRId64
                      " ms gives up after %.1f ms",
                      p->client, call->name, call->timeout_ms, (double)took / 1e6);
    }
}

static bool is_possible(const struct process *p, int rc)
{
    switch (rc) {
    case ZKR_OK:
    case ZKR_ETIMEDOUT:
    case ZKR_ENOANSWER: /* without a fault, only before the first connection */
    case ZKR_ECANCELED:
    case ZKR_ENOTOWNER:
    case ZKR_ESTATE:
    case ZKR_EDEADLK:
    case ZKR_EBUSY:
    case ZKR_ENONODE:
        return true;
    case ZKR_ECLOSED:
        return p->shut;
    case ZKR_ESESSION:
    case ZKR_ECONNLOSS:
        return !sim_peace();
    case ZKR_ENOMEM:
        return scene.starved || scene.door;
    case ZKR_ELIMIT:
        return scene.watch_most > 0;
    case ZKR_ESEQUENCE:
        return scene.number >= 0 || scene.named;
    case ZKR_ESYS:
        return scene.no_threads || scene.door;
    default: /* any other code of libzookeeper or of a server */
        return scene.door || scene.throttles || scene.forbids || scene.auth;
    }
}

void sim_called(const struct call *call, int rc)
{
    const struct process *p = call->a->p;
    zkf_trace("client %d: thread %d: %s: %s", p->client, call->a->at, call->name,
              rc < 0 ? zkr_err_name(rc) : "ok");
    check_time(call, rc);
    did.limited += rc == ZKR_ELIMIT;
    if (rc < 0 && !is_possible(p, rc)) {
        sim_violation("client %d: %s returns %s", p->client, call->name,
                      zkr_err_name(rc));
    }
    if (sim_self()->locks != 0 || sim_self()->canceled_off) {
        sim_violation("client %d: %s returns with %d locks held, cancelable: %d",
                      p->client, call->name, sim_self()->locks,
                      !sim_self()->canceled_off);
    }
}

/* --- a thread --- */

enum sim_dir sim_lock_dir(enum sim_lock lock)
{
    static const enum sim_dir dirs[] = {
        [LOCK_A] = AT_LOCK,  [LOCK_A2] = AT_LOCK, [LOCK_B] = AT_SECOND,
        [LOCK_C] = AT_THIRD, [READER] = AT_RW,    [WRITER] = AT_RW,
    };
    return dirs[lock];
}

bool sim_held(const struct app *a, enum sim_lock lock)
{
    return a->depth[lock] > 0;
}

bool sim_owes(const struct app *a)
{
    bool owes = a->passes > 0;
    for (int lock = 0; lock < SIM_LOCKS; lock++) {
        owes = owes || a->depth[lock] > 0;
    }
    return owes;
}

/* A thread that holds something waits only for a limited time. Otherwise, two threads could wait for each other. */
int64_t sim_timeout(const struct app *a)
{
    if (scene.tries && zkf_chance(25)) {
        return 0;
    }
    bool limited = sim_owes(a) || (scene.timeouts && zkf_chance(60));
    return limited ? 1 + zkf_below(scene.session / ZKR__MS) : ZKR_FOREVER;
}

int64_t sim_pause(void)
{
    return zkf_chance(scene.rush ? 80 : 30)
               ? 0
               : zkf_below(sim_quiet ? 20 * ZKR__MS : scene.pace);
}

static void op_sleep(struct app *a)
{
    sim_sleep(sim_pause());
}

void sim_op(struct app *a)
{
    const struct {
        bool there;
        int64_t weight;
        void (*fn)(struct app *a);
    } ops[] = {
        {scene.mutexes || scene.rw, 30, sim_op_acquire},
        {scene.mutexes || scene.rw, scene.sit ? 4 : 20, sim_op_release},
        {scene.rw, 6, sim_op_downgrade},
        {scene.wishes, 12, sim_op_wish},
        {(scene.mutexes || scene.rw) && scene.writes, 12, sim_op_write},
        {scene.mutexes || scene.rw, 3, sim_op_look},
        {scene.mutexes || scene.rw, 15, sim_op_ask},
        {(scene.mutexes || scene.rw) && scene.cancels, 8, sim_op_cancel},
        {scene.tickets || scene.permits || scene.multis, 25, sim_op_request},
        {scene.tickets || scene.permits || scene.multis, 30, sim_op_ticket},
        {scene.latches, 25, sim_op_latch},
        {scene.selectors, 25, sim_op_selector},
        {true, 4, sim_op_client},
        {true, 8, op_sleep},
    };
    enum { OPS = sizeof(ops) / sizeof(ops[0]) };
    int64_t sum = 0;
    for (int i = 0; i < OPS; i++) {
        sum += ops[i].there ? ops[i].weight : 0;
    }
    int64_t what = zkf_below(sum);
    for (int i = 0; i < OPS; i++) {
        what -= ops[i].there ? ops[i].weight : 0;
        if (what < 0) {
            ops[i].fn(a);
            return;
        }
    }
}

void sim_let_go(struct app *a, bool all)
{
    sim_hand_in_all(a);
    if (all) {
        sim_release_all(a);
    }
}
