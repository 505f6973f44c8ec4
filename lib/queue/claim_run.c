/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/claim_run.h"

#include <string.h>

#include "queue/admission.h"
#include "queue/batch.h"
#include "queue/children_cache.h"
#include "queue/claim.h"
#include "queue/claim_invariant.h"
#include "queue/claim_io.h"
#include "queue/claim_plan.h"
#include "queue/claim_settled.h"
#include "queue/engine_state.h"
#include "queue/ghosts.h"
#include "queue/keep.h"
#include "queue/loss.h"
#include "queue/news.h"
#include "queue/recount.h"
#include "session/bound.h"
#include "session/client.h"
#include "session/must.h"
#include "session/session.h"

/* --- an event, and its consequences --- */

/* A claim also watches its own node once it has been parked or has held for this long. */
enum { QUIET_MS = 100 };

/*
 * Returns the pause after which the first lease probe of a hold has been sent, with the metadata, unless other writes
 * keep the lease. The watch on the node is set after the probe, because that write would use up the watch.
 */
static int64_t metadata_pause(const zkr_client *c)
{
    return c->session_ms * ZKR__MS / 8;
}

/*
 * Returns the pause between gets of a node that the servers refuse to show. The pause grows from a quarter of the
 * session timeout to four session timeouts.
 */
static int64_t refusal_pause(const zkr_client *c, int refusals)
{
    enum { TIMES = 4 };
    return c->session_ms * ZKR__MS / 4 << (refusals <= TIMES ? refusals - 1 : TIMES);
}

/* --- counters --- */

/* How the client's statistics count a claim. KEPT counts as released. */
enum { AS_NOTHING, AS_WAITING, AS_HELD, AS_KEPT, AS_PENDING };

static bool is_held(int as)
{
    return as == AS_HELD || as == AS_KEPT;
}

static int count_as(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__HELD                 ? (k->kept ? AS_KEPT : AS_HELD)
           : k->phase == ZKR__GONE               ? AS_NOTHING
           : k->leaving || zkr__claim_decided(k) ? AS_PENDING
                                                 : AS_WAITING;
}

static void begin_hold(struct zkr__claim *claim) ZKR__LOCKED
{
    zkr_client *c = claim->q->c;
    ZKR__MUST(c, c->session_id != 0 && !claim->in_line && !claim->awaits_admission);
    DL_APPEND2(claim->engine->held, claim, row_prev, row_next);
    zkr__claim_probe_later(c);
    claim->metadata_at = claim->k.has_metadata ? zkr__now(c) + metadata_pause(c) : 0;
    /* No client watches the node of a permit, so a write to it is harmless. */
    claim->bearing =
        claim->q->kind == ZKR__NAME_LEASE ? ZKR__BEARS : ZKR__BEARS_UNKNOWN;
}

/*
 * A write to our node uses up the watches on it. Clients that use Curator's names then list or watch again, but others
 * may not: aiozk 0.32 waits forever. Returns the highest number among the nodes of these other clients, or INT64_MIN.
 */
static int64_t last_stranger(const struct zkr__directory *d,
                             const struct zkr__answer *list) ZKR__LOCKED
{
    int64_t last = INT64_MIN;
    for (size_t i = 0; i < list->name_count; i++) {
        enum zkr__name_kind kind;
        int64_t sequence;
        const char *name = list->names[i];
        bool bears = !zkr__name_parse(name, &kind, &sequence) ||
                     zkr__claim_in(d, name) ||
                     (kind != ZKR__NAME_OTHER &&
                      strncmp(name, ZKR__PROTECTED, strlen(ZKR__PROTECTED)) == 0);
        last = bears || sequence < last ? last : sequence;
    }
    return last;
}

/* If the write cannot harm a waiter, let the next probe write the metadata of this hold, and send that probe soon. */
static void hurry_metadata(struct zkr__claim *claim) ZKR__LOCKED
{
    struct zkr__engine *engine = claim->engine;
    if (zkr__claim_wants_metadata(&claim->k) && claim->bearing == ZKR__BEARS &&
        zkr__now(engine->c) >= engine->metadata_from) {
        DL_DELETE2(engine->held, claim, row_prev, row_next);
        DL_PREPEND2(engine->held, claim, row_prev, row_next);
        zkr__probe_soon(engine->c);
    }
}

/* One list of the waiters serves all holds in the directory. */
static void
on_behind(void *ctx, unsigned unused, const struct zkr__answer *answer) ZKR__LOCKED
{
    (void)unused;
    struct zkr__claim *asker = ctx, *claim;
    struct zkr__directory *d = asker->directory;
    bool told = answer->code == ZKR_OK;
    int64_t stranger = told ? last_stranger(d, answer) : 0;
    d->asks_behind = false;
    DL_FOREACH2(d->ours, claim, ours_next)
    {
        if (told && claim->k.phase == ZKR__HELD && claim->bearing != ZKR__BEARS_NOT) {
            claim->bearing = stranger < claim->sequence ? ZKR__BEARS : ZKR__BEARS_NOT;
            hurry_metadata(claim);
        }
    }
    zkr__claim_unref(asker);
}

/*
 * Before the metadata are written, list the waiters behind the node. If the metadata are still due after a pause, list
 * again.
 */
static void advance_metadata(struct zkr__claim *claim) ZKR__LOCKED
{
    const zkr_client *c = claim->q->c;
    struct zkr__directory *d = claim->directory;
    if (claim->k.phase != ZKR__HELD || !claim->k.has_metadata ||
        claim->k.metadata == ZKR__METADATA_WRITTEN ||
        claim->bearing == ZKR__BEARS_NOT) {
        return;
    }
    if (claim->q->kind == ZKR__NAME_LEASE) {
        hurry_metadata(claim);
    } else {
        claim->bearing = ZKR__BEARS_UNKNOWN;
    }
    if (claim->bearing != ZKR__BEARS && !d->asks_behind && zkr__connected(c)) {
        const struct zkr__op op = {.kind = ZKR__OP_CHILDREN, .path = claim->q->dir};
        zkr__claim_ref(claim);
        d->asks_behind = zkr__submit(claim->q->c, &op, on_behind, claim, 0);
    }
    claim->metadata_at = zkr__now(c) + metadata_pause(c);
}

/* Count how a waiter was granted. @before and @look describe the claim before event @by. */
static void record_hand_over(struct zkr__claim *claim,
                             enum zkr__phase before,
                             enum zkr__look_ahead look,
                             enum zkr__event_kind by) ZKR__LOCKED
{
    enum zkr__phase now = claim->k.phase;
    bool listed = now == ZKR__LISTING || by == ZKR__EV_LISTED;
    if (before == ZKR__PARKED && now != ZKR__PARKED) {
        claim->came = listed                         ? ZKR__BY_LIST
                      : by == ZKR__EV_AHEAD_RELEASED ? ZKR__BY_NEIGHBOUR
                      : by == ZKR__EV_AHEAD_TOLD     ? ZKR__BY_NEWS
                      : look == ZKR__PREPARED        ? ZKR__BY_PREPARATION
                                                     : ZKR__BY_EVENT;
    }
    if (before != ZKR__HELD && now == ZKR__HELD && claim->k.waited) {
        zkr__queue_meter(claim->q)->n.hand_overs[claim->came]++;
        claim->engine->spared.prepared += claim->came == ZKR__BY_PREPARATION;
    }
}

static void recount(struct zkr__claim *claim) ZKR__LOCKED
{
    zkr_client *c = claim->q->c;
    int64_t nothing = 0;
    int64_t *const counters[] = {
        [AS_NOTHING] = &nothing,
        [AS_WAITING] = &c->stats.waiting,
        [AS_HELD] = &c->stats.held,
        [AS_KEPT] = &c->stats.pending_deletes,
        [AS_PENDING] = &c->stats.pending_deletes,
    };
    int before = claim->counted_as, now = count_as(&claim->k);
    if (now == before) {
        return;
    }
    claim->counted_as = (unsigned char)now;
    ZKR__MUST(c, before == AS_NOTHING || *counters[before] > 0);
    (*counters[before])--;
    (*counters[now])++;
    if (is_held(before) && !is_held(now)) {
        DL_DELETE2(claim->engine->held, claim, row_prev, row_next);
    }
    if (now == AS_HELD) {
        c->stats.grants++;
        c->stats.contended += claim->k.waited;
    }
    if (is_held(now) && !is_held(before)) {
        begin_hold(claim);
    }
    if ((before == AS_PENDING || before == AS_KEPT) && c->stats.pending_deletes == 0) {
        zkr__deletes_done(c);
    }
}

static void recount_refused(struct zkr__claim *claim) ZKR__LOCKED
{
    bool now = claim->k.refused && claim->k.phase != ZKR__GONE;
    if (now && !claim->counted_refused) {
        zkr__claim_wake(claim); /* wakes zkr__claim_leave() */
    }
    claim->q->c->refused_deletes += now - claim->counted_refused;
    claim->counted_refused = now;
}

/* --- timers --- */

/* Set the timer to the earliest of the claim's times. */
static void arm(struct zkr__claim *claim) ZKR__LOCKED
{
    const int64_t times[] = {claim->retry_at,   claim->quiet_at,
                             claim->give_up_at, claim->metadata_at,
                             claim->doubt_at,   zkr__keep_until(claim)};
    int64_t at = ZKR__NEVER;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        at = times[i] != 0 && times[i] < at ? times[i] : at;
    }
    if (at == ZKR__NEVER) {
        zkr__timer_stop(&claim->engine->timers, &claim->timer);
    } else if (at != claim->timer.at) {
        zkr__engine_timer(claim->engine, &claim->timer, at);
    }
}

static void
set_timer(struct zkr__claim *claim, enum zkr__deed deed, unsigned todo) ZKR__LOCKED
{
    zkr_client *c = claim->q->c;
    if (deed == ZKR__DEED_RETRY) {
        int64_t n = claim->k.failures > 0 ? claim->k.failures - 1 : 0;
        claim->retry_at =
            zkr__now(c) + zkr__retry_pause(&c->retry, n, zkr__retry_random(&c->random));
    } else if (deed == ZKR__DEED_PACE) {
        claim->retry_at = zkr__from_boot(c, zkr__lease_probe_at(&c->lease));
    } else if (deed == ZKR__DEED_LOOK_LATER) {
        claim->quiet_at = zkr__now(c) + refusal_pause(c, claim->k.refusals);
    } else {
        /* A READY member sets the watch later, so that it need not wait for the answer when all others are READY. */
        bool at_once = claim->q->watch_node && (todo & ZKR__DO_NOTIFY) &&
                       claim->k.phase != ZKR__READY;
        int64_t pause = zkr__claim_wants_metadata(&claim->k) ? metadata_pause(c) : 0;
        claim->quiet_at = zkr__now(c) + (at_once ? 0 : pause + QUIET_MS * ZKR__MS);
    }
}

/* --- one step --- */

static void notify(struct zkr__claim *claim) ZKR__LOCKED
{
    if (claim->on_change) {
        claim->on_change(claim, claim->on_change_ctx);
    }
    zkr__claim_wake(claim);
}

/* The recursion ends after one step, because a claim that this event moves did not hold, and so hands over nothing. */
// NOLINTNEXTLINE(misc-no-recursion)
static void tell_behind(struct zkr__claim *claim, enum zkr__event_kind kind) ZKR__LOCKED
{
    struct zkr__claim *behind;
    while ((behind = zkr__claim_next_behind(claim)) != NULL) {
        zkr__claim_tell(behind, kind);
    }
}

/* Send the requests of @deed, except those that are sent together with requests of other members. */
static void request(struct zkr__claim *claim, enum zkr__deed deed) ZKR__LOCKED
{
    bool create = deed == ZKR__DEED_CREATE && claim->group;
    if (deed == ZKR__DEED_REMOVE && claim->sequence >= ZKR__SEQUENCE_WARN) {
        zkr__recount_look(claim);
    }
    if (!claim->group || !zkr__batch_defers(claim, zkr__deed_action(deed))) {
        zkr__claim_request(claim, deed);
    }
    if (create) {
        zkr__batch_create(claim->group);
    }
}

/* Join the line for admission. Returns further actions. */
static unsigned line_up(struct zkr__claim *claim) ZKR__LOCKED
{
    zkr__admission_line_up(claim);
    return claim->in_line && claim->q->tells_queued ? ZKR__DO_NOTIFY : 0;
}

// NOLINTNEXTLINE(misc-no-recursion): see tell_behind()
static void carry_out(struct zkr__claim *claim, unsigned todo) ZKR__LOCKED
{
    unsigned at = 0;
    enum zkr__deed deed;
    while ((deed = zkr__deed_next(todo, &at)) != ZKR__DEEDS) {
        switch (deed) {
        case ZKR__DEED_HAND_OVER:
        case ZKR__DEED_STEP_ASIDE:
        case ZKR__DEED_LET_LOOK:
            tell_behind(claim, zkr__deed_tells(deed));
            break;
        case ZKR__DEED_PASS_ON:
            zkr__news_pass_on(claim);
            break;
        case ZKR__DEED_RETRY:
        case ZKR__DEED_PACE:
        case ZKR__DEED_LOOK_LATER:
        case ZKR__DEED_QUIET:
            set_timer(claim, deed, todo);
            break;
        case ZKR__DEED_LINE_UP:
            todo |= line_up(claim);
            break;
        case ZKR__DEED_COUNT_LOSS:
            claim->q->c->stats.losses++;
            zkr__loss_record(claim);
            break;
        case ZKR__DEED_NOTIFY:
            notify(claim);
            break;
        case ZKR__DEED_TELL_REVOCATION:
            claim->revocations++;
            zkr__claim_tell_revocations(claim);
            break;
        case ZKR__DEED_PARENTS:
        case ZKR__DEED_CREATE:
        case ZKR__DEED_FIND:
        case ZKR__DEED_GET_OWN:
        case ZKR__DEED_ASK_OWNER:
        case ZKR__DEED_LIST:
        case ZKR__DEED_CHECK_OWN:
        case ZKR__DEED_GET_AHEAD:
        case ZKR__DEED_GET_BEFORE:
        case ZKR__DEED_PROVE:
        case ZKR__DEED_DOWNGRADE:
        case ZKR__DEED_RESTORE:
        case ZKR__DEED_REMOVE:
        case ZKR__DEEDS:
            request(claim, deed);
        }
    }
}

/* --- kept nodes --- */

/* NOLINTNEXTLINE(misc-no-recursion): an inner call finds that a claim is leaving */
static void move_up(struct zkr__directory *d) ZKR__LOCKED
{
    struct zkr__claim *next;
    while ((next = zkr__keep_next(d)) != NULL) {
        zkr__claim_ref(next);
        zkr__claim_tell(next, ZKR__EV_PAUSE_OVER);
        zkr__keep_went(next);
        zkr__claim_unref(next);
    }
}

/* Check that a line has a claim with a node ahead of it. */
static void check_line(const struct zkr__directory *d) ZKR__LOCKED
{
    const struct zkr__keep *keep = d->keep;
    ZKR__MUST(d->engine->c,
              !keep || !keep->line || keep->moving_up || keep->standing > 0);
}

/* NOLINTNEXTLINE(misc-no-recursion): the claim is no longer kept */
static void end_keeping(struct zkr__claim *claim) ZKR__LOCKED
{
    zkr__keep_end(claim);
    if (claim->k.kept) {
        zkr__claim_tell(claim, ZKR__EV_LEAVE);
        zkr__claim_unref(claim); /* this drops the owner's reference */
    }
}

void zkr__claims_end_keeping(struct zkr__engine *engine, const struct zkr__queue *q)
{
    struct zkr__claim *claim, *next;
    DL_FOREACH_SAFE2(engine->held, claim, next, row_next)
    {
        if (claim->k.kept && (!q || claim->q == q)) {
            end_keeping(claim);
        }
    }
}

void zkr__claims_contended(struct zkr__directory *d)
{
    struct zkr__claim *claim = zkr__keep_find(d);
    if (claim) {
        zkr__keep_contended(d);
        end_keeping(claim);
        move_up(d);
    }
}

// NOLINTNEXTLINE(misc-no-recursion): see end_keeping()
static void settle_keeping(struct zkr__claim *claim) ZKR__LOCKED
{
    struct zkr__claim *over = zkr__keep_over(claim);
    if (over) {
        end_keeping(over);
    }
}

/* --- one step, and its consequences --- */

/* After a step, drop what the phase no longer needs, count the claim, and set its timer. */
static void settle(struct zkr__claim *claim) ZKR__LOCKED
{
    unsigned forgets = zkr__claim_forgets(&claim->k);
    bool gone = claim->k.phase == ZKR__GONE;
    if (forgets & ZKR__FORGET_AHEAD) {
        zkr__claim_forget_ahead(claim);
    }
    if (forgets & ZKR__FORGET_NODE) {
        zkr__claim_forget_node(claim);
    }
    if (forgets & ZKR__FORGET_LIST) {
        zkr__claim_drop_list(claim);
    }
    if (forgets & ZKR__FORGET_CACHE) {
        zkr__cache_forget(claim->directory);
    }
    if (zkr__claim_is_going(&claim->k)) {
        claim->directory->departures++;
    }
    zkr__claim_settle_doubt(claim);
    zkr__claim_settle_look_ahead(claim);
    zkr__news_settle(claim);
    zkr__admission_settle(claim);
    zkr__keep_settle(claim);
    recount(claim);
    recount_refused(claim);
    if (forgets & ZKR__FORGET_TIMERS) {
        claim->retry_at = claim->quiet_at = claim->give_up_at = claim->metadata_at = 0;
    }
    arm(claim);
    if (gone && claim->live) {
        claim->live = false;
        zkr__claim_wake(claim); /* wakes zkr__claim_leave() */
        zkr__claim_unref(claim);
    }
    ZKR__MUST_NOT(claim->q->c, zkr__claim_settled(claim));
}

// NOLINTNEXTLINE(misc-no-recursion): see tell_behind()
void zkr__claim_run(struct zkr__claim *claim, struct zkr__claim_event e)
{
    zkr_client *c = claim->q->c;
    ZKR__MUST(c, claim->refs > 0);
    e.connected = zkr__connected(c);
    e.sure = e.kind == ZKR__EV_PROVED ? zkr__proved(c) : zkr__sure(c);
    e.ample = zkr__amply_sure(c);
    e.crowded = zkr__admission_waits(claim);
    e.wary = zkr__try_is_wary(claim);
    e.announces = claim->q->tells_queued;
    e.patient = c->retry.attempts == 0 || claim->k.failures < c->retry.attempts;
    zkr__claim_ref(claim);
    const struct zkr__claim_state was = claim->k;
    enum zkr__phase before = was.phase, stage = zkr__claim_stage(&was);
    if (e.kind == ZKR__EV_AHEAD_GONE || e.kind == ZKR__EV_AHEAD_TOLD ||
        (e.kind == ZKR__EV_GOT_AHEAD && e.code == ZKR_ENONODE)) {
        zkr__cache_gone(claim);
    }
    c->news_grants += e.kind == ZKR__EV_AHEAD_TOLD;
    zkr__keep_event(claim, &e);
    unsigned todo = zkr__claim_step(&claim->k, &e);
    ZKR__MUST_NOT(c, zkr__claim_step_invariant(&was, &e, &claim->k));
    ZKR__MUST_NOT(c, zkr__claim_invariant(&claim->k));
    /* Recount first, because the owner may make another claim at once. */
    zkr__claim_recount_bytes(claim);
    record_hand_over(claim, before, was.look, e.kind);
    /* A claim that starts to leave makes room in the directory. */
    bool leaves = zkr__claim_is_going(&claim->k);
    claim->directory->seen -=
        leaves && stage != ZKR__REMOVING && claim->directory->seen > 0;
    if (before != ZKR__HELD && claim->k.phase == ZKR__HELD) {
        claim->held_since_ms = zkr__clock_wall_ms();
        claim->held_at = zkr__now(c);
    }
    carry_out(claim, todo);
    zkr__keep_sent(claim);
    settle(claim);
    settle_keeping(claim);
    move_up(claim->directory);
    check_line(claim->directory);
    zkr__claim_unref(claim);
}

// NOLINTNEXTLINE(misc-no-recursion): see tell_behind()
void zkr__claim_tell(struct zkr__claim *claim, enum zkr__event_kind kind)
{
    zkr__claim_run(claim, (struct zkr__claim_event){.kind = kind});
}

/* --- answers, timers, nodes ahead --- */

void zkr__claims_let_in(struct zkr__engine *engine)
{
    struct zkr__claim *first;
    while ((first = zkr__admission_next(engine)) != NULL) {
        zkr__claim_tell(first, ZKR__EV_PAUSE_OVER);
    }
}

void zkr__claim_on_answer(void *ctx, unsigned tag, const struct zkr__answer *answer)
{
    struct zkr__claim *claim = ctx;
    struct zkr__claim_event e;
    if (zkr__claim_take_answer(claim, tag, answer, &e)) {
        zkr__claim_run(claim, e);
        if (e.kind == ZKR__EV_GOT_OWN && e.unwatched && claim->reserves) {
            /* The get was sent before room for the watch was reserved. */
            zkr__claim_tell(claim, ZKR__EV_QUIET);
        }
        zkr__claims_let_in(claim->engine);
    }
    zkr__claim_unref(claim);
}

/* If the time *at has come, clear *at and return true. Otherwise return false. */
static bool falls_due(int64_t *at, int64_t now)
{
    bool due = *at != 0 && *at <= now;
    *at = due ? 0 : *at;
    return due;
}

static void on_timer(struct zkr__timer *timer, int64_t now) ZKR__LOCKED
{
    struct zkr__claim *claim = ZKR__OWNER_OF(timer, struct zkr__claim, timer);
    const struct zkr__claim_event give_up = {
        .kind = ZKR__EV_GIVE_UP,
        .code = zkr__claim_is_behind(claim) ? ZKR_ETIMEDOUT : ZKR_ENOANSWER};
    zkr__claim_ref(claim);
    if (falls_due(&claim->quiet_at, now)) {
        zkr__claim_tell(claim, ZKR__EV_QUIET);
    }
    if (falls_due(&claim->doubt_at, now)) {
        zkr__claim_tell(claim, ZKR__EV_UNHEARD);
    }
    if (falls_due(&claim->retry_at, now)) {
        zkr__claim_tell(claim, ZKR__EV_PAUSE_OVER);
    }
    if (falls_due(&claim->give_up_at, now)) {
        zkr__claim_run(claim, give_up);
    }
    if (falls_due(&claim->metadata_at, now)) {
        advance_metadata(claim);
    }
    int64_t until = zkr__keep_until(claim);
    if (until != 0 && until <= now) {
        end_keeping(claim);
    }
    arm(claim);
    zkr__claim_unref(claim);
}

static void on_ahead(struct zkr__path_watcher *watcher,
                     enum zkr__node_event event) ZKR__LOCKED
{
    struct zkr__claim *claim = ZKR__OWNER_OF(watcher, struct zkr__claim, ahead_watcher);
    zkr__claim_tell(claim, event == ZKR__NODE_DELETED ? ZKR__EV_AHEAD_GONE
                                                      : ZKR__EV_AHEAD_CHANGED);
}

void zkr__claim_on_before(struct zkr__path_watcher *watcher, enum zkr__node_event event)
{
    struct zkr__claim *claim =
        ZKR__OWNER_OF(watcher, struct zkr__before, watcher)->claim;
    zkr__claim_tell(claim, event == ZKR__NODE_DELETED ? ZKR__EV_BEFORE_GONE
                                                      : ZKR__EV_BEFORE_CHANGED);
}

/*
 * Returns an error if the client will have no further session, because of its credentials or its shutdown, else ZKR_OK.
 */
static int hopeless(const zkr_client *c) ZKR__LOCKED
{
    return c->shut                             ? ZKR_ECLOSED
           : c->state == ZKR_STATE_AUTH_FAILED ? ZKR_EAUTH
                                               : ZKR_OK;
}

void zkr__claim_start(struct zkr__claim *claim)
{
    ZKR__MUST(claim->q->c,
              claim->live && claim->k.holds == 0 && claim->counted_as == 0);
    claim->timer.fire = on_timer;
    claim->ahead_watcher.on_event = on_ahead;
    zkr__claim_tell(claim, ZKR__EV_START);
    int code = hopeless(claim->q->c);
    if (code != ZKR_OK) {
        zkr__claim_run(
            claim, (struct zkr__claim_event){.kind = ZKR__EV_GIVE_UP, .code = code});
    }
}

/* --- requests of the owner --- */

/* Returns false if the deadline has passed. */
static bool sleep_on(struct zkr__claim *claim, int64_t deadline) ZKR__LOCKED
{
    struct zkr__cv wake;
    ZKR__MUST(claim->q->c, !claim->sleeper);
    zkr__cv_init(&wake);
    claim->sleeper = &wake;
    bool in_time = zkr__wait(claim->q->c, &wake, deadline);
    claim->sleeper = NULL;
    zkr__cv_destroy(&wake);
    return in_time;
}

void zkr__claim_wait(struct zkr__claim *claim, int64_t deadline)
{
    bool in_time = true;
    while (!zkr__claim_decided(&claim->k) && !claim->canceled && !claim->k.leaving &&
           in_time) {
        in_time = sleep_on(claim, deadline);
    }
}

void zkr__claim_let_go(struct zkr__claim *claim)
{
    claim->on_change = NULL;
    claim->give_up_at = 0;
    if (claim->k.lost == ZKR_LOST_SESSION && !claim->relied_on) {
        zkr__ghost_let_go(claim->engine, claim->node);
    }
    zkr__claim_tell(claim, ZKR__EV_LEAVE);
}

void zkr__claim_leave(struct zkr__claim *claim, bool wait)
{
    zkr__claim_let_go(claim);
    while (wait && claim->k.phase != ZKR__GONE && !claim->k.refused) {
        (void)sleep_on(claim, ZKR__NEVER);
    }
    zkr__claim_unref(claim);
}

void zkr__claim_downgrade(struct zkr__claim *claim)
{
    ZKR__MUST(claim->q->c, claim->q->kind == ZKR__NAME_READ);
    zkr__claim_turn(claim, ZKR__NAME_READ);
    zkr__claim_tell(claim, ZKR__EV_DOWNGRADE);
}

void zkr__claim_check(struct zkr__claim *claim)
{
    if (claim->k.phase == ZKR__HELD && !zkr__claim_sure(claim) &&
        !zkr__session_cut_short(claim->q->c)) {
        zkr__claim_tell(claim, ZKR__EV_LEASE_EXPIRED);
    }
}

bool zkr__claim_sure(struct zkr__claim *claim)
{
    const zkr_client *c = claim->q->c;
    return claim->k.phase == ZKR__HELD && claim->epoch == c->epoch &&
           zkr__sure(claim->q->c);
}
