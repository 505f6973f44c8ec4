/* SPDX-License-Identifier: Apache-2.0 */
/* Whether an answer of a server is credible. */
#include "base/path.h"
#include "session/request.h"
#include "session/zk_value.h"
#include "unit.h"

enum { SESSION = 4711 };

static bool can_be(enum zkr__op_kind kind, struct zkr__answer answer)
{
    return zkr__credible(kind, &answer, SESSION);
}

/* Our own node was created by a transaction that has a number, and belongs to our session. */
ZKT_UNIT_CASE(who_made_a_node_has_a_number_and_is_us)
{
    static const int64_t none[] = {0, -1, INT64_MIN};
    assert_true(
        can_be(ZKR__OP_CREATE, (struct zkr__answer){.czxid = 1, .owner = SESSION}));
    assert_true(can_be(ZKR__OP_CREATES, (struct zkr__answer){.czxid = INT64_MAX}));
    for (size_t i = 0; i < ZKT_COUNT(none); i++) {
        struct zkr__answer answer = {.czxid = none[i], .owner = SESSION};
        assert_false(can_be(ZKR__OP_CREATE, answer));
        assert_false(can_be(ZKR__OP_CREATES, answer));
        assert_true(can_be(ZKR__OP_GET, answer)); /* the root */
        answer.code = ZKR_ENONODE;
        assert_true(can_be(ZKR__OP_CREATE, answer));
    }
    assert_false(can_be(ZKR__OP_CREATE, (struct zkr__answer){.czxid = 1, .owner = 0}));
    assert_false(can_be(ZKR__OP_CREATE, (struct zkr__answer){.czxid = 1, .owner = 1}));
}

/* Children have valid names. The names need not be UTF-8 paths that every server accepts. */
ZKT_UNIT_CASE(a_list_has_names)
{
    static const char *const names[] = {"a",    "...",      ".a",  " ",
                                        "\xff", "\xc2\x80", "a.b", "lock-0000000001"};
    static const char *const no_names[] = {
        NULL, "",   ".",     "..",   "/",    "a/b",          "/a",
        "a/", "\n", "a\x01", "\x1f", "\x7f", "x\r0000000001"};
    assert_true(can_be(ZKR__OP_CHILDREN, (struct zkr__answer){.name_count = 0}));
    for (size_t i = 0; i < ZKT_COUNT(names); i++) {
        assert_true(zkr__path_is_name(names[i]));
    }
    assert_true(
        can_be(ZKR__OP_CHILDREN,
               (struct zkr__answer){.names = names, .name_count = ZKT_COUNT(names)}));
    for (size_t i = 0; i < ZKT_COUNT(no_names); i++) {
        const char *const list[] = {"a", no_names[i], "b"};
        assert_false(zkr__path_is_name(no_names[i]));
        assert_false(can_be(ZKR__OP_CHILDREN,
                            (struct zkr__answer){.names = list, .name_count = 3}));
        assert_true(can_be(ZKR__OP_CHILDREN,
                           (struct zkr__answer){.names = list, .name_count = 1}));
    }
}

/* A code that ZooKeeper does not define is reported as a lost connection, never as ZKR_OK or another code of ours. */
ZKT_UNIT_CASE(a_code_that_is_none_says_nothing)
{
    static const int codes[] = {1, 999, 1000, 1007, INT32_MAX, -1000, -1001, INT32_MIN};
    for (size_t i = 0; i < ZKT_COUNT(codes); i++) {
        ZKT_RC(zkr__zk_code(codes[i]), ZKR_ECONNLOSS);
    }
    ZKT_RC(zkr__zk_code(0), ZKR_OK);
    ZKT_RC(zkr__zk_code(-111), ZKR_EZK(-111));
    ZKT_RC(zkr__zk_code(-999), ZKR_EZK(-999));
}
