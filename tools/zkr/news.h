/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events about a lock or a leadership that other threads report to the main thread: a loss, a request to release it, a
 * failed health check.
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
    zkr_client *client; /* for details of a loss */
    int fd;             /* an eventfd, readable when there is news */
    _Atomic(bool) revoked;
    _Atomic(bool) unfit; /* unfit to lead; changed only under mu */
    pthread_mutex_t mu;
    struct loss loss; /* guarded by mu, as is bond */
    int bond;         /* a byte written to it kills the command's group; -1 = none */
};

/** Returns false if there is no descriptor, with the reason in errno. */
bool news_begin(struct news *n);
void news_end(struct news *n);

/* Callbacks of the library, with a struct news as ctx: */

/** Records a loss. Wakes the main thread at every change. */
void news_on_ticket(zkr_ticket *t, int state, void *news);
void news_on_revoke(zkr_mutex *m, void *news);
/** Wakes the main thread. */
void news_on_contenders(zkr_leader_latch *latch, void *news);

/** Makes fd readable, which wakes the main thread. */
void news_wake(struct news *n);
/** Records a request to release the lock. */
void news_revoke(struct news *n);
/**
 * Records that the lock is lost. Kills the command at once, or prevents its start, without waiting for the main thread,
 * because the next client gets the lock at once if somebody has deleted the lock node.
 */
void news_lose(struct news *n, const zkr_lost *lost);
/**
 * Records whether zkr may lead. If it may not, a running command ends as it does after a revocation. If no command
 * runs, the latch leaves the queue.
 */
void news_set_fit(struct news *n, zkr_leader_latch *latch, bool fit);

/* Called in the main thread: */

/**
 * Before each term, reports to the latch again whether zkr is fit, because news_set_fit() skips the latch while a
 * command runs.
 */
void news_repeat_fit(struct news *n, zkr_leader_latch *latch);
/** Returns the loss. Its reason is 0 if there is none. */
struct loss news_loss(struct news *n);
/** Returns and clears the request to release the lock. */
bool news_take_revocation(struct news *n);
/** Clears a loss and a revocation before the next grant. */
void news_reset(struct news *n);
/**
 * Calls @fork_it, which returns like fork(), unless the lock is lost or zkr is unfit to lead. From now on, a loss
 * writes a byte to @bond. Returns what @fork_it returns, or -1 with errno ECANCELED.
 */
pid_t news_fork(struct news *n, int bond, pid_t (*fork_it)(void *ctx), void *ctx);
/** From now on, a loss no longer writes to a bond, because the command has ended or never started. */
void news_forget_bond(struct news *n);

#endif
