/* SPDX-License-Identifier: Apache-2.0 */
/* zkr_client_finish(), and a close right after a release: what the client sends, and what counts as confirmed. */
#include <stdatomic.h>

#include "fixture.h"

enum { SESSION_MS = 4000, PATIENCE_MS = 30000 };

/* Operations of ZooKeeper's protocol. */
enum { DELETES = 2, CLOSES = -11 };

struct scene {
    zkt_proxy *proxy;
    zkr_client *c;
    /* When the request passed, in ms; 0 = not yet. */
    atomic_llong deleted_at, closed_at;
};

static void note(void *scene, int n, int op)
{
    struct scene *s = scene;
    (void)n;
    if (op == DELETES) {
        atomic_store(&s->deleted_at, zkt_now_ms());
    } else if (op == CLOSES) {
        atomic_store(&s->closed_at, zkt_now_ms());
    }
}

/* Open a client that holds locks at @count paths. No other socket of this process is connected to the proxy. */
static void set_up(struct scene *s, zkr_mutex **mutexes, int count)
{
    *s = (struct scene){.proxy = zkt_proxy_start(zkt_servers())};
    s->c = ZKT_CLIENT_WITH(zkt_proxy_host(s->proxy), .session_timeout_ms = SESSION_MS);
    for (int i = 0; i < count; i++) {
        const char *const names[] = {"a", "b", "c"};
        mutexes[i] = zkt_mutex_at(s->c, zkt_child(names[i]), NULL);
        ZKT_MUST(zkr_mutex_acquire(mutexes[i], ZKR_FOREVER));
    }
    zkt_proxy_on_request(s->proxy, note, s);
}

static void let_go(zkr_mutex **mutexes, int count)
{
    for (int i = 0; i < count; i++) {
        ZKT_MUST(zkr_mutex_release(mutexes[i]));
        zkt_destroy(mutexes[i]);
    }
}

/* Check with the server that no client is in the queue. */
static void expect_free(const char *name)
{
    zkr_client *other = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex_at(other, zkt_child(name), NULL);
    ZKT_MUST(zkr_mutex_acquire(m, 0));
    ZKT_MUST(zkr_mutex_release(m));
    zkt_destroy(m);
    zkt_close(other);
}

/* --- one round trip --- */

/* No answer passes before the server has received the end of the session. So the client has not waited for any answer.
   */
ZKT_CASE(finish_sends_the_end_of_the_session_behind_the_deletes)
{
    struct scene s;
    zkr_mutex *m[3];
    set_up(&s, m, 3);
    zkt_proxy_freeze(s.proxy, ZKT_TO_CLIENT);
    let_go(m, 3);
    assert_int_equal(zkr_client_finish(s.c, 0), ZKR_ETIMEDOUT);
    ZKT_EVENTUALLY(atomic_load(&s.closed_at) != 0, PATIENCE_MS);
    assert_int_not_equal(atomic_load(&s.deleted_at), 0);
    assert_int_equal(zkr_client_finish(s.c, 0), ZKR_ETIMEDOUT);
    zkt_proxy_heal(s.proxy);
    ZKT_MUST(zkr_client_finish(s.c, PATIENCE_MS));
    ZKT_MUST(zkr_client_finish(s.c, 0));
    zkt_close(s.c);
    expect_free("a");
}

/* A close right after a release sends the end at once, too. With other clients, it would wait a second for answers. */
ZKT_CASE(close_sends_the_end_of_the_session_behind_the_deletes)
{
    enum { AT_ONCE_MS = 700 };
    struct scene s;
    zkr_mutex *m;
    set_up(&s, &m, 1);
    zkt_proxy_freeze(s.proxy, ZKT_TO_CLIENT);
    let_go(&m, 1);
    zkt_close(s.c);
    ZKT_IN_RANGE(atomic_load(&s.closed_at) - atomic_load(&s.deleted_at), 0, AT_ONCE_MS);
    expect_free("a");
}

/* --- what is confirmed --- */

/* The server has ended the session, but the answer is lost. The client learns that the session has ended. */
ZKT_CASE(a_lost_answer_is_asked_for_again)
{
    struct scene s;
    zkr_mutex *m;
    set_up(&s, &m, 1);
    let_go(&m, 1);
    zkt_proxy_drop_reply(s.proxy, 2);
    ZKT_MUST(zkr_client_finish(s.c, PATIENCE_MS));
    expect_free("a");
    zkt_close(s.c);
}

/* Neither the delete nor the end of the session has reached the server. A new connection ends the session before its
   timeout. */
ZKT_CASE(an_end_that_is_lost_is_sent_again)
{
    struct scene s;
    zkr_mutex *m;
    set_up(&s, &m, 1);
    zkt_proxy_cut_before_request(s.proxy, 1);
    int64_t began = zkt_now_ms();
    let_go(&m, 1);
    ZKT_MUST(zkr_client_finish(s.c, PATIENCE_MS));
    expect_free("a");
    assert_true(zkt_now_ms() - began < SESSION_MS);
    zkt_close(s.c);
}

/* No server can be reached any more, so nothing is confirmed before the session has timed out. */
ZKT_CASE(nothing_is_confirmed_while_no_server_answers)
{
    struct scene s;
    zkr_mutex *m;
    set_up(&s, &m, 1);
    zkt_proxy_freeze(s.proxy, ZKT_TO_SERVER);
    zkt_proxy_freeze(s.proxy, ZKT_TO_CLIENT);
    int64_t began = zkt_now_ms();
    let_go(&m, 1);
    assert_int_equal(zkr_client_finish(s.c, 500), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_client_finish(s.c, PATIENCE_MS));
    assert_true(zkt_now_ms() - began >= SESSION_MS);
    expect_free("a");
    zkt_proxy_heal(s.proxy);
    zkt_close(s.c);
}

/* Two sockets of the process are connected to the proxy. The client waits for the answers to its deletes before it
   sends the end. */
ZKT_CASE(a_second_client_costs_a_round_trip)
{
    struct scene s;
    zkr_mutex *m;
    set_up(&s, &m, 1);
    zkr_client *other = zkt_client(zkt_proxy_host(s.proxy), SESSION_MS);
    zkt_proxy_freeze(s.proxy, ZKT_TO_CLIENT);
    let_go(&m, 1);
    assert_int_equal(zkr_client_finish(s.c, 300), ZKR_ETIMEDOUT);
    assert_int_equal(atomic_load(&s.closed_at), 0);
    zkt_proxy_heal(s.proxy);
    ZKT_MUST(zkr_client_finish(s.c, PATIENCE_MS));
    assert_int_not_equal(atomic_load(&s.closed_at), 0);
    expect_free("a");
    zkt_close(s.c);
    zkt_close(other);
}

/* --- use --- */

ZKT_CASE(finish_is_refused_while_there_are_recipes)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c), *late;
    assert_int_equal(zkr_client_finish(c, 0), ZKR_EBUSY);
    assert_int_equal(zkr_client_state(c), ZKR_STATE_CONNECTED);
    zkt_destroy(m);
    assert_int_equal(zkr_client_finish(c, -2), ZKR_EINVAL);
    ZKT_MUST(zkr_client_finish(c, PATIENCE_MS));
    assert_int_equal(zkr_client_state(c), ZKR_STATE_CLOSED);
    assert_int_equal(zkr_mutex_create(&late, c, zkt_path(), NULL), ZKR_ECLOSED);
    zkt_close(c);
    assert_int_equal(zkr_client_finish(NULL, 0), ZKR_EINVAL);
}

/* A client that was never connected has nothing to confirm. */
ZKT_CASE(finish_needs_no_server_without_nodes)
{
    zkr_client *c;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkt_proxy_blackhole(p);
    ZKT_MUST(zkr_client_open(&c, zkt_proxy_host(p), NULL));
    ZKT_MUST(zkr_client_finish(c, PATIENCE_MS));
    ZKT_MUST(zkr_client_close(c));
}
