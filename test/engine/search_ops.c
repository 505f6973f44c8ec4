/* SPDX-License-Identifier: Apache-2.0 */
/* What the applications do: open and close clients, enter and leave. */
#include <string.h>

#include "read_write_rule.h"
#include "search.h"
#include "util.h"

const char *search_dir(int dir)
{
    static const char *const dirs[] = {[DIR_LOCK] = "/a/lock",
                                       [DIR_LATCH] = "/latch",
                                       [DIR_SECOND] = "/b",
                                       [DIR_THIRD] = "/a/c",
                                       [DIR_PERMITS] = "/permits/leases"};
    return dirs[dir];
}

/* --- clients --- */

void search_open(int at)
{
    struct member *m = &S.members[at];
    zkf_enter(at);
    zkf_client_killed(at, false);
    static const zkr_auth more = {"digest", "other:word", 10};
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = S.s.session / ZKR__MS;
    o.retry_attempts = S.s.attempts;
    o.lease_margin_ppm = S.s.margin_ppm;
    o.look_ahead = S.s.look_ahead;
    if (S.s.auth) {
        o.auth_scheme = "digest";
        o.auth_cert = "user:word";
        o.auth_cert_len = 9;
        o.more_auth = &more;
        o.more_auth_count = zkf_below(2);
    }
    const struct zkr__env env = {.door = &zkf_door, .no_threads = true};
    if (zkr__client_open(&m->c, "127.0.0.1:1", &o, &env) != ZKR_OK) {
        zkt_fail("no client");
    }
    struct zkr__queue chosen = {
        .dir = search_dir(DIR_LOCK),
        .kind = S.s.shared ? ZKR__NAME_WRITE : ZKR__NAME_LOCK,
        .rule = zkr__rule_first,
    };
    zkr_mutex_options mutex = ZKR_MUTEX_OPTIONS_INIT;
    mutex.on_revoke = S.s.wishes ? search_on_revoke : NULL;
    mutex.on_revoke_ctx = m;
    mutex.keep_ms = S.s.keep_ms;
    m->wishes = m->asked = 0;
    int rc = zkr__queue_create(&m->lock, m->c, &chosen);
    chosen.kind = ZKR__NAME_READ;
    chosen.rule = S.s.counting ? counting_reader_rule : zkr__rule_reader;
    if (rc != ZKR_OK || zkr__queue_create(&m->readers, m->c, &chosen) != ZKR_OK) {
        zkt_fail("no queue");
    }
    for (int dir = 0; dir < SEARCH_DIRS; dir++) {
        if (zkr_mutex_create(&m->mutexes[dir], m->c, search_dir(dir), &mutex) !=
            ZKR_OK) {
            zkt_fail("no mutex");
        }
    }
    if (S.s.permits) {
        search_open_permits(m);
    }
    m->service_seen = -1;
    m->c->service_at = 0; /* its thread would look once at first */
    zkf_trace("client %d: opened", at);
}

static void drop(struct contender *k)
{
    if (k->latch) {
        zkr_leader_latch *latch = k->latch;
        k->latch = NULL;
        (void)zkr_leader_latch_stop(latch, ZKR_LATCH_SILENT);
        if (zkr_leader_latch_destroy(latch) != ZKR_OK) {
            search_violation("a latch that was stopped cannot be destroyed");
        }
    } else if (k->multi) {
        search_drop_multi(k);
    } else if (k->ticket) {
        search_hand_in(k);
    } else {
        zkr_client *c = S.members[k->client].c;
        zkr__lock(c);
        zkr__claim_leave(k->claim, false);
        zkr__unlock(c);
    }
    memset(k, 0, sizeof(*k));
}

void search_close(int at, bool killed)
{
    struct member *m = &S.members[at];
    zkf_enter(at);
    zkf_trace("client %d: %s", at, killed ? "killed" : "closes");
    zkf_client_killed(at, killed);
    for (int i = 0; i < SEARCH_CONTENDERS; i++) {
        if (S.contenders[i].label != 0 && S.contenders[i].client == at) {
            drop(&S.contenders[i]);
        }
    }
    for (int dir = 0; dir < SEARCH_DIRS; dir++) {
        (void)zkr_mutex_destroy(m->mutexes[dir]);
    }
    if (zkr_semaphore_destroy(m->semaphore) != ZKR_OK) {
        search_violation("a semaphore without tickets cannot be destroyed");
    }
    m->semaphore = NULL;
    zkr__lock(m->c);
    zkr__queue_unref(m->lock);
    zkr__queue_unref(m->readers);
    zkr__unlock(m->c);
    zkf_hurry(true); /* do not wait for answers: none will come meanwhile */
    if (zkr_client_close(m->c) != ZKR_OK) {
        search_violation("client %d cannot be closed", at);
    }
    zkf_hurry(false);
    m->c = NULL;
}

/* --- contenders --- */

/* With the lock held. */
static void on_change(struct zkr__claim *claim, void *ctx)
{
    struct contender *k = ctx;
    if (claim->k.failure == 0 && claim->k.lost == 0) {
        return;
    }
    zkf_trace("client %d: contender %d: failure %d, lost %d", k->client, k->label,
              claim->k.failure, claim->k.lost);
    k->ended = true;
    k->holding = false;
    S.did.failed += claim->k.failure != 0;
    bool refused = S.s.forbids && claim->k.failure != 0;
    bool early =
        claim->k.lost != 0 && (search_leans(k->client) || search_shrank_early(k));
    if (S.s.peace && claim->k.failure != ZKR_ETIMEDOUT && !refused && !early) {
        search_violation("contender %d fails (%d, lost %d) without a fault", k->label,
                         claim->k.failure, claim->k.lost);
    }
}

static void on_gain(zkr_leader_latch *latch, int64_t token, void *ctx)
{
    struct contender *k = ctx;
    (void)latch;
    S.did.latch_gains++;
    zkf_trace("client %d: contender %d: on_gain %lld", k->client, k->label,
              (long long)token);
    if (k->told) {
        search_violation("on_gain twice without on_loss");
    }
    k->told = true;
}

static void on_loss(zkr_leader_latch *latch, const zkr_lost *lost, void *ctx)
{
    struct contender *k = ctx;
    (void)latch;
    zkf_trace("client %d: contender %d: on_loss, reason %d", k->client, k->label,
              (int)lost->reason);
    if (!k->told) {
        search_violation("on_loss without on_gain");
    }
    k->told = false;
}

static void on_failed(zkr_leader_latch *latch, int code, void *ctx)
{
    struct contender *k = ctx;
    (void)latch;
    zkf_trace("client %d: contender %d: on_failed, %d", k->client, k->label, code);
    k->ended = true;
    S.did.failed++;
    if (S.s.peace && !S.s.forbids) {
        search_violation("the latch of contender %d fails (%d) without a fault",
                         k->label, code);
    }
}

static void enter_latch(struct contender *k, zkr_client *c)
{
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    o.on_gain = on_gain;
    o.on_loss = on_loss;
    o.on_failed = on_failed;
    o.ctx = k;
    o.step_down_when_suspended = zkf_chance(25);
    if (zkr_leader_latch_create(&k->latch, c, search_dir(DIR_LATCH), "x", &o) !=
            ZKR_OK ||
        zkr_leader_latch_start(k->latch) != ZKR_OK) {
        zkt_fail("no latch");
    }
}

static struct contender *free_place(struct contender *from)
{
    while (from < S.contenders + SEARCH_CONTENDERS && from->label != 0) {
        from++;
    }
    return from < S.contenders + SEARCH_CONTENDERS ? from : NULL;
}

/* Two or three of the lock paths, in any order. */
static void enter_multi(int at)
{
    static const int orders[][3] = {
        {DIR_LOCK, DIR_SECOND, DIR_THIRD}, {DIR_LOCK, DIR_THIRD, DIR_SECOND},
        {DIR_SECOND, DIR_LOCK, DIR_THIRD}, {DIR_SECOND, DIR_THIRD, DIR_LOCK},
        {DIR_THIRD, DIR_LOCK, DIR_SECOND}, {DIR_THIRD, DIR_SECOND, DIR_LOCK}};
    const int *order = orders[zkf_below(6)];
    struct contender *parts[3], *from = S.contenders;
    int count = 2 + (int)zkf_below(2);
    for (int i = 0; i < count; i++) {
        parts[i] = free_place(from);
        if (!parts[i]) {
            return;
        }
        from = parts[i] + 1;
    }
    for (int i = 0; i < count; i++) {
        *parts[i] = (struct contender){
            .client = at, .dir = order[i], .label = ++S.labels, .since = zkf_now()};
        zkf_trace("client %d: contender %d enters %s, a part", at, parts[i]->label,
                  search_dir(order[i]));
    }
    S.did.entered++;
    search_request_multi(at, parts, count);
}

static int some_dir(bool latch)
{
    static const int dirs[] = {DIR_LOCK, DIR_SECOND, DIR_THIRD};
    return latch ? DIR_LATCH : S.s.multis ? dirs[zkf_below(3)] : DIR_LOCK;
}

/* One, or several at once. */
static void enter_permits(int at)
{
    int64_t count = S.s.rush ? 1 + zkf_below(4) : 1;
    struct contender *k;
    while (count-- > 0 && (k = free_place(S.contenders)) != NULL) {
        *k = (struct contender){
            .client = at, .dir = DIR_PERMITS, .label = ++S.labels, .since = zkf_now()};
        S.did.entered++;
        search_ask_permits(k);
    }
}

static void enter(int at)
{
    struct contender *k = free_place(S.contenders);
    if (!k) {
        return;
    }
    if (S.s.multis && zkf_chance(60)) {
        enter_multi(at);
        return;
    }
    struct member *m = &S.members[at];
    if (S.s.permits && zkf_chance(60)) {
        enter_permits(at);
        return;
    }
    bool latch = S.s.latches && (!S.s.locks || zkf_chance(30));
    *k = (struct contender){
        .client = at, .dir = some_dir(latch), .label = ++S.labels, .since = zkf_now()};
    S.did.entered++;
    zkf_trace("client %d: contender %d enters %s", at, k->label, search_dir(k->dir));
    if (latch) {
        enter_latch(k, m->c);
        return;
    }
    if (zkf_chance(S.s.keep_ms > 0 ? 90 : 30) || k->dir != DIR_LOCK) {
        search_request(k, m->mutexes[k->dir]);
        return;
    }
    k->reader = S.s.shared && zkf_chance(65);
    bool once = S.s.tries && zkf_chance(25);
    const struct zkr__entry entry = {.once = once, .on_change = on_change, .ctx = k};
    zkr__lock(m->c);
    if (zkr__claim_enter(&k->claim, k->reader ? m->readers : m->lock, &entry) !=
        ZKR_OK) {
        zkt_fail("no claim");
    }
    zkr__unlock(m->c);
}

void search_leave(struct contender *k)
{
    zkf_enter(k->client);
    zkf_trace("client %d: contender %d leaves%s", k->client, k->label,
              k->holding ? ", holding" : "");
    drop(k);
}

static struct contender *pick(int at, bool only_done)
{
    int first = (int)zkf_below(SEARCH_CONTENDERS);
    for (int i = 0; i < SEARCH_CONTENDERS; i++) {
        struct contender *k = &S.contenders[(first + i) % SEARCH_CONTENDERS];
        if (k->label != 0 && k->client == at &&
            (!only_done || k->holding || k->ended)) {
            return k;
        }
    }
    return NULL;
}

/* One of the writers goes on as a reader. */
static bool downgrade(int at)
{
    for (int i = 0; i < SEARCH_CONTENDERS; i++) {
        struct contender *k = &S.contenders[i];
        if (k->label == 0 || k->client != at || !k->claim || k->reader || !k->holding ||
            k->claim->q->kind != ZKR__NAME_WRITE) {
            continue;
        }
        zkr_client *c = S.members[at].c;
        zkr__lock(c);
        bool sure = zkr__claim_sure(k->claim);
        if (sure) {
            zkf_trace("client %d: contender %d downgrades", at, k->label);
            S.did.downgrades++;
            k->reader = k->downgraded = true;
            zkr__claim_downgrade(k->claim);
        }
        zkr__unlock(c);
        return sure;
    }
    return false;
}

static void ask_latches(int at)
{
    for (int i = 0; i < SEARCH_CONTENDERS; i++) {
        if (S.contenders[i].latch && S.contenders[i].client == at) {
            (void)zkr_leader_latch_has_leadership(S.contenders[i].latch);
        }
    }
}

void search_app(void *ctx)
{
    struct member *m = ctx;
    int at = (int)(m - S.members);
    zkf_enter(at);
    m->app.due = zkf_now() + (zkf_chance(30) ? 0 : zkf_below(S.s.pace));
    if (S.still) {
        return;
    }
    if (!m->c) {
        if (!S.quiet) {
            search_open(at);
        } else {
            m->app.due = ZKR__NEVER;
        }
        return;
    }
    if (S.s.wishes && !S.quiet && zkf_chance(20)) {
        search_wish();
        return;
    }
    int64_t what = zkf_below(100);
    struct contender *done = pick(at, true);
    if (S.s.shared && zkf_chance(40) && downgrade(at)) {
        return;
    }
    int soon = S.s.sit ? 3 : S.s.free ? 75 : 40;
    if (done && (S.quiet || what < soon || done->ended)) {
        search_leave(done);
    } else if (S.quiet) {
        search_resize_enough();
        search_clean_up();
        ask_latches(at);
    } else if (what < 80) {
        bool seldom = S.s.free && (at > 0 || pick(at, false));
        if (!seldom || zkf_chance(8)) {
            enter(at);
        }
    } else if (what < 90 && pick(at, false)) {
        search_leave(pick(at, false));
    } else if (!m->waits && ((what >= 98 && S.s.kills && !S.s.peace) ||
                             m->c->state == ZKR_STATE_AUTH_FAILED)) {
        search_close(at, zkf_chance(50));
        S.did.kills++;
    } else {
        ask_latches(at);
    }
}
