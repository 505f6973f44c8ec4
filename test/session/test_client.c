/* SPDX-License-Identifier: Apache-2.0 */
/* One client across several sessions and servers, with failures. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "actor.h"
#include "fixture.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000, STATES_MAX = 64 };

/* --- what a state callback sees --- */

struct diary {
    atomic_int count;
    atomic_int states[STATES_MAX];
    atomic_int overlaps;
    atomic_int inside;
};

static void note(zkr_client *c, int state, void *ctx)
{
    struct diary *d = ctx;
    atomic_fetch_add(&d->overlaps, atomic_fetch_add(&d->inside, 1) != 0);
    /* Calls from the callback are legal, but blocking calls are refused. */
    atomic_fetch_add(&d->overlaps, zkr_client_wait_connected(c, 1000) != ZKR_ESTATE);
    atomic_fetch_add(&d->overlaps, zkr_client_close(c) != ZKR_ESTATE);
    (void)zkr_client_session_id(c);
    int i = atomic_load(&d->count);
    if (i < STATES_MAX) {
        atomic_store(&d->states[i], state);
    }
    atomic_store(&d->count, i + 1);
    atomic_fetch_sub(&d->inside, 1);
}

static zkr_client *
client_with_diary(const char *hosts, int64_t session_ms, struct diary *d)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = session_ms;
    o.on_state = note;
    o.on_state_ctx = d;
    memset(d, 0, sizeof(*d));
    return zkt_client_with(hosts, &o);
}

static void expect_states(struct diary *d, const int *states, int count)
{
    ZKT_EVENTUALLY(atomic_load(&d->count) >= count, PATIENCE_MS);
    for (int i = 0; i < count; i++) {
        assert_string_equal(zkr_client_state_name(atomic_load(&d->states[i])),
                            zkr_client_state_name(states[i]));
    }
    assert_int_equal(atomic_load(&d->overlaps), 0);
}

/* Connect, reconnect, expire, open a new session, close: each state is reported once and in order. */
ZKT_CASE(every_change_of_state_is_told_in_order)
{
    static const int states[] = {
        ZKR_STATE_CONNECTED, ZKR_STATE_SUSPENDED, ZKR_STATE_CONNECTED,
        ZKR_STATE_SUSPENDED, ZKR_STATE_LOST,      ZKR_STATE_CONNECTING,
        ZKR_STATE_CONNECTED, ZKR_STATE_CLOSED,
    };
    struct diary d;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = client_with_diary(zkt_proxy_host(p), SESSION_MS, &d);
    int64_t id = zkr_client_session_id(c);
    zkt_proxy_drop_connections(p);
    ZKT_BECOMES(atomic_load(&d.count), 3, PATIENCE_MS);
    assert_int_equal(zkr_client_session_id(c), id);
    zkt_expire(c);
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    assert_int_not_equal(zkr_client_session_id(c), id);
    ZKT_BECOMES(atomic_load(&d.count), 7, PATIENCE_MS);
    zkt_close(c);
    expect_states(&d, states, 8);
    assert_int_equal(atomic_load(&d.count), 8);
}

/* The negotiated session timeout is used, not the requested one. */
ZKT_CASE(the_negotiated_time_out_counts)
{
    zkr_client *low = zkt_client(zkt_servers(), 100);
    zkr_client *high = zkt_client(zkt_servers(), 3600000);
    assert_int_equal(zkr_client_session_timeout_ms(low), 1000);
    assert_int_equal(zkr_client_session_timeout_ms(high), 10000);
}

/* Without a server, a wait ends in time, and the message names the servers. A server that comes later is found. */
ZKT_CASE(a_server_that_comes_later_is_found)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkt_proxy_cut(p);
    zkr_client *c = NULL;
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = 7000;
    ZKT_MUST(zkr_client_open(&c, zkt_proxy_host(p), &o));
    assert_int_equal(zkr_client_session_timeout_ms(c), 7000);
    int64_t before = zkt_now_ms();
    ZKT_RC(zkr_client_wait_connected(c, 300), ZKR_ETIMEDOUT);
    ZKT_IN_RANGE(zkt_now_ms() - before, 299, 2000);
    assert_non_null(strstr(zkr_last_error()->message, zkt_proxy_host(p)));
    ZKT_RC(zkr_client_wait_connected(c, 0), ZKR_ETIMEDOUT);
    assert_int_equal(zkr_client_state(c), ZKR_STATE_CONNECTING);
    assert_int_equal(zkr_client_session_id(c), 0);
    assert_int_equal(zkr_client_valid_for_ms(c), 0);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_RC(zkr_mutex_acquire(m, 0), ZKR_ENOANSWER);
    ZKT_RC(zkr_mutex_acquire(m, 50), ZKR_ENOANSWER);
    struct zkt_actor actor;
    zkt_actor_start(&actor, m, ZKR_FOREVER, NULL);
    zkt_proxy_heal(p);
    zkt_actor_is_served(&actor);
    zkt_destroy(m);
    zkt_close(c);
}

/* A client that is cut off for longer than a session timeout gives its session up, and forgets the last answer of that
   session. */
ZKT_CASE(a_session_that_cannot_be_reached_is_given_up)
{
    static struct diary d;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = client_with_diary(zkt_proxy_host(p), 1000, &d);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_IN_RANGE(zkt_stats(c).last_answer_ms, 0, PATIENCE_MS);
    zkt_proxy_blackhole(p);
    ZKT_BECOMES(zkr_client_session_id(c), 0, PATIENCE_MS);
    assert_int_equal(zkt_stats(c).last_answer_ms, -1);
    zkt_proxy_heal(p);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    static const int states[] = {ZKR_STATE_CONNECTED, ZKR_STATE_SUSPENDED,
                                 ZKR_STATE_LOST, ZKR_STATE_CONNECTING,
                                 ZKR_STATE_CONNECTED};
    expect_states(&d, states, 5);
}

/* If a server restarts within the session timeout, the session continues, and no hold is lost. */
ZKT_CASE(a_restart_within_the_session_is_survived)
{
    enum { LONG_MS = 40000 }; /* a server starts slowly on a busy machine */
    const zkt_server_options o = {.max_session_ms = LONG_MS};
    zkt_server *s = zkt_server_start(&o);
    zkr_client *c = zkt_client(zkt_server_host(s), LONG_MS);
    int64_t id = zkr_client_session_id(c);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_server_restart(s, false);
    ZKT_MUST(zkr_client_wait_connected(c, LONG_MS));
    assert_int_equal(zkr_client_session_id(c), id);
    assert_true(zkr_mutex_is_held(m));
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_children_count(zkt_server_host(s), zkt_path()), 0);
}

/* --- flush, close --- */

/* A flush reports that a delete is not confirmed. The delete continues. */
ZKT_CASE(flush_waits_for_every_delete)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_proxy_blackhole(p);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_RC(zkr_client_flush(c, 0), ZKR_ETIMEDOUT);
    ZKT_RC(zkr_client_flush(c, 50), ZKR_ETIMEDOUT);
    assert_int_equal(zkt_stats(c).pending_deletes, 1);
    zkt_proxy_heal(p);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 0);
}

struct ended {
    int64_t id;
    unsigned char password[16];
};

/* Returns whether the session has ended, so that no connection can resume it. An attempt to resume a live session
   renews it. */
static bool is_over(const struct ended *s)
{
    int rc = ZKT_OK;
    zkt_raw *raw = zkt_raw_resume(zkt_servers(), s->id, s->password, &rc);
    if (raw) {
        zkt_raw_abandon(raw);
    }
    return !raw && rc == ZKT_EXPIRED;
}

/* A close ends the session at the server, instead of leaving that to the session timeout. */
ZKT_CASE(close_ends_the_session)
{
    struct ended s;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkt_door_session(c, &s.id, s.password);
    zkt_close(c);
    ZKT_EVENTUALLY(is_over(&s), SESSION_MS / 2);
}

/* With a silent server, a close still returns in time. */
ZKT_CASE(close_is_bounded_with_a_silent_server)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), 1000);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_proxy_blackhole(p);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_RC(zkr_client_flush(c, 100), ZKR_ETIMEDOUT);
    zkt_destroy(m);
    int64_t before = zkt_now_ms();
    zkt_close(c);
    ZKT_IN_RANGE(zkt_now_ms() - before, 0, 4000);
    zkt_proxy_stop(p);
    ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
}

/* --- handles of the application --- */

/* Fail at first. Later, use each opened handle, and close the first two instead of returning them. */
static zhandle_t *open_in_the_end(const char *servers,
                                  zkr_watcher_fn watcher,
                                  int session_timeout_ms,
                                  void *watcher_ctx,
                                  void *ctx)
{
    int tries = atomic_fetch_add((atomic_int *)ctx, 1);
    if (tries == 0) {
        errno = EAGAIN;
        return NULL;
    }
    zhandle_t *zh = zookeeper_init(servers, watcher, session_timeout_ms, NULL,
                                   watcher_ctx, ZOO_NO_LOG_CLIENTENV);
    while (zh && zoo_state(zh) != ZOO_CONNECTED_STATE) {
        zkt_sleep_ms(1);
    }
    if (zh && tries < 3) {
        (void)zookeeper_close(zh);
        errno = ECONNREFUSED;
        return NULL;
    }
    return zh;
}

/* Events of a handle that is still being opened delay nothing, and count if the handle is returned. */
ZKT_CASE(the_application_may_open_the_handles)
{
    static atomic_int tries;
    static struct diary d;
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    static const int states[] = {ZKR_STATE_CONNECTED};
    o.open_handle = open_in_the_end;
    o.open_handle_ctx = &tries;
    o.on_state = note;
    o.on_state_ctx = &d;
    zkr_client *c = zkt_client_with(zkt_servers(), &o);
    assert_int_equal(atomic_load(&tries), 4);
    assert_true(zkr_client_session_id(c) != 0);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    assert_true(zkr_mutex_valid_for_ms(m) > 0);
    expect_states(&d, states, 1);
    assert_int_equal(atomic_load(&d.count), 1);
    zkt_expire(c);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    assert_int_equal(atomic_load(&tries), 5);
    ZKT_MUST(zkr_mutex_release(m));
}

/* --- resources --- */

ZKT_CASE(many_lives_leave_nothing_behind)
{
    for (int i = 0; i < 200; i++) {
        zkr_client *quick = NULL;
        ZKT_MUST(zkr_client_open(&quick, zkt_servers(), NULL));
        if (i % 3 == 0) {
            ZKT_MUST(zkr_client_wait_connected(quick, PATIENCE_MS));
        }
        ZKT_MUST(zkr_client_close(quick));
    }
}
