/* SPDX-License-Identifier: Apache-2.0 */
/* elect --yield: which candidate a request is for, and what became of the request. */
#include <stdlib.h>

#include "unit.h"
#include "yield_request.h"

/* The list of candidates, in place of a list that the library reads. NULL is an empty list. */
struct zkr_contenders {
    zkr_contender list[4];
    size_t count;
};

__typeof__(zkr_contenders_count) __wrap_zkr_contenders_count;
__typeof__(zkr_contenders_get) __wrap_zkr_contenders_get;

size_t __wrap_zkr_contenders_count(const zkr_contenders *list)
{
    return list ? list->count : 0;
}

const zkr_contender *__wrap_zkr_contenders_get(const zkr_contenders *list, size_t i)
{
    return list && i < list->count ? &list->list[i] : NULL;
}

#define LIST(...)                                                                      \
    (&(const zkr_contenders){{__VA_ARGS__},                                            \
                             sizeof((const zkr_contender[]){__VA_ARGS__}) /            \
                                 sizeof(zkr_contender)})

/* Candidates, and requests by their field. The token and the session of each candidate follow from its number. */
#define CANDIDATE(id, number)                                                          \
    {                                                                                  \
        .owner = (id), .fencing_token = (number), .session_id = 100 + (number)         \
    }
#define REQUEST(field)                                                                 \
    {                                                                                  \
        .owner = "zkr elect --yield", .fields = (field "\0"), .fencing_token = 90,     \
        .session_id = 190                                                              \
    }
#define A CANDIDATE("a", 1)
#define B CANDIDATE("b", 2)
#define C CANDIDATE("c", 3)

/* The text of a request contains the fields from which it is parsed. */
ZKT_UNIT_CASE(a_request_names_the_leader_or_the_next_one)
{
    char *any = yield_request_text(NULL, 7), *to = yield_request_text("b", 7);
    assert_string_equal(any, "zkr elect --yield\nyield_token=7");
    assert_string_equal(to, "zkr elect --yield\nyield_to=b");
    free(any);
    free(to);
}

ZKT_UNIT_CASE(a_request_asks_the_leader_that_it_names)
{
    assert_true(yield_request_asks(LIST(A, B, REQUEST("yield_token=1")), 1));
    assert_true(yield_request_asks(
        LIST(A, REQUEST("yield_token=9"), REQUEST("yield_token=1")), 1));
    assert_false(yield_request_asks(LIST(A, B), 1));
    assert_false(yield_request_asks(LIST(A, B, REQUEST("yield_token=1")), 2));
    assert_false(yield_request_asks(LIST(A, B, REQUEST("yield_token=1x")), 1));
    assert_false(yield_request_asks(NULL, 1));
    /* No candidate has that token, or the token belongs to a request. */
    assert_false(yield_request_asks(LIST(B, REQUEST("yield_token=1")), 1));
    assert_false(yield_request_asks(LIST(B, REQUEST("yield_token=90")), 90));
}

ZKT_UNIT_CASE(a_request_for_one_asks_all_others)
{
    assert_true(yield_request_asks(LIST(A, B, REQUEST("yield_to=b")), 1));
    assert_false(yield_request_asks(LIST(A, B, REQUEST("yield_to=b")), 2));
    assert_true(yield_request_asks(LIST(A, B, REQUEST("yield_to=b"), C), 3));
    /* No candidate has that name. A request with that name does not count. */
    assert_false(yield_request_asks(LIST(A, B, REQUEST("yield_to=x")), 1));
    assert_false(yield_request_asks(LIST(A, REQUEST("yield_to=zkr elect --yield")), 1));
}

/* A request never counts as the leader. */
ZKT_UNIT_CASE(the_first_candidate_leads)
{
    const zkr_contenders *list = LIST(A, REQUEST("yield_to=b"), B);
    assert_ptr_equal(yield_request_leader(list), &list->list[0]);
    assert_null(yield_request_leader(LIST(REQUEST("yield_to=a"), A)));
    assert_null(yield_request_leader(LIST(REQUEST("yield_token=1"), A)));
    assert_null(yield_request_leader(NULL));
}

ZKT_UNIT_CASE(a_request_needs_a_leader_and_another_candidate)
{
    assert_int_equal(yield_request_check(NULL, NULL), YIELD_NOBODY_LEADS);
    assert_int_equal(yield_request_check(LIST(REQUEST("yield_to=a"), A, B), NULL),
                     YIELD_NOBODY_LEADS);
    assert_int_equal(yield_request_check(LIST(A), NULL), YIELD_ALONE);
    assert_int_equal(yield_request_check(LIST(A, REQUEST("yield_to=x")), NULL),
                     YIELD_ALONE);
    assert_int_equal(yield_request_check(LIST(A, REQUEST("yield_to=x"), B), NULL),
                     YIELD_MAY_ASK);
}

ZKT_UNIT_CASE(a_request_for_one_needs_that_one_behind_the_leader)
{
    assert_int_equal(yield_request_check(NULL, "a"), YIELD_NOBODY_LEADS);
    assert_int_equal(yield_request_check(LIST(A, B), "x"), YIELD_UNKNOWN);
    assert_int_equal(yield_request_check(LIST(A, B), "a"), YIELD_LEADS);
    assert_int_equal(yield_request_check(LIST(A, B), "b"), YIELD_MAY_ASK);
}

static void expect_progress(const zkr_contenders *list,
                            const char *to,
                            bool done,
                            bool stays,
                            bool vain)
{
    /* A was asked to yield. */
    struct yield_progress now = yield_request_progress(list, to, 101);
    assert_int_equal(now.done, done);
    assert_int_equal(now.stays, stays);
    assert_int_equal(now.vain, vain);
}

ZKT_UNIT_CASE(a_request_is_done_when_another_leads)
{
    expect_progress(LIST(A, B), NULL, false, true, false);
    expect_progress(LIST(B, A), NULL, true, false, false);
    expect_progress(LIST(REQUEST("yield_token=1"), B), NULL, false, false, false);
    expect_progress(LIST(REQUEST("yield_token=1")), NULL, false, false, true);
    expect_progress(NULL, NULL, false, false, true);
}

ZKT_UNIT_CASE(a_request_for_one_is_done_when_that_one_leads)
{
    expect_progress(LIST(A, B, C), "c", false, true, false);
    expect_progress(LIST(B, C, A), "c", false, false, false);
    expect_progress(LIST(C, A, B), "c", true, false, false);
    expect_progress(LIST(REQUEST("yield_to=c"), C), "c", false, false, false);
    expect_progress(LIST(A, B), "c", false, true, true);
    expect_progress(NULL, "c", false, false, true);
}
