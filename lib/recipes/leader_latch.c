/* SPDX-License-Identifier: Apache-2.0 */
/* The leader latch: one claim in the queue at the latch's path. A new claim replaces a lost one. */
#include "recipes/leader_latch.h"

#include "base/error.h"
#include "base/options.h"
#include "base/thread.h"
#include "queue/claim.h"
#include "queue/loss.h"
#include "queue/warning.h"
#include "recipes/recipe.h"
#include "session/bound.h"
#include "session/log.h"

/*
 * Returns the claim that makes the latch the leader, even if its lease is in doubt, or NULL if the latch does not lead.
 */
static struct zkr__claim *lead_of(const zkr_leader_latch *l) ZKR__LOCKED
{
    bool leads = l->hold.state == ZKR__HOLD_HELD &&
                 (!l->o.step_down_when_suspended || zkr__connected(l->r.c));
    return leads ? l->hold.claim : NULL;
}

/* Like lead_of(), but returns NULL unless the lease is sure now. A hold that is not sure is declared lost. */
static struct zkr__claim *sure_lead(zkr_leader_latch *l) ZKR__LOCKED
{
    return zkr__hold_check(&l->hold) ? lead_of(l) : NULL;
}

/* --- callbacks --- */

/*
 * Callbacks are not queued. When the dispatch thread runs the latch's call, the call compares the present state of the
 * latch with the state reported last, and reports the difference. So gains and losses alternate, no outdated state is
 * reported, and the memory use is fixed.
 */

enum callback { NONE, ON_LOSS, ON_GAIN, ON_WARN, ON_FAILED, ON_CONTENDERS };

/* Returns the callback that is due next. A loss is reported before the next gain. */
static enum callback next_callback(const zkr_leader_latch *l) ZKR__LOCKED
{
    const struct zkr__claim *lead = lead_of(l);
    if (l->reported &&
        (l->reported != lead || l->reported->k.holds != l->reported_hold)) {
        return ON_LOSS;
    }
    if (lead && !l->reported) {
        return ON_GAIN;
    }
    if (lead && l->o.on_warn && zkr__warning_is_due(lead)) {
        return ON_WARN;
    }
    return l->failure_due ? ON_FAILED : l->contenders_due ? ON_CONTENDERS : NONE;
}

/*
 * Returns the claim whose loss is due or is being reported. The application may still act as the leader of that term.
 * Returns NULL if no loss is due, or on_loss is not set.
 */
static const struct zkr__claim *losing(const zkr_leader_latch *l) ZKR__LOCKED
{
    if (!l->o.on_loss) {
        return NULL;
    }
    return l->loss ? l->loss->claim : next_callback(l) == ON_LOSS ? l->reported : NULL;
}

/* After a possible change of state, wake the waiting threads, and post the call if a callback is due. */
static void changed(zkr_leader_latch *l) ZKR__LOCKED
{
    zkr__cv_broadcast(&l->r.changed);
    if (next_callback(l) != NONE) {
        zkr__dispatch_post(&l->r.c->dispatch, &l->call);
    }
}

static int reason_of(const zkr_leader_latch *l, const struct zkr__claim *reported)
{
    if (reported->k.lost != 0) {
        return reported->k.lost;
    }
    if (zkr__claim_stage(&reported->k) == ZKR__DOUBTED ||
        reported->k.holds != l->reported_hold) {
        return ZKR_LOST_LEASE;
    }
    return reported == l->hold.claim ? ZKR_LOST_SUSPENDED : ZKR_LOST_STOPPED;
}

/* Returns the argument of on_loss, and clears `reported`. The caller takes over its reference to the claim. */
static zkr_lost take_loss(zkr_leader_latch *l) ZKR__LOCKED
{
    struct zkr__claim *reported = l->reported;
    int reason = reason_of(l, reported);
    if (reason == ZKR_LOST_STOPPED || reason == ZKR_LOST_SUSPENDED) {
        zkr__loss_record(reported); /* the engine records other losses itself */
    }
    l->reported = NULL;
    return zkr__loss_tell(reported, reason);
}

/* Returns the token for on_gain, or 0 if the latch no longer leads. */
static int64_t take_gain(zkr_leader_latch *l) ZKR__LOCKED
{
    struct zkr__claim *lead = sure_lead(l);
    if (!lead) {
        return 0;
    }
    l->reported = lead;
    l->reported_hold = lead->k.holds;
    l->gains++;
    zkr__claim_ref(lead);
    zkr__warning_await(lead); /* a new term, so a new warning */
    return lead->czxid;
}

/* Returns the token for on_warn, and sets *left_ms to the rest of the lease. Returns 0 if the latch no longer leads. */
static int64_t take_warning(zkr_leader_latch *l, int64_t *left_ms) ZKR__LOCKED
{
    struct zkr__claim *lead = sure_lead(l);
    if (!lead) {
        return 0;
    }
    zkr__warning_told(lead);
    *left_ms = zkr__valid_for_ms(l->r.c);
    return lead->czxid;
}

/* Copies of a callback's arguments, because the callback may destroy the latch. */
struct told {
    zkr_leader_latch *l;
    zkr_client *c;
    zkr_leader_latch_options o;
    struct zkr__latch_loss loss;
    zkr_lost lost;
};

static void call_on_loss(void *arg)
{
    struct told *told = arg;
    if (told->o.on_loss) {
        told->o.on_loss(told->l, &told->lost, told->o.ctx);
    }
}

static void after_on_loss(void *arg, bool cut)
{
    struct told *told = arg;
    (void)cut;
    zkr__lock(told->c);
    if (!told->loss.latch_ended) {
        told->l->loss = NULL;
    }
    zkr__claim_unref(told->loss.claim);
    zkr__unlock(told->c);
}

/* Runs on the dispatch thread. */
static bool run_call(struct zkr__call *call)
{
    zkr_leader_latch *l = ZKR__OWNER_OF(call, zkr_leader_latch, call);
    zkr_client *c = l->r.c;
    zkr__lock(c);
    struct told told = {.l = l, .c = c, .o = l->o, .loss = {.claim = l->reported}};
    const zkr_leader_latch_options *o = &told.o;
    enum callback next = next_callback(l);
    int64_t token = 0, left_ms = 0;
    int code = l->failure;
    if (next == ON_LOSS) {
        told.lost = take_loss(l);
        l->loss = &told.loss;
    } else if (next == ON_GAIN) {
        token = take_gain(l);
    } else if (next == ON_WARN) {
        token = take_warning(l, &left_ms);
    } else if (next == ON_FAILED) {
        l->failure_due = false;
    } else {
        l->contenders_due = false;
    }
    changed(l);
    zkr__unlock(c);
    bool called = true;
    if (next == ON_LOSS) {
        zkr__thread_call(call_on_loss, after_on_loss, &told);
        called = o->on_loss != NULL;
    } else if (next == ON_WARN && token != 0) {
        o->on_warn(l, token, left_ms, o->ctx);
    } else if (token != 0 && o->on_gain) {
        o->on_gain(l, token, o->ctx);
    } else if (next == ON_FAILED && o->on_failed) {
        o->on_failed(l, code, o->ctx);
    } else if (next == ON_CONTENDERS) {
        o->on_contenders(l, o->ctx);
    } else {
        called = false;
    }
    return called;
}

/* --- helpers of stop --- */

/* Forget the last reported gain, so that on_loss is not called for it. */
static void skip_loss(zkr_leader_latch *l) ZKR__LOCKED
{
    struct zkr__claim *reported = l->reported;
    l->reported = NULL;
    if (reported) {
        zkr__claim_unref(reported);
    }
}

static void run_own_calls(void *latch)
{
    zkr_leader_latch *l = latch;
    zkr__dispatch_run_owner(&l->r.c->dispatch, l);
}

static void after_own_calls(void *latch, bool cut)
{
    zkr_leader_latch *l = latch;
    if (cut) {
        zkr__lock(l->r.c);
        l->r.waiting--;
        zkr__unlock(l->r.c);
    }
}

/*
 * Sleep until a due loss has been reported, and all callbacks that began before this call have returned. On the
 * dispatch thread, return at once. If the application dispatches the callbacks, this function may run them itself.
 */
static void await_callbacks(zkr_leader_latch *l) ZKR__LOCKED
{
    zkr_client *c = l->r.c;
    struct zkr__dispatch *d = &c->dispatch;
    if (zkr__dispatch_is_self(d)) {
        return;
    }
    l->r.waiting++;
    uint64_t gains = l->gains;
    while (l->reported && l->gains == gains) {
        if (zkr__dispatch_by_hand(d)) {
            zkr__unlock(c);
            zkr__thread_call(run_own_calls, after_own_calls, l);
            zkr__lock(c);
        } else {
            (void)zkr__wait(c, &l->r.changed, ZKR__NEVER);
        }
    }
    zkr__unlock(c);
    zkr__dispatch_await_call(d, l);
    zkr__lock(c);
    l->r.waiting--;
}

ZKR__OPTIONS_CHECK(zkr_leader_latch_options, 10, on_warn);

/* --- candidacy --- */

static void join(zkr_leader_latch *l) ZKR__LOCKED;

static void end_candidacy(zkr_leader_latch *l) ZKR__LOCKED
{
    l->started = false;
    l->failure = l->hold.failure;
    l->failure_due = true;
    zkr__log(l->r.c, ZKR_LOG_ERROR,
             ZKR__EVENT("candidacy_over", .path = l->r.queue->dir,
                        .reason = zkr_strerror(l->failure)));
}

/* Replace a lost or failed hold with a new one, unless a retry cannot help. */
// NOLINTNEXTLINE(misc-no-recursion): a hold that is refused at once ends the recursion
static void on_change(struct zkr__hold *hold) ZKR__LOCKED
{
    zkr_leader_latch *l = ZKR__OWNER_OF(hold, zkr_leader_latch, hold);
    enum zkr__hold_state state = zkr__hold_take(hold);
    if (state == ZKR__HOLD_LOST ||
        (state == ZKR__HOLD_FAILED && zkr_err_retriable(hold->failure))) {
        zkr__hold_leave(hold, false);
        join(l);
    } else if (state == ZKR__HOLD_FAILED) {
        zkr__hold_leave(hold, false);
        end_candidacy(l);
    }
    changed(l);
}

/* If the hold is refused, on_change() is called before join() returns. */
// NOLINTNEXTLINE(misc-no-recursion): see on_change()
static void join(zkr_leader_latch *l)
{
    zkr__hold_enter(&l->hold, ZKR_FOREVER, zkr__now(l->r.c));
    if (l->hold.state == ZKR__HOLD_FAILED) { /* out of memory */
        end_candidacy(l);
    }
}

static void on_state(struct zkr__listener *listener, int state) ZKR__LOCKED
{
    zkr_leader_latch *l = ZKR__OWNER_OF(listener, zkr_leader_latch, listener);
    (void)state;
    changed(l);
}

static int enter_queue(zkr_leader_latch *l) ZKR__LOCKED
{
    zkr__hold_enter(&l->hold, ZKR_FOREVER, zkr__now(l->r.c));
    if (l->hold.state != ZKR__HOLD_FAILED) {
        return ZKR_OK;
    }
    l->started = false;
    return zkr__hold_fail(&l->hold, ZKR_FOREVER);
}

int zkr_leader_latch_start(zkr_leader_latch *l)
{
    int rc = zkr__recipe_enter(l);
    if (rc != ZKR_OK) {
        return rc;
    }
    const char *dir = l->r.queue->dir;
    zkr__lock(l->r.c);
    if (l->started) {
        rc = zkr__fail(ZKR_ESTATE, dir, "the latch on %s is already started", dir);
    } else {
        l->failure = 0;
        l->failure_due = false;
        l->started = true;
        rc = l->unfit ? ZKR_OK : enter_queue(l);
    }
    zkr__unlock(l->r.c);
    return rc;
}

int zkr_leader_latch_set_fit(zkr_leader_latch *l, int fit)
{
    int rc = zkr__recipe_enter(l);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(l->r.c);
    bool changes = l->unfit == (fit != 0);
    l->unfit = fit == 0;
    if (changes && l->started && fit) {
        join(l);
        changed(l);
    } else if (changes && l->started) {
        zkr__hold_leave(&l->hold, false);
        changed(l);
    }
    zkr__unlock(l->r.c);
    return ZKR_OK;
}

int zkr_leader_latch_stop(zkr_leader_latch *l, int mode)
{
    int rc = zkr__recipe_enter(l);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (mode != ZKR_LATCH_SILENT && mode != ZKR_LATCH_NOTIFY) {
        return zkr__fail(ZKR_EINVAL, l->r.queue->dir, "unknown mode %d", mode);
    }
    zkr__lock(l->r.c);
    zkr__hold_leave(&l->hold, false);
    l->started = false;
    l->failure = 0;
    l->failure_due = false;
    if (mode == ZKR_LATCH_SILENT) {
        skip_loss(l);
    }
    changed(l);
    await_callbacks(l);
    zkr__unlock(l->r.c);
    return ZKR_OK;
}

/* --- create, destroy --- */

static void on_contenders_change(void *ctx, int64_t sum) ZKR__LOCKED
{
    (void)sum;
    zkr_leader_latch *l = ctx;
    l->contenders_due = true;
    changed(l);
}

static void end(zkr_leader_latch *l)
{
    zkr__lock(l->r.c);
    if (l->o.step_down_when_suspended) {
        zkr__unlisten(l->r.c, &l->listener);
    }
    skip_loss(l);
    if (l->loss) {
        l->loss->latch_ended = true;
    }
    zkr__unlock(l->r.c);
    zkr__recipe_free(&l->r);
}

static int begin(zkr_leader_latch *l, const zkr_leader_latch_options *o)
{
    l->o = *o;
    l->call = (struct zkr__call){.owner = l, .run = run_call};
    l->hold.queue = l->r.queue;
    l->hold.on_change = on_change;
    l->listener.on_state = on_state;
    if (o->step_down_when_suspended) {
        zkr__lock(l->r.c);
        zkr__listen(l->r.c, &l->listener);
        zkr__unlock(l->r.c);
    }
    return o->on_contenders
               ? zkr__recipe_follow(&l->r, l->r.queue->dir, ZKR__FOLLOW_CONTENDERS,
                                    on_contenders_change)
               : ZKR_OK;
}

int zkr_leader_latch_create(zkr_leader_latch **out,
                            zkr_client *c,
                            const char *path,
                            const char *id,
                            const zkr_leader_latch_options *options)
{
    zkr_leader_latch_options o;
    int rc = zkr__recipe_options(c, out, "leader latch", &o, sizeof(o), options);
    if (rc == ZKR_OK && o.warn_ms > 0 && !o.on_warn) {
        rc = zkr__fail(ZKR_EINVAL, path,
                       "options of a leader latch: warn_ms is set without on_warn");
    }
    if (rc == ZKR_OK) {
        rc = zkr__recipe_check_warning(c, path, "leader latch", o.warn_ms, o.on_warn);
    }
    if (rc != ZKR_OK) {
        return rc;
    }
    const struct zkr__queue chosen = {
        .dir = path,
        .kind = ZKR__NAME_LATCH,
        .rule = zkr__rule_first,
        .data = id,
        .data_len = id ? strlen(id) : 0,
        .persistent_parent = o.persistent_parent != 0,
        .keeps_place = true,
        .warn_ms = o.warn_ms,
    };
    zkr_leader_latch *l = zkr__recipe_make(sizeof(*l), c, "leader latch", &chosen, &rc);
    if (!l) {
        return rc;
    }
    rc = begin(l, &o);
    if (rc == ZKR_OK) {
        *out = l;
    } else {
        end(l);
    }
    return rc;
}

int zkr_leader_latch_destroy(zkr_leader_latch *l)
{
    int rc = l ? zkr__recipe_enter(l) : ZKR_OK;
    if (!l || rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(l->r.c);
    rc = zkr__recipe_busy(&l->r, l->started);
    zkr__unlock(l->r.c);
    if (rc == ZKR_OK) {
        end(l);
    }
    return rc;
}

/* --- queries --- */

static int
why_not_leading(const zkr_leader_latch *l, bool was_candidate, bool in_time) ZKR__LOCKED
{
    const char *dir = l->r.queue->dir;
    if (l->r.c->shut) {
        return zkr__fail(ZKR_ECLOSED, dir, "the client is shut down");
    }
    if (l->failure == ZKR_ESEQUENCE || l->failure == ZKR_ENONODE ||
        l->failure == ZKR_ELIMIT || l->failure == ZKR_EFOREIGN) {
        return zkr__hold_fail(&l->hold, ZKR_FOREVER);
    }
    if (l->failure != 0) {
        return zkr__fail_zk(l->failure, l->hold.detail, dir, "no candidate at");
    }
    if (!was_candidate) {
        return zkr__fail(ZKR_ESTATE, dir, "the latch on %s is not started", dir);
    }
    if (!l->started) {
        return zkr__fail(ZKR_ECANCELED, dir, "the latch on %s was stopped", dir);
    }
    return in_time ? ZKR_OK
                   : zkr__fail(ZKR_ETIMEDOUT, dir,
                               "the latch did not lead %s in time: %s", dir,
                               l->unfit ? "it is not fit to lead"
                               : l->hold.claim && l->hold.claim->k.phase == ZKR__PARKED
                                   ? "another candidate leads"
                                   : "no answer from a server");
}

int zkr_leader_latch_await(zkr_leader_latch *l, int64_t timeout_ms)
{
    int rc = zkr__recipe_enter_blocking(l);
    if (rc != ZKR_OK) {
        return rc;
    }
    rc = zkr__timeout_check(timeout_ms, l->r.queue->dir);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr_client *c = l->r.c;
    int64_t deadline = zkr__clock_deadline(zkr__now(c), timeout_ms);
    zkr__lock(c);
    bool candidate = l->started;
    bool in_time = timeout_ms != 0;
    bool leads = sure_lead(l) != NULL;
    l->r.waiting++;
    while (l->started && !leads && !c->shut && in_time) {
        in_time = zkr__wait(c, &l->r.changed, deadline);
        leads = sure_lead(l) != NULL;
    }
    l->r.waiting--;
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
    int rc = zkr__recipe_enter(l);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(l->r.c);
    bool leads = sure_lead(l) && !losing(l);
    int state = leads             ? ZKR_LATCH_LEADING
                : l->started      ? ZKR_LATCH_WAITING
                : l->failure != 0 ? l->failure
                                  : ZKR_LATCH_STOPPED;
    zkr__unlock(l->r.c);
    return state;
}

static const struct zkr__claim *hold(void *latch, int *rc) ZKR__LOCKED
{
    zkr_leader_latch *l = latch;
    const struct zkr__claim *claim = sure_lead(l);
    const char *dir = l->r.queue->dir;
    if (!claim && rc) {
        *rc = zkr__fail(ZKR_ENOTOWNER, dir, "the latch does not lead %s", dir);
    }
    return claim;
}

/* Like hold(), for a caller that does not name a term. Returns NULL while a loss is due or is being reported. */
static const struct zkr__claim *hold_of_any_term(void *latch, int *rc) ZKR__LOCKED
{
    const struct zkr__claim *claim = hold(latch, rc);
    return losing(latch) ? NULL : claim;
}

int64_t zkr_leader_latch_valid_for_ms(zkr_leader_latch *l)
{
    return zkr__recipe_valid_for_ms(l, hold_of_any_term);
}

int64_t zkr_leader_latch_term_valid_for_ms(zkr_leader_latch *l, int64_t fencing_token)
{
    if (zkr__recipe_enter(l) != ZKR_OK) {
        return 0;
    }
    zkr__lock(l->r.c);
    const struct zkr__claim *lead = sure_lead(l);
    bool is_meant = lead && lead->czxid == fencing_token && lead != losing(l);
    int64_t left = is_meant ? zkr__valid_for_ms(l->r.c) : 0;
    zkr__unlock(l->r.c);
    return left;
}

int zkr_leader_latch_fencing_token(zkr_leader_latch *l, int64_t *token)
{
    return zkr__recipe_get(l, hold, zkr__hold_get_token, token, sizeof(*token));
}

int zkr_leader_latch_node(zkr_leader_latch *l, char *buf, size_t size)
{
    return zkr__recipe_get(l, hold, zkr__hold_get_node, buf, size);
}

int zkr_leader_latch_leader(zkr_leader_latch *l, char *buf, size_t size)
{
    int rc = zkr__recipe_enter_blocking(l);
    return rc == ZKR_OK ? zkr__contenders_first(buf, size, l->r.queue, &l->r.watch)
                        : rc;
}

int zkr_leader_latch_participants(zkr_leader_latch *l, zkr_contenders **out)
{
    int rc = zkr__recipe_enter_blocking(l);
    return rc == ZKR_OK ? zkr__contenders_list(out, l->r.queue, NULL, &l->r.watch) : rc;
}

int zkr_leader_latch_watch(zkr_leader_latch *l, int64_t timeout_ms)
{
    int rc = zkr__recipe_enter_blocking(l);
    return rc == ZKR_OK
               ? zkr__contenders_await_change(l->r.queue, &l->r.watch, timeout_ms)
               : rc;
}
