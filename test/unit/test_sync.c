/* SPDX-License-Identifier: Apache-2.0 */
/* Locks, conditions, and the cancellation of threads that hold or wait. */
#include <pthread.h>

#include "base/clock.h"
#include "base/sync.h"
#include "unit.h"

static struct zkr__mu mu;
static struct zkr__cv cv;
static bool ready, go;

static int state_now(void)
{
    int state = zkr__cancel_hold();
    zkr__cancel_restore(state);
    return state;
}

static void init(void)
{
    zkr__mu_init(&mu);
    zkr__cv_init(&cv);
    ready = go = false;
}

static void destroy(void)
{
    zkr__cv_destroy(&cv);
    zkr__mu_destroy(&mu);
}

/* With two nested locks, the outermost unlock restores the earlier cancellation state. */
ZKT_UNIT_CASE(a_lock_holds_cancellation_off)
{
    struct zkr__mu inner;
    init();
    zkr__mu_init(&inner);
    assert_int_equal(state_now(), PTHREAD_CANCEL_ENABLE);
    zkr__mu_lock(&mu);
    zkr__mu_lock(&inner);
    zkr__mu_unlock(&inner);
    assert_int_equal(state_now(), PTHREAD_CANCEL_DISABLE);
    assert_false(zkr__cv_wait(&cv, &mu, zkr__clock_now()));
    assert_int_equal(state_now(), PTHREAD_CANCEL_DISABLE);
    zkr__mu_unlock(&mu);
    assert_int_equal(state_now(), PTHREAD_CANCEL_ENABLE);
    zkr__mu_destroy(&inner);
    destroy();
}

static void *wait_disabled(void *after)
{
    (void)zkr__cancel_hold();
    zkr__mu_lock(&mu);
    ready = true;
    zkr__cv_broadcast(&cv);
    while (!go) {
        (void)zkr__cv_wait(&cv, &mu, ZKR__NEVER);
    }
    zkr__mu_unlock(&mu);
    *(int *)after = state_now();
    return NULL;
}

/* Other threads hold the lock while a thread waits. Each thread keeps its own cancellation state. */
ZKT_UNIT_CASE(each_thread_keeps_its_own_state_over_a_wait)
{
    pthread_t thread;
    int theirs = -1;
    init();
    assert_int_equal(pthread_create(&thread, NULL, wait_disabled, &theirs), 0);
    zkr__mu_lock(&mu);
    while (!ready) {
        (void)zkr__cv_wait(&cv, &mu, ZKR__NEVER);
    }
    go = true;
    zkr__cv_broadcast(&cv);
    zkr__mu_unlock(&mu);
    assert_int_equal(state_now(), PTHREAD_CANCEL_ENABLE);
    (void)pthread_join(thread, NULL);
    assert_int_equal(theirs, PTHREAD_CANCEL_DISABLE);
    destroy();
}
