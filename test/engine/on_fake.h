/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One client on the fake (by_hand.h), and what it holds. All is kept: a case ends by hand only what it is about. A
 * case may come between the client and the fake.
 */
#ifndef ZKT_ON_FAKE_H
#define ZKT_ON_FAKE_H

#include "by_hand.h"
#include "case.h"
#include "expect.h"

enum { SECOND = 1000 };

/* Nothing at first. */
struct between {
    /* May change a request. */
    void (*on_submit)(struct zkr__op *op);
    /* May change an answer before the client has it. */
    void (*on_answer)(enum zkr__op_kind kind, struct zkr__answer *answer);
    int refusal;    /* of the request that on_submit() sees: a code of ZooKeeper */
    int64_t asleep; /* so far the clocks are apart: one stood while the machine slept */
};
extern struct between between;

/* The world of the client before it, if there is one, ends. @more as in zkf_open(). */
zkr_client *open_client(const zkr_client_options *more);
/* The same with another open than that of the fake. */
zkr_client *open_client_by(void *(*open)(const struct zkr__open_args *args),
                           const zkr_client_options *more);

zkr_mutex *mutex_at(zkr_client *c, const char *path, const zkr_mutex_options *o);
/* By @m. */
zkr_ticket *ask(zkr_mutex *m, int64_t timeout_ms);
/* For as long as it takes, which is a second at most. */
zkr_ticket *hold(zkr_client *c, zkr_mutex *m);
/* Release, whatever comes of it, and destroy. */
void end(zkr_ticket *t);
/* At "/latch". Its end is silent. */
zkr_leader_latch *latch_with(zkr_client *c, const zkr_leader_latch_options *o);

#endif
