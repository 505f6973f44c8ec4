/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/contest.h"

#include <string.h>

#include "base/error.h"
#include "engine/roster.h"

static int need_lookout(const struct zkr__queue *q,
                        struct zkr__lookout **lookout) ZKR__LOCKED
{
    return *lookout ? ZKR_OK
                    : zkr__lookout_create(lookout, q->c, q->dir, q->prefix, NULL, NULL);
}

int zkr__contest_list(zkr_contenders **out,
                      const struct zkr__queue *q,
                      struct zkr__lookout **lookout)
{
    if (!out) {
        return zkr__fail(ZKR_EINVAL, q->dir, "there is no room for the result");
    }
    zkr_client *c = q->c;
    int64_t deadline = zkr__clock_deadline(zkr__now(c), c->options.connect_timeout_ms);
    int rc = zkr__roster_read(out, c, q->dir, q->prefix, deadline);
    if (rc != ZKR_OK) {
        return zkr__fail(rc, q->dir, "cannot read the contenders of %s: %s", q->dir,
                         zkr_strerror(rc));
    }
    zkr__lock(c);
    if (lookout && need_lookout(q, lookout) == ZKR_OK) {
        zkr__lookout_know(*lookout, *out);
    }
    zkr__unlock(c);
    return ZKR_OK;
}

static int
copy_text(char *buf, size_t size, const char *text, const char *what, const char *path)
{
    size_t need = strlen(text) + 1;
    if (!buf || need > size) {
        return zkr__fail(ZKR_EINVAL, path, "the %s needs a buffer of %zu bytes", what,
                         need);
    }
    memcpy(buf, text, need);
    return ZKR_OK;
}

int zkr__contest_first(char *buf,
                       size_t size,
                       const struct zkr__queue *q,
                       struct zkr__lookout **lookout)
{
    zkr_contenders *list;
    int rc = zkr__contest_list(&list, q, lookout);
    if (rc != ZKR_OK) {
        return rc;
    }
    const zkr_contender *first = zkr_contenders_get(list, 0);
    rc = first ? copy_text(buf, size, first->owner, "leader's id", q->dir)
               : zkr__fail(ZKR_ENONODE, q->dir, "nobody takes part in %s", q->dir);
    zkr_contenders_free(list);
    return rc;
}

int zkr__contest_watch(const struct zkr__queue *q,
                       struct zkr__lookout **lookout,
                       int64_t timeout_ms)
{
    zkr_client *c = q->c;
    int rc = zkr__timeout_check(timeout_ms, q->dir);
    if (rc != ZKR_OK) {
        return rc;
    }
    int64_t deadline = zkr__clock_deadline(zkr__now(c), timeout_ms);
    zkr__lock(c);
    rc = need_lookout(q, lookout);
    if (rc == ZKR_OK) {
        rc = zkr__lookout_wait(*lookout, deadline);
    }
    zkr__unlock(c);
    if (rc == ZKR_ETIMEDOUT) {
        return zkr__fail(rc, q->dir, "nobody came to or left %s within %lld ms", q->dir,
                         (long long)timeout_ms);
    }
    return rc == ZKR_OK
               ? rc
               : zkr__fail(rc, q->dir, "cannot watch %s: %s", q->dir, zkr_strerror(rc));
}

int zkr__contest_node(char *buf, size_t size, const struct zkr__claim *claim)
{
    return copy_text(buf, size, claim->node, "node", claim->q->dir);
}
