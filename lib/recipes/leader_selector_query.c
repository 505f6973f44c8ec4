/* SPDX-License-Identifier: Apache-2.0 */
/* What a leader selector can be asked and told, and what take_leadership() asks. */
#include "base/error.h"
#include "recipes/leader_selector_state.h"
#include "session/bound.h"

int zkr_leader_selector_state(zkr_leader_selector *s)
{
    int rc = zkr__selector_enter(s);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(s->c);
    int state = !s->started || s->ended ? ZKR_SELECTOR_STOPPED
                : s->stopping           ? ZKR_SELECTOR_STOPPING
                : s->leading            ? ZKR_SELECTOR_LEADING
                : s->failure != 0       ? s->failure
                : s->queued             ? ZKR_SELECTOR_QUEUED
                                        : ZKR_SELECTOR_IDLE;
    zkr__unlock(s->c);
    return state;
}

bool zkr_leader_selector_has_leadership(zkr_leader_selector *s)
{
    if (zkr__selector_enter(s) != ZKR_OK) {
        return false;
    }
    zkr__lock(s->c);
    bool leads = s->leading && zkr__leadership_sure(&s->lead);
    zkr__unlock(s->c);
    return leads;
}

int zkr_leader_selector_requeue(zkr_leader_selector *s)
{
    int rc = zkr__selector_enter(s);
    if (rc != ZKR_OK) {
        return rc;
    }
    const char *dir = s->queue->dir;
    zkr__lock(s->c);
    if (!s->started || s->stopping) {
        rc = zkr__fail(ZKR_ESTATE, dir, "the selector on %s is not started", dir);
    } else if (s->queued) {
        rc = zkr__fail(ZKR_EBUSY, dir, "the selector is in the queue of %s already",
                       dir);
    } else {
        s->queued = true;
        s->failure = 0;
        zkr__cv_broadcast(&s->changed);
    }
    zkr__unlock(s->c);
    return rc;
}

int zkr_leader_selector_interrupt(zkr_leader_selector *s)
{
    int rc = zkr__selector_enter(s);
    if (rc != ZKR_OK) {
        return rc;
    }
    const char *dir = s->queue->dir;
    zkr__lock(s->c);
    if (s->leading) {
        s->lead.interrupted = true;
        zkr__cv_broadcast(&s->changed);
    } else {
        rc = zkr__fail(ZKR_ENOTOWNER, dir, "the selector does not lead %s", dir);
    }
    zkr__unlock(s->c);
    return rc;
}

int zkr_leader_selector_leader(zkr_leader_selector *s, char *buf, size_t size)
{
    int rc = zkr__selector_enter_blocking(s);
    return rc == ZKR_OK ? zkr__contenders_first(buf, size, s->queue, NULL) : rc;
}

int zkr_leader_selector_participants(zkr_leader_selector *s, zkr_contenders **out)
{
    int rc = zkr__selector_enter_blocking(s);
    return rc == ZKR_OK ? zkr__contenders_list(out, s->queue, NULL) : rc;
}

/* --- for take_leadership() --- */

static zkr_leader_selector *selector_of(zkr_leadership *lead)
{
    return lead ? lead->s : NULL;
}

/* ZKR_ETIMEDOUT: not over. */
static int why_over(zkr_leadership *lead) ZKR__LOCKED
{
    const char *dir = lead->s->queue->dir;
    if (!zkr__leadership_sure(lead)) {
        return zkr__fail(ZKR_ESESSION, dir, "the leadership of %s is lost", dir);
    }
    if (lead->interrupted || lead->s->stopping) {
        return zkr__fail(ZKR_ECANCELED, dir, "give the leadership of %s up", dir);
    }
    if (lead->s->c->shut) {
        return zkr__fail(ZKR_ECLOSED, dir, "the client is shut down");
    }
    return ZKR_ETIMEDOUT;
}

int zkr_leadership_wait(zkr_leadership *lead, int64_t timeout_ms)
{
    zkr_leader_selector *s = selector_of(lead);
    int rc = zkr__selector_enter_blocking(s);
    if (rc != ZKR_OK) {
        return rc;
    }
    rc = zkr__timeout_check(timeout_ms, s->queue->dir);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr_client *c = s->c;
    int64_t deadline = zkr__clock_deadline(zkr__now(c), timeout_ms);
    zkr__lock(c);
    bool in_time = timeout_ms != 0;
    rc = why_over(lead);
    while (rc == ZKR_ETIMEDOUT && in_time) {
        in_time = zkr__wait(c, &s->changed, deadline);
        rc = why_over(lead);
    }
    zkr__unlock(c);
    return rc;
}

int64_t zkr_leadership_valid_for_ms(zkr_leadership *lead)
{
    zkr_leader_selector *s = selector_of(lead);
    if (zkr__selector_enter(s) != ZKR_OK) {
        return 0;
    }
    zkr__lock(s->c);
    int64_t left = zkr__leadership_sure(lead) ? zkr__valid_for_ms(s->c) : 0;
    zkr__unlock(s->c);
    return left;
}

int64_t zkr_leadership_fencing_token(zkr_leadership *lead)
{
    zkr_leader_selector *s = selector_of(lead);
    if (zkr__selector_enter(s) != ZKR_OK) {
        return 0;
    }
    zkr__lock(s->c);
    int64_t token = lead->claim->czxid;
    zkr__unlock(s->c);
    return token;
}

int zkr_leadership_node(zkr_leadership *lead, char *buf, size_t size)
{
    zkr_leader_selector *s = selector_of(lead);
    int rc = zkr__selector_enter(s);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(s->c);
    rc = zkr__contenders_node(buf, size, lead->claim);
    zkr__unlock(s->c);
    return rc;
}
