/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An empty path with a high count is deleted, unless somebody else may have created it. Something may happen between
 * the checks and the delete: on the fake.
 */
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "on_fake.h"
#include "queue/names.h"

static int kept; /* number of log lines that report a path that was kept */

static void count_kept(int level, const char *line, void *ctx)
{
    kept += level == ZKR_LOG_WARN && strstr(line, "event=path_kept") != NULL;
}

/* Returns a mutex at "/lock", where the sequence numbers are high, and its new client. */
static zkr_mutex *high_mutex(zkr_client **c)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.log = count_kept;
    kept = 0;
    *c = open_client(&o);
    zkr_mutex *m = mutex_at(*c, "/lock", NULL);
    assert_true(zkf_stranger_create("/lock", false));
    zkf_count_from("/lock", (int)ZKR__SEQUENCE_WARN);
    return m;
}

static void hold_once(zkr_client *c, zkr_mutex *m)
{
    end(hold(c, m));
    zkf_pass(c, SECOND);
    zkf_call_back(c);
}

static int deletes; /* deletes of the path */

static void count_deletes(struct zkr__op *op)
{
    deletes += op->kind == ZKR__OP_MULTI && op->deleted_count == 1 &&
               strcmp(op->deleted[0], "/lock") == 0;
}

static void write_before_delete(struct zkr__op *op)
{
    int before = deletes;
    count_deletes(op);
    if (deletes > before) {
        assert_true(zkf_stranger_set("/lock", "theirs", 6));
    }
}

ZKT_UNIT_CASE(a_path_that_gets_data_at_the_last_moment_stays)
{
    zkr_client *c;
    zkr_mutex *m = high_mutex(&c);
    deletes = 0;
    between.on_submit = write_before_delete;
    hold_once(c, m);
    assert_int_equal(deletes, 1);
    assert_non_null(zkf_find("/lock"));
    hold_once(c, m); /* now its data are noticed in time */
    assert_int_equal(deletes, 1);
    assert_non_null(zkf_find("/lock"));
    assert_int_equal(kept, 1);
}

ZKT_UNIT_CASE(a_path_that_may_not_be_deleted_is_reported)
{
    zkr_client *c;
    zkr_mutex *m = high_mutex(&c);
    assert_true(zkf_forbid("/", ZKF_DELETE));
    between.on_submit = count_deletes;
    deletes = 0;
    hold_once(c, m);
    hold_once(c, m);
    assert_int_equal(kept, 1);
    assert_non_null(zkf_find("/lock"));
    zkf_permit_all();
}

/* Which of the two ACLs is unknown: that of the claim's own node, or that of the path. */
enum { OWN, PATH };
static struct unknown {
    int which, code;
    bool told;
} unknown;
static int answers;

static void hide(enum zkr__op_kind kind, struct zkr__answer *answer)
{
    if (kind == ZKR__OP_ACL && answers++ % 2 == unknown.which) {
        *answer = (struct zkr__answer){.code = unknown.code, .empty = true};
    }
}

/* A missing node, or a lost answer, says nothing about the path. */
ZKT_UNIT_CASE(without_both_acls_the_path_stays)
{
    static const struct unknown cases[] = {
        {OWN, ZKR_OK, true},         {PATH, ZKR_OK, true},
        {OWN, ZKR_EAUTH, true},      {PATH, ZKR_EAUTH, true},
        {OWN, ZKR_ENONODE, false},   {PATH, ZKR_ENONODE, false},
        {OWN, ZKR_ECONNLOSS, false}, {PATH, ZKR_ECONNLOSS, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        zkr_client *c;
        zkr_mutex *m = high_mutex(&c);
        unknown = cases[i];
        answers = deletes = 0;
        between.on_answer = hide;
        between.on_submit = count_deletes;
        hold_once(c, m);
        assert_int_equal(answers, 2);
        assert_int_equal(deletes, 0);
        assert_int_equal(kept, unknown.told);
        between.on_answer = NULL;
        hold_once(c, m);
        assert_int_equal(deletes, 1);
        assert_null(zkf_find("/lock"));
    }
}
