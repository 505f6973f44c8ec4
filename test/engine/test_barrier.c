/* SPDX-License-Identifier: Apache-2.0 */
/* After the reply to a create was lost: a list is believed only behind a write that was answered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "by_hand.h"
#include "runner.h"
#include "session/zk_value.h"

enum { SECOND = 1000 };

static zkr_client *c;
static zkr_mutex *m;

/* --- the fake's door, and who stands in it --- */

/* How a check fails to prove anything. */
struct fault {
    int refused_with;  /* a ZooKeeper code of the submission; 0 = it is sent */
    int answered_with; /* of its answer, by a server that has not looked at it */
    int times;
};

static struct {
    bool watching; /* from the lost create on */
    struct fault fault;
    int creates, lists, faults;
    int unproven; /* creates sent before a check was answered */
    bool proven;
    void (*answer)(struct zkr__asker *asker, const struct zkr__answer *answer);
} seen;

static void on_check(struct zkr__asker *asker, const struct zkr__answer *answer)
{
    const struct zkr__answer unproved = {.code = zkr__zk_code(seen.fault.answered_with),
                                         .zk_rc = seen.fault.answered_with,
                                         .failed_at = SIZE_MAX};
    if (seen.faults < seen.fault.times) {
        seen.faults++;
        answer = &unproved;
    } else if (answer->code == ZKR_OK || answer->code == ZKR_ENONODE) {
        seen.proven = true;
    }
    seen.answer(asker, answer);
}

static int check(void *zh, const struct zkr__op *op, struct zkr__asker *asker)
{
    if (seen.fault.refused_with != 0 && seen.faults < seen.fault.times) {
        seen.faults++;
        return seen.fault.refused_with;
    }
    seen.answer = asker->answer; /* one function for all requests */
    asker->answer = on_check;
    return zkf_door.submit(zh, op, asker, NULL);
}

static int submit(void *zh,
                  const struct zkr__op *op,
                  struct zkr__asker *asker,
                  struct zkr__handle_owner *owner)
{
    if (seen.watching && op->kind == ZKR__OP_CHECK) {
        return check(zh, op, asker);
    }
    if (seen.watching && op->kind == ZKR__OP_CREATE) {
        seen.creates++;
        seen.unproven += !seen.proven;
    }
    seen.lists += seen.watching && op->kind == ZKR__OP_CHILDREN;
    return zkf_door.submit(zh, op, asker, owner);
}

static int open_world(void **state)
{
    (void)state;
    static struct zkr__door door;
    door = zkf_door;
    door.submit = submit;
    memset(&seen, 0, sizeof(seen));
    c = zkf_open(&door, NULL);
    ZKT_MUST(zkr_mutex_create(&m, c, "/lock", NULL));
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    zkf_pass(c, SECOND);
    ZKT_MUST(zkr_mutex_destroy(m));
    zkf_close(c);
    return 0;
}

static int contenders(void)
{
    int count = 0;
    for (const struct zkf_node *node = zkf_nodes(); node; node = node->next) {
        count += strncmp(node->path, "/lock/", strlen("/lock/")) == 0;
    }
    return count;
}

/* --- the cases --- */

static const struct fault faults[] = {
    {-4, 0, 1},   /* ZCONNECTIONLOSS */
    {-5, 0, 1},   /* ZMARSHALLINGERROR, for want of memory */
    {-9, 0, 1},   /* ZINVALIDSTATE */
    {-1, 0, 1},   /* ZSYSTEMERROR */
    {0, -4, 1},   /* the answer is lost */
    {0, -12, 1},  /* the session is not known any more */
    {0, -115, 1}, /* ZAUTHFAILED */
    {0, -127, 1}, /* the server is too busy */
    {-4, 0, 3},   /* and more than once */
    {0, -4, 3},   {0, -127, 3},
};

/* One round: the create gets lost on its way there or back, then the proof fails for a while. */
static void lose(enum zkf_cut cut, const struct fault *fault)
{
    zkr_ticket *t = NULL;
    memset(&seen, 0, sizeof(seen));
    seen.fault = *fault;
    ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, NULL, NULL, &t));
    while (cut == ZKF_CUT_ANSWERS && contenders() == 0) {
        assert_true(zkf_step(zkf_now() + SECOND * ZKR__MS));
    }
    assert_true(zkf_cut(0, cut));
    seen.watching = true;
    zkf_pass(c, 20 * SECOND);
    assert_int_equal(seen.faults, fault->times);
    assert_true(seen.lists > fault->times); /* it had a list to believe each time */
    assert_int_equal(seen.unproven, 0);
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_HELD);
    assert_int_equal(contenders(), 1);
    seen.watching = false;
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
    zkf_pass(c, SECOND);
    assert_int_equal(contenders(), 0);
}

static void make_path(void)
{
    static const struct fault none;
    lose(ZKF_CUT_REQUESTS, &none);
}

/* It never arrived: made anew, but only when that is proved. */
static void a_create_is_not_repeated_unproved(void **state)
{
    (void)state;
    make_path();
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        lose(ZKF_CUT_REQUESTS, &faults[i]);
        assert_int_equal(seen.creates, 1);
    }
}

/* It was carried out: found, and nothing is made. */
static void a_node_that_was_made_is_found(void **state)
{
    (void)state;
    make_path();
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        lose(ZKF_CUT_ANSWERS, &faults[i]);
        assert_int_equal(seen.creates, 0);
    }
}

/* That there is no path yet is a list like any other. */
static void a_missing_path_is_proved_too(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        lose(ZKF_CUT_REQUESTS, &faults[i]);
        assert_int_equal(seen.creates, 2); /* the first of them tells of the path */
        assert_true(zkf_stranger_delete("/lock"));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(a_create_is_not_repeated_unproved),
        TEST(a_node_that_was_made_is_found),
        TEST(a_missing_path_is_proved_too),
    };
    return zkt_run(argc, argv, tests, NULL, NULL);
}
