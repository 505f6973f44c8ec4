/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold after each step, whatever the threads do. It looks at claims, not at who made them: one
 * that is held and sure is a hold, and so is what a thread was promised by valid_for().
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "sim.h"

enum { HOLDS = 64, EXCUSED = 256, PATH = 200 };

/* A claim that was sure when it was looked at last. */
struct hold {
    int client;
    enum sim_dir dir;
    enum zkr__name_kind kind;
    int64_t token, since, until; /* the latter two in true time */
    char path[PATH];
    const struct zkr__claim *claim;
    long seen; /* at this step */
};

static struct hold holds[HOLDS];
static int hold_count;
static struct {
    char path[PATH];
    int64_t at;
} excused[EXCUSED];
static int excused_count;
static bool wiped;
static int64_t last_token[SIM_DIRS];

/* --- what faults and the fake tell --- */

/* A writer's node, and the reader's that it becomes, are one and the same hold. */
static bool is_excused(const char *path)
{
    size_t len = (size_t)(zkr__path_name(path) - path) + ZKR__PROTECTED_LEN;
    for (int i = 0; i < excused_count; i++) {
        if (strncmp(excused[i].path, path, len) == 0) {
            return true;
        }
    }
    return false;
}

static int dir_of(const char *path)
{
    const char *name = zkr__path_name(path);
    for (int dir = 0; dir <= AT_GATE; dir++) {
        const char *text = sim_dir((enum sim_dir)dir);
        size_t len = strlen(text);
        if (strncmp(path, text, len) == 0 && path + len + 1 == name) {
            return dir;
        }
    }
    return -1;
}

static void forget_promises(int client, int dir)
{
    struct process *p = &processes[client];
    for (int i = 0; i < SIM_APPS; i++) {
        for (int lock = 0; lock < SIM_LOCKS; lock++) {
            struct promise *promise = &p->apps[i].promise[lock];
            promise->until = (int)promise->dir == dir || dir < 0 ? 0 : promise->until;
        }
    }
    for (int i = 0; i < SIM_PASSES; i++) {
        struct promise *promise = &p->passes[i].promise;
        promise->until = (int)promise->dir == dir || dir < 0 ? 0 : promise->until;
    }
}

/* By hand: its owner cannot know at once. */
void search_excuse(const struct zkf_node *node)
{
    int at = 0; /* a delete of before may have been refused */
    while (at < excused_count && strcmp(excused[at].path, node->path) != 0) {
        at++;
    }
    if (at < EXCUSED) {
        (void)snprintf(excused[at].path, PATH, "%s", node->path);
        excused[at].at = zkf_now();
        excused_count += at == excused_count;
    }
    if (node->label > 0) {
        /* A multi-lock is lost as a whole. */
        forget_promises(node->label - 1, -1);
    }
}

/* All data are gone: who holds cannot know, and tokens begin anew. */
void search_excuse_all(void)
{
    wiped = true;
    for (int i = 0; i < S.s.clients; i++) {
        forget_promises(i, -1);
    }
}

void search_refused(int label)
{
    (void)label;
}

struct contender *search_by_label(int label)
{
    if (label <= 0) {
        return NULL;
    }
    S.contenders[label - 1].client = label - 1;
    return &S.contenders[label - 1];
}

/* Threads have several; which holds is judged by what they were promised. */
struct zkr__claim *search_claim(const struct contender *k)
{
    (void)k;
    return NULL;
}

const struct zkf_node *search_ahead(const struct zkf_node *node)
{
    const struct zkf_node *ahead = NULL;
    for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
        if (n->parent_hash == node->parent_hash && n->sequence >= 0 &&
            n->sequence < node->sequence && (!ahead || n->sequence > ahead->sequence)) {
            ahead = n;
        }
    }
    return ahead;
}

void search_touch(const struct zkf_node *node)
{
    (void)zkf_stranger_touch(node->path);
}

void search_resize(void)
{
}

const char *search_dir(int dir)
{
    return sim_dir((enum sim_dir)dir);
}

/* Nodes say whose they are; those of faults are nobody's. */
int search_on_submit(int client, const struct zkr__op *op)
{
    search_on_create(op);
    return client + 1;
}

static bool trusted(const struct hold *h)
{
    return !wiped && !is_excused(h->path) && !search_leans(h->client);
}

void sim_on_deleting(const struct zkf_node *node)
{
    for (int i = 0; i < hold_count; i++) {
        const struct hold *h = &holds[i];
        if (h->until > zkf_now() && strcmp(h->path, node->path) == 0 && trusted(h)) {
            sim_violation("client %d loses %s, which was promised for %.1f ms more",
                          h->client, node->path, (double)(h->until - zkf_now()) / 1e6);
        }
    }
}

/* --- holds --- */

static bool alone(enum zkr__name_kind kind)
{
    return kind != ZKR__NAME_READ && kind != ZKR__NAME_LEASE;
}

static void check_pair(const struct hold *x, const struct hold *y)
{
    bool apart = x->dir != y->dir || (!alone(x->kind) && !alone(y->kind));
    if (!apart && trusted(x) && trusted(y)) {
        sim_violation("client %d holds by %s, and client %d by %s", x->client, x->path,
                      y->client, y->path);
    }
}

static void check_permits(void)
{
    int64_t permits = 0;
    for (int i = 0; i < hold_count; i++) {
        permits += holds[i].dir == AT_PERMITS && trusted(&holds[i]);
    }
    if (permits > scene.max) {
        sim_violation("%" PRId64 " permits are held of %" PRId64, permits, scene.max);
    }
}

static void check_holds(void)
{
    for (int i = 0; i < hold_count; i++) {
        for (int j = i + 1; j < hold_count; j++) {
            check_pair(&holds[i], &holds[j]);
        }
    }
    check_permits();
}

/* A node of this client that is on its way out, or on its way to be a reader's. */
static bool makes_way(const zkr_client *c, const struct zkf_node *n, bool reads)
{
    const struct zkr__engine *engine = c->engine;
    const char *name = zkr__path_name(n->path);
    const struct zkr__claim *claim;
    DL_FOREACH(engine->claims, claim)
    {
        const char *own = strrchr(claim->node, '/');
        if (own && strncmp(own + 1, name, ZKR__PROTECTED_LEN) == 0) {
            return zkr__claim_stage(&claim->k) == ZKR__REMOVING || claim->k.leaving ||
                   (reads && strstr(own, "__READ__"));
        }
    }
    return false;
}

/* None in front but what this very client is deleting. */
static void check_order(const struct hold *h)
{
    bool reads = h->kind == ZKR__NAME_READ;
    uint32_t parent = zkf_hash(sim_dir(h->dir));
    enum zkr__name_kind kind;
    int64_t mine, other;
    if (h->dir == AT_PERMITS ||
        !zkr__name_parse(zkr__path_name(h->path), &kind, &mine)) {
        return;
    }
    for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
        if (n->parent_hash != parent ||
            !zkr__name_parse(zkr__path_name(n->path), &kind, &other) || other >= mine ||
            (reads && kind == ZKR__NAME_READ)) {
            continue;
        }
        /* Who named itself may be put in front of those who are in line: engine.search has more of that. */
        bool named = n->label == 0 && (n->owner == 0 || n->czxid > h->token);
        if (!named && !makes_way(S.members[h->client].c, n, reads)) {
            sim_violation("client %d is granted by %s past %s", h->client,
                          zkr__path_name(h->path), zkr__path_name(n->path));
        }
    }
}

static void check_grant(const struct hold *h)
{
    if (!trusted(h)) {
        return;
    }
    if (alone(h->kind)) {
        if (h->token < last_token[h->dir]) {
            sim_violation("token %" PRId64 " after token %" PRId64 " in %s", h->token,
                          last_token[h->dir], sim_dir(h->dir));
        }
        last_token[h->dir] = h->token;
    }
    check_order(h);
}

static struct hold *find(int client, const struct zkr__claim *claim)
{
    for (int i = 0; i < hold_count; i++) {
        if (holds[i].client == client && holds[i].claim == claim &&
            holds[i].token == claim->czxid) {
            return &holds[i];
        }
    }
    return NULL;
}

/* Nothing else runs meanwhile. */
ZKR__TSA(no_thread_safety_analysis)
static void look(int client, struct zkr__claim *claim)
{
    zkr_client *c = S.members[client].c;
    int dir = dir_of(claim->node);
    if (claim->k.phase != ZKR__HELD || !zkr__claim_sure(claim) || claim->k.leaving ||
        dir < 0 || dir >= SIM_DIRS || hold_count == HOLDS) {
        return;
    }
    struct hold *h = find(client, claim);
    bool is_new = !h;
    if (is_new) {
        h = &holds[hold_count++];
        *h = (struct hold){.client = client,
                           .dir = (enum sim_dir)dir,
                           .claim = claim,
                           .token = claim->czxid,
                           .since = zkf_now()};
    }
    h->kind = claim->q->kind;
    h->seen = did.steps;
    h->until = zkf_now() + zkf_client_span(client, zkr__valid_for_ms(c) * ZKR__MS);
    (void)snprintf(h->path, sizeof(h->path), "%s", claim->node);
    if (is_new) {
        check_grant(h);
    }
    for (int i = 0; i < excused_count; i++) {
        /* Who was not told while it waited finds out by its first probe. */
        bool late = S.s.lapses && h->since > excused[i].at;
        int64_t since = late ? h->since : excused[i].at;
        if (strcmp(excused[i].path, h->path) == 0 && !zkf_find(h->path) &&
            zkf_now() > since + 2 * S.s.session && !S.members[client].stalled) {
            sim_violation("client %d does not learn that %s is gone", client, h->path);
        }
    }
}

/* One that stands still goes on believing, as long as it was promised. */
static void drop_unseen(void)
{
    for (int i = 0; i < hold_count; i++) {
        bool stopped = *zkf_client_stopped(holds[i].client);
        bool over = stopped ? holds[i].until <= zkf_now() : holds[i].seen != did.steps;
        if (over) {
            holds[i--] = holds[--hold_count];
        }
    }
}

/* --- what threads were promised --- */

static void check_promise(const struct process *p, const struct promise *promise)
{
    if (promise->until <= zkf_now() || search_leans(p->client)) {
        return;
    }
    for (int i = 0; i < hold_count; i++) {
        const struct hold *h = &holds[i];
        bool apart = promise->shared && !alone(h->kind);
        if (h->dir == promise->dir && h->client != p->client && !apart && trusted(h)) {
            sim_violation("client %d holds by %s, which client %d was promised for "
                          "%.1f ms more",
                          h->client, h->path, p->client,
                          (double)(promise->until - zkf_now()) / 1e6);
        }
    }
}

static void check_promises(const struct process *p)
{
    for (int i = 0; i < SIM_APPS; i++) {
        for (int lock = 0; lock < SIM_LOCKS; lock++) {
            check_promise(p, &p->apps[i].promise[lock]);
        }
    }
    for (int i = 0; i < SIM_PASSES; i++) {
        check_promise(p, &p->passes[i].promise);
    }
}

static void check_beside(const struct promise *x, const struct promise *y)
{
    if (x != y && y->until > zkf_now() && x->dir == y->dir &&
        !(x->shared && y->shared)) {
        sim_violation("%s is promised twice within one client", sim_dir(x->dir));
    }
}

/* Of one client: no two threads or tickets. A writer may read as well. */
static void check_within(const struct process *p, const struct promise *promise)
{
    for (int i = 0; i < SIM_APPS; i++) {
        const struct app *a = &p->apps[i];
        bool own = promise >= a->promise && promise < a->promise + SIM_LOCKS;
        for (int lock = 0; lock < SIM_LOCKS; lock++) {
            if (!own || promise->dir != AT_RW) {
                check_beside(promise, &a->promise[lock]);
            }
        }
    }
    for (int i = 0; i < SIM_PASSES && promise->dir != AT_PERMITS; i++) {
        check_beside(promise, &p->passes[i].promise);
    }
}

void sim_promise(struct process *p,
                 struct promise *promise,
                 enum sim_dir dir,
                 bool shared,
                 int64_t since,
                 int64_t valid_ms)
{
    int64_t until = since + zkf_client_span(p->client, valid_ms * ZKR__MS);
    *promise = (struct promise){.until = until, .dir = dir, .shared = shared};
    if (valid_ms == 0 || excused_count > 0 || wiped || search_leans(p->client)) {
        promise->until = 0;
    } else if (dir != AT_PERMITS) {
        check_within(p, promise);
    }
}

/* --- after each step --- */

void sim_check_begin(void)
{
    hold_count = 0;
    excused_count = 0;
    wiped = false;
    memset(last_token, 0, sizeof(last_token));
}

void sim_check(void)
{
    for (int i = 0; i < S.s.clients; i++) {
        const zkr_client *c = S.members[i].c;
        if (!c || *zkf_client_stopped(i)) {
            continue;
        }
        zkf_enter(i);
        if ((!c->link || c->link->zh) && search_look_at_lease(i)) {
            forget_promises(i, -1);
            for (int j = 0; j < hold_count; j++) {
                holds[j].until = holds[j].client == i ? 0 : holds[j].until;
            }
        }
        search_count_lists(i);
        const struct zkr__engine *engine = c->engine;
        struct zkr__claim *claim;
        if (engine) {
            DL_FOREACH(engine->claims, claim)
            {
                look(i, claim);
            }
        }
    }
    drop_unseen();
    check_holds();
    for (int i = 0; i < S.s.clients; i++) {
        if (S.members[i].c) {
            check_promises(&processes[i]);
        }
    }
}
