/* SPDX-License-Identifier: Apache-2.0 */
#include "search.h"

#include <string.h>

#include "base/mem.h"
#include "util.h"

struct search S;

/* --- the scenario --- */

void search_choose(uint64_t seed)
{
    struct scenario *s = &S.s;
    *s = (struct scenario){.seed = seed};
    s->clients = 2 + (int)zkf_below(3);
    s->session = 1000 * ZKR__MS * (1 + zkf_below(3));
    s->tick = s->session / (2 + zkf_below(3));
    s->length = s->session / 2 * (1 + zkf_below(zkf_chance(60) ? 2 : 8));
    s->pace = s->session / (2 << zkf_below(4));
    s->fault_pace = s->session / (1 + zkf_below(5));
    s->isolations = zkf_chance(50);
    s->longest_stop = zkf_chance(40) ? s->session * 2 : 0;
    s->hands = zkf_chance(30);
    s->kills = zkf_chance(40);
    s->tries = zkf_chance(40);
    s->latches = zkf_chance(40);
    s->locks = !s->latches || zkf_chance(60);
    s->attempts = zkf_chance(20) ? 3 : 0;
    s->peace = zkf_chance(5);
    s->sit = zkf_chance(40);
    s->split = zkf_chance(15);
    if (s->split) {
        s->sit = s->isolations = true;
        s->kills = s->hands = false;
        s->length = s->session * (3 + zkf_below(3));
        s->pace = s->session / 4;
        s->fault_pace = s->session * 2;
    }
    s->limits = !s->split && !s->peace && zkf_chance(15);
    s->shared = zkf_chance(30);
    s->counting = s->shared && zkf_chance(30);
    s->wishes = seed % 5 == 4;
    s->look_ahead = seed % 4 == 3 ? -1 : seed % 4 != 2;
    s->keep_ms =
        seed % 9 < 3 ? 1 + (int64_t)(seed / 9 % 9) * s->session / 4 / ZKR__MS : 0;
    s->multis = s->locks && zkf_chance(35);
    s->permits = s->locks && zkf_chance(35);
    s->max = 1 + zkf_below(3);
    s->resizes = s->permits && zkf_chance(40);
    s->rush = s->permits && zkf_chance(40);
    search_choose_faults(s);
    s->free = !s->split && !s->limits && zkf_chance(20);
    if (s->free) {
        s->sit = s->latches = s->multis = s->permits = s->resizes = false;
        s->locks = true;
        s->pace = s->session / (20 << zkf_below(3));
    }
    if (s->limits) {
        s->sit = true;
        s->tick = s->session / 8;
        s->longest_stop = s->session * 2;
        s->length = s->session * (2 + zkf_below(3));
    }
    s->grows = (s->limits || s->peace) && seed % 3 != 0 && zkf_chance(60);
    if (s->grows && s->peace) { /* delays are short beside the shortest time-out */
        s->sit = s->locks = true;
        s->latches = false; /* some step down without a connection */
        s->attempts = 0;
        s->session *= 4;
        s->tick = s->session / 8;
        s->length = s->session * (2 + zkf_below(3));
        s->fault_pace = s->session;
    }
}

/* --- at the door --- */

static bool step(int64_t end);

/* Its service stands there, and the world goes on. */
static void wait_at_door(int client, int64_t span)
{
    struct member *m = &S.members[client];
    int64_t end = zkf_now() + span;
    bool starving = S.starving;
    m->waits = m->service.busy = true;
    S.starving = false;
    while (S.violation[0] == '\0' && (zkf_now() < end || *zkf_client_stopped(client))) {
        (void)step(*zkf_client_stopped(client) ? ZKR__NEVER : end);
    }
    S.starving = starving;
    m->waits = m->service.busy = false;
    m->waited_at = zkf_now();
    zkf_enter(client);
}

/* A node whose name the client does not know is found by its GUID alone. Permits also look at lists without a node in them. */
static bool may_hide(int client)
{
    const struct zkr__engine *engine = S.members[client].c->engine;
    const struct zkr__claim *claim;
    DL_FOREACH(engine->claims, claim)
    {
        if (zkr__claim_stage(&claim->k) == ZKR__FINDING) {
            return false;
        }
    }
    return !S.s.permits;
}

static bool may_allocate(void)
{
    bool fails = S.starving && zkf_below(300) == 0;
    S.did.no_memory += fails;
    return !fails;
}

static void act(struct zkf_actor *actor)
{
    S.starving = S.s.starved;
    actor->act(actor->ctx);
    S.starving = false;
    actor->busy = false;
}

static void begin(uint64_t seed, bool trace)
{
    struct zkf_config config = {
        .seed = seed,
        .servers = 3,
        .trace = trace,
        .hooks = {.on_submit = search_on_submit,
                  .on_created = search_on_created,
                  .on_deleting = search_on_deleting,
                  .on_shortened = search_on_shortened,
                  .on_refused = search_on_refused,
                  .may_hide = may_hide,
                  .wait = wait_at_door,
                  .act = act},
    };
    zkf_begin(&config); /* for its chance only: what follows depends on the scenario */
    search_choose(seed);
    zkf_end();
    config.servers = seed % 3 == 0 && !S.s.split ? 1 : 3;
    S.s.servers = config.servers;
    config.tick = S.s.tick;
    config.epoch = S.s.epoch;
    config.patience = S.s.session * (2 + zkf_below(3));
    /* See leans() in search_check.c: a stalled network is one server's scenario. */
    config.slow =
        zkf_chance(70) || config.servers > 1 ? S.s.session / 20 : S.s.session / 2;
    config.slow = S.s.peace ? 30 * ZKR__MS : config.slow;
    config.stalls = !S.s.peace;
    config.exists_asks = seed / 3 % 2 == 0;
    config.hushes = S.s.lapses || seed / 7 % 2 == 0;
    config.seed = ~seed;
    zkf_begin(&config);
    search_begin_faults();
}

/* --- actors of a client --- */

static int64_t true_time(const struct member *m, int64_t at)
{
    if (at == ZKR__NEVER) {
        return ZKR__NEVER;
    }
    int64_t span = at - zkr__now(m->c);
    int client = (int)(m - S.members);
    return zkf_now() + (span > 0 ? zkf_client_span(client, span) + 1 : span);
}

static void run_service(void *ctx)
{
    struct member *m = ctx;
    zkr_client *c = m->c;
    zkf_enter((int)(m - S.members));
    zkr__lock(c);
    c->service_at = ZKR__NEVER;
    int64_t next = zkr__service_run(c);
    c->service_at = next < c->service_at ? next : c->service_at;
    zkr__unlock(c);
    m->service_seen = -1; /* look again */
}

static void run_dispatch(void *ctx)
{
    struct member *m = ctx;
    zkf_enter((int)(m - S.members));
    (void)zkr__dispatch_run_one(&m->c->dispatch);
}

/* When its service and its dispatch thread want to run, as of now. */
static void rearm(struct member *m)
{
    if (!m->c) {
        m->service.due = m->dispatch.due = ZKR__NEVER;
        return;
    }
    zkf_enter((int)(m - S.members));
    if (m->service_seen != m->c->service_at) {
        m->service_seen = m->c->service_at;
        m->service.due = true_time(m, m->service_seen);
        if (m->service.due != ZKR__NEVER && zkf_chance(10)) {
            m->service.due += zkf_below(5 * ZKR__MS); /* threads are late at times */
        }
    }
    if (!m->c->dispatch.head) {
        m->dispatch.due = ZKR__NEVER;
    } else if (m->dispatch.due == ZKR__NEVER) {
        m->dispatch.due = zkf_now() + (zkf_chance(70) ? 0 : zkf_below(20 * ZKR__MS));
    }
}

static void add_member(int at)
{
    struct member *m = &S.members[at];
    const bool *stopped = zkf_client_stopped(at);
    *m = (struct member){.service_seen = -1};
    m->service = (struct zkf_actor){.due = ZKR__NEVER,
                                    .act = run_service,
                                    .ctx = m,
                                    .stopped = stopped,
                                    .library = at + 1};
    m->dispatch = (struct zkf_actor){.due = ZKR__NEVER,
                                     .act = run_dispatch,
                                     .ctx = m,
                                     .stopped = stopped,
                                     .library = at + 1};
    m->app = (struct zkf_actor){
        .due = zkf_now(), .act = search_app, .ctx = m, .stopped = stopped};
    zkf_actor_add(&m->service);
    zkf_actor_add(&m->dispatch);
    zkf_actor_add(&m->app);
    zkf_client_clock(at, zkf_below(S.s.session), search_skew());
    search_open(at);
}

/* --- the run --- */

static bool step(int64_t end)
{
    for (int i = 0; i < S.s.clients; i++) {
        rearm(&S.members[i]);
    }
    if (!zkf_step(end)) {
        return false;
    }
    S.did.steps++;
    S.steps++;
    search_check();
    return S.violation[0] == '\0';
}

/* By the meters, nobody waits and nobody holds. */
static bool meters_rest(const zkr_client *c)
{
    const struct zkr__meter *m = c->meters.list;
    while (m && m->n.waiting == 0 && m->n.held == 0) {
        m = m->next;
    }
    return !m;
}

/* Watches on directories, one for each client that uses them again and again; they stay. */
static size_t guards(void)
{
    static const char *const more[] = {"/permits/locks"};
    size_t sum = zkf_watches_on(more[0]);
    for (int i = 0; i < SEARCH_DIRS; i++) {
        size_t some = zkf_watches_on(search_dir(i));
        size_t most = (size_t)S.s.clients;
        sum += some < most ? some : most;
    }
    return sum;
}

static bool all_out(void)
{
    for (int i = 0; i < SEARCH_CONTENDERS; i++) {
        if (S.contenders[i].label != 0) {
            return false;
        }
    }
    for (const struct zkf_node *node = zkf_nodes(); node; node = node->next) {
        if (node->owner != 0) {
            return false;
        }
    }
    for (int i = 0; i < S.s.clients; i++) {
        const zkr_client *c = S.members[i].c;
        if (!c) {
            continue;
        }
        const struct zkr__engine *engine = c->engine;
        if (c->stats.pending_deletes || c->stats.waiting || c->stats.held ||
            (engine && engine->claims) || !meters_rest(c)) {
            return false;
        }
    }
    /* One on the children may stay, if a node was gone before it was set, or if its event is kept back. */
    bool stays = S.s.keep_ms > 0 || S.s.lapses;
    size_t keeps = stays ? (size_t)S.s.clients * SEARCH_DIRS : 0;
    return zkf_watch_count() <= search_count_watches() + guards() + keeps;
}

static bool all_closed(void)
{
    return zkf_session_count() == 0 && zkf_watch_count() == 0;
}

/* For a person who reads a trace. */
static void print_all(void)
{
    for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
        zkf_trace("node %s, owner %lld, contender %d", n->path, (long long)n->owner,
                  n->label);
    }
    zkf_trace_watches();
    for (int i = 0; i < SEARCH_CONTENDERS; i++) {
        const struct contender *k = &S.contenders[i];
        const struct zkr__claim *claim = search_claim(k);
        if (k->label != 0 && claim) {
            zkf_trace("client %d, contender %d: phase %d, next %d, own %d, node %s, "
                      "ahead %s, refs %lld",
                      k->client, k->label, (int)claim->k.phase, (int)claim->k.next,
                      (int)claim->k.own, claim->node, search_stands_behind(claim, "-"),
                      (long long)claim->refs);
        }
    }
    for (int i = 0; i < S.s.clients; i++) {
        const zkr_client *c = S.members[i].c;
        if (c) {
            zkf_trace("client %d: %s, waiting %lld, held %lld, pending %lld", i,
                      zkr_client_state_name(c->state), (long long)c->stats.waiting,
                      (long long)c->stats.held, (long long)c->stats.pending_deletes);
        }
    }
}

/* Run until @done; it must not take longer than @patience. */
static void run_until(bool (*done)(void), int64_t patience, const char *what)
{
    int64_t end = zkf_now() + patience;
    while (!done() && S.violation[0] == '\0') {
        if (!step(end) && S.violation[0] == '\0') {
            search_violation("%s", what);
        }
    }
}

static void finish(void)
{
    search_calm();
    if (S.s.shared) {
        S.still = true;
        bool hushed = S.s.lapses || S.s.forbids; /* who was not told looks in the end */
        int64_t end = zkf_now() + (hushed ? 12 : 6) * S.s.session;
        while (step(end)) {
        }
        search_check_entitled();
        S.still = false;
    }
    S.quiet = true;
    run_until(all_out, 120 * S.s.session,
              "somebody waits, or a node or a watch is left, for ever");
    if (S.violation[0] == '\0') {
        for (int i = 0; i < S.s.clients; i++) {
            if (S.members[i].c) {
                search_close(i, false);
            }
        }
        run_until(all_closed, 20 * S.s.session, "a session or a watch is left");
    }
}

bool search_run(uint64_t seed, bool trace)
{
    S.trace = trace;
    S.quiet = S.still = false;
    S.labels = 0;
    S.violation[0] = '\0';
    S.starving = false;
    S.steps = 0;
    zkr__mem_set_gate(may_allocate);
    memset(S.last_token, 0, sizeof(S.last_token));
    memset(S.last_alone, 0, sizeof(S.last_alone));
    memset(S.lines, 0, sizeof(S.lines));
    memset(S.contenders, 0, sizeof(S.contenders));
    begin(seed, trace);
    search_begin_permits();
    for (int i = 0; i < S.s.clients; i++) {
        add_member(i);
    }
    int64_t first = zkf_now() + zkf_below(S.s.fault_pace);
    bool none = S.s.peace && !S.s.grows && !S.s.forbids;
    S.faults =
        (struct zkf_actor){.due = none ? ZKR__NEVER : first, .act = search_fault};
    zkf_actor_add(&S.faults);
    int64_t end = zkf_now() + S.s.length;
    while (step(end)) {
    }
    if (S.violation[0] == '\0') {
        finish();
    }
    if (S.violation[0] != '\0') {
        print_all();
    }
    for (int i = 0; i < S.s.clients; i++) { /* after a violation */
        if (S.members[i].c) {
            search_close(i, true);
        }
    }
    zkf_end();
    return S.violation[0] == '\0';
}
