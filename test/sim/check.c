/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conditions that must hold after each step, whatever the threads do. The checks look at claims, whichever thread
 * created them: a claim that is held and sure is a hold. A promise of valid_for() to a thread is a hold, too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "ops.h"
#include "queue/children_cache.h"
#include "queue/claim_run.h"
#include "queue/group.h"

enum { HOLDS = 64, EXCUSED = 256 };

/* A claim that was sure at the last look. */
struct hold {
    int client;
    enum sim_dir dir;
    enum zkr__name_kind kind;
    int64_t token, since, until; /* since and until in true time */
    unsigned pass;
    char path[SIM_PATH];
    const struct zkr__claim *claim;
    long seen; /* the last step in which the hold was seen */
};

/* A claim that waits although nobody is ahead of it. */
static struct free {
    const struct zkr__claim *claim;
    int64_t token, since;
} frees[HOLDS];
static int free_count;

static struct hold holds[HOLDS];
static int hold_count;
static struct {
    char path[SIM_PATH];
    int64_t at;
} excused[EXCUSED];
static int excused_count;
static bool wiped;
/* The last token, and the last holders that handed the lock on within their client. @first is the token of the first of
   these holders. */
static struct line {
    int64_t token;
    unsigned pass;
    int client;
    int64_t first, gone_at;
    char path[SIM_PATH];
} lines[SIM_DIRS];
/* The data that guarded writes have left. */
static struct {
    int64_t token, pass, mzxid;
} written[SIM_DIRS];

/* --- what faults and the fake tell --- */

/* A writer's node and the reader's node that replaces it belong to the same hold. */
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

static void forget(struct promise *promise)
{
    sim_tell_taken(promise);
    promise->until = 0;
}

void sim_forget_promises(int client)
{
    struct process *p = &processes[client];
    for (int i = 0; i < SIM_APPS; i++) {
        for (int lock = 0; lock < SIM_LOCKS; lock++) {
            forget(&p->apps[i].promise[lock]);
        }
    }
    for (int i = 0; i < SIM_PASSES; i++) {
        forget(&p->passes[i].promise);
    }
}

/*
 * Returns whether @node waits behind another client's node. Its grant comes after the deletion of @node, so its client
 * must have learned of the deletion first. The exceptions are events that are held back, and grants by news from
 * another process, which have no order with events.
 */
static bool will_know(const struct zkf_node *node)
{
    enum zkr__name_kind kind, other;
    int64_t number;
    int dir = dir_of(node->path);
    const struct zkf_node *ahead = sim_ahead(node);
    for (int i = 0; i < hold_count; i++) {
        if (strcmp(holds[i].path, node->path) == 0) {
            return false;
        }
    }
    return !scene.lapses && !scene.forbids && !scene.nearby && node->label > 0 &&
           ahead && dir >= 0 && dir < SIM_DIRS && dir != AT_PERMITS &&
           zkr__name_parse(zkr__path_name(node->path), &kind, &number) &&
           zkr__name_parse(zkr__path_name(ahead->path), &other, &number) &&
           (kind != ZKR__NAME_READ || other != ZKR__NAME_READ) &&
           ahead->owner != node->owner && ahead->czxid < node->czxid;
}

/* Another client deletes the node, so the owner of the node may still believe in its hold. */
void sim_excuse(const struct zkf_node *node)
{
    if (!will_know(node)) {
        sim_excuse_always(node);
    }
}

void sim_excuse_always(const struct zkf_node *node)
{
    int at = 0; /* the node is already in the list if an earlier delete was refused */
    while (at < excused_count && strcmp(excused[at].path, node->path) != 0) {
        at++;
    }
    if (at < EXCUSED) {
        (void)snprintf(excused[at].path, SIM_PATH, "%s", node->path);
        excused[at].at = zkf_now();
        excused_count += at == excused_count;
    }
    if (node->label > 0) {
        /* A multi-lock is lost as a whole. */
        sim_forget_promises(node->label - 1);
    }
}

/* All data are deleted: holders cannot know, and tokens begin again. */
void sim_excuse_all(void)
{
    wiped = true;
    sim_permits_begin();
    for (int i = 0; i < scene.clients; i++) {
        sim_forget_promises(i);
    }
}

const struct zkf_node *sim_ahead(const struct zkf_node *node)
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

/* A label on each node shows its client. Nodes of faults have no label. */
int sim_on_submit(int client, const struct zkr__op *op)
{
    sim_on_create(op);
    sim_wish_sent(op);
    return client + 1;
}

/* A node whose name the client does not know can be found only by its GUID. Permits also depend on lists that lack a
   node. */
bool sim_may_hide(int client)
{
    const zkr_client *c = processes[client].checked;
    const struct zkr__engine *engine = c ? c->engine : NULL;
    const struct zkr__claim *claim = engine ? engine->claims : NULL;
    for (; claim; claim = claim->next) {
        if (zkr__claim_stage(&claim->k) == ZKR__FINDING) {
            return false;
        }
    }
    return engine && !scene.permits;
}

bool sim_trusted(int client, const char *path)
{
    return !wiped && !is_excused(path) && !sim_leans(client);
}

static bool trusted(const struct hold *h)
{
    return sim_trusted(h->client, h->path);
}

bool sim_may_judge(int client)
{
    return !wiped && excused_count == 0 && !sim_leans(client);
}

void sim_on_deleting(const struct zkf_node *node)
{
    for (int dir = 0; dir < SIM_DIRS; dir++) {
        if (strcmp(lines[dir].path, node->path) == 0) {
            lines[dir].gone_at = zkf_now();
        }
    }
    for (int i = 0; i < excused_count; i++) {
        if (strcmp(excused[i].path, node->path) == 0) {
            excused[i].at =
                zkf_now(); /* the node is deleted only now if an earlier delete was refused */
        }
    }
    for (int i = 0; i < hold_count; i++) {
        const struct hold *h = &holds[i];
        if (!sim_history && h->until > zkf_now() && strcmp(h->path, node->path) == 0 &&
            trusted(h)) {
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
    if (!sim_history && !apart && trusted(x) && trusted(y)) {
        sim_violation("client %d holds by %s, and client %d by %s", x->client, x->path,
                      y->client, y->path);
    }
}

static void check_permits(void)
{
    int64_t held = 0, earliest = INT64_MAX;
    for (int i = 0; i < hold_count; i++) {
        bool counts = holds[i].dir == AT_PERMITS && trusted(&holds[i]);
        held += counts;
        earliest = counts && holds[i].token < earliest ? holds[i].token : earliest;
    }
    sim_check_permits(held, earliest);
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

/* Returns whether @n is a node of this client that is being removed, or that is becoming a reader's node. */
bool sim_makes_way(int client, const struct zkf_node *n, bool reads)
{
    const struct zkr__engine *engine = processes[client].c->engine;
    const char *name = zkr__path_name(n->path);
    const struct zkr__claim *claim;
    DL_FOREACH(engine->claims, claim)
    {
        const char *own = strrchr(claim->node, '/');
        if (own && strncmp(own + 1, name, ZKR__PROTECTED_LEN) == 0) {
            return zkr__claim_stage(&claim->k) == ZKR__REMOVING || claim->k.leaving ||
                   (reads && claim->q->kind == ZKR__NAME_READ);
        }
    }
    return false;
}

/* Of two nodes with one number, the READ node is behind. Other nodes with one number are ordered by name. */
static bool is_before(const struct zkf_node *n,
                      enum zkr__name_kind kind,
                      const struct zkr__claim *claim)
{
    bool reads = claim->q->kind == ZKR__NAME_READ;
    return reads != (kind == ZKR__NAME_READ)
               ? reads
               : strcmp(zkr__path_name(n->path), zkr__path_name(claim->node)) < 0;
}

/*
 * Returns a node ahead of @claim, above the number @above, that the claim must not pass, or NULL. A claim may pass a
 * node whose creator chose the number itself, if the node was put ahead of a node that existed before it, or ahead of
 * the count, among the nodes that wait for others of their client (queue/children_cache.h). With @first INT64_MAX, a
 * claim must not pass such a node.
 */
static const struct zkf_node *passed(int client,
                                     const struct zkr__claim *claim,
                                     enum sim_dir dir,
                                     int64_t first,
                                     int64_t above)
{
    bool reads = claim->q->kind == ZKR__NAME_READ;
    uint32_t parent = zkf_hash(sim_dir(dir));
    enum zkr__name_kind kind;
    int64_t mine, other;
    if (!zkr__name_parse(zkr__path_name(claim->node), &kind, &mine)) {
        return NULL;
    }
    for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
        if (n->parent_hash != parent ||
            !zkr__name_parse(zkr__path_name(n->path), &kind, &other) ||
            other <= above || (reads && kind == ZKR__NAME_READ)) {
            continue;
        }
        if (other > mine || (other == mine && !is_before(n, kind, claim))) {
            continue;
        }
        /* A node with a negative number cannot hold, and is being removed. */
        bool spent = n->label != 0 && other < 0;
        bool named = n->label == 0 && first < INT64_MAX &&
                     (n->czxid > first || sim_is_ahead_of_count(n));
        bool told = first < INT64_MAX && sim_handed(n->path);
        if (!spent && !named && !told && !sim_makes_way(client, n, reads)) {
            return n;
        }
    }
    return NULL;
}

/*
 * Returns the token of the first of the holders that handed the lock on within their client. All of them pass a node
 * that was put ahead of them later.
 */
static int64_t first_in_line(const struct hold *h, const struct zkf_node *node)
{
    struct line *line = &lines[h->dir];
    bool handed_on =
        (line->client == h->client || h->claim->came == ZKR__BY_NEWS) &&
        line->first != 0 &&
        (line->gone_at == 0 || line->gone_at / ZKR__MS + 1 >= node->created_ms);
    line->first = handed_on ? line->first : h->token;
    line->client = h->client;
    line->gone_at = 0;
    (void)snprintf(line->path, sizeof(line->path), "%s", h->path);
    return line->first;
}

static void check_token(const struct hold *h)
{
    struct line *line = &lines[h->dir];
    bool older =
        h->token < line->token || (h->token == line->token && h->pass < line->pass);
    if (older) {
        sim_violation("token %" PRId64 " after token %" PRId64 " in %s", h->token,
                      line->token, sim_dir(h->dir));
    }
    line->token = h->token;
    line->pass = h->pass;
}

/* The owner may have become a reader meanwhile. Then the node is at one of two paths. */
static const struct zkf_node *find_node(const struct hold *h)
{
    const struct zkf_node *node = zkf_find(h->path);
    if (!node && h->claim->k.downgrade != ZKR__SETTLED) {
        char writer[SIM_PATH];
        (void)snprintf(writer, sizeof(writer), "%s", h->path);
        zkr__name_turn(writer, ZKR__NAME_WRITE);
        node = zkf_find(writer);
    }
    return node;
}

static void check_grant(const struct hold *h)
{
    const struct zkf_node *node = find_node(h);
    enum zkr__name_kind kind;
    int64_t number = 0;
    if (!node && (scene.lapses || scene.forbids)) {
        return; /* the client got no event of the deletion, and notices the deletion by its first probe */
    }
    if (!trusted(h)) {
        return;
    }
    if (!node) {
        sim_violation("client %d holds by %s, which is no more", h->client, h->path);
        return;
    }
    if (node->czxid != h->token && h->claim->q->kind != ZKR__NAME_READ) {
        sim_violation("client %d has token %" PRId64 ", its node %" PRId64, h->client,
                      h->token, node->czxid);
    }
    (void)zkr__name_parse(zkr__path_name(h->path), &kind, &number);
    if (h->dir != AT_PERMITS && (number < 0 || number >= ZKR__SEQUENCE_LIMIT)) {
        sim_violation("client %d is granted by the number %" PRId64, h->client, number);
    }
    int64_t first = first_in_line(h, node);
    if (alone(h->kind)) {
        check_token(h);
    }
    const struct zkf_node *other =
        h->dir == AT_PERMITS ? NULL
                             : passed(h->client, h->claim, h->dir, first, INT64_MIN);
    if (other) {
        sim_violation("client %d is granted by %s past %s", h->client,
                      zkr__path_name(h->path), zkr__path_name(other->path));
    }
}

/* Check that there is no herd effect: a waiter watches the next node ahead of it, with no node in between. */
static void check_parked(int client, const struct zkr__claim *claim, enum sim_dir dir)
{
    const char *ahead =
        claim->ahead ? claim->ahead->node : zkr__path_watched(&claim->ahead_watcher);
    const struct zkf_node *node = zkf_find(claim->node);
    enum zkr__name_kind kind;
    int64_t watched;
    if (!ahead || !node || node->czxid != claim->czxid || node->sequence < 0 ||
        node->sequence == ZKR__SEQUENCE_LIMIT) {
        return;
    }
    if (!zkr__name_parse(zkr__path_name(ahead), &kind, &watched)) {
        return; /* a claim of this client, whose node is being created again */
    }
    const struct zkf_node *other = passed(client, claim, dir, claim->czxid, watched);
    if (other) {
        sim_violation("client %d waits by %s, and watches %s past %s", client,
                      zkr__path_name(node->path), zkr__path_name(ahead),
                      zkr__path_name(other->path));
    }
}

/* Returns whether nothing keeps a waiting claim from its hold, or its node is gone. */
static bool is_free(int client, const struct zkr__claim *claim, enum sim_dir dir)
{
    const struct zkf_node *node = zkf_find(claim->node);
    bool there = node && node->czxid == claim->czxid;
    if (claim->k.phase != ZKR__PARKED) {
        return claim->k.downgrade != ZKR__SETTLED;
    }
    if (!there && !claim->in_line) {
        /* The node is gone, and the claim must create another. Without a watch on the node, it does so at its turn. */
        return claim->k.own != ZKR__OWN_SEEN;
    }
    if (dir == AT_PERMITS) {
        return there && zkf_find(sim_dir(dir))->children <= sim_max_now();
    }
    /* A claim behind a neighbour without a watch on its own node notices at its turn that the node is gone. */
    for (const struct zkr__claim *ahead = claim->ahead; ahead; ahead = ahead->ahead) {
        if (ahead->k.own == ZKR__OWN_SEEN) {
            return false;
        }
    }
    return there && !passed(client, claim, dir, INT64_MAX, INT64_MIN);
}

/* Check that without a fault, a waiter with nobody ahead of it is granted in time, and a downgrade completes. */
static void check_hears(int client, const struct zkr__claim *claim, enum sim_dir dir)
{
    int64_t look = sim_peace() ? scene.session / 2 : sim_patience();
    bool calm = sim_quiet || sim_still || sim_peace();
    bool free = calm && !scene.lapses && !scene.forbids && is_free(client, claim, dir);
    int i = 0;
    while (i < free_count && frees[i].claim != claim) {
        i++;
    }
    if (i == free_count && free && free_count < HOLDS) {
        frees[free_count++] = (struct free){.claim = claim};
    }
    if (i == free_count) {
        return;
    }
    if (!free || frees[i].token != claim->czxid) {
        frees[i].since = zkf_now();
        frees[i].token = claim->czxid;
    } else if (zkf_now() > frees[i].since + look) {
        sim_violation("client %d may hold by %s, and does not hear of it", client,
                      claim->node);
    }
}

/*
 * Check that all members of a group hold by one transaction, and that a group of permits has no node in PATH/locks any
 * more.
 */
static void check_group(int client, const struct zkr__group *group)
{
    for (uint32_t i = 0; i < group->count; i++) {
        const struct zkr__claim *claim = group->members[i];
        if (claim ? claim->k.phase != ZKR__HELD ||
                        claim->czxid != group->members[0]->czxid
                  : i == 0 || i + 1 < group->count ||
                        group->members[0]->q->kind != ZKR__NAME_LEASE) {
            sim_violation("client %d holds, but not by all, or by two tokens", client);
        }
    }
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

/*
 * Check that a holder learns of the deletion of its node. If another client deleted the node during the wait, and the
 * event was lost, the first probe notices the deletion.
 */
static void check_learns(const struct hold *h)
{
    for (int i = 0; i < excused_count; i++) {
        bool late = (scene.lapses || scene.forbids) && h->since > excused[i].at;
        int64_t since = late ? h->since : excused[i].at;
        const struct zkf_node *node = zkf_find(h->path);
        bool gone = !node || node->owner != processes[h->client].c->session_id;
        if (strcmp(excused[i].path, h->path) == 0 && gone &&
            zkf_now() > since + 2 * scene.session && !processes[h->client].stalled) {
            sim_violation("client %d does not learn that %s is gone", h->client,
                          h->path);
        }
    }
}

/* Returns whether a thread is about to write and release in @dir. */
static bool is_released(int client, enum sim_dir dir)
{
    bool is = false;
    for (int i = 0; i < SIM_APPS; i++) {
        for (int lock = 0; lock < SIM_LOCKS; lock++) {
            is = is || (processes[client].apps[i].releasing[lock] &&
                        sim_lock_dir((enum sim_lock)lock) == dir);
        }
    }
    return is;
}

/* No other thread runs meanwhile. */
ZKR__TSA(no_thread_safety_analysis)
static void look(int client, struct zkr__claim *claim)
{
    zkr_client *c = processes[client].checked;
    int dir = dir_of(claim->node);
    if (dir < 0 || dir >= SIM_DIRS) {
        return;
    }
    bool sure = claim->k.phase == ZKR__HELD && zkr__claim_sure(claim) &&
                !claim->k.leaving && !is_released(client, (enum sim_dir)dir);
    if (claim->k.phase == ZKR__PARKED && !claim->k.watch_children &&
        dir != AT_PERMITS && did.steps % 4 == 0) {
        check_parked(client, claim, (enum sim_dir)dir);
    }
    if (did.steps % 4 == 0 && !claim->k.leaving &&
        (claim->k.phase == ZKR__PARKED || claim->k.phase == ZKR__HELD)) {
        check_hears(client, claim, (enum sim_dir)dir);
    }
    if (claim->k.phase == ZKR__HELD && claim->q->watch_node &&
        claim->k.own == ZKR__OWN_SEEN) {
        sim_violation("client %d holds, and does not watch %s", client, claim->node);
    }
    struct hold *h = find(client, claim);
    if (scene.wishes) {
        sim_check_wishes(client, claim, h ? h->since : 0);
    }
    if (!sure || hold_count == HOLDS) {
        return;
    }
    bool is_new = !h;
    if (is_new) {
        h = &holds[hold_count++];
        *h = (struct hold){.client = client,
                           .dir = (enum sim_dir)dir,
                           .claim = claim,
                           .token = claim->czxid,
                           .pass = claim->k.holds,
                           .since = zkf_now()};
    }
    did.news_grants += is_new && claim->k.waited && claim->came == ZKR__BY_NEWS;
    h->kind = claim->q->kind;
    h->seen = did.steps;
    h->until = zkf_now() + zkf_client_span(client, zkr__valid_for_ms(c) * ZKR__MS);
    (void)snprintf(h->path, sizeof(h->path), "%s", claim->node);
    if (is_new) {
        check_grant(h);
    }
    check_learns(h);
    if (claim->group && claim->group->state == ZKR__GROUP_HELD && !sim_locked(&c->mu)) {
        check_group(client, claim->group);
    }
}

/*
 * Drop the holds that were not seen in this step. A stopped client believes in its hold for as long as the hold was
 * promised.
 */
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
    if (sim_history || promise->until <= zkf_now() || sim_leans(p->client)) {
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
    if (!sim_history && x != y && y->until > zkf_now() && x->dir == y->dir &&
        !(x->shared && y->shared)) {
        sim_violation("%s is promised twice within one client", sim_dir(x->dir));
    }
}

/* Check that two threads or tickets of one client never hold together. A writer may also read. */
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
    if (!sim_may_judge(p->client)) {
        forget(promise);
        return;
    }
    promise->until = valid_ms == 0 ? 0 : until;
    promise->dir = dir;
    promise->shared = shared;
    sim_tell_sure(promise, since);
    if (promise->until != 0 && dir != AT_PERMITS) {
        check_within(p, promise);
    }
}

/* --- after each step --- */

void sim_check_begin(void)
{
    hold_count = free_count = 0;
    excused_count = 0;
    wiped = false;
    memset(lines, 0, sizeof(lines));
    memset(written, 0, sizeof(written));
    sim_permits_begin();
    sim_wishes_begin();
    sim_taken_begin();
}

/* --- each client --- */

/*
 * Check that the client has its credentials when it works, because a request that is sent before them may be refused
 * for good. Also check that its watches can be set again.
 */
static void check_credentials(int client)
{
    static long hasty, too_long;
    const zkr_client *c = processes[client].checked;
    const struct zkf_counts *f = zkf_counts();
    if (f->hasty != hasty) {
        hasty = f->hasty;
        sim_violation("client %d sends a transaction before its credentials are taken",
                      client);
    }
    if (f->too_many_watches != too_long) {
        too_long = f->too_many_watches;
        sim_violation("client %d has more watches than can be set again", client);
    }
    if (zkr__connected(c) && zkf_credentials(c->link->zh) < (int)c->auth_count) {
        sim_violation("client %d works without its credentials", client);
    }
}

/*
 * Check that the client's claims are not among the nodes of other clients. Such a claim could be removed, and waited
 * for all the same. No lock is needed, because all threads stand still.
 */
ZKR__TSA(no_thread_safety_analysis)
static void check_others(int client, const struct zkr__directory *d)
{
    const struct zkr__children *others = d->watch ? &d->watch->known.others : NULL;
    for (size_t i = 0; others && i < others->count; i++) {
        if (zkr__claim_in(d, others->list[i].name)) {
            sim_violation("client %d takes its own %s for one of others", client,
                          others->list[i].name);
        }
    }
    if (d->keep && d->keep->line && d->keep->standing == 0) {
        sim_violation("client %d has a line in %s, and nobody in front of it", client,
                      d->path);
    }
}

/* Check that the engine counts the nodes that are being created. While other claims wait to create theirs, at least one
   node is being created. */
static void check_engine(int client, const struct zkr__engine *engine)
{
    const struct zkr__claim *claim;
    int joining = 0;
    DL_FOREACH(engine->claims, claim)
    {
        joining += claim->k.phase == ZKR__CREATING;
    }
    if (engine->joining != joining) {
        sim_violation("client %d makes %d nodes, and counts %d", client, joining,
                      engine->joining);
    }
    if (engine->line && joining == 0) {
        sim_violation("client %d lets nobody in", client);
    }
    for (const struct zkr__directory *d = engine->directories; d; d = d->next) {
        check_others(client, d);
    }
}

/* Check that later data of guarded writes come from later holders. */
static void check_written(enum sim_dir dir)
{
    int64_t now[2];
    const struct zkf_node *node = zkf_find(sim_written(dir));
    if (!node || node->data_len != sizeof(now) || node->mzxid == written[dir].mzxid) {
        return;
    }
    memcpy(now, node->data, sizeof(now));
    bool older = now[0] < written[dir].token ||
                 (now[0] == written[dir].token && now[1] < written[dir].pass);
    /* A leader that was replaced may lose its last writes. */
    if (older && node->mzxid > written[dir].mzxid && !wiped) {
        sim_violation("a write under token %" PRId64 ", pass %" PRId64
                      " comes after one under token %" PRId64 ", pass %" PRId64,
                      now[0], now[1], written[dir].token, written[dir].pass);
    }
    written[dir].token = now[0];
    written[dir].pass = now[1];
    written[dir].mzxid = node->mzxid;
    did.written++;
}

/* Check that a latch in doubt is notified if its claim fails. */
static void check_leader(const struct process *p)
{
    const struct zkr__hold *hold = p->latch && !p->ending ? &p->latch->hold : NULL;
    if (hold && hold->state == ZKR__HOLD_DOUBTED && hold->claim &&
        hold->claim->k.failure != 0) {
        sim_violation("the latch of client %d does not hear that it has failed",
                      p->client);
    }
}

ZKR__TSA(no_thread_safety_analysis)
static void look_at_client(int client)
{
    zkr_client *c = processes[client].checked;
    struct zkr__engine *engine = c->engine;
    struct zkr__claim *claim;
    zkf_enter(client);
    if (!c->link || c->link->zh) {
        sim_look_at_lease(client);
    }
    sim_count_lists(client);
    if (!engine) {
        return;
    }
    DL_FOREACH(engine->claims, claim)
    {
        look(client, claim);
    }
    if (!sim_locked(&c->mu)) {
        check_leader(&processes[client]);
        check_credentials(client);
        check_engine(client, engine);
        if (scene.permits) {
            sim_look_at_permits(&processes[client]);
        }
    }
}

void sim_check(void)
{
    for (int i = 0; i < scene.clients; i++) {
        if (processes[i].checked && !*zkf_client_stopped(i)) {
            look_at_client(i);
        }
    }
    drop_unseen();
    check_holds();
    for (int dir = AT_LOCK; dir <= AT_RW; dir++) {
        check_written((enum sim_dir)dir);
    }
    for (int i = 0; i < scene.clients; i++) {
        if (processes[i].checked) {
            check_promises(&processes[i]);
        }
    }
}
