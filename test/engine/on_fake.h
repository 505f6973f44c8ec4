/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One client on the fake (by_hand.h), and its objects, which end with the case. A case itself ends only the objects
 * that it tests. A case can interfere between the client and the fake.
 */
#ifndef ZKT_ON_FAKE_H
#define ZKT_ON_FAKE_H

#include "by_hand.h"
#include "case.h"
#include "expect.h"

enum { SECOND = 1000 };

/* Interference with requests and answers. It is reset when a client is opened. */
struct between {
    /* Called with each request, which it may change. */
    void (*on_submit)(struct zkr__op *op);
    /* Called with each answer before the client gets it. It may change the answer. */
    void (*on_answer)(enum zkr__op_kind kind, struct zkr__answer *answer);
    /* Set by on_submit(): ZooKeeper code with which the request is refused. */
    int refusal;
    /* Time in ns by which CLOCK_BOOTTIME is ahead, as after a sleep of the machine. */
    int64_t asleep;
};
extern struct between between;

/* Open a client. The world of the previous client ends. @more is as in zkf_open(). */
zkr_client *open_client(const zkr_client_options *more);
/* Like open_client(), with another function that opens handles. */
zkr_client *open_client_by(void *(*open)(const struct zkr__open_args *args),
                           const zkr_client_options *more);

zkr_mutex *mutex_at(zkr_client *c, const char *path, const zkr_mutex_options *o);
/* Returns a new ticket of @m. */
zkr_ticket *ask(zkr_mutex *m, int64_t timeout_ms);
/* Returns a ticket that holds @m. Waits for the grant for at most a second. */
zkr_ticket *hold(zkr_client *c, zkr_mutex *m);
/* Release the ticket, ignoring the result, and destroy it. */
void end(zkr_ticket *t);
/* Returns a latch at "/latch". It is stopped without a notification at its end. */
zkr_leader_latch *latch_with(zkr_client *c, const zkr_leader_latch_options *o);

#endif
