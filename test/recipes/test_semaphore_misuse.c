/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong calls of semaphores: an error each, with a text, and nothing lost. */
#include <stdlib.h>

#include "semaphores.h"

/* Paths, maxima and options that make no sense are refused before anything is sent. */
ZKT_CASE(nonsense_is_refused_at_once)
{
    static const char *const paths[] = {NULL,  "",      "/",    "relative",
                                        "/a/", "/a//b", "/a\nb"};
    static const int64_t maxima[] = {0, -1, INT64_MIN, INT64_C(2147483648), INT64_MAX};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = NULL;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        expect(zkr_semaphore_create(&s, c, paths[i], 1, NULL), ZKR_EINVAL);
        zkr_semaphore_options o = ZKR_SEMAPHORE_OPTIONS_INIT;
        o.max_from = paths[i];
        if (paths[i]) {
            expect(zkr_semaphore_create(&s, c, "/a", 1, &o), ZKR_EINVAL);
        }
    }
    for (size_t i = 0; i < sizeof(maxima) / sizeof(maxima[0]); i++) {
        expect(zkr_semaphore_create(&s, c, "/a", maxima[i], NULL), ZKR_EINVAL);
    }
    expect(zkr_semaphore_create(NULL, c, "/a", 1, NULL), ZKR_EINVAL);
    expect(zkr_semaphore_create(&s, NULL, "/a", 1, NULL), ZKR_EINVAL);
    zkr_semaphore_options o = ZKR_SEMAPHORE_OPTIONS_INIT;
    o.size = 3;
    expect(zkr_semaphore_create(&s, c, "/a", 1, &o), ZKR_EINVAL);
    o = (zkr_semaphore_options)ZKR_SEMAPHORE_OPTIONS_INIT;
    o.data_len = 1;
    expect(zkr_semaphore_create(&s, c, "/a", 1, &o), ZKR_EINVAL);
    o.data = "x";
    o.data_len = 65537;
    expect(zkr_semaphore_create(&s, c, "/a", 1, &o), ZKR_EINVAL);
    assert_null(s);
}

/* So many permits can never be had: an error at once where the maximum is fixed, else a wait. */
ZKT_CASE(a_number_that_can_never_be_had_is_refused)
{
    static const int numbers[] = {
        0, -1, INT32_MIN, 4, ZKR_SEMAPHORE_PERMITS_MAX + 1, INT32_MAX};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = semaphore(c, 3), *r = resizable(c, 3);
    zkr_ticket *t = NULL;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        expect(zkr_semaphore_acquire(s, numbers[i], 1000, &t), ZKR_EINVAL);
        expect(zkr_semaphore_request(s, numbers[i], 1000, NULL, NULL, &t), ZKR_EINVAL);
        if (numbers[i] != 4) {
            expect(zkr_semaphore_acquire(r, numbers[i], 1000, &t), ZKR_EINVAL);
        }
    }
    int rc = zkr_semaphore_acquire(r, 4, 200, &t);
    assert_true(ZKT_TIMED_OUT(rc));
    expect(zkr_semaphore_acquire(s, 1, -2, &t), ZKR_EINVAL);
    expect(zkr_semaphore_acquire(s, 1, 100, NULL), ZKR_EINVAL);
    expect(zkr_semaphore_request(s, 1, 100, NULL, NULL, NULL), ZKR_EINVAL);
    expect(zkr_semaphore_acquire(NULL, 1, 100, &t), ZKR_EINVAL);
    expect(zkr_semaphore_request(NULL, 1, 100, NULL, NULL, &t), ZKR_EINVAL);
    expect(zkr_semaphore_holders(NULL, NULL), ZKR_EINVAL);
    expect(zkr_semaphore_holders(s, NULL), ZKR_EINVAL);
    assert_null(t);
    ZKT_MUST(zkr_semaphore_destroy(NULL));
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
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
}

/* While a ticket exists the semaphore does, and the client. */
ZKT_CASE(what_is_used_is_not_destroyed)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = semaphore(c, 1);
    zkr_ticket *t = take(s, 1);
    expect(zkr_semaphore_destroy(s), ZKR_EBUSY);
    expect(zkr_client_close(c), ZKR_EBUSY);
    expect(zkr_ticket_destroy(t), ZKR_EBUSY);
    ZKT_MUST(zkr_ticket_release(t));
    expect(zkr_semaphore_destroy(s), ZKR_EBUSY);
    ZKT_MUST(zkr_ticket_destroy(t));
}

static zkr_semaphore *asked; /* by the callback */

static void ask_in_callback(zkr_ticket *t, int state, struct told *told)
{
    (void)t;
    (void)state;
    zkr_ticket *none = NULL;
    zkr_contenders *list = NULL;
    told->code = zkr_semaphore_acquire(asked, 1, 0, &none) == ZKR_ESTATE &&
                 zkr_semaphore_holders(asked, &list) == ZKR_ESTATE;
}

/* What blocks is refused on the dispatch thread. */
ZKT_CASE(nothing_blocks_a_callback)
{
    struct told told = {.then = ask_in_callback};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    asked = semaphore(c, 2);
    (void)ask_for(asked, 1, &told);
    ZKT_BECOMES(told.held, 1, PATIENCE_MS);
    assert_true(told.code);
    end(told.t);
}

/* One that has no memory fails, and may be had the next time. */
static zkr_ticket *acquire(zkr_semaphore *s, int n)
{
    zkr_ticket *t = NULL;
    int rc = zkr_semaphore_acquire(s, n, PATIENCE_MS, &t);
    assert_true(rc == ZKR_OK || (rc == ZKR_ENOMEM && !t));
    return t;
}

/* At each of the places where one waits: straight in, at the gate, and inside. */
static void one_life(zkr_client *c)
{
    zkr_semaphore *s = NULL;
    zkr_semaphore_options o = ZKR_SEMAPHORE_OPTIONS_INIT;
    o.max_from = count_path();
    int rc = zkr_semaphore_create(&s, c, zkt_path(), 3, &o);
    if (rc != ZKR_OK) {
        ZKT_RC(rc, ZKR_ENOMEM);
        return;
    }
    zkr_ticket *t = acquire(s, 2), *inside = NULL, *queued = NULL;
    (void)zkr_semaphore_request(s, 2, PATIENCE_MS, NULL, NULL, &inside);
    (void)zkr_semaphore_request(s, 3, PATIENCE_MS, NULL, NULL, &queued);
    zkr_ticket *tickets[] = {t, inside, queued};
    for (size_t i = 0; tickets[0] || tickets[1] || tickets[2]; i = (i + 1) % 3) {
        /* One that has failed to enter at first may be behind the others. */
        if (tickets[i] && zkr_ticket_wait(tickets[i], 10) != ZKR_ETIMEDOUT) {
            int error = zkr_ticket_error(tickets[i]);
            assert_true(error == ZKR_OK || error == ZKR_ENOMEM);
            end(tickets[i]);
            tickets[i] = NULL;
        }
    }
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_true(leases() <= 0 && at_gate() <= 0);
    end_semaphore(s);
}

/* Each allocation fails once: an error or success, and nothing is left. */
ZKT_CASE(each_allocation_may_fail)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    for (struct zkt_strikes f = {.least = 40}; zkt_next_strike(&f);) {
        zkt_deny_allocation(f.n);
        one_life(c);
        f.struck = zkt_was_denied();
    }
}
