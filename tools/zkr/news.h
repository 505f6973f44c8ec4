/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What other threads have to tell the main thread about a lock or a leadership: that it is lost, that its release is requested
 * for, that zkr is not fit to lead.
 */
#ifndef ZKR_CLI_NEWS_H
#define ZKR_CLI_NEWS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include <zkr/zkr.h>

#include "loss.h"

struct news {
    zkr_client *client; /* to ask about a loss */
    int fd;             /* eventfd: readable when there is some */
    _Atomic(bool) revoked;
    _Atomic(bool) unfit; /* to lead; set under mu */
    pthread_mutex_t mu;
    struct loss loss; /* under mu, like the next one */
    int bond;         /* a byte into it kills the group of the command; -1 = none */
};

/** False: no descriptor; errno says why. */
bool news_begin(struct news *n);
void news_end(struct news *n);

/* Callbacks of the library, with the news as ctx. */

/** A loss, or anything else. */
void news_on_ticket(zkr_ticket *t, int state, void *news);
void news_on_revoke(zkr_mutex *m, void *news);
/** Wakes the main thread. */
void news_on_contenders(zkr_leader_latch *latch, void *news);

/** The main thread has to look at something. */
void news_wake(struct news *n);
/** A release was requested. */
void news_revoke(struct news *n);
/**
 * The lock is lost. Kills the command at once, and prevents a start: when somebody has deleted the lock node, the next client
 * gets the lock without waiting for the main thread.
 */
void news_lose(struct news *n, const zkr_lost *lost);
/** Whether it may lead. If not, a command that runs is ended as by a revocation; without one the latch leaves the queue. */
void news_set_fit(struct news *n, zkr_leader_latch *latch, bool fit);

/* In the main thread. */

/** Before each term: tells the latch, which may not have been told while the command of the last term was ending. */
void news_repeat_fit(struct news *n, zkr_leader_latch *latch);
/** The loss; its reason is 0 if there is none. */
struct loss news_loss(struct news *n);
/** Takes note of a revocation. False: there is none that is new. */
bool news_take_revocation(struct news *n);
/** Forgets a loss and a revocation, before the next grant. */
void news_reset(struct news *n);
/**
 * Calls @fork_it, which returns like fork(), unless the lock is lost, or zkr not fit. From now on a loss writes a byte to
 * @bond. Returns what @fork_it returns; or -1, and errno is ECANCELED.
 */
pid_t news_fork(struct news *n, int bond, pid_t (*fork_it)(void *ctx), void *ctx);
/** The command does not exist, or has ended. */
void news_forget_bond(struct news *n);

#endif
