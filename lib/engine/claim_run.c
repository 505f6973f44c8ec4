/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/claim_run.h"

#include "engine/claim_io.h"
#include "engine/claim_step.h"
#include "engine/directory.h"
#include "engine/lists.h"
#include "engine/loss.h"
#include "session/bound.h"
#include "session/wake.h"

/*
 * --- Tries that look before they make a node. While the node of a try is there, others have to wait for it who could be
 * granted at once beside those who hold: for other permits, as readers beside readers, for one path of several. So a
 * try of which that is true makes none while this client knows of a reason why it would fail, and asks when it
 * does not know.
 *
 * If all seems free it goes ahead, and costs one round trip. What the client knows may be old: then it is wrong once,
 * for its own list tells.
 */

/* Those of a group that are to stand in one directory. */
static int64_t count_beside(const struct zkr__claim *claim) ZKR__LOCKED
{
    int64_t count = 0;
    const struct zkr__batch *batch = claim->batch; /* NULL: it has left its group */
    for (uint32_t i = 0; batch && i < batch->count; i++) {
        const struct zkr__claim *other = batch->claims[i];
        count += other && other->directory == claim->directory;
    }
    return count;
}

/* The claim is such a try, and there may be no room for its node. */
static bool try_is_wary(const struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__queue *q = claim->q;
    const struct zkr__directory *d = claim->directory;
    bool in_the_way =
        claim->k.member ? q->rule != zkr__rule_any : q->kind == ZKR__NAME_WRITE;
    if (!claim->once || !in_the_way) {
        return false;
    }
    return d->seen < 0 ||
           (q->rule == zkr__rule_permits
                ? d->seen + d->seen_strays + count_beside(claim) > q->rule_arg
                : d->seen > 0);
}

/* The claim, which was in the phase @before, or about to be, has made a step: one that leaves makes room. */
static void try_count(const struct zkr__claim *claim,
                      enum zkr__phase before) ZKR__LOCKED
{
    struct zkr__directory *d = claim->directory;
    bool leaves = zkr__claim_stage(&claim->k) == ZKR__REMOVING;
    d->seen -= leaves && before != ZKR__REMOVING && d->seen > 0;
}

/*
 * --- How many of our nodes are being made at a time. A session's requests are answered in the order in which they were
 * sent, so a lease probe, and the delete of a hold, wait for all that went out before. A crowd that joins at once
 * stands in line here instead: each answer to a create lets the next one go.
 *
 * Members of a group stand in line side by side, and go when there is room for all of them, or nothing else is being
 * made. One that joins others which are made, or are being made, does not wait.
 */

/* How many nodes are to be made with that of the claim; 0: the others are there, or under way. */
static int count_due(const struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__batch *batch = claim->batch; /* NULL: alone */
    int due = !batch;
    for (uint32_t i = 0; batch && i < batch->count; i++) {
        const struct zkr__claim *member = batch->claims[i];
        if (member && (member->joins || !zkr__claim_has_none(&member->k))) {
            return 0;
        }
        due += member != NULL;
    }
    return due;
}

static bool has_room(const struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__engine *engine = claim->engine;
    int due = count_due(claim);
    bool first = !engine->line || engine->line == claim;
    bool fits = engine->joining == 0 || engine->joining + due <= engine->joining_max;
    return due == 0 || (first && fits);
}

/* The claim may not create its node now: it is to line up. */
static bool joins_crowded(const struct zkr__claim *claim) ZKR__LOCKED
{
    return !claim->joins && !has_room(claim);
}

static void leave(struct zkr__claim *claim) ZKR__LOCKED
{
    if (claim->in_line) {
        DL_DELETE2(claim->engine->line, claim, held_prev, held_next);
    }
    claim->engine->joining -= claim->joins;
    claim->in_line = claim->joins = false;
}

static void join(struct zkr__claim *claim) ZKR__LOCKED
{
    leave(claim);
    claim->joins = true;
    claim->engine->joining++;
}

/* One of its group that stands in line; NULL: none. */
static struct zkr__claim *find_beside(const struct zkr__claim *claim) ZKR__LOCKED
{
    struct zkr__claim *beside = NULL;
    for (uint32_t i = 0; claim->batch && i < claim->batch->count; i++) {
        struct zkr__claim *member = claim->batch->claims[i];
        beside = member && member->in_line ? member : beside;
    }
    return beside;
}

/* It stands in line. */
static void joins_line_up(struct zkr__claim *claim) ZKR__LOCKED
{
    if (claim->in_line) {
        return;
    }
    struct zkr__claim *beside = find_beside(claim);
    if (beside) {
        DL_APPEND_ELEM2(claim->engine->line, beside, claim, held_prev, held_next);
    } else {
        DL_APPEND2(claim->engine->line, claim, held_prev, held_next);
    }
    claim->in_line = true;
}

/* The claim has made a step: see that it is counted, or in line, only as its phase says. */
static void joins_settle(struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__claim_state *k = &claim->k;
    bool joins = k->phase == ZKR__CREATING;
    if (joins && !claim->joins) {
        join(claim);
    } else if (!joins && (claim->joins || k->phase != ZKR__PAUSED)) {
        leave(claim);
    }
}

/* The first in line, which is counted from now on until it settles otherwise. NULL: none, or there is no room. */
static struct zkr__claim *joins_next(struct zkr__engine *engine) ZKR__LOCKED
{
    struct zkr__claim *first = engine->line;
    if (!first || !has_room(first)) {
        return NULL;
    }
    join(first);
    return first;
}

/* --- an event in, and what follows from it --- */

/* Parked or held for so long: the own node gets a watch, too. */
enum { QUIET_MS = 100 };

/*
 * By then the first lease probe of a hold has gone out, if others' writes do not keep the lease anyway; and with it the
 * note, which would use up a watch that is there before it.
 */
static int64_t note_pause(const zkr_client *c)
{
    return c->session_ms * ZKR__MS / 8;
}

/* Between looks at a node that servers refuse to show: a quarter of the session time-out, and up to four of them. */
static int64_t refusal_pause(const zkr_client *c, int refusals)
{
    enum { TIMES = 4 };
    return c->session_ms * ZKR__MS / 4 << (refusals <= TIMES ? refusals - 1 : TIMES);
}

/* --- counters --- */

/* How the client's statistics see a claim. */
enum { AS_NOTHING, AS_WAITING, AS_HELD, AS_PENDING };

static int count_as(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__HELD                 ? AS_HELD
           : k->phase == ZKR__GONE               ? AS_NOTHING
           : k->leaving || zkr__claim_decided(k) ? AS_PENDING
                                                 : AS_WAITING;
}

static void begin_hold(struct zkr__claim *claim) ZKR__LOCKED
{
    zkr_client *c = claim->q->c;
    DL_APPEND2(claim->engine->held, claim, held_prev, held_next);
    c->stats.grants++;
    c->stats.contended += claim->k.waited;
    /* A short hold costs no probe, unless there is little left. */
    int64_t pause = zkr__amply_sure(c) ? c->session_ms * ZKR__MS / 16 : 0;
    int64_t now = zkr__now(c);
    zkr__wake_by(c, now + pause);
    claim->note_at = claim->k.notes ? now + note_pause(c) : 0;
}

/* The next probe is its own. */
static void hurry_note(struct zkr__claim *claim) ZKR__LOCKED
{
    struct zkr__engine *engine = claim->engine;
    if (zkr__claim_wants_note(&claim->k) && zkr__now(engine->c) >= engine->notes_at) {
        DL_DELETE2(engine->held, claim, held_prev, held_next);
        DL_PREPEND2(engine->held, claim, held_prev, held_next);
        zkr__probe_soon(engine->c);
    }
}

/* One that no place measures. */
static void measure(struct zkr__claim *claim, int before, int now) ZKR__LOCKED
{
    struct zkr__meter *m = zkr__queue_meter(claim->q);
    int64_t at = zkr__now(claim->q->c), took = at - claim->since;
    claim->since = at;
    if (before == AS_WAITING && now == AS_HELD) {
        zkr__meter_grant(m, took, claim->k.waited);
    } else if (before == AS_WAITING && claim->k.lost != 0) {
        m->n.waiting--; /* a hold in doubt, which has been counted */
    } else if (before == AS_WAITING) {
        zkr__meter_fail(m, claim->k.failure ? claim->k.failure : ZKR_ECANCELED);
    } else if (before == AS_HELD && (claim->k.lost != 0 || now == AS_WAITING)) {
        zkr__meter_lose(m, took, zkr__loss_metered(claim));
    } else if (before == AS_HELD) {
        zkr__meter_release(m, took);
    }
    if (now == AS_WAITING) {
        zkr__meter_wait(m);
    }
}

/* From @before on: what got a waiter out of its place? */
static void note_hand_over(struct zkr__claim *claim,
                           enum zkr__phase before,
                           enum zkr__event_kind by) ZKR__LOCKED
{
    enum zkr__phase now = claim->k.phase;
    if (before == ZKR__PARKED && now != ZKR__PARKED) {
        claim->came = now == ZKR__LISTING            ? ZKR__BY_LIST
                      : by == ZKR__EV_AHEAD_RELEASED ? ZKR__BY_NEIGHBOUR
                                                     : ZKR__BY_EVENT;
    }
    if (before != ZKR__HELD && now == ZKR__HELD && claim->k.waited) {
        zkr__queue_meter(claim->q)->n.hand_overs[claim->came]++;
    }
}

static void recount(struct zkr__claim *claim) ZKR__LOCKED
{
    zkr_client *c = claim->q->c;
    int64_t *const counters[] = {
        [AS_WAITING] = &c->stats.waiting,
        [AS_HELD] = &c->stats.held,
        [AS_PENDING] = &c->stats.pending_deletes,
    };
    int before = claim->counted_as, now = count_as(&claim->k);
    if (now == before) {
        return;
    }
    claim->counted_as = (unsigned char)now;
    if (claim->metered) {
        measure(claim, before, now);
    }
    if (before != AS_NOTHING) {
        (*counters[before])--;
    }
    if (now != AS_NOTHING) {
        (*counters[now])++;
    }
    if (before == AS_HELD) {
        DL_DELETE2(claim->engine->held, claim, held_prev, held_next);
    }
    if (now == AS_HELD) {
        begin_hold(claim);
    }
    if (before == AS_PENDING && c->stats.pending_deletes == 0) {
        zkr__cv_broadcast(&c->changed); /* zkr_client_flush() */
    }
}

static void recount_refused(struct zkr__claim *claim) ZKR__LOCKED
{
    bool now = claim->k.refused && claim->k.phase != ZKR__GONE;
    if (now && !claim->counted_refused) {
        zkr__claim_wake(claim); /* zkr__claim_leave_wait() */
    }
    claim->q->c->refused_deletes += now - claim->counted_refused;
    claim->counted_refused = now;
}

/* --- timers --- */

static int64_t sooner(int64_t x, int64_t y)
{
    return x == 0 || (y != 0 && y < x) ? y : x;
}

static void arm(struct zkr__claim *claim) ZKR__LOCKED
{
    int64_t at = sooner(sooner(claim->retry_at, claim->quiet_at),
                        sooner(claim->give_up_at, claim->note_at));
    at = sooner(at, claim->doubt_at);
    if (at == 0) {
        zkr__timer_stop(&claim->engine->timers, &claim->timer);
    } else if (at != claim->timer.at) {
        zkr__engine_timer(claim->engine, &claim->timer, at);
    }
}

static void set_timers(struct zkr__claim *claim, unsigned todo) ZKR__LOCKED
{
    zkr_client *c = claim->q->c;
    if (todo & ZKR__DO_RETRY) {
        int64_t n = claim->k.failures > 0 ? claim->k.failures - 1 : 0;
        claim->retry_at =
            zkr__now(c) + zkr__retry_pause(&c->retry, n, zkr__retry_random(&c->random));
    }
    if (todo & ZKR__DO_PACE) {
        claim->retry_at = zkr__probe_due(c);
    }
    if (todo & (ZKR__DO_LOOK | ZKR__DO_LOOK_LATER)) {
        bool seen = todo & ZKR__DO_LOOK;
        claim->quiet_at = zkr__now(c) + (seen ? zkr__claim_look_pause(claim)
                                              : refusal_pause(c, claim->k.refusals));
    }
    if (todo & ZKR__DO_QUIET) {
        bool at_once = claim->q->watch_node && (todo & ZKR__DO_NOTIFY);
        int64_t note = zkr__claim_wants_note(&claim->k) ? note_pause(c) : 0;
        claim->quiet_at = zkr__now(c) + (at_once ? 0 : note + QUIET_MS * ZKR__MS);
    }
}

/* --- one step --- */

static void on_answer(void *ctx, unsigned tag, const struct zkr__answer *answer);

static void notify(struct zkr__claim *claim) ZKR__LOCKED
{
    if (claim->on_change) {
        claim->on_change(claim, claim->on_change_ctx);
    }
    zkr__claim_wake(claim);
}

/* Ends after one step: a claim that moves by this tells those behind it of a release only when it held. */
// NOLINTNEXTLINE(misc-no-recursion)
static void tell_behind(struct zkr__claim *claim, enum zkr__event_kind kind) ZKR__LOCKED
{
    struct zkr__claim *behind;
    while ((behind = zkr__claim_next_behind(claim)) != NULL) {
        zkr__claim_run(behind, (struct zkr__claim_event){.kind = kind});
    }
}

/* What is made with others goes out with them. */
static void request(struct zkr__claim *claim, unsigned todo) ZKR__LOCKED
{
    unsigned alone = claim->batch ? zkr__batch_keep(claim, todo) : todo;
    zkr__claim_request(claim, alone, on_answer);
    if ((todo & ZKR__DO_CREATE) && claim->batch) {
        zkr__batch_create(claim->batch, on_answer);
    }
}

// NOLINTNEXTLINE(misc-no-recursion): see tell_behind()
static void carry_out(struct zkr__claim *claim, unsigned todo) ZKR__LOCKED
{
    unsigned remove = todo & ZKR__DO_REMOVE;
    request(claim, todo & ~remove);
    if (todo & ZKR__DO_HAND_OVER) {
        tell_behind(claim, ZKR__EV_AHEAD_RELEASED);
    }
    request(claim, remove);
    if (todo & ZKR__DO_STEP_ASIDE) {
        tell_behind(claim, ZKR__EV_AHEAD_GONE);
    }
    if (todo & ZKR__DO_LET_LOOK) {
        tell_behind(claim, ZKR__EV_AHEAD_WRITES);
    }
    set_timers(claim, todo);
    if (todo & ZKR__DO_LINE_UP) {
        joins_line_up(claim);
    }
    if (todo & ZKR__DO_COUNT_LOSS) {
        claim->q->c->stats.losses++;
        zkr__loss_note(claim);
    }
    if (todo & ZKR__DO_NOTIFY) {
        notify(claim);
    }
    if (todo & ZKR__DO_TELL_WISH) {
        claim->wishes++;
        zkr__claim_tell_wishes(claim);
    }
}

/* Drop what its phase needs no more. */
static void settle(struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__claim_state *k = &claim->k;
    bool gone = k->phase == ZKR__GONE;
    if (k->phase != ZKR__PARKED) {
        zkr__claim_forget_ahead(claim);
    }
    bool found = zkr__claim_stage(k) != ZKR__FINDING;
    if (gone || !found || zkr__claim_has_none(k)) {
        zkr__claim_forget_node(claim);
    }
    if (!zkr__claim_awaits_list(k)) {
        zkr__claim_drop_list(claim);
    }
    if (!found) {
        zkr__reckon_forget(claim->directory);
    }
    if (zkr__claim_stage(k) == ZKR__REMOVING) {
        claim->directory->departures++;
    }
    zkr__claim_settle_look(claim);
    joins_settle(claim);
    recount(claim);
    recount_refused(claim);
    if (gone) {
        claim->retry_at = claim->quiet_at = claim->give_up_at = claim->note_at = 0;
    }
    arm(claim);
    if (gone && claim->live) {
        claim->live = false;
        zkr__claim_wake(claim); /* zkr__claim_leave_wait() */
        zkr__claim_unref(claim);
    }
}

// NOLINTNEXTLINE(misc-no-recursion): see tell_behind()
void zkr__claim_run(struct zkr__claim *claim, struct zkr__claim_event e)
{
    zkr_client *c = claim->q->c;
    e.connected = zkr__connected(c);
    e.sure = zkr__sure(c);
    e.ample = zkr__amply_sure(c);
    e.crowded = joins_crowded(claim);
    e.wary = try_is_wary(claim);
    e.patient = c->retry.attempts == 0 || claim->k.failures < c->retry.attempts;
    zkr__claim_ref(claim);
    enum zkr__phase before = claim->k.phase, stage = zkr__claim_stage(&claim->k);
    if (e.kind == ZKR__EV_AHEAD_GONE ||
        (e.kind == ZKR__EV_GOT_AHEAD && e.code == ZKR_ENONODE)) {
        zkr__reckon_gone(claim);
    }
    unsigned todo = zkr__claim_step(&claim->k, &e);
    note_hand_over(claim, before, e.kind);
    try_count(claim, stage);
    if (before != ZKR__HELD && claim->k.phase == ZKR__HELD) {
        claim->held_since_ms = zkr__clock_wall_ms();
        claim->held_at = zkr__now(c);
    }
    carry_out(claim, todo);
    settle(claim);
    zkr__claim_unref(claim);
}

/* --- what sets it in motion --- */

void zkr__claims_let_in(struct zkr__engine *engine)
{
    struct zkr__claim *next;
    while ((next = joins_next(engine)) != NULL) {
        zkr__claim_run(next, (struct zkr__claim_event){.kind = ZKR__EV_PAUSE_OVER});
    }
}

static void
on_answer(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__claim *claim = ctx;
    struct zkr__claim_event e;
    if (zkr__claim_take_answer(claim, tag, answer, &e)) {
        zkr__claim_run(claim, e);
        zkr__claims_let_in(claim->engine);
    }
    zkr__claim_unref(claim);
}

void zkr__claims_gather(struct zkr__batch *batch)
{
    batch->gathering = true;
}

void zkr__claims_send(struct zkr__batch *batch)
{
    batch->gathering = false;
    zkr__batch_send(batch, on_answer);
}

static void on_timer(struct zkr__timer *timer, int64_t now) ZKR__LOCKED
{
    struct zkr__claim *claim = ZKR__OWNER_OF(timer, struct zkr__claim, timer);
    bool parked = claim->k.phase == ZKR__PARKED || claim->k.phase == ZKR__READY;
    const struct {
        int64_t *at;
        struct zkr__claim_event e;
    } rows[] = {
        {&claim->quiet_at, {.kind = ZKR__EV_QUIET}},
        {&claim->doubt_at, {.kind = ZKR__EV_UNHEARD}},
        {&claim->retry_at, {.kind = ZKR__EV_PAUSE_OVER}},
        {&claim->give_up_at,
         {.kind = ZKR__EV_GIVE_UP, .code = parked ? ZKR_ETIMEDOUT : ZKR_ENOANSWER}},
    };
    zkr__claim_ref(claim);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (*rows[i].at != 0 && *rows[i].at <= now) {
            *rows[i].at = 0;
            zkr__claim_run(claim, rows[i].e);
        }
    }
    if (claim->note_at != 0 && claim->note_at <= now) {
        claim->note_at = 0;
        hurry_note(claim);
    }
    arm(claim);
    zkr__claim_unref(claim);
}

static void on_ahead(struct zkr__path_watcher *watcher,
                     enum zkr__node_event event) ZKR__LOCKED
{
    struct zkr__claim *claim = ZKR__OWNER_OF(watcher, struct zkr__claim, ahead_watcher);
    zkr__claim_run(claim,
                   (struct zkr__claim_event){.kind = event == ZKR__NODE_DELETED
                                                         ? ZKR__EV_AHEAD_GONE
                                                         : ZKR__EV_AHEAD_CHANGED});
}

void zkr__claim_start(struct zkr__claim *claim)
{
    claim->timer.fire = on_timer;
    claim->ahead_watcher.on_event = on_ahead;
    zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_START});
}
