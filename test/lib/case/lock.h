/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_LOCK_H
#define ZKT_LOCK_H

#include <zkr/guard.h>

#include "fixture.h"

/*
 * One suite for all ways to hold a mutex: the cases acquire and release with the functions below, which
 * take it for the calling thread, or by a ticket that this thread asks for and keeps. Both must keep
 * every promise that a case is about.
 * Each case is run both ways.
 */
#define ZKT_BOTH_CASE(name)                                                            \
    ZKT_CASE_WAYS(name, {#name ", by a thread", name, 0, 0},                           \
                  {#name ", by a ticket", name, 1, 0})

/** Which way is it? */
bool zkt_by_ticket(void);

/**
 * As the functions of zkr_mutex of these names, for the calling thread. With tickets, zkt_acquire() of
 * what the thread holds says so in the words of a mutex, as it is not re-entrant: ZKR_ESESSION when it was
 * lost, else ZKR_EBUSY. A ticket that was not told of as it should be fails the test.
 */
int zkt_acquire(zkr_mutex *m, int64_t timeout_ms);
int zkt_release(zkr_mutex *m);
bool zkt_is_held(zkr_mutex *m);
int64_t zkt_valid_for_ms(zkr_mutex *m);
int zkt_fencing_token(zkr_mutex *m, int64_t *token);
int zkt_node_of(zkr_mutex *m, char *buf, size_t size);
/** The ticket by which the calling thread holds; NULL = by none. */
zkr_ticket *zkt_ticket_of(zkr_mutex *m);
/** With @release, as zkr_mutex_release_multi(). */
int zkt_multi(zkr_mutex *m,
              int count,
              const zoo_op_t *ops,
              zoo_op_result_t *results,
              int64_t timeout_ms,
              bool release);
/** Every wait for @m of this process ends with ZKR_ECANCELED. */
int zkt_cancel(zkr_mutex *m);

/** Called for each hold by a ticket that is lost, as a mutex's on_lost is; reason is 0. NULL = nobody. */
void zkt_on_ticket_lost(zkr_mutex_lost_fn fn, void *ctx);

#endif
