/* SPDX-License-Identifier: Apache-2.0 */
/* Objects are destroyed and clients are closed in every order that the headers allow, also while callbacks run. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>

#include "latches.h"
#include "queue/engine_state.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 20000, SHORT_MS = 100 };

static void give_up_at_once(zkr_leadership *lead, void *ctx)
{
}

static zkr_leader_selector *
selector(zkr_client *c, void *ctx, const zkr_leader_selector_options *o)
{
    zkr_leader_selector *s = NULL;
    ZKT_MUST(
        zkr_leader_selector_create(&s, c, zkt_path(), "me", give_up_at_once, ctx, o));
    return s;
}

/* --- an answer that comes when the object is gone --- */

static int list_of_mutex(zkr_client *c, zkr_contenders **out)
{
    zkr_mutex *m = zkt_mutex(c);
    int rc = zkr_mutex_contenders(m, out);
    zkt_destroy(m);
    return rc;
}

static int list_of_latch(zkr_client *c, zkr_contenders **out)
{
    zkr_leader_latch *l = zkt_latch(c, "me", NULL);
    int rc = zkr_leader_latch_participants(l, out);
    zkt_destroy_latch(l);
    return rc;
}

static int list_of_selector(zkr_client *c, zkr_contenders **out)
{
    zkr_leader_selector *s = selector(c, NULL, NULL);
    int rc = zkr_leader_selector_participants(s, out);
    ZKT_MUST(zkr_leader_selector_destroy(s));
    return rc;
}

static int watch_of_mutex(zkr_client *c, zkr_contenders **out)
{
    zkr_mutex *m = zkt_mutex(c);
    int rc = zkr_mutex_watch(m, SHORT_MS);
    zkt_destroy(m);
    return rc;
}

/* The answer to a list that timed out may arrive after the destruction of the object that sent the request. */
ZKT_CASE(a_late_answer_finds_what_it_needs)
{
    static int (*const asks[])(zkr_client * c, zkr_contenders * *out) = {
        list_of_mutex, list_of_latch, list_of_selector, watch_of_mutex};
    zkr_mutex *held = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    zkr_mutex *last;
    ZKT_MUST(zkr_mutex_acquire(held, PATIENCE_MS)); /* one child to read */
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = ZKT_CLIENT_WITH(zkt_proxy_host(p), .session_timeout_ms = SESSION_MS,
                                    .connect_timeout_ms = SHORT_MS);
    for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
        zkr_contenders *list = NULL;
        zkt_proxy_freeze(p, ZKT_TO_CLIENT);
        ZKT_RC(asks[i](c, &list), ZKR_ETIMEDOUT);
        assert_null(list);
        zkt_proxy_heal(p);
        last = zkt_mutex(c);
        /*
         * Behind this request, the late answers have arrived. A try that has little time left may fail with another
         * code at first.
         */
        ZKT_BECOMES(zkr_mutex_acquire(last, 0), ZKR_ETIMEDOUT, PATIENCE_MS);
        zkt_destroy(last);
    }
    ZKT_MUST(zkr_mutex_release(held));
}

/* --- a client that is closed while a callback runs --- */

/* A callback that destroys its object, and then does not return. */
struct stay {
    zkr_client *c;
    zkr_mutex *m;
    sem_t free_to_destroy, free_to_return;
    atomic_int inside, destroyed;
    atomic_int closed; /* NOT_YET, or the result of the close */
};

enum { NOT_YET = 1 };

static void stay(struct stay *k)
{
    atomic_store(&k->destroyed, 1);
    sem_wait(&k->free_to_return);
}

static void on_lost(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    struct stay *k = ctx;
    atomic_store(&k->inside, 1);
    sem_wait(&k->free_to_destroy);
    if (zkr_mutex_destroy(m) == ZKR_OK) {
        stay(k);
    }
}

static void end_latch(zkr_leader_latch *l, struct stay *k)
{
    zkt_unkeep(l);
    if (zkr_leader_latch_stop(l, ZKR_LATCH_SILENT) == ZKR_OK &&
        zkr_leader_latch_destroy(l) == ZKR_OK) {
        stay(k);
    }
}

static void on_gain(zkr_leader_latch *l, int64_t token, void *ctx)
{
    end_latch(l, ctx);
}

static void note_gain(zkr_leader_latch *l, int64_t token, void *ctx)
{
    struct stay *k = ctx;
    atomic_store(&k->inside, 1);
}

static void on_loss(zkr_leader_latch *l, const zkr_lost *lost, void *ctx)
{
    end_latch(l, ctx);
}

static void on_latch_failed(zkr_leader_latch *l, int code, void *ctx)
{
    end_latch(l, ctx);
}

static void on_contenders(zkr_leader_latch *l, void *ctx)
{
    end_latch(l, ctx);
}

static void on_selector_failed(zkr_leader_selector *s, int code, void *ctx)
{
    struct stay *k = ctx;
    if (zkr_leader_selector_stop(s, ZKR_FOREVER) == ZKR_OK &&
        zkr_leader_selector_destroy(s) == ZKR_OK) {
        stay(k);
    }
}

static void lose_a_mutex(struct stay *k)
{
    zkr_mutex *m = ZKT_MUTEX_WITH(k->c, .on_lost = on_lost, .on_lost_ctx = k);
    zkt_unkeep(m);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_expire(k->c);
    ZKT_EVENTUALLY(atomic_load(&k->inside), PATIENCE_MS);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    sem_post(&k->free_to_destroy);
}

static void start_latch(struct stay *k, zkr_leader_latch_options o)
{
    o.size = sizeof(o);
    o.ctx = k;
    ZKT_MUST(zkr_leader_latch_start(zkt_latch(k->c, "me", &o)));
}

static void gain_a_latch(struct stay *k)
{
    start_latch(k, (zkr_leader_latch_options){.on_gain = on_gain});
}

static void lose_a_latch(struct stay *k)
{
    /* on_loss is called only after on_gain. */
    start_latch(k,
                (zkr_leader_latch_options){.on_gain = note_gain, .on_loss = on_loss});
    ZKT_EVENTUALLY(atomic_load(&k->inside), PATIENCE_MS);
    zkt_expire(k->c);
}

static void hear_of_contenders(struct stay *k)
{
    start_latch(k, (zkr_leader_latch_options){.on_contenders = on_contenders});
}

static void fail_a_latch(struct stay *k)
{
    start_latch(k, (zkr_leader_latch_options){.on_failed = on_latch_failed});
}

static void fail_a_selector(struct stay *k)
{
    const zkr_leader_selector_options o = {.size = sizeof(o),
                                           .on_failed = on_selector_failed};
    ZKT_MUST(zkr_leader_selector_start(selector(k->c, k, &o)));
}

static void *close_it(void *arg)
{
    struct stay *k = arg;
    zkt_unkeep(k->c);
    atomic_store(&k->closed, zkr_client_close(k->c));
    return NULL;
}

static void close_during(void (*provoke)(struct stay *k), const char *servers)
{
    struct stay k = {.closed = NOT_YET};
    pthread_t closer;
    int threads = zkt_thread_count();
    sem_init(&k.free_to_destroy, 0, 0);
    sem_init(&k.free_to_return, 0, 0);
    k.c = zkt_client(servers, SESSION_MS);
    provoke(&k);
    ZKT_EVENTUALLY(atomic_load(&k.destroyed), PATIENCE_MS);
    assert_int_equal(pthread_create(&closer, NULL, close_it, &k), 0);
    /* Of the client's four threads, only the thread of the callback is left. The other new thread is the closer. */
    ZKT_BECOMES(zkt_thread_count(), threads + 2, PATIENCE_MS);
    assert_int_equal(atomic_load(&k.closed), NOT_YET);
    sem_post(&k.free_to_return);
    ZKT_EVENTUALLY(atomic_load(&k.closed) != NOT_YET, PATIENCE_MS);
    ZKT_MUST(atomic_load(&k.closed));
    pthread_join(closer, NULL);
    sem_destroy(&k.free_to_destroy);
    sem_destroy(&k.free_to_return);
}

/* A close waits for the running callback, whatever object the callback has destroyed, and for nothing else. */
ZKT_CASE(a_close_waits_for_a_callback_that_destroyed_its_object)
{
    char no_chroot[256];
    (void)snprintf(no_chroot, sizeof(no_chroot), "%s/no/such/chroot", zkt_servers());
    close_during(lose_a_mutex, zkt_servers());
    close_during(gain_a_latch, zkt_servers());
    close_during(lose_a_latch, zkt_servers());
    close_during(hear_of_contenders, zkt_servers());
    close_during(fail_a_latch, no_chroot);
    close_during(fail_a_selector, no_chroot);
}

/* --- callbacks that create objects while their client is being closed --- */

static atomic_int refusals;

static void make_all(zkr_client *c, int state, void *ctx)
{
    zkr_mutex *m = NULL;
    zkr_leader_latch *l = NULL;
    zkr_leader_selector *s = NULL;
    if (state != ZKR_STATE_CLOSED) {
        return;
    }
    int refused = (zkr_mutex_create(&m, c, "/x", NULL) == ZKR_ECLOSED) +
                  (zkr_leader_latch_create(&l, c, "/x", NULL, NULL) == ZKR_ECLOSED) +
                  (zkr_leader_selector_create(&s, c, "/x", NULL, give_up_at_once, NULL,
                                              NULL) == ZKR_ECLOSED);
    atomic_fetch_add(&refusals, m || l || s ? 0 : refused);
}

/* Nothing can be created on a closing client, because nothing could end it any more. */
ZKT_CASE(a_closing_client_takes_no_new_recipe)
{
    zkt_close(ZKT_CLIENT_WITH(zkt_servers(), .on_state = make_all));
    assert_int_equal(atomic_load(&refusals), 3);
}

/* --- callbacks that are due when their object is destroyed --- */

static void count_loss(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    ++*(int *)ctx;
}

/* A loss that was not reported yet is not reported after the destruction of the mutex, and does not keep its claim. */
ZKT_CASE(a_mutex_takes_its_callbacks_along)
{
    int losses = 0;
    zkr_client *c = ZKT_CLIENT_WITH(zkt_servers(), .dispatch_by_application = 1);
    zkr_mutex *m = ZKT_MUTEX_WITH(c, .on_lost = count_loss, .on_lost_ctx = &losses);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_expire(c);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    zkr__lock(c);
    assert_non_null(c->dispatch.head);
    zkr__unlock(c);
    zkt_destroy(m);
    assert_int_equal(zkr_client_dispatch(c, 0), 0);
    assert_int_equal(losses, 0);
    zkr__lock(c);
    assert_null(((const struct zkr__engine *)c->engine)->claims);
    zkr__unlock(c);
}
