/* SPDX-License-Identifier: Apache-2.0 */
/* What a leader latch can be asked. */
#include "base/error.h"
#include "recipes/leader_latch_state.h"
#include "session/bound.h"

static int why_not_leading(const zkr_leader_latch *l, bool was_candidate, bool in_time)
{
    const char *dir = l->queue->dir;
    if (l->c->shut) {
        return zkr__fail(ZKR_ECLOSED, dir, "the client is shut down");
    }
    if (l->failure == ZKR_ESEQUENCE) {
        return zkr__fail(l->failure, dir,
                         "the sequence numbers of %s are used up; leave it empty for a "
                         "moment and delete it, or use another path",
                         dir);
    }
    if (l->failure == ZKR_ENONODE) {
        return zkr__fail(l->failure, dir,
                         "cannot create %s: is the chroot of the server list missing?",
                         dir);
    }
    if (l->failure != 0) {
        return zkr__fail_zk(l->failure, l->failure_detail, dir, "no candidate");
    }
    if (!was_candidate) {
        return zkr__fail(ZKR_ESTATE, dir, "the latch on %s is not started", dir);
    }
    if (!l->claim) {
        return zkr__fail(ZKR_ECANCELED, dir, "the latch on %s was stopped", dir);
    }
    return in_time
               ? ZKR_OK
               : zkr__fail(ZKR_ETIMEDOUT, dir, "not the leader of %s in time: %s", dir,
                           l->claim->k.phase == ZKR__PARKED
                               ? "another one leads"
                               : "no answer from a server");
}

int zkr_leader_latch_await(zkr_leader_latch *l, int64_t timeout_ms)
{
    int rc = zkr__latch_enter_blocking(l);
    if (rc != ZKR_OK) {
        return rc;
    }
    rc = zkr__timeout_check(timeout_ms, l->queue->dir);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr_client *c = l->c;
    int64_t deadline = zkr__clock_deadline(zkr__now(c), timeout_ms);
    zkr__lock(c);
    bool candidate = l->claim != NULL;
    bool in_time = timeout_ms != 0;
    bool leads = zkr__latch_sure_lead(l) != NULL;
    l->waiting++;
    while (l->claim && !leads && !c->shut && in_time) {
        in_time = zkr__wait(c, &l->changed, deadline);
        leads = zkr__latch_sure_lead(l) != NULL;
    }
    l->waiting--;
    if (!leads) {
        rc = why_not_leading(l, candidate, in_time);
    }
    zkr__unlock(c);
    return rc;
}

bool zkr_leader_latch_has_leadership(zkr_leader_latch *l)
{
    return zkr_leader_latch_state(l) == ZKR_LATCH_LEADING;
}

int zkr_leader_latch_state(zkr_leader_latch *l)
{
    int rc = zkr__latch_enter(l);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(l->c);
    bool leads = zkr__latch_sure_lead(l) != NULL;
    int state = leads             ? ZKR_LATCH_LEADING
                : l->claim        ? ZKR_LATCH_WAITING
                : l->failure != 0 ? l->failure
                                  : ZKR_LATCH_STOPPED;
    zkr__unlock(l->c);
    return state;
}

int64_t zkr_leader_latch_valid_for_ms(zkr_leader_latch *l)
{
    if (zkr__latch_enter(l) != ZKR_OK) {
        return 0;
    }
    zkr__lock(l->c);
    int64_t left = zkr__latch_sure_lead(l) ? zkr__valid_for_ms(l->c) : 0;
    zkr__unlock(l->c);
    return left;
}

static int not_leading(const zkr_leader_latch *l)
{
    const char *dir = l->queue->dir;
    return zkr__fail(ZKR_ENOTOWNER, dir, "the latch does not lead %s", dir);
}

int zkr_leader_latch_fencing_token(zkr_leader_latch *l, int64_t *token)
{
    int rc = zkr__latch_enter(l);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (!token) {
        return zkr__fail(ZKR_EINVAL, l->queue->dir, "there is no room for the result");
    }
    zkr__lock(l->c);
    const struct zkr__claim *lead = zkr__latch_sure_lead(l);
    if (lead) {
        *token = lead->czxid;
    } else {
        rc = not_leading(l);
    }
    zkr__unlock(l->c);
    return rc;
}

int zkr_leader_latch_node(zkr_leader_latch *l, char *buf, size_t size)
{
    int rc = zkr__latch_enter(l);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(l->c);
    const struct zkr__claim *lead = zkr__latch_sure_lead(l);
    rc = lead ? zkr__contenders_node(buf, size, lead) : not_leading(l);
    zkr__unlock(l->c);
    return rc;
}

int zkr_leader_latch_leader(zkr_leader_latch *l, char *buf, size_t size)
{
    int rc = zkr__latch_enter_blocking(l);
    return rc == ZKR_OK ? zkr__contenders_first(buf, size, l->queue, &l->watch) : rc;
}

int zkr_leader_latch_participants(zkr_leader_latch *l, zkr_contenders **out)
{
    int rc = zkr__latch_enter_blocking(l);
    return rc == ZKR_OK ? zkr__contenders_list(out, l->queue, &l->watch) : rc;
}

int zkr_leader_latch_watch(zkr_leader_latch *l, int64_t timeout_ms)
{
    int rc = zkr__latch_enter_blocking(l);
    return rc == ZKR_OK ? zkr__contenders_await_change(l->queue, &l->watch, timeout_ms)
                        : rc;
}
