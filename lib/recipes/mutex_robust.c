/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A robust mutex (options.robust in zkr/mutex.h) reports to a new holder that the previous holder ended without a
 * release.
 *
 * The node at the lock's path has a record of the holder as its data. A holder writes its token into the record before
 * acquire returns, and writes 0 in the transaction that deletes its lock node. So a token that the next holder finds
 * belongs to a holder that ended without a release. Each write checks the lock node of the writer, so only the holder
 * can write.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zkr/guard.h>

#include "base/error.h"
#include "base/mem.h"
#include "queue/hold_write.h"
#include "recipes/mutex.h"
#include "session/inquiry.h"

static const char mark[] = "zkr robust\nheld_by=";

enum { RECORD_ROOM = 64 };

struct record {
    int64_t held_by; /* the holder's fencing token; 0 = released */
    int version;
};

/* --- the record --- */

static void set_op(zoo_op_t *op,
                   char text[RECORD_ROOM],
                   const struct zkr__reentrant *lock,
                   int64_t held_by,
                   int version)
{
    (void)snprintf(text, RECORD_ROOM, "%s%" PRId64 "\n", mark, held_by);
    zoo_set_op_init(op, lock->queue->dir, text, (int)strlen(text), version, NULL);
}

static int
read_record(const struct zkr__reentrant *lock, struct record *r, int64_t deadline)
{
    char text[RECORD_ROOM] = "";
    const char *dir = lock->queue->dir;
    zkr_node node;
    *r = (struct record){.held_by = 0};
    zkr__lock(lock->c);
    int rc = zkr__node_read(lock->c, dir, text, sizeof(text) - 1, &node, deadline);
    zkr__unlock(lock->c);
    if (rc != ZKR_OK) {
        return zkr__fail(
            rc == ZKR_ETIMEDOUT ? ZKR_ENOANSWER : rc, dir,
            "cannot find out whether the last holder of %s has released it: %s", dir,
            zkr_strerror(rc));
    }
    if (node.length > 0 && strncmp(text, mark, strlen(mark)) != 0) {
        return zkr__fail(ZKR_EEXIST, dir,
                         "%s has data that a robust mutex would replace; use another "
                         "path",
                         dir);
    }
    r->held_by = node.length > 0 ? strtoll(text + strlen(mark), NULL, 10) : 0;
    r->version = (int)node.version;
    return ZKR_OK;
}

/* --- acquire --- */

static int get_token(const struct zkr__reentrant *lock, int64_t *token)
{
    int rc = ZKR_OK;
    zkr__lock(lock->c);
    const struct zkr__claim *claim = zkr__reentrant_hold(lock, &rc);
    rc = claim ? zkr__hold_get_token(claim, token, sizeof(*token)) : rc;
    zkr__unlock(lock->c);
    return rc;
}

static int64_t ms_left(const struct zkr__reentrant *lock, int64_t deadline)
{
    int64_t left = (deadline - zkr__now(lock->c)) / ZKR__MS;
    return deadline == ZKR__NEVER ? ZKR_FOREVER : zkr__later(left, 1);
}

static int write_token(struct zkr__reentrant *lock,
                       int64_t token,
                       const struct record *over,
                       int64_t deadline)
{
    char text[RECORD_ROOM];
    zoo_op_t op;
    zoo_op_result_t result;
    set_op(&op, text, lock, token, over->version);
    return zkr__reentrant_multi(
        lock, &(struct zkr__writes){.count = 1,
                                    .ops = &op,
                                    .results = &result,
                                    .timeout_ms = ms_left(lock, deadline)});
}

static int64_t cancels(const struct zkr__reentrant *lock) ZKR__LOCKED
{
    return lock->cancels;
}

static int64_t try_ms(const struct zkr__reentrant *lock) ZKR__LOCKED
{
    return zkr__hold_try_ms(lock->c);
}

/* The limits of one acquire. */
struct limits {
    int64_t deadline;
    int64_t cancels; /* lock->cancels when the acquire began */
};

static bool is_canceled(const struct zkr__reentrant *lock, const struct limits *l)
{
    return zkr__reentrant_ask(lock, cancels) != l->cancels;
}

/*
 * Returns whether another attempt may succeed. It may if the answer was lost or another client wrote, and the hold
 * still lasts.
 */
static bool
may_try_again(const struct zkr__reentrant *lock, int rc, const struct limits *l)
{
    bool helps = zkr_err_retriable(rc) || rc == ZKR_EZK(ZBADVERSION);
    return helps && zkr__reentrant_ask(lock, zkr__reentrant_is_held) != 0 &&
           zkr__now(lock->c) < l->deadline && !is_canceled(lock, l);
}

/* Returns when the present attempt ends. It lasts no longer than a try, so that a cancel or a loss is noticed. */
static int64_t end_of_attempt(const struct zkr__reentrant *lock, const struct limits *l)
{
    int64_t now = zkr__now(lock->c), most = zkr__reentrant_ask(lock, try_ms);
    return zkr__sooner(l->deadline, zkr__clock_deadline(now, most));
}

/* Replace the last holder's token with our token. Returns ZKR_OK, ZKR_EOWNERDEAD, or the code of the failure. */
static int take_over(struct zkr__reentrant *lock, const struct limits *l)
{
    const char *dir = lock->queue->dir;
    int64_t token = 0, before = 0;
    struct record r;
    int rc = get_token(lock, &token);
    bool done = rc != ZKR_OK;
    while (!done) {
        int64_t end = end_of_attempt(lock, l);
        rc = read_record(lock, &r, end);
        /* An earlier attempt wrote the token. */
        bool written = rc == ZKR_OK && r.held_by == token;
        if (rc == ZKR_OK && !written) {
            before = r.held_by;
            rc = write_token(lock, token, &r, end);
        }
        done = rc == ZKR_OK || !may_try_again(lock, rc, l);
    }
    if (rc != ZKR_OK && is_canceled(lock, l)) {
        return zkr__fail(ZKR_ECANCELED, dir, "the wait for %s was canceled", dir);
    }
    if (rc == ZKR_ECONNLOSS && zkr__now(lock->c) >= l->deadline) {
        return zkr__fail(
            ZKR_ENOANSWER, dir,
            "%s was granted, but no server answered in time about the last holder",
            dir);
    }
    return rc != ZKR_OK  ? rc
           : before == 0 ? ZKR_OK
                         : zkr__fail(ZKR_EOWNERDEAD, dir,
                                     "%s is held; its last holder, of token %" PRId64
                                     ", ended without release",
                                     dir, before);
}

/* Release without changing the thread's last error. */
static void leave(struct zkr__reentrant *lock)
{
    const zkr_error why = zkr__thread_self()->error;
    (void)zkr__reentrant_release(lock);
    zkr__thread_self()->error = why;
}

int zkr__robust_acquire(struct zkr__reentrant *lock, int64_t timeout_ms)
{
    int64_t limit = timeout_ms == 0 ? zkr__reentrant_ask(lock, try_ms) : timeout_ms;
    const struct limits l = {
        .deadline = zkr__clock_deadline(zkr__now(lock->c), limit),
        .cancels = zkr__reentrant_ask(lock, cancels),
    };
    for (;;) {
        int rc = zkr__reentrant_acquire(lock, timeout_ms);
        if (rc != ZKR_OK || zkr__reentrant_ask(lock, zkr__reentrant_depth) > 1) {
            return rc;
        }
        rc = take_over(lock, &l);
        if (rc == ZKR_OK || rc == ZKR_EOWNERDEAD) {
            return rc;
        }
        bool lost = zkr__reentrant_ask(lock, zkr__reentrant_is_held) == 0;
        leave(lock);
        if (!lost || rc == ZKR_ECANCELED) {
            return rc;
        }
        if (zkr__now(lock->c) >= l.deadline) {
            return zkr__fail(ZKR_ENOANSWER, lock->queue->dir,
                             "%s was lost before its last holder was known",
                             lock->queue->dir);
        }
        timeout_ms = timeout_ms == 0 ? 0 : ms_left(lock, l.deadline);
    }
}

/* --- release --- */

int zkr__robust_release_multi(struct zkr__reentrant *lock,
                              const struct zkr__writes *writes)
{
    char text[RECORD_ROOM];
    struct zkr__writes all = *writes;
    zoo_op_t *ops = zkr__mem_alloc((writes->count + 1) * sizeof(*ops));
    zoo_op_result_t *results = zkr__mem_alloc((writes->count + 1) * sizeof(*results));
    int rc = ZKR_ENOMEM;
    if (ops && results) {
        if (writes->count > 0) {
            memcpy(ops, writes->ops, writes->count * sizeof(*ops));
        }
        if (writes->results) { /* without an answer, the results stay as they are */
            memcpy(results, writes->results, writes->count * sizeof(*results));
        }
        set_op(&ops[writes->count], text, lock, 0, -1);
        all.count++;
        all.ops = ops;
        all.results = results;
        rc = zkr__reentrant_multi(lock, &all);
    } else {
        (void)zkr__fail(rc, lock->queue->dir, "cannot write: out of memory");
    }
    if (writes->results && results) {
        memcpy(writes->results, results, writes->count * sizeof(*results));
    }
    zkr__mem_free(ops);
    zkr__mem_free(results);
    return rc;
}

int zkr__robust_release(struct zkr__reentrant *lock)
{
    if (zkr__reentrant_ask(lock, zkr__reentrant_depth) != 1) {
        return zkr__reentrant_release(lock);
    }
    const struct zkr__writes none = {.timeout_ms = lock->c->options.connect_timeout_ms,
                                     .release = true,
                                     .even_shut = true};
    int rc = zkr__robust_release_multi(lock, &none);
    if (zkr__reentrant_ask(lock, zkr__reentrant_depth) > 0) { /* nothing was written */
        leave(lock);
    }
    return rc;
}
