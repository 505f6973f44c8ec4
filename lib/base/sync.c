/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sync.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"

void zkr__mu_init(struct zkr__mu *mu)
{
    (void)pthread_mutex_init(&mu->m, NULL);
}

void zkr__cv_init(struct zkr__cv *cv)
{
    pthread_condattr_t attr;
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&cv->c, &attr);
    (void)pthread_condattr_destroy(&attr);
}

void zkr__mu_destroy(struct zkr__mu *mu)
{
    (void)pthread_mutex_destroy(&mu->m);
}

void zkr__cv_destroy(struct zkr__cv *cv)
{
    (void)pthread_cond_destroy(&cv->c);
}

int zkr__cancel_hold(void)
{
    int before;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

void zkr__cancel_restore(int cancel_state)
{
    int ours;
    (void)pthread_setcancelstate(cancel_state, &ours);
}

ZKR__TSA(no_thread_safety_analysis)
void zkr__mu_lock(struct zkr__mu *mu)
{
    int before = zkr__cancel_hold();
    (void)pthread_mutex_lock(&mu->m);
    mu->cancel_state = before;
}

ZKR__TSA(no_thread_safety_analysis)
void zkr__mu_unlock(struct zkr__mu *mu)
{
    int before = mu->cancel_state;
    (void)pthread_mutex_unlock(&mu->m);
    zkr__cancel_restore(before);
}

void zkr__cv_signal(struct zkr__cv *cv)
{
    (void)pthread_cond_signal(&cv->c);
}

void zkr__cv_broadcast(struct zkr__cv *cv)
{
    (void)pthread_cond_broadcast(&cv->c);
}

bool zkr__cv_wait(struct zkr__cv *cv, struct zkr__mu *mu, int64_t deadline)
{
    /* Another thread may overwrite the field meanwhile. */
    int before = mu->cancel_state;
    int rc;
    if (deadline == ZKR__NEVER) {
        rc = pthread_cond_wait(&cv->c, &mu->m);
    } else {
        struct timespec at = zkr__clock_timespec(deadline);
        rc = pthread_cond_timedwait(&cv->c, &mu->m, &at);
    }
    mu->cancel_state = before;
    return rc != ETIMEDOUT;
}
