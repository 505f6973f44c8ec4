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
    /* The most of a ticket can be had. */
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
