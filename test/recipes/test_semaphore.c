/* SPDX-License-Identifier: Apache-2.0 */
/* What a semaphore promises: so many permits and no more, in order, all or none. */
#include <stdlib.h>

#include "semaphores.h"

/* --- permits --- */

/* A ticket has its nodes in one transaction, is told of, and leaves nothing. */
static void free_permits_are_had(void **state)
{
    (void)state;
    char node[256], data[256];
    int64_t token = 0;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = semaphore(c, 3);
    zkr_contenders *list = NULL;
    zkr_ticket *t = take(s, 2);
    ZKT_MUST(zkr_ticket_fencing_token(t, &token));
    ZKT_MUST(zkr_ticket_node(t, node, sizeof(node)));
    assert_true(zkr_ticket_valid_for_ms(t) > 0);
    assert_int_equal(leases(), 2);
    assert_true(at_gate() <= 0);
    assert_int_equal(zkt_get(zkt_servers(), node, data, sizeof(data), NULL), ZKT_OK);
    assert_non_null(strstr(data, " max=3"));
    assert_string_equal(strstr(data, " max=3"), " max=3");
    ZKT_MUST(zkr_semaphore_holders(s, &list));
    assert_int_equal(zkr_contenders_count(list), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(zkr_contenders_get(list, i)->fencing_token, token);
        assert_string_equal(zkr_contenders_get(list, i)->owner, data);
    }
    zkr_contenders_free(list);
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(leases(), 0);
    ZKT_MUST(zkr_ticket_destroy(t));
    done(s, c);
}

/* Tries take what is free and nothing else, whoever asks. */
static void there_are_no_more_than_the_maximum(void **state)
{
    (void)state;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *d = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = semaphore(c, 3), *z = semaphore(d, 3);
    zkr_ticket *two = take(s, 2);
    expect(try(s, 2), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_client_flush(
        c, PATIENCE_MS)); /* a try's leases count until they are gone */
    expect(try(z, 2), ZKR_ETIMEDOUT);
    ZKT_MUST(try(z, 1));
    zkr_ticket *one = take(z, 1);
    expect(try(s, 1), ZKR_ETIMEDOUT);
    end(two);
    ZKT_MUST(try(s, 2));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    end(one);
    ZKT_MUST(try(z, 3));
    ZKT_MUST(zkr_client_flush(d, PATIENCE_MS));
    ZKT_MUST(zkr_semaphore_destroy(z));
    zkt_close(d);
    done(s, c);
}

/* Many wait for a few; who wants few does not pass who wants many. */
static void it_is_fair_whatever_the_number(void **state)
{
    (void)state;
    struct told many = {0}, few = {0};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *d = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = semaphore(c, 3), *z = semaphore(d, 3);
    zkr_ticket *held[3];
    for (int i = 0; i < 3; i++) {
        held[i] = take(s, 1);
    }
    (void)queue_for(z, 3, &many);
    (void)queue_for(s, 1, &few);
    end(held[0]);
    end(held[1]);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    zkt_sleep_ms(SOON_MS / 2);
    assert_int_equal(many.held + few.held, 0);
    end(held[2]);
    ZKT_EVENTUALLY(many.held == 1, PATIENCE_MS);
    zkt_sleep_ms(SOON_MS / 2);
    assert_int_equal(few.held, 0);
    end(many.t);
    ZKT_EVENTUALLY(few.held == 1, PATIENCE_MS);
    end(few.t);
    ZKT_MUST(zkr_client_flush(d, PATIENCE_MS));
    ZKT_MUST(zkr_semaphore_destroy(z));
    zkt_close(d);
    done(s, c);
}

/* Who comes while others wait at the gate queues behind them, though its permits are free. */
static void a_newcomer_does_not_pass_the_queue(void **state)
{
    (void)state;
    struct told first = {0}, second = {0}, late = {0};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *d = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = semaphore(c, 2), *z = semaphore(d, 2);
    zkr_ticket *held = take(s, 1);
    (void)queue_for(s, 2, &first);
    (void)queue_for(s, 1, &second);
    (void)queue_for(z, 1, &late); /* it has seen nothing of them before */
    zkt_sleep_ms(SOON_MS / 2);
    assert_int_equal(first.held + second.held + late.held, 0);
    end(held);
    ZKT_EVENTUALLY(first.held == 1, PATIENCE_MS);
    assert_int_equal(second.held + late.held, 0);
    end(first.t);
    ZKT_EVENTUALLY(second.held == 1 && late.held == 1, PATIENCE_MS);
    end(second.t);
    end(late.t);
    ZKT_MUST(zkr_client_flush(d, PATIENCE_MS));
    ZKT_MUST(zkr_semaphore_destroy(z));
    zkt_close(d);
    done(s, c);
}

/* One who stands at the gate and has no leases yet is not passed, but for tries: they do not queue. */
static void the_gate_is_respected_before_its_leases_are_there(void **state)
{
    (void)state;
    char path[256];
    struct told told = {0};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = semaphore(c, 2);
    end(take(s, 1)); /* makes the directories */
    (void)snprintf(path, sizeof(path), "%s/locks", zkt_path());
    assert_int_equal(zkt_create_path(zkt_servers(), path), ZKT_OK);
    (void)snprintf(path, sizeof(path), "%s/locks/x-lock-0000000000", zkt_path());
    assert_int_equal(zkt_create(zkt_servers(), path, "", 0), ZKT_OK);
    (void)queue_for(s, 1, &told);
    zkt_sleep_ms(SOON_MS / 5);
    assert_int_equal(told.held, 0);
    ZKT_EVENTUALLY(leases() == 0, PATIENCE_MS);
    ZKT_MUST(try(s, 1));
    assert_int_equal(zkt_delete(zkt_servers(), path), ZKT_OK);
    ZKT_EVENTUALLY(told.held == 1, PATIENCE_MS);
    end(told.t);
    done(s, c);
}

/* A semaphore of one excludes, and its tokens rise. */
static void one_permit_is_a_mutex(void **state)
{
    (void)state;
    int64_t last = 0;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = semaphore(c, 1);
    for (int i = 0; i < 5; i++) {
        int64_t token = 0;
        zkr_ticket *t = take(s, 1);
        ZKT_MUST(zkr_ticket_fencing_token(t, &token));
        assert_true(token > last);
        last = token;
        expect(try(s, 1), ZKR_ETIMEDOUT);
        end(t);
    }
    done(s, c);
}

/* A wait ends in time, and leaves nothing at the gate or inside. */
static void a_deadline_is_kept_wherever_one_waits(void **state)
{
    (void)state;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = semaphore(c, 1);
    zkr_ticket *held = take(s, 1), *inside = NULL, *queued = NULL, *none = NULL;
    ZKT_MUST(zkr_semaphore_request(s, 1, 400, NULL, NULL, &inside));
    ZKT_EVENTUALLY(leases() == 2, PATIENCE_MS);
    ZKT_MUST(zkr_semaphore_request(s, 1, 200, NULL, NULL, &queued));
    int64_t before = zkt_now_ms();
    int rc = zkr_semaphore_acquire(s, 1, 300, &none);
    assert_true(ZKT_TIMED_OUT(rc));
    assert_true(zkt_now_ms() - before >= 300);
    assert_true(zkt_now_ms() - before < 300 + SOON_MS);
    rc = zkr_ticket_wait(queued, PATIENCE_MS);
    assert_true(ZKT_TIMED_OUT(rc));
    expect(zkr_ticket_wait(inside, PATIENCE_MS), ZKR_ETIMEDOUT);
    ZKT_EVENTUALLY(leases() == 1 && at_gate() == 0, PATIENCE_MS);
    end(inside);
    end(queued);
    end(held);
    done(s, c);
}

/* One released while it waits is out of the way of the next, at the gate and inside. */
static void one_that_leaves_lets_the_next_through(void **state)
{
    (void)state;
    struct told next = {0};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = semaphore(c, 2);
    zkr_ticket *held = take(s, 1);
    zkr_ticket *inside = queue_for(s, 2, NULL);
    ZKT_EVENTUALLY(leases() == 3, PATIENCE_MS);
    zkr_ticket *queued = queue_for(s, 2, NULL);
    (void)queue_for(s, 1, &next);
    end(queued);
    zkt_sleep_ms(SOON_MS / 5);
    assert_int_equal(next.held, 0);
    end(inside);
    ZKT_EVENTUALLY(next.held == 1, PATIENCE_MS);
    end(next.t);
    end(held);
    done(s, c);
}

/* --- loss --- */

/* Deleted by hand, one node takes the others with it. */
static void a_lost_permit_takes_the_others_with_it(void **state)
{
    (void)state;
    char node[256];
    struct told told = {0};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = semaphore(c, 3);
    (void)ask_for(s, 3, &told);
    ZKT_EVENTUALLY(told.held == 1, PATIENCE_MS);
    zkr_contenders *list = NULL;
    ZKT_MUST(zkr_semaphore_holders(s, &list));
    assert_int_equal(zkr_contenders_count(list), 3);
    (void)snprintf(node, sizeof(node), "%s/leases/%s", zkt_path(),
                   zkr_contenders_get(list, 1)->node);
    zkr_contenders_free(list);
    assert_int_equal(zkt_delete(zkt_servers(), node), ZKT_OK);
    ZKT_EVENTUALLY(told.lost == 1, PATIENCE_MS);
    ZKT_EVENTUALLY(leases() == 0, PATIENCE_MS);
    expect(zkr_ticket_error(told.t), ZKR_ESESSION);
    assert_int_equal(zkr_ticket_release(told.t), ZKR_ESESSION);
    ZKT_MUST(zkr_ticket_destroy(told.t));
    done(s, c);
}

/* A session that ends takes holds, and those who wait queue again by themselves. */
static void a_session_that_ends_costs_holds_and_places(void **state)
{
    (void)state;
    struct told held = {0}, inside = {0}, queued = {0};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = semaphore(c, 2);
    (void)ask_for(s, 2, &held);
    ZKT_EVENTUALLY(held.held == 1, PATIENCE_MS);
    (void)queue_for(s, 2, &inside);
    (void)queue_for(s, 1, &queued);
    ZKT_EVENTUALLY(leases() == 4, PATIENCE_MS);
    zkt_expire(c);
    ZKT_EVENTUALLY(held.lost == 1, PATIENCE_MS);
    ZKT_EVENTUALLY(inside.held + queued.held >= 1, PATIENCE_MS);
    ZKT_MUST(zkr_ticket_release(inside.t));
    ZKT_MUST(zkr_ticket_release(queued.t));
    end(held.t);
    ZKT_EVENTUALLY(leases() == 0, PATIENCE_MS);
    end(inside.t);
    end(queued.t);
    done(s, c);
}

static void delete_first(const char *below_path)
{
    char path[256], node[512];
    zkt_list list = {0};
    (void)snprintf(path, sizeof(path), "%s/%s", zkt_path(), below_path);
    assert_int_equal(zkt_children(zkt_servers(), path, &list), ZKT_OK);
    int first = 0;
    for (int i = 1; i < list.count; i++) {
        size_t at = strlen(list.name[i]) - 10, best = strlen(list.name[first]) - 10;
        first = strcmp(list.name[i] + at, list.name[first] + best) < 0 ? i : first;
    }
    assert_true(list.count > 0);
    (void)snprintf(node, sizeof(node), "%s/%s", path, list.name[first]);
    zkt_list_free(&list);
    assert_int_equal(zkt_delete(zkt_servers(), node), ZKT_OK);
}

/* Who loses its place at the gate, or its leases while it waits inside, queues again. */
static void one_who_waits_gets_over_a_deleted_node(void **state)
{
    (void)state;
    struct told inside = {0};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = semaphore(c, 1);
    zkr_ticket *held = take(s, 1);
    (void)queue_for(s, 1, &inside);
    ZKT_EVENTUALLY(leases() == 2, PATIENCE_MS);
    zkt_sleep_ms(SOON_MS); /* it watches its nodes by now */
    delete_first("locks");
    ZKT_EVENTUALLY(at_gate() == 1 && leases() == 2, PATIENCE_MS);
    assert_int_equal(inside.held, 0);
    end(held);
    ZKT_EVENTUALLY(inside.held == 1, PATIENCE_MS);
    ZKT_EVENTUALLY(leases() == 1 && at_gate() == 0, PATIENCE_MS);
    end(inside.t);
    done(s, c);
}

/* --- the maximum --- */

/* As long as there is no count, the max given counts; a count is followed up and down. */
static void the_maximum_is_followed(void **state)
{
    (void)state;
    struct told more = {0}, last = {0};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = resizable(c, 1);
    zkr_ticket *one = take(s, 1);
    (void)queue_for(s, 3, &more);
    zkt_sleep_ms(SOON_MS / 5);
    assert_int_equal(more.held, 0);
    set_max(4);
    ZKT_EVENTUALLY(more.held == 1, PATIENCE_MS);
    set_max(2);
    (void)queue_for(s, 1, &last);
    assert_int_equal(zkr_ticket_state(more.t), ZKR_TICKET_HELD);
    end(one);
    zkt_sleep_ms(SOON_MS / 5);
    assert_int_equal(last.held, 0); /* three are still out */
    end(more.t);
    ZKT_EVENTUALLY(last.held == 1, PATIENCE_MS);
    end(last.t);
    ZKT_EVENTUALLY(try(s, 3) == ZKR_ETIMEDOUT && try(s, 2) == ZKR_OK, PATIENCE_MS);
    assert_int_equal(zkt_delete(zkt_servers(), count_path()), ZKT_OK);
    ZKT_EVENTUALLY(try(s, 2) == ZKR_ETIMEDOUT && try(s, 1) == ZKR_OK, PATIENCE_MS);
    done(s, c);
}

/* What is no count lets nobody in, until it is one. */
static void a_count_that_is_none_lets_nobody_in(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } none[] = {
        {"", 0}, {"7", 1}, {"\0\0\0\0\1", 5}, {"\377\377\377\377", 4}, {"\0\0\0\0", 4}};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    set_bytes(none[0].bytes, none[0].size);
    zkr_semaphore *s = resizable(c, 5);
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        struct told told = {0};
        set_bytes(none[i].bytes, none[i].size);
        ZKT_EVENTUALLY(try(s, 1) == ZKR_ETIMEDOUT, PATIENCE_MS);
        (void)queue_for(s, 1, &told);
        zkt_sleep_ms(SOON_MS / 5);
        assert_int_equal(told.held, 0);
        set_max(1);
        ZKT_EVENTUALLY(told.held == 1, PATIENCE_MS);
        end(told.t);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    }
    done(s, c);
}

/* A new session reads it anew, before it lets anybody in. */
static void the_maximum_is_followed_across_sessions(void **state)
{
    (void)state;
    struct told told = {0};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    set_max(2);
    zkr_semaphore *s = resizable(c, 9);
    ZKT_MUST(try(s, 2));
    expect(try(s, 3), ZKR_ETIMEDOUT);
    zkt_expire(c);
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    ZKT_EVENTUALLY(try(s, 2) == ZKR_OK, PATIENCE_MS);
    expect(try(s, 3), ZKR_ETIMEDOUT);
    (void)queue_for(s, 3, &told);
    set_max(3);
    ZKT_EVENTUALLY(told.held == 1, PATIENCE_MS);
    end(told.t);
    done(s, c);
}

/* --- strangers --- */

/* Any child of the directory of the leases takes up a permit, as for Curator. */
static void a_stranger_among_the_leases_takes_up_a_permit(void **state)
{
    (void)state;
    char path[256];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = semaphore(c, 2);
    end(take(s, 1)); /* makes the directories */
    (void)snprintf(path, sizeof(path), "%s/leases/stranger", zkt_path());
    assert_int_equal(zkt_create(zkt_servers(), path, "", 0), ZKT_OK);
    expect(try(s, 2), ZKR_ETIMEDOUT);
    ZKT_MUST(try(s, 1));
    struct told told = {0};
    (void)queue_for(s, 2, &told);
    zkt_sleep_ms(SOON_MS / 5);
    assert_int_equal(told.held, 0);
    assert_int_equal(zkt_delete(zkt_servers(), path), ZKT_OK);
    ZKT_EVENTUALLY(told.held == 1, PATIENCE_MS);
    end(told.t);
    done(s, c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ZKT_TEST(free_permits_are_had),
        ZKT_TEST(there_are_no_more_than_the_maximum),
        ZKT_TEST(it_is_fair_whatever_the_number),
        ZKT_TEST(a_newcomer_does_not_pass_the_queue),
        ZKT_TEST(the_gate_is_respected_before_its_leases_are_there),
        ZKT_TEST(one_permit_is_a_mutex),
        ZKT_TEST(a_deadline_is_kept_wherever_one_waits),
        ZKT_TEST(one_that_leaves_lets_the_next_through),
        ZKT_TEST(a_lost_permit_takes_the_others_with_it),
        ZKT_TEST(a_session_that_ends_costs_holds_and_places),
        ZKT_TEST(one_who_waits_gets_over_a_deleted_node),
        ZKT_TEST(the_maximum_is_followed),
        ZKT_TEST(a_count_that_is_none_lets_nobody_in),
        ZKT_TEST(the_maximum_is_followed_across_sessions),
        ZKT_TEST(a_stranger_among_the_leases_takes_up_a_permit),
    };
    return cmocka_run_group_tests(tests, zkt_group_setup, zkt_group_teardown);
}
