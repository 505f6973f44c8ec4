/* SPDX-License-Identifier: Apache-2.0 */
/* Error codes, their texts, and the error detail of each thread. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>

#include "base/error.h"
#include "unit.h"

/* The values and the retriability are repeated here, because they are promised to applications. */
static const struct {
    int code, value;
    bool retriable;
    const char *name;
} codes[] = {
    {ZKR_OK, 0, false, "ZKR_OK"},
    {ZKR_EINVAL, -1, false, "ZKR_EINVAL"},
    {ZKR_ENOMEM, -2, false, "ZKR_ENOMEM"},
    {ZKR_ETIMEDOUT, -3, true, "ZKR_ETIMEDOUT"},
    {ZKR_ECANCELED, -4, false, "ZKR_ECANCELED"},
    {ZKR_ENOTOWNER, -5, false, "ZKR_ENOTOWNER"},
    {ZKR_EDEADLK, -6, false, "ZKR_EDEADLK"},
    {ZKR_ECONNLOSS, -7, true, "ZKR_ECONNLOSS"},
    {ZKR_ESESSION, -8, true, "ZKR_ESESSION"},
    {ZKR_EAUTH, -9, false, "ZKR_EAUTH"},
    {ZKR_ECLOSED, -10, false, "ZKR_ECLOSED"},
    {ZKR_EBUSY, -11, true, "ZKR_EBUSY"},
    {ZKR_ESTATE, -12, false, "ZKR_ESTATE"},
    {ZKR_ESYS, -13, false, "ZKR_ESYS"},
    {ZKR_ENONODE, -14, false, "ZKR_ENONODE"},
    {ZKR_EEXIST, -15, false, "ZKR_EEXIST"},
    {ZKR_ESEQUENCE, -16, false, "ZKR_ESEQUENCE"},
    {ZKR_ENOANSWER, -17, true, "ZKR_ENOANSWER"},
    {ZKR_EOWNERDEAD, -18, false, "ZKR_EOWNERDEAD"},
    {ZKR_ELIMIT, -19, false, "ZKR_ELIMIT"},
    {ZKR_EFOREIGN, -20, false, "ZKR_EFOREIGN"},
};

enum {
#define COUNT_(name, value, retriable, text) COUNT_##name,
    ZKR_ERROR_MAP(COUNT_)
#undef COUNT_
        MAPPED
};

/* Each code has its promised value, name and retriability, and a text of its own. No code is missing. */
ZKT_UNIT_CASE(every_code_is_what_was_promised)
{
    assert_int_equal(ZKT_COUNT(codes), MAPPED);
    for (size_t i = 0; i < ZKT_COUNT(codes); i++) {
        assert_int_equal(codes[i].code, codes[i].value);
        assert_int_equal(codes[i].value, -(int)i); /* so all values differ */
        assert_string_equal(zkr_err_name(codes[i].code), codes[i].name);
        assert_int_equal(zkr_err_retriable(codes[i].code), codes[i].retriable);
        assert_int_equal(zkr_err_zk(codes[i].code), 0);
        assert_true(strlen(zkr_strerror(codes[i].code)) > 0);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(zkr_strerror(codes[i].code),
                                    zkr_strerror(codes[j].code));
        }
    }
}

/* Every int has a name and a text. An unknown code is not retriable. */
ZKT_UNIT_CASE(unknown_codes_have_a_text_too)
{
    static const int unknown[] = {1,     42,    -21,     -999,   -1000,
                                  -2000, -5000, INT_MAX, INT_MIN};
    for (size_t i = 0; i < ZKT_COUNT(unknown); i++) {
        assert_string_equal(zkr_strerror(unknown[i]), "unknown error");
        assert_string_equal(zkr_err_name(unknown[i]), "ZKR_E?");
        assert_false(zkr_err_retriable(unknown[i]));
        assert_int_equal(zkr_err_zk(unknown[i]), 0);
    }
}

/* zkr_err_zk() returns the ZooKeeper code from which ZKR_EZK() made the code. */
ZKT_UNIT_CASE(codes_of_zookeeper_are_reversible)
{
    for (int rc = -999; rc < 0; rc++) {
        assert_true(ZKR_EZK(rc) < 0);
        assert_int_equal(zkr_err_zk(ZKR_EZK(rc)), rc);
        assert_string_equal(zkr_err_name(ZKR_EZK(rc)), "ZKR_EZK");
        assert_string_equal(zkr_strerror(ZKR_EZK(rc)),
                            rc == -6     ? "the servers lack an operation that every "
                                           "ZooKeeper since 3.4 has"
                            : rc == -100 ? "the servers refused the request and, "
                                           "unlike ZooKeeper, give no reason"
                            : rc == -108 ? "the path is an ephemeral node (a lock of "
                                           "another kind) or lies below one"
                            : rc == -120
                                ? "a local session cannot own the node, because "
                                  "localSessionsUpgradingEnabled is false"
                                : "ZooKeeper refused the request");
        assert_int_equal(zkr_err_retriable(ZKR_EZK(rc)), rc == -118 || rc == -127);
    }
}

/* A failure records its code, path and text, and returns the code. */
ZKT_UNIT_CASE(a_failure_leaves_its_detail)
{
    ZKT_RC(zkr__fail(ZKR_EINVAL, "/a", "the %s is %d", "size", 7), ZKR_EINVAL);
    const zkr_error *e = zkr_last_error();
    ZKT_RC(e->code, ZKR_EINVAL);
    assert_int_equal(e->zk_rc, 0);
    assert_int_equal(e->sys_errno, 0);
    assert_string_equal(e->path, "/a");
    assert_string_equal(e->message, "the size is 7");

    ZKT_RC(zkr__fail_zk(ZKR_EAUTH, -102, "/b", "create"), ZKR_EAUTH);
    assert_int_equal(e->zk_rc, -102);
    assert_string_equal(e->message, "create /b: not authorised (ZooKeeper code -102)");

    assert_int_equal(zkr__fail(ZKR_EZK(-111), NULL, "x"), ZKR_EZK(-111));
    assert_int_equal(e->zk_rc, -111);
    assert_string_equal(e->path, "");
}

/* The errno of a failed system call is recorded and spelled out. An unknown errno appears as a number. */
ZKT_UNIT_CASE(a_failed_system_call_leaves_errno)
{
    const zkr_error *e = zkr_last_error();
    (void)zkr__fail(ZKR_EINVAL, "/old", "old");
    ZKT_RC(zkr__fail_sys(EAGAIN, "thread"), ZKR_ESYS);
    ZKT_RC(e->code, ZKR_ESYS);
    assert_int_equal(e->sys_errno, EAGAIN);
    assert_string_equal(e->path, "");
    assert_string_equal(e->message, "thread: Resource temporarily unavailable");
    ZKT_RC(zkr__fail_sys(ENOMEM, "thread"), ZKR_ENOMEM);
    ZKT_RC(zkr_last_error()->code, ZKR_ENOMEM);
    (void)zkr__fail_sys(99999, "thread");
    assert_non_null(strstr(e->message, "99999"));
    (void)zkr__fail(ZKR_EINVAL, NULL, "no system call");
    assert_int_equal(e->sys_errno, 0);
}

/* A text that is too long is cut. */
ZKT_UNIT_CASE(a_long_detail_is_cut)
{
    char text[1000];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    (void)zkr__fail(ZKR_EINVAL, text, "%s", text);
    const zkr_error *e = zkr_last_error();
    assert_int_equal(strlen(e->path), sizeof(e->path) - 1);
    assert_int_equal(strlen(e->message), sizeof(e->message) - 1);
    (void)zkr__fail_zk(ZKR_EINVAL, -8, text, text);
    assert_int_equal(strlen(e->message), sizeof(e->message) - 1);
}

static void *fail_elsewhere(void *arg)
{
    int *code_before = arg;
    *code_before = zkr_last_error()->code;
    (void)zkr__fail(ZKR_EBUSY, "/other", "other");
    return NULL;
}

/* Each thread has its own detail, which is empty at first. */
ZKT_UNIT_CASE(the_detail_belongs_to_the_thread)
{
    pthread_t thread;
    int code_before = 1;
    (void)zkr__fail(ZKR_EINVAL, "/mine", "mine");
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, &code_before), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    ZKT_MUST(code_before);
    ZKT_RC(zkr_last_error()->code, ZKR_EINVAL);
    assert_string_equal(zkr_last_error()->path, "/mine");
}
