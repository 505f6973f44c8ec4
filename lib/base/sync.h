/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mutex and a condition variable, annotated for clang's thread safety analysis.
 *
 * A thread cannot be canceled while it holds a lock or waits on a condition, because it would end with the lock held. A
 * cancellation stays pending until the first cancellation point after the outermost unlock. Locks must be released in
 * the reverse order of acquisition.
 */
#ifndef ZKR_BASE_SYNC_H
#define ZKR_BASE_SYNC_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__clang__)
#define ZKR__TSA(x) __attribute__((x))
#else
#define ZKR__TSA(x)
#endif
#define ZKR__CAPABILITY ZKR__TSA(capability("mutex"))
#define ZKR__ACQUIRES(mu) ZKR__TSA(acquire_capability(mu))
#define ZKR__RELEASES(mu) ZKR__TSA(release_capability(mu))
/* The caller must hold @mu. This marks every internal function that needs a lock. */
#define ZKR__NEEDS(mu) ZKR__TSA(requires_capability(mu))

struct ZKR__CAPABILITY zkr__mu {
    pthread_mutex_t m;
    int cancel_state; /* the holder's state before it took the lock */
};

struct zkr__cv {
    pthread_cond_t c;
};

/* Initialization cannot fail, because no C library on Linux allocates memory for it. */
void zkr__mu_init(struct zkr__mu *mu);
void zkr__cv_init(struct zkr__cv *cv);
void zkr__mu_destroy(struct zkr__mu *mu);
void zkr__cv_destroy(struct zkr__cv *cv);

void zkr__mu_lock(struct zkr__mu *mu) ZKR__ACQUIRES(mu);
void zkr__mu_unlock(struct zkr__mu *mu) ZKR__RELEASES(mu);

/* Disable cancellation of the calling thread, even while it holds no lock. Returns the state to restore. */
int zkr__cancel_hold(void);
void zkr__cancel_restore(int cancel_state);

void zkr__cv_signal(struct zkr__cv *cv);
void zkr__cv_broadcast(struct zkr__cv *cv);

/*
 * Sleep until signaled or until @deadline (zkr__clock_now(); ZKR__NEVER = no deadline). Returns false after the
 * deadline.
 */
bool zkr__cv_wait(struct zkr__cv *cv, struct zkr__mu *mu, int64_t deadline)
    ZKR__NEEDS(mu);

#endif
