/* SPDX-License-Identifier: Apache-2.0 */
/* What the checkers of the chaos run say of tickets, on made-up histories. */
#include <zkr/error.h>

#include "made_up.h"
#include "runner.h"

/* A callback that comes twice, or for a loss of what was never held. */
static void a_callback_out_of_turn_is_seen(void **state)
{
    (void)state;
    zkc_record *first = visit(1, 0);
    zkc_record *call = add(ZKC_BAD_CALL, 1, 0, 0);
    call->by = ZKC_BY_CALLBACK;
    call->token = first[GRANT].token;
    calm();
    expect_only(ZKC_BAD_TOLD);
}

/* The loss of a ticket's hold counts as that of a thread's. */
static void a_second_loss_of_a_ticket_is_seen(void **state)
{
    (void)state;
    zkc_record *first = visit(1, 0);
    first[GRANT].by = ZKC_BY_CALLBACK;
    for (int i = 0; i < 2; i++) {
        zkc_record *lost = add(ZKC_LOST, 1, 0, 0);
        lost->by = ZKC_BY_CALLBACK;
        lost->token = first[GRANT].token;
    }
    calm();
    expect_only(ZKC_BAD_LOST_TWICE);
}

/* A ticket and a thread exclude each other. */
static void a_ticket_beside_a_thread_is_seen(void **state)
{
    (void)state;
    zkc_record *first = visit(1, 0);
    first[GRANT].by = ZKC_BY_THREAD;
    strike_out(&first[RELEASE]);
    visit(1, 0)[GRANT].by = ZKC_BY_WAIT;
    t.now += 2 * PROMISE_MS * (int64_t)MS;
    calm();
    expect_only(ZKC_BAD_OVERLAP);
}

/* Every way of taking the lock has to have been granted. */
static void a_run_without_tickets_is_seen(void **state)
{
    (void)state;
    visit(1, 0);
    calm();
    for (size_t i = 0; i < t.n; i++) {
        t.all[i].by = t.all[i].kind == ZKC_GRANT ? ZKC_BY_THREAD : t.all[i].by;
    }
    expect_only(ZKC_BAD_NO_MOVES);
    assert_int_equal(t.verdict.bad[ZKC_BAD_NO_MOVES], ZKC_BYS - 1);
}

/* Nor is it a run in which no ticket left the queue before its turn. */
static void a_run_without_a_released_waiting_ticket_is_seen(void **state)
{
    (void)state;
    for (size_t i = 0; i < t.n; i++) {
        t.all[i].by = ZKC_BY_THREAD;
    }
    calm();
    expect_only(ZKC_BAD_NO_MOVES);
}

#define TEST(name) cmocka_unit_test_setup(name, made_up_setup)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(a_callback_out_of_turn_is_seen),
        TEST(a_second_loss_of_a_ticket_is_seen),
        TEST(a_ticket_beside_a_thread_is_seen),
        TEST(a_run_without_tickets_is_seen),
        TEST(a_run_without_a_released_waiting_ticket_is_seen),
    };
    return zkt_run(argc, argv, tests, NULL, NULL);
}
