/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_LOCK_H
#define ZKT_LOCK_H

#include "fixture.h"

/*
 * One suite for all ways to hold a mutex: the cases acquire and release with the functions below, which
 * take it for the calling thread, or by a ticket that this thread asks for and keeps. Both must keep
 * every promise that a case is about.
 *
 *     const struct CMUnitTest tests[] = {ZKT_BOTH(a_free_lock_is_granted), ZKT_TEST(only_for_threads)};
 */
#define ZKT_BOTH(name)                                                                 \
    {#name ", by a thread", name, zkt_enter, zkt_leave, NULL},                         \
    {                                                                                  \
#name ", by a ticket", name, zkt_enter_by_ticket, zkt_leave_by_ticket, NULL    \
    }

int zkt_enter_by_ticket(void **state);
int zkt_leave_by_ticket(void **state);

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
/** Every wait for @m of this process ends with ZKR_ECANCELED. */
int zkt_cancel(zkr_mutex *m);

/** Called for each hold by a ticket that is lost, as a mutex's on_lost is; reason is 0. NULL = nobody. */
void zkt_on_ticket_lost(zkr_mutex_lost_fn fn, void *ctx);

#endif
