/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_LOCK_H
#define ZKT_LOCK_H

#include <zkr/guard.h>

#include "fixture.h"

/*
 * One suite for both ways to hold a mutex: by the calling thread, or by a ticket that the thread asks for and keeps.
 * Each case is run both ways, and acquires and releases with the functions below.
 */
#define ZKT_BOTH_CASE(name)                                                            \
    ZKT_CASE_WAYS(name, {#name ", by a thread", name, 0, 0},                           \
                  {#name ", by a ticket", name, 1, 0})

/** Which way is it? */
bool zkt_by_ticket(void);

/**
 * As the functions of zkr_mutex of these names. Tickets are not re-entrant: with tickets, zkt_acquire() of what the
 * thread holds returns ZKR_ESESSION when the hold was lost, else ZKR_EBUSY. A ticket whose callback was not called as
 * it should be fails the test.
 */
int zkt_acquire(zkr_mutex *m, int64_t timeout_ms);
int zkt_release(zkr_mutex *m);
bool zkt_is_held(zkr_mutex *m);
int64_t zkt_valid_for_ms(zkr_mutex *m);
int zkt_fencing_token(zkr_mutex *m, int64_t *token);
int zkt_node_of(zkr_mutex *m, char *buf, size_t size);
/** The ticket by which the calling thread holds, or NULL. */
zkr_ticket *zkt_ticket_of(zkr_mutex *m);
/** With @release, as zkr_mutex_release_multi(). */
int zkt_multi(zkr_mutex *m,
              int count,
              const zoo_op_t *ops,
              zoo_op_result_t *results,
              int64_t timeout_ms,
              bool release);
/** All waits for @m in this process end with ZKR_ECANCELED. */
int zkt_cancel(zkr_mutex *m);

/** Called for each lost hold of a ticket, as a mutex's on_lost; reason is 0. NULL = nothing is called. */
void zkt_on_ticket_lost(zkr_mutex_lost_fn fn, void *ctx);

#endif
