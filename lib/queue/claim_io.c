/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/claim_io.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "queue/children_cache.h"
#include "queue/claim.h"
#include "queue/engine_state.h"
#include "queue/news.h"
#include "queue/node_data.h"
#include "queue/queue.h"
#include "queue/recount.h"
#include "session/log.h"

/* --- requests --- */

/* Send @op. engine->on_answer gets the answer. */
static void ask(struct zkr__claim *claim,
                enum zkr__asked asked,
                const struct zkr__op *op) ZKR__LOCKED
{
    zkr__claim_ref(claim);
    zkr__submit(claim->q->c, op, claim->engine->on_answer, claim,
                zkr__asked_tag(asked, claim->k.round));
}

void zkr__claim_refuse(struct zkr__claim *claim, enum zkr__asked asked, int code)
{
    zkr__claim_ref(claim);
    zkr__answer_later(claim->q->c, code, claim->engine->on_answer, claim,
                      zkr__asked_tag(asked, claim->k.round));
}

/* --- creating the node --- */

int zkr__claim_creation(struct zkr__claim *claim,
                        struct zkr__creation *creation,
                        char text[ZKR__OWNER_TEXT_MAX])
{
    int error = zkr__claim_new_name(claim);
    if (error == 0) {
        zkr__claim_fill_data(claim, creation, text);
    }
    return error;
}

void zkr__claim_create(struct zkr__claim *claim)
{
    char text[ZKR__OWNER_TEXT_MAX];
    struct zkr__creation creation;
    if (zkr__claim_creation(claim, &creation, text) != 0) {
        zkr__claim_refuse(claim, ZKR__ASKED_CREATE, ZKR_ESYS);
        return;
    }
    const struct zkr__op op = {.kind = ZKR__OP_CREATE,
                               .path = creation.path,
                               .data = creation.data,
                               .data_len = creation.data_len,
                               .acl = claim->q->c->acl};
    ask(claim, ZKR__ASKED_CREATE, &op);
}

/*
 * Fill in the data of a hold's node, with holder metadata if there is any. Returns the metadata text, which the caller
 * frees after use, or NULL.
 */
static char *fill_metadata(const struct zkr__claim *claim,
                           struct zkr__creation *creation,
                           char text[ZKR__OWNER_TEXT_MAX]) ZKR__LOCKED
{
    zkr__claim_fill_data(claim, creation, text);
    size_t len = 0;
    char *metadata = zkr__claim_metadata(claim, &len);
    if (metadata) {
        creation->data = metadata;
        creation->data_len = len;
    }
    return metadata;
}

/*
 * Returns the path of the WRIT node, or NULL if memory runs out. During a downgrade, claim->node is the READ node with
 * the same number.
 */
static char *writer_node(const struct zkr__claim *claim) ZKR__LOCKED
{
    char *writer = zkr__mem_string(claim->node);
    if (writer) {
        zkr__name_turn(writer, ZKR__NAME_WRITE);
    }
    return writer;
}

/*
 * Replace the WRIT node with a READ node in one transaction. If the last known version of the WRIT node is set, the
 * transaction deletes the node only at that version, so that it does not delete an unread revocation request. See
 * ZKR__DOWNGRADE_READS.
 */
static void downgrade(struct zkr__claim *claim, enum zkr__asked asked) ZKR__LOCKED
{
    char *writer = writer_node(claim);
    if (!writer) {
        zkr__claim_refuse(claim, asked, ZKR_ENOMEM);
        return;
    }
    char text[ZKR__OWNER_TEXT_MAX];
    struct zkr__creation reader;
    char *metadata = fill_metadata(claim, &reader, text);
    struct zkr__op op = {.kind = ZKR__OP_MULTI,
                         .paths = (const char *const[]){writer},
                         .path_count = 1,
                         .versions = claim->k.unchecked ? NULL : &claim->k.version,
                         .makes = &reader,
                         .deleted = (const char *const[]){writer},
                         .deleted_count = 1,
                         .acl = claim->q->c->acl};
    ask(claim, asked, &op);
    zkr__mem_free(metadata);
    zkr__mem_free(writer);
}

static void list(struct zkr__claim *claim, enum zkr__asked unused) ZKR__LOCKED
{
    (void)unused;
    zkr__list_want(claim);
    zkr__list_send(claim->directory);
}

/* Create our node, and send a list right behind the create, unless the number of the node will probably be enough. */
static void join_queue(struct zkr__claim *claim, enum zkr__asked unused) ZKR__LOCKED
{
    zkr__cache_begin(claim->directory);
    bool bare = zkr__cache_expects(claim);
    zkr__claim_create(claim);
    if (bare) {
        zkr__claim_drop_list(claim);
        claim->engine->spared.bare++;
    } else {
        list(claim, unused);
    }
}

/* --- after a revocation request --- */

/*
 * Overwrite the request that the owner knows with our text. If there is a newer request, the write fails, so that
 * request is not lost. Nothing is written to the node of a leader latch (zkr__queue_act()), or if our own text looks
 * like a request.
 */
static void restore(struct zkr__claim *claim, enum zkr__asked asked) ZKR__LOCKED
{
    char text[ZKR__OWNER_TEXT_MAX];
    struct zkr__creation ours;
    char *metadata = fill_metadata(claim, &ours, text);
    struct zkr__op op = {.kind = ZKR__OP_SET,
                         .path = claim->node,
                         .data = ours.data,
                         .data_len = ours.data_len,
                         .version = claim->k.told};
    if (claim->q->kind != ZKR__NAME_LATCH &&
        !zkr__is_revocation(op.data, op.data_len)) {
        ask(claim, asked, &op);
    }
    zkr__mem_free(metadata);
}

/* --- parents --- */

/*
 * @level 0 is the top level, above which only a chroot can be missing. At a deeper level, "no node" means that the
 * level above also failed, or was deleted a moment ago.
 */
static void
on_parent(void *ctx, unsigned level, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__claim *claim = ctx;
    bool follows = answer->code == ZKR_ENONODE && level > 0;
    if (answer->code != ZKR_OK && !follows && answer->code != ZKR_EEXIST &&
        !zkr__worth_retrying(answer->code) && claim->parent_code == 0) {
        claim->parent_code = answer->code;
        claim->parent_detail = answer->zk_rc;
    }
    zkr__claim_unref(claim);
}

/*
 * Request the creates of all levels of the path at once. A level that already exists is not an error. The create of our
 * node, which follows, shows whether all parents exist.
 */
static void create_parents(struct zkr__claim *claim, enum zkr__asked unused) ZKR__LOCKED
{
    (void)unused;
    const struct zkr__queue *q = claim->q;
    char *path = zkr__mem_string(q->dir);
    unsigned level = 0;
    claim->parent_code = 0;
    for (char *slash = path; slash;) {
        slash = strchr(slash + 1, '/');
        if (slash) {
            *slash = '\0';
        }
        struct zkr__op op = {.kind = ZKR__OP_PARENT,
                             .path = path,
                             .acl = q->c->acl,
                             .container = !q->persistent_parent};
        zkr__claim_ref(claim);
        zkr__submit(q->c, &op, on_parent, claim, level++);
        if (slash) {
            *slash = '/';
        }
    }
    zkr__mem_free(path);
}

/* --- find --- */

static void
on_written(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__claim *claim = ctx;
    bool looked_at = answer->code == ZKR_OK || answer->failed_at != SIZE_MAX;
    if (zkr__asked_in_round(tag, claim->k.round)) {
        claim->written = looked_at;
        claim->unwritable = answer->zk_rc == ZKR__UNIMPLEMENTED;
    }
    zkr__claim_unref(claim);
}

/*
 * Send a write before the list, so that the list shows our node if it was or will ever be created. A sync is not
 * enough, because a replaced leader that does not know of its replacement answers a sync. Only the current leader
 * answers a write, and from then on it refuses requests of our old connection. A refusal by the leader is enough, but a
 * refusal by a server that is too busy to forward the write is not. Without such an answer, the claim does not rely on
 * the list.
 */
static void write_first(struct zkr__claim *claim) ZKR__LOCKED
{
    struct zkr__op op = {.kind = ZKR__OP_CHECK,
                         .paths = (const char *const[]){claim->q->dir},
                         .path_count = 1};
    claim->written = claim->unwritable = false;
    zkr__claim_ref(claim);
    zkr__submit(claim->q->c, &op, on_written, claim,
                zkr__asked_tag(ZKR__ASKED_PROVE, claim->k.round));
}

static void find(struct zkr__claim *claim, enum zkr__asked unused) ZKR__LOCKED
{
    write_first(claim);
    list(claim, unused);
}

/* --- gets --- */

static void get(struct zkr__claim *claim,
                enum zkr__asked asked,
                const char *path,
                enum zkr__watch watch) ZKR__LOCKED
{
    const struct zkr__op op = {.kind = ZKR__OP_GET, .path = path, .watch = watch};
    if (path) {
        ask(claim, asked, &op);
    }
}

/* An old list grants a READY member, so its claim needs a watch that proves that its node exists. */
static enum zkr__watch own_watch(const struct zkr__claim *claim)
{
    return claim->reserves                ? ZKR__WATCH_RESERVED
           : claim->k.phase == ZKR__READY ? ZKR__WATCH_NEEDED
                                          : ZKR__WATCH_SPARE;
}

static void get_own(struct zkr__claim *claim, enum zkr__asked asked) ZKR__LOCKED
{
    if (!zkr__claim_reads_writer(&claim->k)) {
        get(claim, asked, claim->node, own_watch(claim));
        return;
    }
    char *writer = writer_node(claim);
    if (writer) {
        get(claim, asked, writer, ZKR__WATCH_SPARE);
    } else {
        zkr__claim_refuse(claim, asked, ZKR_ENOMEM);
    }
    zkr__mem_free(writer);
}

static void check_own(struct zkr__claim *claim, enum zkr__asked asked) ZKR__LOCKED
{
    get(claim, asked, claim->node, ZKR__WATCH_NONE);
}

static void get_ahead(struct zkr__claim *claim, enum zkr__asked asked) ZKR__LOCKED
{
    get(claim, asked, zkr__path_watched(&claim->ahead_watcher), ZKR__WATCH_NEEDED);
}

static void get_before(struct zkr__claim *claim, enum zkr__asked asked) ZKR__LOCKED
{
    get(claim, asked, zkr__claim_before(claim), ZKR__WATCH_SPARE);
}

/* --- other requests --- */

static void ask_owner(struct zkr__claim *claim, enum zkr__asked asked) ZKR__LOCKED
{
    const struct zkr__op op = {.kind = ZKR__OP_EXISTS, .path = claim->node};
    ask(claim, asked, &op);
}

static void prove(struct zkr__claim *claim, enum zkr__asked asked) ZKR__LOCKED
{
    const struct zkr__op op = {.kind = ZKR__OP_CHECK,
                               .paths = (const char *const[]){claim->node},
                               .path_count = 1};
    ask(claim, asked, &op);
}

static void remove_node(struct zkr__claim *claim, enum zkr__asked asked) ZKR__LOCKED
{
    const struct zkr__op op = {.kind = ZKR__OP_DELETE, .path = claim->node};
    ask(claim, asked, &op);
}

void zkr__claim_request(struct zkr__claim *claim, enum zkr__deed deed)
{
    static void (*const requests[ZKR__DEEDS])(struct zkr__claim *, enum zkr__asked) = {
        [ZKR__DEED_PARENTS] = create_parents,
        [ZKR__DEED_CREATE] = join_queue,
        [ZKR__DEED_FIND] = find,
        [ZKR__DEED_GET_OWN] = get_own,
        [ZKR__DEED_ASK_OWNER] = ask_owner,
        [ZKR__DEED_LIST] = list,
        [ZKR__DEED_CHECK_OWN] = check_own,
        [ZKR__DEED_GET_AHEAD] = get_ahead,
        [ZKR__DEED_GET_BEFORE] = get_before,
        [ZKR__DEED_PROVE] = prove,
        [ZKR__DEED_DOWNGRADE] = downgrade,
        [ZKR__DEED_RESTORE] = restore,
        [ZKR__DEED_REMOVE] = remove_node,
    };
    requests[deed](claim, zkr__deed_asks(deed));
}

/* --- answers: our node --- */

static bool is_exhausted(const struct zkr__claim *claim)
{
    return claim->sequence < 0 || claim->sequence >= ZKR__SEQUENCE_LIMIT;
}

/* Record what the answer to a create or a get reveals about our node. */
static void learn_node(struct zkr__claim *claim,
                       struct zkr__claim_event *e,
                       const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__queue *q = claim->q;
    claim->czxid = answer->czxid;
    claim->epoch = q->c->epoch;
    e->exhausted = is_exhausted(claim);
    if (claim->sequence >= ZKR__SEQUENCE_WARN && !q->warned_sequence) {
        q->warned_sequence = true;
        zkr__log_more(q->c, ZKR_LOG_WARN,
                      ZKR__EVENT("sequence_high", .path = q->dir,
                                 .reason = "leave the path empty for a moment to "
                                           "restart its numbers, or use another path"),
                      "sequence=%lld limit=%lld", (long long)claim->sequence,
                      (long long)ZKR__SEQUENCE_LIMIT);
    }
}

/*
 * No other client uses our names, but an earlier session of ours may have created the node, so the session ID of the
 * owner decides. The czxid would prove nothing more, and is not known for a READ node that replaced our WRIT node.
 */
static void on_owner(struct zkr__claim *claim,
                     struct zkr__claim_event *e,
                     const struct zkr__answer *answer) ZKR__LOCKED
{
    e->ours = answer->code == ZKR_OK && answer->owner == claim->q->c->session_id;
    if (answer->code == ZKR_OK && !e->ours) {
        zkr__cache_forget(claim->directory); /* the cache counts that node as ours */
        zkr__log(claim->q->c, ZKR_LOG_WARN,
                 ZKR__EVENT("node_replaced", .path = claim->q->dir,
                            .node = zkr__path_name(claim->node),
                            .reason = "another session owns the node of that name"));
    }
}

static void on_own(struct zkr__claim *claim,
                   struct zkr__claim_event *e,
                   const struct zkr__answer *answer) ZKR__LOCKED
{
    if (answer->code != ZKR_OK) {
        return;
    }
    on_owner(claim, e, answer);
    e->version = answer->version;
    e->revocation =
        zkr__is_revocation(answer->data, answer->data_len) ? answer->version : 0;
    e->with_metadata = zkr__has_metadata(answer->data, answer->data_len);
    if (claim->k.phase == ZKR__ADOPTING) {
        learn_node(claim, e, answer);
        /* A server's czxid is positive. */
        e->code = claim->czxid > 0 ? ZKR_OK : ZKR_ECONNLOSS;
    }
}

static void on_downgraded(struct zkr__claim *claim,
                          struct zkr__claim_event *e,
                          const struct zkr__answer *answer) ZKR__LOCKED
{
    if (answer->code == ZKR_OK) {
        return;
    }
    bool gone = answer->failed_at == 0 && answer->code == ZKR_ENONODE;
    bool changed = answer->code == ZKR__OTHER_VERSION;
    e->refused = !gone && answer->failed_at != SIZE_MAX;
    e->code = gone                    ? ZKR_ENONODE
              : changed && e->refused ? ZKR__OTHER_VERSION
                                      : ZKR_ECONNLOSS;
    if (e->refused && !changed) {
        /* The server refused the downgrade although our WRIT node exists, and has not created a READ node. */
        zkr__claim_turn(claim, ZKR__NAME_WRITE);
        /* A list during the downgrade may have counted our node as another client's. */
        zkr__cache_forget(claim->directory);
        zkr__log_more(
            claim->q->c, ZKR_LOG_WARN,
            ZKR__EVENT("downgrade_refused", .path = claim->q->dir,
                       .node = zkr__path_name(claim->node),
                       .reason = "other contenders still treat it as a writer's node"),
            "zookeeper_code=%d", answer->zk_rc);
    }
}

/* --- lists --- */

/* Looking ahead costs two requests for each acquire, and saves one round trip. */
static bool pays(const zkr_client *c) ZKR__LOCKED
{
    enum { LEAST_MS = 1 };
    return c->options.look_ahead > 0 || c->shortest_trip >= LEAST_MS * ZKR__MS;
}

static bool may_look_ahead(const struct zkr__claim *claim) ZKR__LOCKED
{
    /* A path may restart its numbers only after they have reached this limit. */
    bool may_begin_anew = claim->sequence >= ZKR__SEQUENCE_WARN;
    return !may_begin_anew && claim->q->c->options.look_ahead >= 0;
}

/* Wait where the verdict demands, and fill in the wait of @e. */
static void wait_as_told(struct zkr__claim *claim,
                         struct zkr__claim_event *e,
                         const struct zkr__verdict *verdict,
                         const struct zkr__children *children) ZKR__LOCKED
{
    struct zkr__standing s = {.near = claim->directory->near,
                              .may_look = may_look_ahead(claim),
                              .pays = pays(claim->q->c)};
    if (verdict->watch == ZKR__ALL_CHILDREN) {
        s.known = zkr__claim_watch_children(claim);
    } else {
        const char *ahead = children->list[verdict->watch].name;
        s.same = zkr__claim_stands_behind(claim, ahead);
        s.known = s.same || zkr__claim_stand_behind(claim, ahead);
        s.neighbour = claim->ahead != NULL;
        s.held = s.neighbour && claim->ahead->k.phase == ZKR__HELD;
    }
    zkr__plan_wait(e, &claim->k, verdict, children, &s);
    if (zkr__look_watches(e->look) &&
        !zkr__claim_watch_before(claim, children->list[verdict->before].name)) {
        e->look = ZKR__LOOKS_NOT;
    }
    if (!s.known) {
        e->code = ZKR_ENOMEM;
    }
}

static void note_verdict(struct zkr__claim *claim,
                         struct zkr__claim_event *e,
                         const struct zkr__verdict *verdict,
                         const struct zkr__children *children) ZKR__LOCKED
{
    e->granted = verdict->granted;
    e->once = claim->once;
    if (zkr__event_waits(e)) {
        wait_as_told(claim, e, verdict, children);
    }
}

/* Returns whether the child has the name of our node. A downgrade may have turned our WRIT node into a READ node. */
static bool may_be_own(const struct zkr__claim *claim,
                       const struct zkr__child *child) ZKR__LOCKED
{
    const unsigned shared = 1U << ZKR__NAME_READ | 1U << ZKR__NAME_WRITE;
    unsigned kind = 1U << claim->q->kind, is = 1U << child->kind;
    bool may_be = is == kind || ((is & shared) && (kind & shared));
    int64_t unused;
    return may_be && zkr__name_grew(child->name, zkr__path_name(claim->node),
                                    child->kind, &unused);
}

static void find_own(struct zkr__claim *claim,
                     struct zkr__claim_event *e,
                     const struct zkr__children *children) ZKR__LOCKED
{
    size_t self = 0;
    while (self < children->count && !may_be_own(claim, &children->list[self])) {
        self++;
    }
    if (self == children->count) {
        return;
    }
    const struct zkr__child *own = &children->list[self];
    char *path = zkr__path_join(claim->q->dir, own->name);
    e->found = path && zkr__claim_know_node(claim, path, own->kind);
    zkr__cache_forget(
        claim->directory); /* the cache may think that our node is another client's */
    if (!e->found) {
        e->code = ZKR_ENOMEM;
    }
    zkr__mem_free(path);
}

/* Returns whether the list proves that the child at index @self is our node. */
static bool proves_own(const struct zkr__claim *claim,
                       const struct zkr__children *children,
                       size_t self,
                       const struct zkr__answer *answer) ZKR__LOCKED
{
    bool is_old = answer->czxid > 0 && answer->czxid < claim->czxid;
    return is_old && zkr__children_prove(children, self, answer->made);
}

static void judge(struct zkr__claim *claim,
                  struct zkr__claim_event *e,
                  const struct zkr__children *children,
                  const struct zkr__answer *answer) ZKR__LOCKED
{
    const struct zkr__queue *q = claim->q;
    size_t self = zkr__children_find(children, zkr__path_name(claim->node));
    e->found = self < children->count;
    if (!e->found) { /* our node is gone, or the create's answer had another number */
        find_own(claim, e, children);
        e->found = false;
        return;
    }
    /* The first child does not wait. A claim that lost its place together with its session may wait again. */
    e->full = q->max_waiters > 0 && !claim->k.waited && self > (uint64_t)q->max_waiters;
    claim->place = (unsigned)self;
    e->ours = proves_own(claim, children, self, answer);
    struct zkr__verdict verdict = q->rule(children, self, q->rule_arg);
    note_verdict(claim, e, &verdict, children);
}

static void on_listed(struct zkr__claim *claim,
                      struct zkr__claim_event *e,
                      const struct zkr__answer *answer) ZKR__LOCKED
{
    bool told = answer->code == ZKR_OK || answer->code == ZKR_ENONODE;
    if (told && claim->k.phase == ZKR__FINDING && !claim->written) {
        /* See write_first(). */
        e->code = claim->unwritable ? ZKR_EZK(ZKR__UNIMPLEMENTED) : ZKR_ECONNLOSS;
        return;
    }
    if (answer->code != ZKR_OK) {
        return;
    }
    const struct zkr__children *children;
    e->code = zkr__list_children(claim->directory, &children);
    if (e->code != ZKR_OK) {
        return;
    }
    e->foreign = zkr__queue_check(claim->q, children, answer);
    if (claim->k.phase == ZKR__LOOKING) {
        return;
    }
    if (claim->k.phase == ZKR__FINDING) {
        find_own(claim, e, children);
    } else {
        judge(claim, e, children, answer);
    }
}

/* --- a node was created --- */

/*
 * Returns true if the child @name may be gone by now and so must not decide. No try fails because of another client's
 * node, and no claim is parked behind such a node while a list is in flight.
 */
static bool may_be_gone(const struct zkr__claim *claim, const char *name) ZKR__LOCKED
{
    bool doubted = claim->once || zkr__list_wanted(claim);
    return doubted && !zkr__claim_in(claim->directory, name);
}

/*
 * Judge the claim by its node's number alone, if the number decides as a list would. If memory for the node ahead runs
 * out, a list follows.
 */
static void judge_by_number(struct zkr__claim *claim,
                            struct zkr__claim_event *e) ZKR__LOCKED
{
    struct zkr__verdict verdict;
    struct zkr__children children;
    e->bare = !zkr__list_wanted(claim);
    e->placed =
        !claim->k.leaving && !e->exhausted &&
        zkr__cache_decide(claim, &verdict, &children) &&
        (verdict.granted || !may_be_gone(claim, children.list[verdict.watch].name));
    if (e->placed) {
        e->foreign = zkr__queue_check(claim->q, &children, NULL);
        claim->place =
            (unsigned)zkr__children_find(&children, zkr__path_name(claim->node));
        note_verdict(claim, e, &verdict, &children);
        e->placed = e->code == ZKR_OK;
        e->code = ZKR_OK;
        bool waits = e->placed && !e->granted && !e->once && !e->foreign;
        claim->engine->spared.behind += waits && e->wait == ZKR__WAIT_NODE;
    }
    claim->engine->spared.wrong += e->bare && !e->placed;
}

static void on_created(struct zkr__claim *claim,
                       struct zkr__claim_event *e,
                       const struct zkr__answer *answer) ZKR__LOCKED
{
    if (answer->code == ZKR_OK &&
        zkr__claim_know_node(claim, answer->path, claim->q->kind)) {
        learn_node(claim, e, answer);
        zkr__queue_note_token(claim->q, claim->engine, claim->czxid);
        zkr__cache_made(claim);
        judge_by_number(claim, e);
    } else if (answer->code == ZKR_OK) {
        /* The path is not ours, or there is no memory for the table. The claim will find our node by its GUID. */
        e->code = ZKR_ECONNLOSS;
    } else if (answer->code == ZKR_ENONODE && claim->k.made_parents &&
               claim->parent_code != 0) {
        e->code = claim->parent_code;
        claim->detail = claim->parent_detail;
        e->hopeless = true;
    }
}

static void on_ahead(struct zkr__claim *claim,
                     struct zkr__claim_event *e,
                     const struct zkr__answer *answer) ZKR__LOCKED
{
    const char *ahead = zkr__path_watched(&claim->ahead_watcher);
    if (ahead) {
        zkr__queue_note_ahead(claim->q, zkr__path_name(ahead), answer);
        e->near = zkr__news_find(claim, answer);
        claim->directory->near = e->near;
    }
    zkr__mem_free(claim->seen);
    claim->seen = claim->q->tells_queued ? zkr__seen_of(answer) : NULL;
}

/* --- deleting the node --- */

static void on_removed(struct zkr__claim *claim,
                       struct zkr__claim_event *e,
                       const struct zkr__answer *answer) ZKR__LOCKED
{
    (void)e;
    zkr_client *c = claim->q->c;
    if (answer->code == ZKR_OK && claim->sequence >= ZKR__SEQUENCE_WARN) {
        zkr__recount_begin(claim->directory);
    } else if (answer->code == ZKR_EAUTH && !claim->k.refused) {
        zkr__cache_forget(claim->directory);
        zkr__log(c, ZKR_LOG_ERROR,
                 ZKR__EVENT("delete_refused", .path = claim->q->dir,
                            .node = zkr__path_name(claim->node),
                            .reason = "not allowed; the client retries the delete "
                                      "until the session ends"));
    }
}

bool zkr__claim_take_answer(struct zkr__claim *claim,
                            unsigned tag,
                            const struct zkr__answer *answer,
                            struct zkr__claim_event *e)
{
    static void (*const takes[])(struct zkr__claim *, struct zkr__claim_event *,
                                 const struct zkr__answer *) = {
        [ZKR__ASKED_CREATE] = on_created,
        [ZKR__ASKED_LIST] = on_listed,
        [ZKR__ASKED_OWN] = on_own,
        [ZKR__ASKED_AHEAD] = on_ahead,
        [ZKR__ASKED_PROVE] = NULL,
        [ZKR__ASKED_REMOVE] = on_removed,
        [ZKR__ASKED_DOWNGRADE] = on_downgraded,
        [ZKR__ASKED_RESTORE] = NULL,
        [ZKR__ASKED_OWNER] = on_owner,
        [ZKR__ASKED_BEFORE] = NULL,
        [ZKR__ASKED_CHECK] = on_own,
    };
    if (!zkr__asked_in_round(tag, claim->k.round)) {
        return false;
    }
    enum zkr__asked asked = zkr__asked_of(tag);
    *e = (struct zkr__claim_event){.kind = zkr__asked_event(asked),
                                   .code = answer->code,
                                   .checked = asked == ZKR__ASKED_CHECK,
                                   .unwatched = answer->unwatched};
    if (answer->code != ZKR_OK) {
        claim->detail = answer->zk_rc;
    }
    if (takes[asked]) {
        takes[asked](claim, e, answer);
    }
    return true;
}
