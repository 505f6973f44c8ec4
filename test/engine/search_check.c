/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold after every step. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "engine/children_cache.h"
#include "search.h"

void search_violation(const char *format, ...)
{
    if (S.violation[0] != '\0') {
        return;
    }
    va_list args;
    va_start(args, format);
    (void)vsnprintf(S.violation, sizeof(S.violation), format, args);
    va_end(args);
    zkf_trace("VIOLATION: %s", S.violation);
}

struct contender *search_by_label(int label)
{
    for (int i = 0; i < SEARCH_CONTENDERS && label != 0; i++) {
        if (S.contenders[i].label == label) {
            return &S.contenders[i];
        }
    }
    return NULL;
}

/* A client has been told a shorter time-out: it promises less than it did. */
static void shorten(int client)
{
    for (int i = 0; i < SEARCH_CONTENDERS; i++) {
        if (S.contenders[i].client == client) {
            S.contenders[i].until = 0;
        }
    }
}

static bool leans(const struct contender *k)
{
    return search_leans(k->client);
}

/* --- what the fake tells --- */

/* The name asked for is written into the claim itself. */
int search_on_submit(int client, const struct zkr__op *op)
{
    search_on_create(op);
    const struct zkr__engine *engine = S.members[client].c->engine;
    const struct zkr__claim *claim;
    const char *made = op->kind == ZKR__OP_CREATE               ? op->path
                       : op->kind == ZKR__OP_MULTI && op->makes ? op->makes->path
                                                                : NULL;
    if (!made) {
        return 0;
    }
    DL_FOREACH(engine->claims, claim)
    {
        if (claim->node == made) {
            const struct contender *part = search_part_of(claim);
            part = part ? part : search_ask_sent(claim);
            for (int i = 0; i < SEARCH_CONTENDERS && !part; i++) {
                const struct contender *k = &S.contenders[i];
                const void *ctx = claim->on_change_ctx;
                if (k->label != 0 &&
                    (ctx == k || (k->latch && ctx == &k->latch->hold) ||
                     (k->ticket && ctx == &k->ticket->hold))) {
                    return k->label;
                }
            }
            if (part) {
                return part->label;
            }
        }
    }
    return S.requesting; /* its ticket is not known yet */
}

void search_on_created(const struct zkf_node *node)
{
    struct contender *k = search_by_label(node->label);
    if (!k) {
        return;
    }
    k->refusals = 0;
    if (node->owner == S.members[k->client].c->session_id) {
        /* One that has leases may join the gate behind them. */
        k->excused = k->excused && k->permits > 0 && !search_is_lease(node);
        k->node = node;
        k->made_at = zkf_now();
        k->wishes = 0;
        if (k->permits > 0) {
            search_on_permit_node(k, node);
        }
    } /* else it comes late, in a session that the client has given up */
    /*
     * The last node of a latch or a ticket may be on its way out while the next is made; and the end of the
     * transaction that makes a reader's deletes the writer's.
     */
    int nodes = 0;
    for (const struct zkf_node *other = zkf_nodes(); other; other = other->next) {
        nodes += other->label == node->label && other->owner == node->owner;
    }
    if (nodes > 1 + (k->latch || k->ticket || k->downgraded) && k->permits == 0) {
        search_violation("contender %d has %d nodes, the last is %s", k->label, nodes,
                         node->path);
    }
}

/* A hold that is promised must not end at the servers before the promise does. */
void search_on_deleting(const struct zkf_node *node)
{
    struct contender *k = search_by_label(node->label);
    /* The token of a reader that was a writer is still that one's. */
    for (int i = 0; i < SEARCH_DIRS; i++) {
        if (S.lines[i].node == node) {
            S.lines[i].node = NULL;
            S.lines[i].gone_at = zkf_now();
        }
    }
    bool by_this = k && (k->downgraded ? k->node == node : k->token == node->czxid);
    if (k && k->node == node) {
        k->node = NULL;
    }
    if (by_this && k->holding && !k->excused && !leans(k) && k->until > zkf_now()) {
        search_violation("contender %d of client %d loses %s, which was promised for "
                         "%.1f ms more",
                         k->label, k->client, node->path,
                         (double)(k->until - zkf_now()) / 1e6);
    }
}

#define NO_NUMBER INT64_MIN

static int64_t sequence_of(const struct zkf_node *node, int dir)
{
    static uint32_t dirs[SEARCH_DIRS];
    if (dirs[dir] == 0) {
        dirs[dir] = zkf_hash(search_dir(dir));
    }
    enum zkr__name_kind kind;
    int64_t sequence = node->sequence;
    if (node->parent_hash != dirs[dir] ||
        (sequence < 0 &&
         !zkr__name_parse(zkr__path_name(node->path), &kind, &sequence))) {
        return NO_NUMBER;
    }
    return sequence;
}

/* Has the client of @k asked to make a reader's node of it? */
static bool is_to_read(const struct contender *k, const struct zkf_node *node)
{
    const struct zkr__engine *engine = S.members[k->client].c->engine;
    const char *name = zkr__path_name(node->path);
    const struct zkr__claim *claim;
    DL_FOREACH(engine->claims, claim)
    {
        const char *own = strrchr(claim->node, '/');
        if (own && strncmp(own + 1, name, ZKR__PROTECTED_LEN) == 0) {
            return strstr(own, "__READ__") != NULL;
        }
    }
    return false;
}

/* One of ours that has a number below 0 may not hold, and goes. */
static bool is_exhausted(const struct zkf_node *node, int64_t sequence)
{
    return node->label != 0 && sequence < 0;
}

/* Is it in the queue of @k, and in the way of it once it is ahead? Its number, or NO_NUMBER. */
static int64_t number_in_the_way(const struct contender *k, const struct zkf_node *node)
{
    int64_t sequence = sequence_of(node, k->dir);
    bool reads = k->reader && sequence != NO_NUMBER &&
                 (strstr(node->path, "__READ__") || is_to_read(k, node));
    return reads || is_exhausted(node, sequence) ? NO_NUMBER : sequence;
}

static const struct zkf_node *node_ahead(const struct contender *k,
                                         const struct zkf_node *node)
{
    int64_t mine = sequence_of(node, k->dir), best = NO_NUMBER;
    const struct zkf_node *ahead = NULL;
    for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
        int64_t sequence = number_in_the_way(k, n);
        if (sequence > best && sequence < mine) {
            best = sequence;
            ahead = n;
        }
    }
    return ahead;
}

const struct zkf_node *search_ahead(const struct zkf_node *node)
{
    const struct contender *k = search_by_label(node->label);
    return k ? node_ahead(k, node) : NULL;
}

/*
 * A holder cannot know at once, nor can one whose grant is on the way. But one that waits behind
 * another client is granted by what comes after this, so it must have heard of this as well.
 */
void search_excuse(const struct zkf_node *node)
{
    struct contender *k = search_by_label(node->label);
    for (int i = 0; i < S.s.clients; i++) {
        struct member *m = &S.members[i];
        if (m->c && node->owner == m->c->session_id) {
            m->taken_away[m->taken_count++ % SEARCH_DIRS] = node->czxid;
        }
    }
    if (!k) {
        return;
    }
    const struct zkf_node *ahead = k->permits > 0 ? NULL : node_ahead(k, node);
    /* One ahead that was made later came by its name; whom it waited for has gone, and that is on the way. */
    if (k->holding || !ahead || ahead->owner == node->owner ||
        ahead->czxid > node->czxid) {
        k->excused = true;
        k->excused_at = zkf_now();
    }
}

void search_excuse_all(void)
{
    memset(S.last_pass, 0, sizeof(S.last_pass));
    for (int i = 0; i < SEARCH_CLIENTS; i++) {
        S.members[i].taken_count = 0;
        S.members[i].taken_away[0] = -1;
    }
    for (int i = 0; i < SEARCH_CONTENDERS; i++) {
        S.contenders[i].excused = true;
        S.contenders[i].excused_at = zkf_now();
    }
    memset(S.last_token, 0, sizeof(S.last_token));
    memset(S.last_alone, 0, sizeof(S.last_alone));
    memset(S.last_label, 0, sizeof(S.last_label));
    memset(S.lines, 0, sizeof(S.lines));
    search_begin_permits();
}

/* Tried again a few times, as the answer may be lost, but not for ever. */
void search_refused(int label)
{
    enum { PATIENCE = 8 };
    struct contender *k = search_by_label(label);
    if (k && ++k->refusals > PATIENCE && !k->ended) {
        search_violation("contender %d is refused for ever, and does not say so",
                         label);
    }
}

/* --- after each step --- */

/* Lost while it became a reader's: which of its two nodes is there has to be found first. */
static bool is_looked_for(const struct zkr__engine *engine, const char *name)
{
    const struct zkr__claim *claim;
    DL_FOREACH(engine->claims, claim)
    {
        const char *own = strrchr(claim->node, '/');
        if (own && strncmp(own + 1, name, ZKR__PROTECTED_LEN) == 0) {
            return claim->k.leaving && claim->k.holds > 0;
        }
    }
    return false;
}

bool search_is_leaving(const struct contender *k, const struct zkf_node *node)
{
    const struct zkr__engine *engine = S.members[k->client].c->engine;
    struct zkr__path_entry *at = zkr__path_table_find(&engine->by_node, node->path);
    const struct contender *other = search_by_label(node->label);
    if (k->reader && other && other->downgraded && other->client == k->client) {
        return true; /* it reads beside us; servers may have refused to change its node */
    }
    bool leaves =
        at && zkr__claim_stage(&ZKR__OWNER_OF(at, struct zkr__claim, by_node)->k) ==
                  ZKR__REMOVING;
    return leaves || is_looked_for(engine, zkr__path_name(node->path));
}

/*
 * One that named itself and may be passed: put in front of one that was there, who goes by whom it found there; or
 * ahead of the count, so that it came to stand among those who wait for others of their client (engine/children_cache.h).
 */
static bool may_be_passed(const struct zkf_node *node, int64_t token)
{
    return node->label == 0 && (node->czxid > token || search_is_ahead_of_count(node));
}

/*
 * The token of the first of those who hold one after the other, handed on within their client: who was put in front of
 * them later is passed by all.
 */
static int64_t first_in_line(const struct contender *k)
{
    struct search_line *line = &S.lines[k->dir];
    bool handed_on = line->client == k->client && line->token != 0 &&
                     (line->gone_at == 0 || line->gone_at >= k->made_at);
    if (!handed_on) {
        line->token = k->token;
    }
    line->client = k->client;
    line->node = k->node;
    line->gone_at = 0;
    return line->token;
}

/* Those in front must be on their way out, by this very client. */
static void
check_order(const struct contender *k, const struct zkf_node *node, int64_t first)
{
    int64_t mine = sequence_of(node, k->dir);
    for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
        int64_t other = number_in_the_way(k, n);
        if (other != NO_NUMBER && other < mine && !may_be_passed(n, first) &&
            !search_is_leaving(k, n)) {
            search_violation("contender %d of client %d is granted by %s past %s",
                             k->label, k->client, zkr__path_name(node->path),
                             zkr__path_name(n->path));
        }
    }
}

const char *search_stands_behind(const struct zkr__claim *claim, const char *nobody)
{
    const char *path =
        claim->ahead ? claim->ahead->node : zkr__path_watched(&claim->ahead_watcher);
    return path ? path : nobody;
}

/* No herd: one that waits watches the next in front of it, so nobody stands between. */
static void check_parked(const struct contender *k, const struct zkr__claim *claim)
{
    const char *ahead = search_stands_behind(claim, NULL);
    const struct zkf_node *node = k->node;
    if (!ahead || !node || node->czxid != claim->czxid || k->downgraded) {
        return;
    }
    int64_t mine = sequence_of(node, k->dir);
    if (mine == ZKR__SEQUENCE_LIMIT) { /* one of several, and none may hold */
        return;
    }
    enum zkr__name_kind kind;
    int64_t watched = NO_NUMBER;
    (void)zkr__name_parse(zkr__path_name(ahead), &kind, &watched);
    for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
        int64_t other = number_in_the_way(k, n);
        if (other > watched && other < mine && !may_be_passed(n, claim->czxid) &&
            !search_is_leaving(k, n)) {
            search_violation("contender %d of client %d (%s) watches %s past %s",
                             k->label, k->client, zkr__path_name(node->path),
                             zkr__path_name(ahead), zkr__path_name(n->path));
        }
    }
}

/* Whether it knows or not. */
static bool was_taken_away(const struct contender *k, int64_t czxid)
{
    const struct member *m = &S.members[k->client];
    bool was = false;
    for (int i = 0; i < SEARCH_DIRS; i++) {
        was = was || m->taken_away[i] == czxid || m->taken_away[i] == -1;
    }
    return was;
}

/* By the node of one before it, which was kept. */
static void take_over(struct contender *k, const struct zkr__claim *claim)
{
    const struct zkf_node *node = zkf_find(claim->node);
    if (node && node->czxid == claim->czxid) {
        zkf_give(node, k->label);
        k->node = node;
        k->made_at = zkf_now();
        /* One may have come before, and another before the first one was read and written over. */
        k->wishes = claim->revocations + 2;
    } else {
        k->node = NULL;
        k->excused = was_taken_away(k, claim->czxid);
        k->excused_at = zkf_now();
    }
}

static void check_grant(struct contender *k, const struct zkr__claim *claim)
{
    if (S.s.keep_ms > 0 && k->ticket && claim->k.holds > 1 &&
        k->token != claim->czxid) {
        take_over(k, claim);
        S.did.kept++;
    }
    k->holding = true;
    k->held_at = zkf_now();
    k->token = claim->czxid;
    S.did.grants++;
    S.did.multi_grants += k->multi != NULL;
    zkf_trace("client %d: contender %d holds %s, token %" PRId64, k->client, k->label,
              zkr__path_name(claim->node), claim->czxid);
    if (!k->node && (S.s.lapses || S.s.forbids)) {
        /* It was not told that somebody took its node, and finds out by its first probe. */
        k->excused = true;
        k->excused_at = zkf_now();
    }
    if (k->excused && !k->node) {
        return; /* it has not heard yet that its node is gone */
    }
    int64_t first = first_in_line(k);
    if (k->excused || leans(k)) {
        return;
    }
    if (k->permits > 0) {
        search_check_permits(k, claim->czxid);
        return;
    }
    const struct zkf_node *node = k->node;
    if (!node) {
        search_violation("contender %d of client %d holds by %s, which is no more",
                         k->label, k->client, claim->node);
        return;
    }
    if (node->czxid != claim->czxid && !k->downgraded) {
        search_violation("contender %d has token %" PRId64 ", its node %" PRId64,
                         k->label, claim->czxid, node->czxid);
    }
    int64_t number = sequence_of(node, k->dir);
    if (number < 0 || number >= ZKR__SEQUENCE_LIMIT) {
        search_violation("contender %d is granted by the number %" PRId64, k->label,
                         number);
    }
    /* Nobody has asked in between, or a latch had stepped down: the same term goes on. */
    bool again =
        k->label == S.last_label[k->dir] && claim->czxid == S.last_token[k->dir];
    /* Readers that hold together may hear of it in any order. */
    int64_t *last = k->reader ? S.last_alone : S.last_token;
    again = again || (claim->czxid == S.last_token[k->dir] &&
                      claim->k.holds > S.last_pass[k->dir]);
    S.last_pass[k->dir] = claim->k.holds;
    /* A writer that became a reader, and was in doubt meanwhile. */
    again = again || (k->downgraded && claim->czxid == last[k->dir]);
    if (claim->czxid <= last[k->dir] && !again) {
        search_violation("token %" PRId64 " after token %" PRId64, claim->czxid,
                         last[k->dir]);
    }
    if (claim->czxid > S.last_token[k->dir]) {
        S.last_token[k->dir] = claim->czxid;
        S.last_label[k->dir] = k->label;
    }
    if (!k->reader) {
        S.last_alone[k->dir] = claim->czxid;
    }
    check_order(k, node, first);
}

struct zkr__claim *search_claim(const struct contender *k)
{
    return k->latch    ? k->latch->hold.claim
           : k->multi  ? search_part_claim(k)
           : k->ticket ? k->ticket->hold.claim
                       : k->claim;
}

static void look(struct contender *k)
{
    zkr_client *c = S.members[k->client].c;
    zkf_enter(k->client);
    if (k->ticket && S.steps % 8 == 0) {
        search_check_ticket(k);
    }
    zkr__lock(c);
    if (k->permits > 0) {
        search_check_inside(k);
    }
    const struct zkr__claim *any = search_claim(k);
    struct zkr__claim *claim = k->latch ? zkr__latch_lead(k->latch) : search_claim(k);
    if (k->permits == 0 && any && any->k.phase == ZKR__PARKED &&
        !any->k.watch_children && S.steps % 4 == 0) {
        check_parked(k, any);
    }
    if (S.s.wishes && any) {
        search_check_wishes(k, any);
    }
    bool sure = claim && claim->k.phase == ZKR__HELD && zkr__claim_sure(claim) &&
                (!k->multi || search_all_held(k)) &&
                (k->permits == 0 || zkr__hold_granted(&k->ticket->hold));
    if (sure) {
        if (!k->holding || k->token != claim->czxid) {
            check_grant(k, claim);
        }
        int64_t valid = zkr__valid_for_ms(c) * ZKR__MS;
        int64_t until = zkf_now() + zkf_client_span(k->client, valid);
        k->until = until > k->until ? until : k->until;
        bool gone = k->permits > 0 ? search_leases_of(k) < k->permits : !k->node;
        if (!k->excused && !leans(k) && gone) {
            search_violation("contender %d of client %d holds by %s, which is no more",
                             k->label, k->client, claim->node);
        }
        if (k->excused && gone && zkf_now() > k->excused_at + 2 * S.s.session) {
            search_violation("contender %d does not learn that its node is gone",
                             k->label);
        }
    } else if (k->holding) {
        k->holding = false;
        k->until = 0;
        if (S.s.peace && !search_shrank_early(k)) {
            search_violation("contender %d is lost without a fault", k->label);
        }
        S.did.losses++;
        zkf_trace("client %d: contender %d holds no more", k->client, k->label);
    }
    zkr__unlock(c);
}

static bool believes(const struct contender *k)
{
    return k->label != 0 && k->holding && !k->excused && !leans(k) &&
           (!*zkf_client_stopped(k->client) || k->until > zkf_now());
}

/* What is sent without them may be refused, for good. */
static void check_credentials(int client)
{
    static long hasty, too_long;
    const zkr_client *c = S.members[client].c;
    const struct zkf_counts *f = zkf_counts();
    if (f->hasty != hasty) {
        hasty = f->hasty;
        search_violation(
            "client %d sends a transaction before its credentials are taken", client);
    }
    if (f->too_many_watches != too_long) {
        too_long = f->too_many_watches;
        search_violation("client %d has more watches than can be set again", client);
    }
    if (zkr__connected(c) && zkf_credentials(c->link->zh) < (int)c->auth_count) {
        search_violation("client %d works without its credentials", client);
    }
}

/* What is ours is not among the others: it could leave, and be waited for all the same. */
static void check_others(int client)
{
    const struct zkr__engine *engine = S.members[client].c->engine;
    const struct zkr__directory *d = engine ? engine->directories : NULL;
    zkr__lock(S.members[client].c);
    for (; d; d = d->next) {
        const struct zkr__children *others = d->guard ? &d->guard->known.others : NULL;
        for (size_t i = 0; others && i < others->count; i++) {
            if (zkr__claim_in(d, others->list[i].name)) {
                search_violation("client %d takes its own %s for one of others", client,
                                 others->list[i].name);
            }
        }
    }
    zkr__unlock(S.members[client].c);
}

/* Those whose nodes are being made are counted, and one of them is there while others stand in line. */
static void check_joins(int client)
{
    const struct zkr__engine *engine = S.members[client].c->engine;
    zkr__lock(S.members[client].c);
    const struct zkr__claim *claim = engine ? engine->claims : NULL;
    int joining = 0;
    for (; claim; claim = claim->next) {
        joining += claim->k.phase == ZKR__CREATING;
    }
    if (engine && engine->joining != joining) {
        search_violation("client %d makes %d nodes, and counts %d", client, joining,
                         engine->joining);
    }
    const struct zkr__directory *d = engine ? engine->directories : NULL;
    for (; d; d = d->next) {
        if (d->keep && d->keep->line && d->keep->standing == 0) {
            search_violation("client %d has a line in %s, and nobody in front of it",
                             client, d->path);
        }
    }
    if (engine && engine->line && joining == 0) {
        search_violation("client %d lets nobody in", client);
    }
    zkr__unlock(S.members[client].c);
}

void search_check(void)
{
    const struct contender *holder[SEARCH_DIRS] = {NULL};
    for (int i = 0; i < S.s.clients; i++) {
        if (S.members[i].c) {
            check_credentials(i);
            search_count_lists(i);
            check_others(i);
            check_joins(i);
            if (search_look_at_lease(i)) {
                shorten(i);
            }
        }
    }
    for (int i = 0; i < SEARCH_CONTENDERS; i++) {
        struct contender *k = &S.contenders[i];
        if (k->label != 0 && !*zkf_client_stopped(k->client)) {
            look(k);
        }
        if (!believes(k) || k->permits > 0) {
            continue;
        }
        bool together = holder[k->dir] && holder[k->dir]->reader && k->reader;
        S.did.shared_grants += together;
        if (holder[k->dir] && !together) {
            search_violation(
                "both contender %d of client %d and %d of client %d hold %s",
                holder[k->dir]->label, holder[k->dir]->client, k->label, k->client,
                search_dir(k->dir));
        }
        holder[k->dir] = k;
    }
    search_check_multis();
    search_sum_permits(believes);
}

/* --- when all is quiet --- */

static void check_entitled(const struct contender *k, const struct zkr__children *all)
{
    const struct zkr__claim *claim = search_claim(k);
    size_t self = zkr__children_find(all, zkr__path_name(claim->node));
    bool granted =
        self < all->count && claim->q->rule(all, self, claim->q->rule_arg).granted;
    if (k->downgraded && k->holding && self == all->count) {
        search_violation("contender %d of client %d reads without %s", k->label,
                         k->client, claim->node);
    }
    bool heard = claim->k.phase == ZKR__HELD || claim->k.phase == ZKR__READY;
    if (granted && !heard && !k->ended) {
        search_violation("contender %d of client %d may hold by %s, and does not hear "
                         "of it",
                         k->label, k->client, claim->node);
    }
}

void search_check_entitled(void)
{
    enum { MOST = 4 * SEARCH_CONTENDERS };
    const char *names[MOST];
    size_t count = 0;
    for (const struct zkf_node *n = zkf_nodes(); n && count < MOST; n = n->next) {
        if (sequence_of(n, DIR_LOCK) != NO_NUMBER) {
            names[count++] = zkr__path_name(n->path);
        }
    }
    struct zkr__children all;
    if (zkr__children_order(&all, names, count, ZKR__ANY_NUMBER, NULL, NULL) !=
        ZKR_OK) {
        return;
    }
    for (int i = 0; i < SEARCH_CONTENDERS; i++) {
        const struct contender *k = &S.contenders[i];
        if (k->label != 0 && k->dir == DIR_LOCK && search_claim(k)) {
            check_entitled(k, &all);
        }
    }
    zkr__mem_free(all.list);
}
