/* SPDX-License-Identifier: Apache-2.0 */
#include "news.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "loss.h"

bool news_begin(struct news *n)
{
    n->bond = -1;
    (void)pthread_mutex_init(&n->mu, NULL);
    n->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return n->fd >= 0;
}

void news_end(struct news *n)
{
    (void)close(n->fd);
}

/* --- called in other threads --- */

void news_wake(struct news *n)
{
    (void)eventfd_write(n->fd, 1);
}

void news_revoke(struct news *n)
{
    n->revoked = true;
    news_wake(n);
}

void news_lose(struct news *n, const zkr_lost *lost)
{
    (void)pthread_mutex_lock(&n->mu);
    if (n->bond >= 0) {
        (void)!write(n->bond, "", 1); /* the main thread kills the other descendants */
    }
    n->loss = loss_reported(n->client, lost);
    news_wake(n);
    (void)pthread_mutex_unlock(&n->mu);
}

/*
 * Notifies the latch with the mutex held, so that the latch receives the latest value last. Meanwhile the latch calls
 * no callbacks.
 */
void news_set_fit(struct news *n, zkr_leader_latch *latch, bool fit)
{
    (void)pthread_mutex_lock(&n->mu);
    bool runs = n->bond >= 0;
    n->unfit = !fit;
    n->revoked = !fit && runs;
    news_wake(n);
    if (fit || !runs) {
        (void)zkr_leader_latch_set_fit(latch, fit);
    }
    (void)pthread_mutex_unlock(&n->mu);
}

void news_on_ticket(zkr_ticket *t, int state, void *news)
{
    zkr_lost lost = {.reason = ZKR_LOST_LEASE};
    if (state == ZKR_TICKET_LOST) {
        (void)zkr_ticket_lost(t, &lost, sizeof(lost));
        news_lose(news, &lost);
        return;
    }
    news_wake(news);
}

void news_on_revoke(zkr_mutex *m, void *news)
{
    (void)m;
    news_revoke(news);
}

void news_on_contenders(zkr_leader_latch *latch, void *news)
{
    (void)latch;
    news_wake(news);
}

/* --- called in the main thread --- */

void news_repeat_fit(struct news *n, zkr_leader_latch *latch)
{
    (void)pthread_mutex_lock(&n->mu);
    (void)zkr_leader_latch_set_fit(latch, !n->unfit);
    (void)pthread_mutex_unlock(&n->mu);
}

struct loss news_loss(struct news *n)
{
    (void)pthread_mutex_lock(&n->mu);
    struct loss loss = n->loss;
    (void)pthread_mutex_unlock(&n->mu);
    return loss;
}

bool news_take_revocation(struct news *n)
{
    return atomic_exchange(&n->revoked, false);
}

void news_reset(struct news *n)
{
    (void)pthread_mutex_lock(&n->mu);
    n->loss.reason = 0;
    (void)pthread_mutex_unlock(&n->mu);
    n->revoked = false;
}

pid_t news_fork(struct news *n, int bond, pid_t (*fork_it)(void *ctx), void *ctx)
{
    (void)pthread_mutex_lock(&n->mu);
    errno = ECANCELED;
    pid_t pid = n->loss.reason != 0 || n->unfit ? -1 : fork_it(ctx);
    if (pid == 0) {
        return 0; /* the child does not use the mutex */
    }
    int error = errno;
    n->bond = pid > 0 ? bond : -1;
    (void)pthread_mutex_unlock(&n->mu);
    errno = error;
    return pid;
}

void news_forget_bond(struct news *n)
{
    (void)pthread_mutex_lock(&n->mu);
    n->bond = -1;
    (void)pthread_mutex_unlock(&n->mu);
}
