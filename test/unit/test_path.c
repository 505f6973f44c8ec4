/* SPDX-License-Identifier: Apache-2.0 */
/* Paths, and the numbers in the names of children. */
#include <stdlib.h>

#include "base/path.h"
#include "unit.h"

#define UUID "01234567-89ab-4def-8123-456789abcdef"
#define HEX32 "0123456789ab4def8123456789abcdef"

enum { PATH_LIMIT = 1047552 };

/* --- paths --- */

/* Each kind of bad path is refused with its own reason, good ones pass. */
static void a_path_is_judged_as_a_server_would(void **state)
{
    (void)state;
    static const char relative[] = "must start with /";
    static const char empty[] = "has an empty part";
    static const char dots[] = "must not contain . or .. as a part";
    static const char control[] =
        "contains a control character, or another that servers refuse";
    static const struct {
        const char *path, *fault;
    } rows[] = {
        {NULL, relative},
        {"", relative},
        {"locks", relative},
        {"./locks", relative},
        {" /locks", relative},
        {"/", "must not be the root"},
        {"//", empty},
        {"//a", empty},
        {"/a//b", empty},
        {"/a/", empty},
        {"/a/b//", empty},
        {"/.", dots},
        {"/..", dots},
        {"/a/./b", dots},
        {"/a/../b", dots},
        {"/a/.", dots},
        {"/a/..", dots},
        {"/a\n", control},
        {"/a\tb", control},
        {"/\001", control},
        {"/a/b\037", control},
        {"/a\177b", control},
        {"/a", NULL},
        {"/a/b/c", NULL},
        {"/...", NULL},
        {"/.a", NULL},
        {"/..a", NULL},
        {"/a.", NULL},
        {"/a..b/c", NULL},
        {"/a b", NULL},
        {"/lock%s%n", NULL},
        {"/a:b,c", NULL},
        {"/schl\303\274ssel", NULL},
        {"/\302\205", control},
        {"/\302\240", NULL},
        {"/\xef\xa3\xbf", control},
        {"/\xef\xa4\x80", NULL},
        {"/\xef\xbf\xb0", control},
        {"/\xf0\x9f\x98\x80", control},
        {"/\xed\x9f\xbf", NULL},
        {"/\xed\xa0\x80", control},
        {"/\xff", control},
        {"/\xc3", control},
        {"/\xe2\x82", control},
        {"/\xc0\xaf", control},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        const char *fault = zkr__path_fault(rows[i].path);
        const char *wanted = rows[i].fault;
        if (!fault != !wanted || (fault && strcmp(fault, wanted) != 0)) {
            fail_msg("%s: %s", rows[i].path ? rows[i].path : "NULL",
                     fault ? fault : "no fault");
        }
    }
}

/* A path may have what fits into a server's packet and not one byte more. */
static void a_path_may_be_long_but_not_too_long(void **state)
{
    (void)state;
    static char path[PATH_LIMIT + 2];
    memset(path, 'x', sizeof(path));
    path[0] = '/';
    path[PATH_LIMIT] = '\0';
    assert_null(zkr__path_fault(path));
    path[PATH_LIMIT] = 'x';
    path[PATH_LIMIT + 1] = '\0';
    assert_string_equal(zkr__path_fault(path), "is longer than 1047552 bytes");
}

/* Joining puts one slash between, and needs memory. */
static void join_puts_a_slash_between(void **state)
{
    (void)state;
    char *path = zkr__path_join("/locks/a", "lock-0000000001");
    assert_string_equal(path, "/locks/a/lock-0000000001");
    zkr__mem_free(path);
    path = zkr__path_join("", "");
    assert_string_equal(path, "/");
    zkr__mem_free(path);
    zkt_allow_allocations(0);
    assert_null(zkr__path_join("/a", "b"));
    zkt_allow_allocations(-1);
}

/* The name is what follows the last slash, or all of it. */
static void the_name_follows_the_last_slash(void **state)
{
    (void)state;
    assert_string_equal(zkr__path_name("/locks/a/b"), "b");
    assert_string_equal(zkr__path_name("/a"), "a");
    assert_string_equal(zkr__path_name("/a/"), "");
    assert_string_equal(zkr__path_name("a"), "a");
    assert_string_equal(zkr__path_name(""), "");
}

/* A protected name is Curator's, byte for byte, and fills exactly the room it asks for. */
static void protect_makes_the_name_that_curator_makes(void **state)
{
    (void)state;
    static const char *const prefixes[] = {"lock-", "latch-", ""};
    for (size_t i = 0; i < ZKT_COUNT(prefixes); i++) {
        char wanted[80];
        char out[80];
        (void)snprintf(wanted, sizeof(wanted), "_c_" UUID "-%s", prefixes[i]);
        memset(out, '#', sizeof(out));
        zkr__path_protect(out, UUID, prefixes[i]);
        assert_string_equal(out, wanted);
        assert_int_equal(strlen(out), ZKR__PROTECTED_LEN + strlen(prefixes[i]));
        assert_int_equal(out[strlen(out) + 1], '#');
    }
}

/* --- numbers --- */

static const struct {
    const char *name, *prefix;
    bool has;
    int64_t sequence;
} names[] = {
    /* Curator, go-zookeeper, kazoo, and the Java and C recipes */
    {"_c_" UUID "-lock-0000000042", "lock-", true, 42},
    {"_c_" UUID "-latch-0000000042", "latch-", true, 42},
    {"_c_" UUID "-__WRIT__0000000007", "lock-", true, 7},
    {"_c_" HEX32 "-lock-0000000043", "lock-", true, 43},
    {HEX32 "__lock__0000000044", "lock-", true, 44},
    {HEX32 "__rlock__0000000044", "lock-", true, 44},
    {"x-72057594037927936-0000000045", "lock-", true, 45},
    {"x-010055bc0d750000-0000000045", "lock-", true, 45},
    {"lock-0000000000", "lock-", true, 0},
    {"0000000046", "lock-", true, 46},
    /* the ends of the count */
    {"lock-2147483647", "lock-", true, 2147483647},
    {"lock--2147483648", "lock-", true, -2147483648},
    {"lock--0000000001", "lock-", true, -1},
    {HEX32 "__lock__-2147483648", "lock-", true, -2147483648},
    {HEX32 "__lock__-0000000005", "lock-", true, -5},
    {"x-12--2147483648", "lock-", true, -2147483648},
    {"x-12-2147483647", "lock-", true, 2147483647},
    {"x-12-2147483648", "lock-", true, -2147483648},
    {"x-12--0000000005", "lock-", true, -5},
    {"-0000000005", "lock-", true, -5},
    {"lock-9999999999", "lock-", true, 9999999999},
    /* the last prefix counts */
    {"_c_lock-lock-" UUID "-lock-0000000047", "lock-", true, 47},
    {"lock-0000000001-lock-0000000002", "lock-", true, 2},
    {"lock-lock-lock-0000000003", "lock-", true, 3},
    {"lock-0000000001lock-", "lock-", false, 0},
    {"aaa0000000004", "aa", true, 4},
    /* the prefix by chance: what ends like a contender counts as one */
    {"my-lock-x-0000000048", "lock-", true, 48},
    {"lock-00000000001", "lock-", true, 1},
    {"lock--00000000001", "lock-", true, 1},
    {"lock---0000000001", "lock-", true, -1},
    /* not numbers */
    {"", "lock-", false, 0},
    {"lock-", "lock-", false, 0},
    {"lock--", "lock-", false, 0},
    {"config", "lock-", false, 0},
    {"lock-000000001", "lock-", false, 0},
    {"000000001", "lock-", false, 0},
    {"x-1-000000001", "lock-", false, 0},
    {"lock-+000000001", "lock-", false, 0},
    {"lock- 000000001", "lock-", false, 0},
    {"lock-0x00000001", "lock-", false, 0},
    {"lock-0000000001 ", "lock-", false, 0},
    {"lock-0000000001.bak", "lock-", false, 0},
    {"x-1-0000000001~", "lock-", false, 0},
    {"lock-\331\240\331\241\331\242\331\243\331\244", "lock-", false, 0},
};

/* The number of every known kind of child is read, and nothing else taken for one. */
static void a_sequence_is_read_from_the_names_of_all_recipes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZKT_COUNT(names); i++) {
        int64_t sequence = 77;
        bool has = zkr__path_sequence(names[i].name, names[i].prefix, &sequence);
        if (has != names[i].has || (has && sequence != names[i].sequence)) {
            fail_msg("%s: %d %lld", names[i].name, has, (long long)sequence);
        }
    }
}

/* Without the prefix, the last ten of more digits are the number. */
static void eleven_digits_after_another_prefix_count_by_the_last_ten(void **state)
{
    (void)state;
    int64_t sequence = 0;
    assert_true(zkr__path_sequence("x-10000000012", "lock-", &sequence));
    assert_int_equal(sequence, 12);
}

static size_t random_name(uint64_t *seed, char *name, size_t room)
{
    static const char *const pieces[] = {"lock-",      "-",   "__",
                                         "0000000001", "_c_", "2147483648"};
    size_t len = 0;
    size_t wanted = (size_t)zkt_below(seed, (int64_t)room - 10);
    while (len < wanted) {
        const char *piece = pieces[zkt_below(seed, ZKT_COUNT(pieces))];
        int64_t kind = zkt_below(seed, 8);
        if (kind == 0) {
            memcpy(name + len, piece, strlen(piece));
            len += strlen(piece);
        } else {
            name[len++] = (char)(kind == 1 ? 1 + zkt_below(seed, 255)
                                           : '0' + zkt_below(seed, 10));
        }
    }
    name[len] = '\0';
    return len;
}

/* Whatever the bytes are, what is found are the last ten digits, and they are not made up. */
static void random_names_neither_crash_nor_give_made_up_numbers(void **state)
{
    (void)state;
    uint64_t seed = 20240501;
    int64_t found = 0;
    for (int i = 0; i < 100000; i++) {
        char name[40];
        int64_t sequence = 0;
        size_t len = random_name(&seed, name, sizeof(name));
        char *tight = malloc(len + 1); /* a sanitizer sees each step beyond it */
        assert_non_null(tight);
        memcpy(tight, name, len + 1);
        if (zkr__path_sequence(tight, "lock-", &sequence)) {
            found++;
            assert_true(len >= 10);
            assert_int_equal(strspn(tight + len - 10, "0123456789"), 10);
            assert_int_equal(llabs(sequence), strtoll(tight + len - 10, NULL, 10));
        }
        (void)zkr__path_fault(tight);
        free(tight);
    }
    assert_true(found > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_is_judged_as_a_server_would),
        cmocka_unit_test(a_path_may_be_long_but_not_too_long),
        cmocka_unit_test(join_puts_a_slash_between),
        cmocka_unit_test(the_name_follows_the_last_slash),
        cmocka_unit_test(protect_makes_the_name_that_curator_makes),
        cmocka_unit_test(a_sequence_is_read_from_the_names_of_all_recipes),
        cmocka_unit_test(eleven_digits_after_another_prefix_count_by_the_last_ten),
        cmocka_unit_test(random_names_neither_crash_nor_give_made_up_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
