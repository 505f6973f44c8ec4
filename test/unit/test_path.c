/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and operations on paths. */
#include <stdlib.h>

#include "base/path.h"
#include "unit.h"

enum { PATH_LIMIT = 1047552 };

/* Each kind of bad path is refused with its own reason. Good paths pass. */
ZKT_UNIT_CASE(a_path_is_judged_as_a_server_would)
{
    static const char relative[] = "must start with /";
    static const char empty[] = "has an empty part";
    static const char dots[] = "must not contain . or .. as a part";
    static const char control[] = "contains a character that servers refuse";
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
        {"/\xe2\x41", control},
        {"/\xe2\x82\x41", control},
        {"/\xe0\x80\xaf", control},
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

/* A path may fill a server's packet, and not one byte more. */
ZKT_UNIT_CASE(a_path_may_be_long_but_not_too_long)
{
    static char path[PATH_LIMIT + 2];
    memset(path, 'x', sizeof(path));
    path[0] = '/';
    path[PATH_LIMIT] = '\0';
    assert_null(zkr__path_fault(path));
    path[PATH_LIMIT] = 'x';
    path[PATH_LIMIT + 1] = '\0';
    assert_string_equal(zkr__path_fault(path), "is longer than 1047552 bytes");
}

/* A join puts one slash between its parts, and needs memory. */
ZKT_UNIT_CASE(join_puts_a_slash_between)
{
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

/* The name is the part behind the last slash. Without a slash, it is the whole text. */
ZKT_UNIT_CASE(the_name_follows_the_last_slash)
{
    assert_string_equal(zkr__path_name("/locks/a/b"), "b");
    assert_string_equal(zkr__path_name("/a"), "a");
    assert_string_equal(zkr__path_name("/a/"), "");
    assert_string_equal(zkr__path_name("a"), "a");
    assert_string_equal(zkr__path_name(""), "");
}
