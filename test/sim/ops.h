/* SPDX-License-Identifier: Apache-2.0 */
/* The operations that a thread may choose next. Each operation makes calls, and checks their outcome. */
#ifndef ZKT_SIM_OPS_H
#define ZKT_SIM_OPS_H

#include "sim.h"

/* A call that ends by a deadline, or as soon as possible. */
struct call {
    struct app *a;
    const char *name;
    int64_t timeout_ms;
    struct moment started;
};

/* An allowance for a thread that is late, perhaps with the client's lock, and whose lateness was counted earlier. */
#define SIM_SLACK (25 * ZKR__MS)

struct moment sim_moment(const struct process *p);
/* Returns the time since @moment, without the time for which threads of @p were late or stopped. Never negative. */
int64_t sim_since(const struct process *p, const struct moment *moment);

struct call sim_call(struct app *a, const char *name, int64_t timeout_ms);
/* Check the outcome of the call: it ended in time, not too early, without a lock held, and with a possible code. */
void sim_called(const struct call *call, int rc);

/* Returns a timeout that cannot make threads wait for each other in a circle. */
int64_t sim_timeout(const struct app *a);
/* Returns whether the thread has something to release. */
bool sim_owes(const struct app *a);
bool sim_held(const struct app *a, enum sim_lock lock);
enum sim_dir sim_lock_dir(enum sim_lock lock);
int64_t sim_pause(void);

/* ops_mutex.c */
void sim_op_acquire(struct app *a);
void sim_op_release(struct app *a);
void sim_op_downgrade(struct app *a);
void sim_op_ask(struct app *a);
void sim_op_cancel(struct app *a);
void sim_release_all(struct app *a);
/* A write under a lock. */
void sim_op_write(struct app *a);
/* A list of the contenders, or a wait for a change or for a free lock. */
void sim_op_look(struct app *a);

/* wishes.c */
void sim_op_wish(struct app *a);

/* ops_ticket.c */
void sim_op_request(struct app *a);
void sim_op_ticket(struct app *a);
void sim_hand_in_all(struct app *a);

/* ops_leader.c */
void sim_op_latch(struct app *a);
void sim_op_selector(struct app *a);
void sim_take_leadership(zkr_leadership *lead, void *process);

/* ops_client.c */
void sim_op_client(struct app *a);

/* tell.c: callbacks */
/* At the end of a callback on a thread of the library, perhaps end that thread. */
void sim_may_exit(struct process *p);
void sim_on_revoke(zkr_mutex *m, void *process);
void sim_on_lost(zkr_mutex *m, const zkr_lost *lost, void *process);
void sim_on_warn(zkr_mutex *m, int64_t token, int64_t left_ms, void *process);
void sim_on_ticket(zkr_ticket *t, int state, void *pass);
void sim_on_gain(zkr_leader_latch *l, int64_t token, void *process);
void sim_on_latch_warn(zkr_leader_latch *l,
                       int64_t token,
                       int64_t left_ms,
                       void *process);
void sim_on_loss(zkr_leader_latch *l, const zkr_lost *lost, void *process);
void sim_on_failed(zkr_leader_selector *s, int code, void *process);
void sim_on_state(zkr_client *c, int state, void *process);

#endif
