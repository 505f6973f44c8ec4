/* SPDX-License-Identifier: Apache-2.0 */
/* The promises of a semaphore: the maximum, the order, all permits or none; and what it refuses. */
#include <stdlib.h>
#include <unistd.h>

#include "semaphores.h"

/* --- permits --- */

/* A ticket creates its nodes in one transaction, gives information about them, and leaves none. */
ZKT_CASE(free_permits_are_had)
{
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
    char *fields = strchr(data, '\n');
    assert_non_null(fields);
    assert_memory_equal(fields, "\nmax=3", 6); /* metadata of the holder may follow */
    assert_true(fields[6] == '\0' || fields[6] == '\n');
    *fields = '\0';
    ZKT_MUST(zkr_semaphore_holders(s, &list));
    assert_int_equal(zkr_contenders_count(list), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(zkr_contenders_get(list, i)->fencing_token, token);
        assert_string_equal(zkr_contenders_get(list, i)->owner, data);
        assert_string_equal(zkr_contender_field(zkr_contenders_get(list, i), "max"),
                            "3");
    }
    zkr_contenders_free(list);
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(leases(), 0);
    ZKT_MUST(zkr_ticket_destroy(t));
}

/* A try of any client gets only free permits. */
ZKT_CASE(there_are_no_more_than_the_maximum)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *d = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = semaphore(c, 3), *z = semaphore(d, 3);
    zkr_ticket *two = take(s, 2);
    expect(try(s, 2), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_client_flush(
        c, PATIENCE_MS)); /* the leases of a try count until they are deleted */
    expect(try(z, 2), ZKR_ETIMEDOUT);
    ZKT_MUST(try(z, 1));
    zkr_ticket *one = take(z, 1);
    expect(try(s, 1), ZKR_ETIMEDOUT);
    end(two);
    ZKT_MUST(try(s, 2));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    end(one);
    ZKT_MUST(try(z, 3));
}

/* A request for few permits does not overtake an earlier request for many. */
ZKT_CASE(it_is_fair_whatever_the_number)
{
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
    ZKT_BECOMES(many.held, 1, PATIENCE_MS);
    zkt_sleep_ms(SOON_MS / 2);
    assert_int_equal(few.held, 0);
    end(many.t);
    ZKT_BECOMES(few.held, 1, PATIENCE_MS);
    end(few.t);
}

/* A new contender queues behind the waiters in PATH/locks, even if its permits are free. */
ZKT_CASE(a_newcomer_does_not_pass_the_queue)
{
    struct told first = {0}, second = {0}, late = {0};
    zkr_semaphore *s = semaphore(zkt_client(zkt_servers(), SESSION_MS), 2);
    zkr_semaphore *z = semaphore(zkt_client(zkt_servers(), SESSION_MS), 2);
    zkr_ticket *held = take(s, 1);
    (void)queue_for(s, 2, &first);
    (void)queue_for(s, 1, &second);
    (void)queue_for(z, 1, &late); /* this client does not know the other waiters */
    zkt_sleep_ms(SOON_MS / 2);
    assert_int_equal(first.held + second.held + late.held, 0);
    end(held);
    ZKT_BECOMES(first.held, 1, PATIENCE_MS);
    assert_int_equal(second.held + late.held, 0);
    end(first.t);
    ZKT_EVENTUALLY(second.held == 1 && late.held == 1, PATIENCE_MS);
    end(second.t);
    end(late.t);
}

/* A contender in PATH/locks that has no leases yet is overtaken only by tries, because tries do not queue. */
ZKT_CASE(the_gate_is_respected_before_its_leases_are_there)
{
    char path[256];
    struct told told = {0};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = semaphore(c, 2);
    end(take(s, 1)); /* creates the directories */
    (void)snprintf(path, sizeof(path), "%s/locks", zkt_path());
    assert_int_equal(zkt_create_path(zkt_servers(), path), ZKT_OK);
    (void)snprintf(path, sizeof(path), "%s/locks/x-lock-0000000000", zkt_path());
    assert_int_equal(zkt_create(zkt_servers(), path, "", 0), ZKT_OK);
    (void)queue_for(s, 1, &told);
    zkt_sleep_ms(SOON_MS / 5);
    assert_int_equal(told.held, 0);
    ZKT_BECOMES(leases(), 0, PATIENCE_MS);
    ZKT_MUST(try(s, 1));
    assert_int_equal(zkt_delete(zkt_servers(), path), ZKT_OK);
    ZKT_BECOMES(told.held, 1, PATIENCE_MS);
    end(told.t);
}

/* A thread of the library creates the nodes after a wait, but they name the thread that made the request. */
ZKT_CASE(permits_name_the_thread_that_asked)
{
    char asked[32];
    zkr_ticket *t = NULL;
    zkr_contenders *list = NULL;
    struct told before = {0};
    zkr_semaphore *s = semaphore(zkt_client(zkt_servers(), SESSION_MS), 2);
    zkr_semaphore *other = semaphore(zkt_client(zkt_servers(), SESSION_MS), 2);
    zkr_ticket *held = take(other, 2);
    (void)queue_for(other, 1, &before);
    ZKT_MUST(zkr_semaphore_request(s, 2, ZKR_FOREVER, NULL, NULL, &t));
    ZKT_BECOMES(at_gate(), 2, PATIENCE_MS);
    end(held);
    end(before.t);
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    (void)snprintf(asked, sizeof(asked), "/%ld/%ld", (long)getpid(), (long)gettid());
    ZKT_MUST(zkr_semaphore_holders(s, &list));
    assert_int_equal(zkr_contenders_count(list), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_non_null(strstr(zkr_contenders_get(list, i)->owner, asked));
    }
    zkr_contenders_free(list);
    end(t);
}

/* A wait ends at its deadline, and leaves no node in PATH/locks or PATH/leases. */
ZKT_CASE(a_deadline_is_kept_wherever_one_waits)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = semaphore(c, 1);
    zkr_ticket *held = take(s, 1), *inside = NULL, *queued = NULL, *none = NULL;
    ZKT_MUST(zkr_semaphore_request(s, 1, 400, NULL, NULL, &inside));
    ZKT_BECOMES(leases(), 2, PATIENCE_MS);
    ZKT_MUST(zkr_semaphore_request(s, 1, 200, NULL, NULL, &queued));
    int64_t before = zkt_now_ms();
    int rc = zkr_semaphore_acquire(s, 1, 300, &none);
    assert_true(zkt_timed_out(rc));
    assert_true(zkt_now_ms() - before >= 300);
    assert_true(zkt_now_ms() - before < 300 + SOON_MS);
    rc = zkr_ticket_wait(queued, PATIENCE_MS);
    assert_true(zkt_timed_out(rc));
    expect(zkr_ticket_wait(inside, PATIENCE_MS), ZKR_ETIMEDOUT);
    ZKT_EVENTUALLY(leases() == 1 && at_gate() == 0, PATIENCE_MS);
    end(inside);
    end(queued);
    end(held);
}

/* --- the maximum --- */

/* Without a count node, the maximum given at creation applies. Changes of the count are followed up and down. */
ZKT_CASE(the_maximum_is_followed)
{
    struct told more = {0}, last = {0};
    zkr_contenders *list = NULL;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = resizable(c, 1);
    zkr_ticket *one = take(s, 1);
    (void)queue_for(s, 3, &more);
    zkt_sleep_ms(SOON_MS / 5);
    assert_int_equal(more.held, 0);
    set_max(4);
    ZKT_BECOMES(more.held, 1, PATIENCE_MS);
    set_max(2);
    (void)queue_for(s, 1, &last);
    assert_int_equal(zkr_ticket_state(more.t), ZKR_TICKET_HELD);
    end(one);
    zkt_sleep_ms(SOON_MS / 5);
    assert_int_equal(last.held, 0); /* three permits are still held */
    end(more.t);
    ZKT_BECOMES(last.held, 1, PATIENCE_MS);
    end(last.t);
    ZKT_EVENTUALLY(try(s, 3) == ZKR_ETIMEDOUT && try(s, 2) == ZKR_OK, PATIENCE_MS);
    zkr_ticket *two = take(s, 2);
    ZKT_MUST(zkr_semaphore_holders(s, &list));
    for (size_t i = 0; i < 2; i++) {
        const char *most = zkr_contender_field(zkr_contenders_get(list, i), "max");
        assert_non_null(most);
        assert_string_equal(most, "2");
    }
    zkr_contenders_free(list);
    end(two);
    assert_int_equal(zkt_delete(zkt_servers(), count_path()), ZKT_OK);
    ZKT_EVENTUALLY(try(s, 2) == ZKR_ETIMEDOUT && try(s, 1) == ZKR_OK, PATIENCE_MS);
}

/* The maximum is stored whatever the length of the owner text, which is truncated if necessary. */
ZKT_CASE(a_long_owner_text_leaves_room_for_the_maximum)
{
    static const size_t lengths[] = {1, 990, 1000, 1010, 1022, 1023, 1024, 1025, 3000};
    static char text[3001];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        const zkr_semaphore_options o = {.size = sizeof(o), .owner = text};
        zkr_contenders *list = NULL;
        (void)memset(text, 'x', lengths[i]);
        text[lengths[i]] = '\0';
        zkr_semaphore *s = semaphore_with(c, INT32_MAX, &o);
        zkr_ticket *t = take(s, 1);
        ZKT_MUST(zkr_semaphore_holders(s, &list));
        const zkr_contender *entry = zkr_contenders_get(list, 0);
        assert_string_equal(zkr_contender_field(entry, "max"), "2147483647");
        assert_memory_equal(entry->owner, text, strlen(entry->owner));
        assert_true(strlen(entry->owner) >= (lengths[i] < 990 ? lengths[i] : 990));
        zkr_contenders_free(list);
        end(t);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    }
}

/* An owner text of several lines is truncated at the end of a line, so that no field has an incomplete value. */
ZKT_CASE(a_long_owner_text_keeps_whole_lines)
{
    enum { LONG = 1100 };
    static char text[16 + LONG];
    const zkr_semaphore_options o = {.size = sizeof(o), .owner = text};
    zkr_contenders *list = NULL;
    (void)snprintf(text, sizeof(text), "me\na=1\nb=%0*d", LONG, 0);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = semaphore_with(c, 1, &o);
    zkr_ticket *t = take(s, 1);
    ZKT_MUST(zkr_semaphore_holders(s, &list));
    const zkr_contender *entry = zkr_contenders_get(list, 0);
    assert_string_equal(entry->owner, "me");
    assert_string_equal(zkr_contender_field(entry, "a"), "1");
    assert_null(zkr_contender_field(entry, "b"));
    assert_string_equal(zkr_contender_field(entry, "max"), "1");
    zkr_contenders_free(list);
    end(t);
}

/* An invalid count admits nobody until it becomes valid. */
ZKT_CASE(a_count_that_is_none_lets_nobody_in)
{
    static const struct {
        const char *bytes;
        size_t size;
    } none[] = {
        {"", 0},
        {"7", 1},
        {"\0\0\0\0\1", 5},
        {"\377\377\377\377", 4},
        {"\0\0\0\0", 4},
        /* 5, compressed by Java's GZIPOutputStream */
        {"\x1f\x8b\x08\0\0\0\0\0\0\xff\x63\x60\x60\x60\x05\0\x93\x2b\x2e\x51\x04\0\0\0",
         24}};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    set_bytes(none[0].bytes, none[0].size);
    zkr_semaphore *s = resizable(c, 5);
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        struct told told = {0};
        set_bytes(none[i].bytes, none[i].size);
        ZKT_BECOMES(try(s, 1), ZKR_ETIMEDOUT, PATIENCE_MS);
        (void)queue_for(s, 1, &told);
        zkt_sleep_ms(SOON_MS / 5);
        assert_int_equal(told.held, 0);
        set_max(1);
        ZKT_BECOMES(told.held, 1, PATIENCE_MS);
        end(told.t);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    }
}

/* A new session reads the count again, before it admits anybody. */
ZKT_CASE(the_maximum_is_followed_across_sessions)
{
    struct told told = {0};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    set_max(2);
    zkr_semaphore *s = resizable(c, 9);
    ZKT_MUST(try(s, 2));
    expect(try(s, 3), ZKR_ETIMEDOUT);
    zkt_expire(c);
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    ZKT_BECOMES(try(s, 2), ZKR_OK, PATIENCE_MS);
    expect(try(s, 3), ZKR_ETIMEDOUT);
    (void)queue_for(s, 3, &told);
    set_max(3);
    ZKT_BECOMES(told.held, 1, PATIENCE_MS);
    end(told.t);
}

/* --- strangers --- */

/* Any child of the directory of leases takes one permit, as in Curator. */
ZKT_CASE(a_stranger_among_the_leases_takes_up_a_permit)
{
    char path[256];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = semaphore(c, 2);
    end(take(s, 1)); /* creates the directories */
    (void)snprintf(path, sizeof(path), "%s/leases/stranger", zkt_path());
    assert_int_equal(zkt_create(zkt_servers(), path, "", 0), ZKT_OK);
    expect(try(s, 2), ZKR_ETIMEDOUT);
    ZKT_MUST(try(s, 1));
    struct told told = {0};
    (void)queue_for(s, 2, &told);
    zkt_sleep_ms(SOON_MS / 5);
    assert_int_equal(told.held, 0);
    assert_int_equal(zkt_delete(zkt_servers(), path), ZKT_OK);
    ZKT_BECOMES(told.held, 1, PATIENCE_MS);
    end(told.t);
}

/* --- wrong calls: an error each, with a text, and nothing lost --- */

/* A request for more than the maximum fails if the maximum is fixed. Otherwise, it waits. */
ZKT_CASE(more_than_the_maximum_is_awaited_where_it_may_grow)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *r = resizable(c, 3);
    zkr_ticket *t = NULL;
    expect(zkr_semaphore_acquire(r, 0, 1000, &t), ZKR_EINVAL);
    expect(zkr_semaphore_acquire(r, ZKR_SEMAPHORE_PERMITS_MAX + 1, 1000, &t),
           ZKR_EINVAL);
    int rc = zkr_semaphore_acquire(r, 4, 200, &t);
    assert_true(zkt_timed_out(rc));
    assert_null(t);
    /* The largest number of permits of one ticket can be acquired. */
    zkr_semaphore *large = semaphore(c, ZKR_SEMAPHORE_PERMITS_MAX);
    ZKT_MUST(zkr_semaphore_acquire(large, ZKR_SEMAPHORE_PERMITS_MAX, PATIENCE_MS, &t));
    zkt_end_ticket(t);
}

/* The nodes of a ticket must fit into one request. */
ZKT_CASE(what_no_request_has_room_for_is_refused)
{
    static const char data[65536];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_ticket *t = NULL;
    zkr_semaphore_options o = ZKR_SEMAPHORE_OPTIONS_INIT;
    o.data = data;
    o.data_len = sizeof(data);
    zkr_semaphore *s = semaphore_with(c, 100, &o);
    expect(zkr_semaphore_acquire(s, 14, 1000, &t), ZKR_EINVAL);
    ZKT_MUST(zkr_semaphore_acquire(s, 13, PATIENCE_MS, &t));
    zkt_end_ticket(t);
}
