/* SPDX-License-Identifier: Apache-2.0 */
/* Tests when the checkers of the chaos run call a lock wedged, on made-up histories. */
#include <string.h>

#include <zkr/error.h>

#include "made_up.h"
#include "runner.h"

/* A thread waits for lock 0 from the returned time on, and gets it this much later than the bound. */
static int64_t wait_for_long(int64_t more_ms)
{
    visit(1, 0);
    zkc_record *waited = visit(2, 0);
    const int64_t from = waited[GRANT].at;
    for (int i = 0; i < VISIT; i++) {
        waited[i].at += (ZKC_WEDGED_MS + more_ms) * (int64_t)MS;
        waited[i].until += (ZKC_WEDGED_MS + more_ms) * (int64_t)MS;
    }
    waited[GRANT].at = from;
    t.now += (ZKC_WEDGED_MS + more_ms + 1000) * (int64_t)MS;
    calm();
    return from;
}

static void grant_elsewhere(int64_t from, int64_t ms)
{
    zkc_record *other = add(ZKC_GRANT, 3, 1, 0);
    other->until = other->at = from + ms * MS;
    other->code = ZKR_ESESSION;
}

/* A lock that is free and wanted is not granted, while other locks are. */
static void a_wedged_lock_is_seen(void **state)
{
    (void)state;
    const int64_t from = wait_for_long(1000);
    for (int64_t ms = 1000; ms < ZKC_WEDGED_MS; ms += 2000) {
        grant_elsewhere(from, ms);
    }
    expect_only(ZKC_BAD_WEDGED);
}

/* A try that finds another contender is as good an answer as a grant. */
static void a_wedge_is_seen_by_tries(void **state)
{
    (void)state;
    const int64_t from = wait_for_long(1000);
    for (int64_t ms = 1000; ms < ZKC_WEDGED_MS; ms += 2000) {
        zkc_record *r = failed(ZKR_ETIMEDOUT, 0);
        r->at = r->until = from + ms * MS;
    }
    expect_only(ZKC_BAD_WEDGED);
}

/* A waiting multi-lock waits for both of its paths. */
static void a_wedge_of_a_second_path_is_seen(void **state)
{
    (void)state;
    visit(1, ZKC_RARE_PATH);
    const int64_t from = t.now;
    t.now += (ZKC_WEDGED_MS + 1000) * (int64_t)MS;
    visit_both(2)[GRANT].at = from;
    for (int64_t ms = 1000; ms < ZKC_WEDGED_MS; ms += 2000) {
        grant_elsewhere(from, ms);
    }
    visit(3, ZKC_SHORT_PATH); /* so that the short path is not wedged */
    calm();
    expect_only(ZKC_BAD_WEDGED);
    assert_non_null(strstr(t.verdict.first[ZKC_BAD_WEDGED], "path 2"));
}

/* A long time without any answer means that the servers were away, even if other locks are granted before and after. */
static void absent_servers_are_no_wedge(void **state)
{
    (void)state;
    const int64_t from = wait_for_long(10000);
    expect_good();
    assert_true(t.verdict.unavailable > ZKC_WEDGED_MS * (int64_t)MS);
    grant_elsewhere(from, 1000);
    grant_elsewhere(from, 4000);
    grant_elsewhere(from, ZKC_WEDGED_MS + 500);
    grant_elsewhere(from, ZKC_WEDGED_MS + 9900);
    expect_good();
}

#define TEST(name) cmocka_unit_test_setup(name, made_up_setup)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(a_wedged_lock_is_seen),
        TEST(a_wedge_is_seen_by_tries),
        TEST(a_wedge_of_a_second_path_is_seen),
        TEST(absent_servers_are_no_wedge),
    };
    return zkt_run(argc, argv, tests, NULL, NULL);
}
