/* SPDX-License-Identifier: Apache-2.0 */
/* After the answer to a create was lost, the client believes a list only after a write that was answered. */
#include <string.h>

#include "on_fake.h"
#include "session/zk_value.h"

static zkr_client *c;
static zkr_mutex *m;

/* A failure of a check, which then proves nothing. */
struct fault {
    int refused_with; /* ZooKeeper code of the refused submission; 0 = it is sent */
    int answered_with; /* code of the answer, from a server that has not executed the check */
    int times;
};

static struct {
    struct fault fault;
    int creates, lists, faults;
    int unproven; /* creates that were sent before a check was answered */
    bool proven;
} seen;

static void on_submit(struct zkr__op *op)
{
    seen.lists += op->kind == ZKR__OP_CHILDREN;
    if (op->kind == ZKR__OP_CREATE) {
        seen.creates++;
        seen.unproven += !seen.proven;
    }
    if (op->kind == ZKR__OP_CHECK && seen.fault.refused_with != 0 &&
        seen.faults < seen.fault.times) {
        seen.faults++;
        between.refusal = seen.fault.refused_with;
    }
}

static void on_answer(enum zkr__op_kind kind, struct zkr__answer *answer)
{
    if (kind != ZKR__OP_CHECK) {
        return;
    }
    if (seen.faults < seen.fault.times) {
        seen.faults++;
        *answer = (struct zkr__answer){.code = zkr__zk_code(seen.fault.answered_with),
                                       .zk_rc = seen.fault.answered_with,
                                       .failed_at = SIZE_MAX};
    } else if (answer->code == ZKR_OK || answer->code == ZKR_ENONODE) {
        seen.proven = true;
    }
}

static void open_world(void)
{
    c = open_client(NULL);
    m = mutex_at(c, "/lock", NULL);
}

static int contenders(void)
{
    int count = 0;
    for (const struct zkf_node *node = zkf_nodes(); node; node = node->next) {
        count += strncmp(node->path, "/lock/", strlen("/lock/")) == 0;
    }
    return count;
}

static const struct fault faults[] = {
    {-4, 0, 1},   /* ZCONNECTIONLOSS */
    {-5, 0, 1},   /* ZMARSHALLINGERROR, for lack of memory */
    {-9, 0, 1},   /* ZINVALIDSTATE */
    {-1, 0, 1},   /* ZSYSTEMERROR */
    {0, -4, 1},   /* the answer is lost */
    {0, -12, 1},  /* the session is unknown */
    {0, -115, 1}, /* ZAUTHFAILED */
    {0, -127, 1}, /* the server is too busy */
    {-4, 0, 3},   /* more than once */
    {0, -4, 3},   {0, -127, 3},
};

/* Lose the create or its answer. Then the check fails some times. */
static void lose(enum zkf_cut cut, const struct fault *fault)
{
    zkr_ticket *t = ask(m, ZKR_FOREVER);
    memset(&seen, 0, sizeof(seen));
    seen.fault = *fault;
    while (cut == ZKF_CUT_ANSWERS && contenders() == 0) {
        assert_true(zkf_step(zkf_now() + SECOND * ZKR__MS));
    }
    assert_true(zkf_cut(0, cut));
    between.on_submit = on_submit; /* starts with the lost create */
    between.on_answer = on_answer;
    zkf_pass(c, 20 * SECOND);
    assert_int_equal(seen.faults, fault->times);
    /* A list could have been believed each time. */
    assert_true(seen.lists > fault->times);
    assert_int_equal(seen.unproven, 0);
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_HELD);
    assert_int_equal(contenders(), 1);
    between.on_submit = NULL;
    between.on_answer = NULL;
    end(t);
    zkf_pass(c, SECOND);
    assert_int_equal(contenders(), 0);
}

static void open_with_path(void)
{
    static const struct fault none;
    open_world();
    lose(ZKF_CUT_REQUESTS, &none);
}

/* The create did not arrive. It is repeated, but only after the proof that it did not arrive. */
ZKT_UNIT_CASE(a_create_is_not_repeated_unproved)
{
    open_with_path();
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        lose(ZKF_CUT_REQUESTS, &faults[i]);
        assert_int_equal(seen.creates, 1);
    }
}

/* The create was executed. Its node is found, and no other node is created. */
ZKT_UNIT_CASE(a_node_that_was_made_is_found)
{
    open_with_path();
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        lose(ZKF_CUT_ANSWERS, &faults[i]);
        assert_int_equal(seen.creates, 0);
    }
}

/* A list that fails because of the missing path needs a proof, too. */
ZKT_UNIT_CASE(a_missing_path_is_proved_too)
{
    open_world();
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        lose(ZKF_CUT_REQUESTS, &faults[i]);
        /* The first of them reports that the path is missing. */
        assert_int_equal(seen.creates, 2);
        assert_true(zkf_stranger_delete("/lock"));
    }
}
