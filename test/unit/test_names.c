/* SPDX-License-Identifier: Apache-2.0 */
/* Names of nodes: how our own are made, and what is parsed from the names of all recipes. */
#include <stdlib.h>

#include "queue/names.h"
#include "unit.h"

#define UUID "01234567-89ab-4def-8123-456789abcdef"
#define HEX32 "0123456789ab4def8123456789abcdef"

/* --- making --- */

/* A name equals Curator's byte for byte. The longest name fits with its number into ZKR__NAME_ROOM. */
ZKT_UNIT_CASE(a_name_is_made_as_curator_makes_it)
{
    static const char *const wanted[] = {
        [ZKR__NAME_LOCK] = "_c_" UUID "-lock-",
        [ZKR__NAME_READ] = "_c_" UUID "-__READ__",
        [ZKR__NAME_WRITE] = "_c_" UUID "-__WRIT__",
        [ZKR__NAME_LATCH] = "_c_" UUID "-latch-",
        [ZKR__NAME_LEASE] = "_c_" UUID "-lease-",
    };
    assert_int_equal(ZKT_COUNT(wanted), ZKR__NAME_OTHER);
    /* A search looks for this beginning of each name. */
    assert_int_equal(strlen("_c_" UUID "-"), ZKR__PROTECTED_LEN);
    for (size_t kind = 0; kind < ZKT_COUNT(wanted); kind++) {
        char out[ZKR__NAME_ROOM + 1];
        memset(out, '#', sizeof(out));
        zkr__name_make(out, (enum zkr__name_kind)kind, UUID);
        assert_string_equal(out, wanted[kind]);
        assert_int_equal(out[strlen(out) + 1], '#');
        assert_true(strlen(out) + strlen("-2147483648") < ZKR__NAME_ROOM);
    }
}

/* From a name with any number that a server can append, the parser returns the number and the recipe. */
ZKT_UNIT_CASE(a_made_name_is_read_again)
{
    static const int64_t numbers[] = {
        0, 1, 42, 2147483647, -1, -5, INT64_C(-2147483648)};
    for (size_t i = 0; i < ZKT_COUNT(numbers) * ZKR__NAME_OTHER; i++) {
        char name[ZKR__NAME_ROOM];
        size_t made = i % ZKR__NAME_OTHER;
        int64_t number = numbers[i / ZKR__NAME_OTHER], sequence = 77;
        enum zkr__name_kind kind = ZKR__NAME_OTHER;
        zkr__name_make(name, (enum zkr__name_kind)made, UUID);
        size_t len = strlen(name);
        (void)snprintf(name + len, sizeof(name) - len, "%s%010lld",
                       number < 0 ? "-" : "", llabs((long long)number));
        assert_true(zkr__name_parse(name, &kind, &sequence));
        assert_int_equal(sequence, number);
        assert_int_equal(kind, made);
    }
}

/* --- numbers --- */

static const struct {
    const char *name;
    enum zkr__name_kind kind;
    int64_t sequence;
} names[] = {
    /* Curator, go-zookeeper, kazoo, and the Java and C recipes */
    {"_c_" UUID "-lock-0000000042", ZKR__NAME_LOCK, 42},
    {"_c_" UUID "-latch-0000000042", ZKR__NAME_LATCH, 42},
    {"_c_" UUID "-__WRIT__0000000007", ZKR__NAME_WRITE, 7},
    {"_c_" HEX32 "-lock-0000000043", ZKR__NAME_LOCK, 43},
    {HEX32 "__lock__0000000044", ZKR__NAME_OTHER, 44},
    {HEX32 "__rlock__0000000044", ZKR__NAME_OTHER, 44},
    {"x-72057594037927936-0000000045", ZKR__NAME_OTHER, 45},
    {"x-010055bc0d750000-0000000045", ZKR__NAME_OTHER, 45},
    {"lock-0000000000", ZKR__NAME_LOCK, 0},
    {"0000000046", ZKR__NAME_OTHER, 46},
    /* the ends of the count */
    {"lock-2147483647", ZKR__NAME_LOCK, 2147483647},
    {"lock--2147483648", ZKR__NAME_LOCK, -2147483648},
    {"lock--0000000001", ZKR__NAME_LOCK, -1},
    {HEX32 "__lock__-2147483648", ZKR__NAME_OTHER, -2147483648},
    {HEX32 "__lock__-0000000005", ZKR__NAME_OTHER, -5},
    {"x-12--2147483648", ZKR__NAME_OTHER, -2147483648},
    {"x-12-2147483647", ZKR__NAME_OTHER, 2147483647},
    {"x-12-2147483648", ZKR__NAME_OTHER, -2147483648},
    {"x-12--0000000005", ZKR__NAME_OTHER, -5},
    {"-0000000005", ZKR__NAME_OTHER, -5},
    {"lock-9999999999", ZKR__NAME_LOCK, 9999999999},
    /* beyond the ends of the count */
    {"x-12-2147483649", ZKR__NAME_OTHER, 2147483649},
    {"x-12--2147483649", ZKR__NAME_OTHER, 2147483649},
    {"job-2512312359", ZKR__NAME_OTHER, 2512312359},
    {HEX32 "__lock__-9999999999", ZKR__NAME_OTHER, 9999999999},
    {"-9999999999", ZKR__NAME_OTHER, 9999999999},
    /* the last prefix counts */
    {"_c_lock-lock-" UUID "-lock-0000000047", ZKR__NAME_LOCK, 47},
    {"lock-0000000001-lock-0000000002", ZKR__NAME_LOCK, 2},
    {"lock-lock-lock-0000000003", ZKR__NAME_LOCK, 3},
    {"aaa0000000004", ZKR__NAME_OTHER, 4},
    /* a prefix by chance: a child that ends like a contender counts as one */
    {"my-lock-x-0000000048", ZKR__NAME_OTHER, 48},
    {"lock-00000000001", ZKR__NAME_OTHER, 1},
    {"lock--00000000001", ZKR__NAME_OTHER, 1},
    {"lock---0000000001", ZKR__NAME_OTHER, -1},
    /* of more than ten digits, the last ten are the number */
    {"x-10000000012", ZKR__NAME_OTHER, 12},
    /* other recipes of ours, and a prefix next to a sign */
    {"_c_" UUID "-__READ__0000000007", ZKR__NAME_READ, 7},
    {"_c_" UUID "-lease-0000000008", ZKR__NAME_LEASE, 8},
    {"_c_" UUID "-__READ__-0000000007", ZKR__NAME_READ, -7},
    {"__READ__-lock-0000000007", ZKR__NAME_LOCK, 7},
    {"LOCK-0000000007", ZKR__NAME_OTHER, 7},
};

/* The parser returns the number and the recipe of every known kind of child. */
ZKT_UNIT_CASE(a_sequence_is_read_from_the_names_of_all_recipes)
{
    for (size_t i = 0; i < ZKT_COUNT(names); i++) {
        int64_t sequence = 77;
        enum zkr__name_kind kind = ZKR__NAME_OTHER;
        bool has = zkr__name_parse(names[i].name, &kind, &sequence);
        if (!has || sequence != names[i].sequence || kind != names[i].kind) {
            fail_msg("%s: %d %d %lld", names[i].name, has, (int)kind,
                     (long long)sequence);
        }
    }
}

/* No other name is parsed as a number. */
ZKT_UNIT_CASE(what_has_no_number_is_no_contender)
{
    static const char *const others[] = {
        "lock-0000000001lock-",
        "",
        "lock-",
        "lock--",
        "config",
        "lock-000000001",
        "000000001",
        "x-1-000000001",
        "lock-+000000001",
        "lock- 000000001",
        "lock-0x00000001",
        "lock-0000000001 ",
        "lock-0000000001.bak",
        "x-1-0000000001~",
        "lock-\331\240\331\241\331\242\331\243\331\244",
    };
    for (size_t i = 0; i < ZKT_COUNT(others); i++) {
        int64_t sequence = 77;
        enum zkr__name_kind kind = ZKR__NAME_LOCK;
        if (zkr__name_parse(others[i], &kind, &sequence)) {
            fail_msg("%s: %d %lld", others[i], (int)kind, (long long)sequence);
        }
    }
}

/* The created node must have the requested name, a number, and nothing else. */
ZKT_UNIT_CASE(a_node_has_the_name_that_was_asked_for)
{
    static const char mine[] = "_c_01234567-89ab-4def-8123-456789abcde0-__WRIT__";
#define MINE "_c_01234567-89ab-4def-8123-456789abcde0-"
    static const struct {
        const char *name;
        bool writer, reader;
    } rows[] = {
        {MINE "__WRIT__0000000007", true, false},
        {MINE "__WRIT__-2147483648", true, false},
        {MINE "__READ__0000000007", false, true},
        {MINE "lock-0000000007", false, false},
        {MINE "__WRIT__00000000071", false, false},
        {MINE "__WRIT__--0000000007", false, false},
        {MINE "__WRIT__ 0000000007", false, false},
        {MINE "__WRIT__000000007", false, false},
        {MINE "x__WRIT__0000000007", false, false},
        {MINE "__WRIT____WRIT__0000000007", false, false},
        {MINE "/__WRIT__0000000007", false, false},
        {MINE "__WRIT__", false, false},
        {MINE "0000000007", false, false},
        {MINE, false, false},
        {"_c_01234567-89ab-4def-8123-456789abcde1-__WRIT__0000000007", false, false},
        {"__WRIT__0000000007", false, false},
        {"0000000007", false, false},
        {"", false, false},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        int64_t sequence = 0;
        /* A sanitizer reports each read beyond the end. */
        char *tight = strdup(rows[i].name);
        assert_non_null(tight);
        assert_int_equal(zkr__name_grew(tight, mine, ZKR__NAME_WRITE, &sequence),
                         rows[i].writer);
        assert_int_equal(zkr__name_grew(tight, mine, ZKR__NAME_READ, &sequence),
                         rows[i].reader);
        assert_false(zkr__name_grew(tight, mine, ZKR__NAME_LATCH, &sequence));
        free(tight);
    }
    int64_t sequence = 0;
    assert_true(zkr__name_grew(rows[1].name, rows[0].name, ZKR__NAME_WRITE, &sequence));
    assert_int_equal(sequence, INT64_C(-2147483648));
#undef MINE
}

/* A protected name has a GUID in front of a name of its own kind. */
ZKT_UNIT_CASE(a_protected_name_has_a_guid_and_its_kind)
{
#define GUID "_c_01234567-89ab-4def-8123-456789abcde0-"
    assert_true(zkr__name_is_protected(GUID "lock-0000000007", ZKR__NAME_LOCK));
    assert_false(zkr__name_is_protected(GUID "lock-0000000007", ZKR__NAME_READ));
    assert_false(zkr__name_is_protected(GUID "lock-0000000007", ZKR__NAME_OTHER));
    assert_false(zkr__name_is_protected("lock-0000000007", ZKR__NAME_LOCK));
    assert_false(zkr__name_is_protected(
        "_d_01234567-89ab-4def-8123-456789abcde0-lock-0000000007", ZKR__NAME_LOCK));
#undef GUID
}
