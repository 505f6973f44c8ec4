/* SPDX-License-Identifier: Apache-2.0 */
/* Size-tagged option structs between callers and libraries of different versions. */
#include <zkr/zkr.h>

#include "base/options.h"
#include "session/open.h"
#include "unit.h"

struct oldest {
    size_t size;
};

struct older {
    size_t size;
    int64_t a;
};

struct newer {
    size_t size;
    int64_t a, b, c;
};

/* NULL options give all defaults, whatever the struct contained before. */
ZKT_UNIT_CASE(no_options_are_all_defaults)
{
    struct newer to = {9, 9, 9, 9};
    ZKT_MUST(zkr__options_take(&to, sizeof(to), NULL, "x"));
    assert_int_equal(to.size, 0);
    assert_int_equal(to.a, 0);
    assert_int_equal(to.c, 0);
}

/* All options of a caller of the same version are copied. */
ZKT_UNIT_CASE(options_of_the_same_age_are_copied)
{
    const struct newer from = {sizeof(from), 1, 2, 3};
    struct newer to;
    ZKT_MUST(zkr__options_take(&to, sizeof(to), &from, "x"));
    assert_memory_equal(&to, &from, sizeof(to));
}

/* Options that an older caller does not know are zero, and nothing behind its struct is read. */
ZKT_UNIT_CASE(an_older_caller_gets_defaults_for_what_it_does_not_know)
{
    const struct {
        struct older from;
        int64_t beyond[2];
    } caller = {{sizeof(caller.from), 5}, {77, 77}};
    struct newer to = {9, 9, 9, 9};
    ZKT_MUST(zkr__options_take(&to, sizeof(to), &caller.from, "x"));
    assert_int_equal(to.a, 5);
    assert_int_equal(to.b, 0);
    assert_int_equal(to.c, 0);
    const struct oldest oldest = {sizeof(oldest)};
    ZKT_MUST(zkr__options_take(&to, sizeof(to), &oldest, "x"));
    assert_int_equal(to.a, 0);
}

/* A newer caller is accepted unless it sets an option that this library does not know. */
ZKT_UNIT_CASE(a_newer_caller_may_not_set_what_is_unknown)
{
    struct newer from = {sizeof(from), 5, 0, 0};
    struct older to;
    ZKT_MUST(zkr__options_take(&to, sizeof(to), &from, "x"));
    assert_int_equal(to.a, 5);
    from.c = INT64_C(1) << 56; /* the last byte of the struct */
    ZKT_RC(zkr__options_take(&to, sizeof(to), &from, "mutex"), ZKR_EINVAL);
    assert_non_null(strstr(zkr_last_error()->message, "mutex: an option is set"));
    from.c = 0;
    from.b = 1; /* the first unknown option */
    ZKT_RC(zkr__options_take(&to, sizeof(to), &from, "mutex"), ZKR_EINVAL);
}

/* An impossible size is refused, with a hint, and gives no options. */
ZKT_UNIT_CASE(an_absurd_size_is_refused)
{
    static const size_t sizes[] = {0, 1, 7, 9, 33, 4095, 4104, SIZE_MAX, SIZE_MAX - 7};
    for (size_t i = 0; i < ZKT_COUNT(sizes); i++) {
        const struct newer from = {sizes[i], 1, 2, 3};
        struct newer to = {9, 9, 9, 9};
        ZKT_RC(zkr__options_take(&to, sizeof(to), &from, "x"), ZKR_EINVAL);
        assert_int_equal(to.a, 0);
        assert_non_null(strstr(zkr_last_error()->message, "INIT"));
    }
}

/* The INIT macros set the size and nothing else, and no struct has padding. */
ZKT_UNIT_CASE(the_init_macros_set_the_size_alone)
{
    const zkr_client_options client = ZKR_CLIENT_OPTIONS_INIT;
    const zkr_client_options client_wanted = {.size = sizeof(client)};
    assert_memory_equal(&client, &client_wanted, sizeof(client));
    const zkr_mutex_options mutex = ZKR_MUTEX_OPTIONS_INIT;
    const zkr_mutex_options mutex_wanted = {.size = sizeof(mutex)};
    assert_memory_equal(&mutex, &mutex_wanted, sizeof(mutex));
}

/* Counters are copied in the other direction: a shorter struct is filled as far as it goes, and nothing behind it is
 * written. The rest of a longer struct is zeroed. */
ZKT_UNIT_CASE(counters_fit_in_what_the_caller_has)
{
    enum { GUARD = 0x5a, MORE = 64 };
    const struct zkr__env env = {.no_threads = true};
    unsigned char out[sizeof(zkr_stats) + MORE], longest[sizeof(out)];
    zkr_client *c = NULL;
    ZKT_MUST(zkr__client_open(&c, "127.0.0.1:1", NULL, &env));
    memset(&c->stats, 1, sizeof(c->stats));
    memset(longest, GUARD, sizeof(longest));
    ZKT_MUST(zkr_client_stats(c, (void *)longest, sizeof(longest)));
    assert_int_equal(longest[0], 1);
    for (size_t i = sizeof(zkr_stats); i < sizeof(longest); i++) {
        assert_int_equal(longest[i], 0);
    }
    for (size_t size = 1; size < sizeof(longest); size++) {
        memset(out, GUARD, sizeof(out));
        ZKT_MUST(zkr_client_stats(c, (void *)out, size));
        assert_memory_equal(out, longest, size);
        assert_int_equal(out[size], GUARD);
    }
    memset(&c->stats, 0, sizeof(c->stats)); /* these values were not real counts */
    ZKT_MUST(zkr_client_close(c));
}
