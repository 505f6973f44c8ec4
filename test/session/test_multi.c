/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions, and a caller that does not wait for their end. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "fixture.h"
#include "session/request.h"
#include "session/zk.h"
#include "session/zk_multi.h"

enum { PATIENCE_MS = 30000, SESSION_MS = 10000, NAME = 200 };

/* The caller of a multi. Its arguments are in memory of its own. */
struct caller {
    zoo_op_t ops[2];
    zoo_op_result_t results[2];
    char name[NAME];
    struct Stat stat;
};

/*
 * The proxy that closes the connection while a transaction is packed. For this, zoo_amulti() replaces the function of
 * libzookeeper.
 */
static zkt_proxy *_Atomic closes;
static atomic_bool ended; /* the handle ended meanwhile */

int zoo_amulti(zhandle_t *zh,
               int count,
               const zoo_op_t *ops,
               zoo_op_result_t *results,
               void_completion_t completion,
               const void *data)
{
    enum {
        ENOUGH_MS = 300
    }; /* long enough for the handle to end if nothing holds it up */
    int (*real)(zhandle_t *, int, const zoo_op_t *, zoo_op_result_t *,
                void_completion_t, const void *);
    *(void **)&real = dlsym(RTLD_NEXT, "zoo_amulti");
    assert_non_null(real);
    zkt_proxy *p = atomic_exchange(&closes, NULL);
    if (p) {
        zkt_proxy_drop_connections(p);
        for (int i = 0; i < ENOUGH_MS && !is_unrecoverable(zh); i++) {
            zkt_sleep_ms(1);
        }
        atomic_store(&ended, is_unrecoverable(zh) != 0);
    }
    return real(zh, count, ops, results, completion, data);
}

struct outcome {
    struct caller *caller; /* NULL: the caller has given up */
    atomic_int answers;
    int code;
    size_t failed_at;
};

static void on_answer(void *ctx, unsigned tag, const struct zkr__answer *answer)
{
    struct outcome *o = ctx;
    o->code = answer->code;
    o->failed_at = answer->failed_at;
    if (o->caller) {
        zkr__zk_results(answer, o->caller->ops, 2, o->caller->results);
    }
    atomic_fetch_add(&o->answers, 1);
}

static struct caller *make_caller(const char *made, const char *set)
{
    struct caller *k = calloc(1, sizeof(*k));
    assert_non_null(k);
    memset(k->results, 0x55, sizeof(k->results));
    zoo_create_op_init(&k->ops[0], made, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, k->name, NAME);
    zoo_set_op_init(&k->ops[1], set, "x", 1, -1, &k->stat);
    ZKT_MUST(zkr__zk_ops_check(k->ops, 2));
    return k;
}

static void submit(zkr_client *c, const char *checked, struct outcome *o)
{
    const struct zkr__op op = {.kind = ZKR__OP_MULTI,
                               .paths = &checked,
                               .path_count = 1,
                               .ops = o->caller->ops,
                               .op_count = 2};
    zkr__lock(c);
    zkr__submit(c, &op, on_answer, o, 0);
    zkr__unlock(c);
}

static void await(struct outcome *o)
{
    ZKT_BECOMES(atomic_load(&o->answers), 1, PATIENCE_MS);
}

/* If a handle ends while a transaction is packed, libzookeeper frees pointers that it has not set. */
ZKT_CASE(a_session_does_not_end_while_a_transaction_is_packed)
{
    const char *made = zkt_child("made");
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), ZKT_OK);
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkt_proxy_habits(p, ZKR_TEST_NEW_SESSIONS);
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    struct caller *k = make_caller(made, zkt_path());
    struct outcome o = {.caller = k};
    atomic_store(&closes, p);
    submit(c, zkt_path(), &o);
    await(&o);
    assert_false(atomic_load(&ended));
    assert_true(o.code == ZKR_ECONNLOSS || o.code == ZKR_ESESSION);
    ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_CONNECTED, PATIENCE_MS);
    zkt_close(c);
    free(k);
}

/* An answer that arrives after the caller has given up does not touch the caller's memory. */
ZKT_CASE(an_answer_after_the_caller_has_gone_harms_nobody)
{
    const char *made = zkt_child("made");
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), ZKT_OK);
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    struct caller *k = make_caller(made, zkt_path());
    struct caller before = *k;
    struct outcome o = {.caller = k};
    zkt_proxy_freeze(p, ZKT_TO_CLIENT);
    submit(c, zkt_path(), &o);
    ZKT_EVENTUALLY(zkt_exists(zkt_servers(), made), PATIENCE_MS);
    zkr__lock(c);
    assert_int_equal(atomic_load(&o.answers), 0);
    o.caller = NULL;
    zkr__unlock(c);
    zkt_proxy_thaw(p, ZKT_TO_CLIENT);
    await(&o);
    ZKT_MUST(o.code);
    assert_memory_equal(k->name, before.name, NAME);
    assert_memory_equal(&k->stat, &before.stat, sizeof(k->stat));
    assert_memory_equal(k->results, before.results, sizeof(k->results));
    free(k);
}

/* If the outcome is unknown, all operations report that. */
ZKT_CASE(a_lost_answer_tells_of_no_operation)
{
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), ZKT_OK);
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    struct outcome o = {.caller = make_caller(zkt_child("made"), zkt_path())};
    /* Otherwise the cut could hit a read of the client itself. */
    ZKT_EVENTUALLY(zkt_all_answered(c), PATIENCE_MS);
    zkt_proxy_cut_before_request(p, 1);
    submit(c, zkt_path(), &o);
    await(&o);
    ZKT_RC(o.code, ZKR_ECONNLOSS);
    assert_true(o.failed_at == SIZE_MAX);
    assert_int_not_equal(o.caller->results[0].err, ZOK);
    assert_int_equal(o.caller->results[1].err, o.caller->results[0].err);
    assert_null(o.caller->results[0].value);
    free(o.caller);
}

/* Operations on which libzookeeper would abort are refused with a message. */
ZKT_CASE(operations_that_cannot_be_are_refused)
{
    zoo_op_t op;
    zoo_create_op_init(&op, "/c", "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_CONTAINER, NULL, 0);
    ZKT_RC(zkr__zk_ops_check(&op, 1), ZKR_EINVAL);
    op = (zoo_op_t){.type = 15}; /* create2 */
    ZKT_RC(zkr__zk_ops_check(&op, 1), ZKR_EINVAL);
    zoo_delete_op_init(&op, "no/slash", -1);
    ZKT_RC(zkr__zk_ops_check(&op, 1), ZKR_EINVAL);
    zoo_check_op_init(&op, NULL, -1);
    ZKT_RC(zkr__zk_ops_check(&op, 1), ZKR_EINVAL);
    ZKT_RC(zkr__zk_ops_check(NULL, 1), ZKR_EINVAL);
    zoo_set_op_init(&op, "/", "", 0, -1, NULL);
    ZKT_MUST(zkr__zk_ops_check(&op, 1));
    ZKT_MUST(zkr__zk_ops_check(NULL, 0));
}

/* --- a handle on its own --- */

static void no_session(struct zkr__handle_owner *owner, enum zkr__session_event event)
{
}

static void
no_node(struct zkr__handle_owner *owner, const char *path, enum zkr__node_event event)
{
}

static void no_answer(struct zkr__asker *asker, const struct zkr__answer *answer)
{
    zkt_fail("it was taken");
}

/* If the session ends while libzookeeper packs the operations, libzookeeper frees pointers that it has not set. */
ZKT_CASE(no_transaction_goes_to_a_handle_that_is_not_connected)
{
    struct zkr__handle_owner owner = {.session = no_session, .node = no_node};
    const struct zkr__open_args args = {
        .servers = "127.0.0.1:9", .timeout_ms = SESSION_MS, .owner = &owner};
    const char *const nodes[] = {"/one", "/two"};
    const struct zkr__op op = {
        .kind = ZKR__OP_MULTI, .deleted = nodes, .deleted_count = 2};
    struct zkr__asker asker = {.answer = no_answer,
                               .scratch = calloc(1, zkr__zk_real.scratch(&op))};
    void *zh = zkr__zk_real.open(&args);
    assert_non_null(zh);
    assert_int_equal(zkr__zk_real.submit(zh, &op, &asker, &owner), ZCONNECTIONLOSS);
    zkr__zk_real.close(zh);
    free(asker.scratch);
}
