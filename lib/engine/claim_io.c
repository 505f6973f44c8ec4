/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/claim_io.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "engine/lists.h"
#include "engine/queue.h"
#include "engine/transitions.h"
#include "session/log.h"

/* --- requests --- */

static void ask(struct zkr__claim *claim,
                enum zkr__asked asked,
                const struct zkr__op *op,
                zkr__answer_fn on_answer) ZKR__LOCKED
{
    zkr__claim_ref(claim);
    zkr__submit(claim->q->c, op, on_answer, claim,
                zkr__asked_tag(asked, claim->k.round));
}

/* --- create --- */

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

static void create(struct zkr__claim *claim, zkr__answer_fn on_answer) ZKR__LOCKED
{
    const struct zkr__queue *q = claim->q;
    char text[ZKR__OWNER_TEXT_MAX];
    struct zkr__creation creation;
    if (zkr__claim_creation(claim, &creation, text) != 0) {
        zkr__claim_ref(claim);
        zkr__answer_later(claim->q->c, ZKR_ESYS, on_answer, claim,
                          zkr__asked_tag(ZKR__ASKED_CREATE, claim->k.round));
        return;
    }
    struct zkr__op op = {.kind = ZKR__OP_CREATE,
                         .path = creation.path,
                         .data = creation.data,
                         .data_len = creation.data_len,
                         .acl = q->c->acl};
    ask(claim, ZKR__ASKED_CREATE, &op, on_answer);
}

/* What a hold's node is to say: with the note, if there is one. Returns what is to be freed behind it. */
static char *fill_noted(const struct zkr__claim *claim,
                        struct zkr__creation *creation,
                        char text[ZKR__OWNER_TEXT_MAX]) ZKR__LOCKED
{
    zkr__claim_fill_data(claim, creation, text);
    size_t len = 0;
    char *noted = zkr__claim_noted_data(claim, &len);
    if (noted) {
        creation->data = noted;
        creation->data_len = len;
    }
    return noted;
}

/* Our node has its new name already; the old one is to go. */
static void downgrade(struct zkr__claim *claim, zkr__answer_fn on_answer) ZKR__LOCKED
{
    char *writer = zkr__mem_string(claim->node);
    if (!writer) {
        zkr__claim_ref(claim);
        zkr__answer_later(claim->q->c, ZKR_ENOMEM, on_answer, claim,
                          zkr__asked_tag(ZKR__ASKED_DOWNGRADE, claim->k.round));
        return;
    }
    zkr__name_turn(writer, ZKR__NAME_WRITE);
    char text[ZKR__OWNER_TEXT_MAX];
    struct zkr__creation reader;
    char *noted = fill_noted(claim, &reader, text);
    struct zkr__op op = {.kind = ZKR__OP_MULTI,
                         .paths = (const char *const[]){writer},
                         .path_count = 1,
                         .makes = &reader,
                         .deleted = (const char *const[]){writer},
                         .deleted_count = 1,
                         .acl = claim->q->c->acl};
    ask(claim, ZKR__ASKED_DOWNGRADE, &op, on_answer);
    zkr__mem_free(noted);
    zkr__mem_free(writer);
}

static void list(struct zkr__claim *claim, zkr__answer_fn on_answer) ZKR__LOCKED
{
    zkr__lists_want(claim, on_answer);
    zkr__lists_send(claim->directory);
}

/* With a list behind it, unless its number will probably do. */
static void join_queue(struct zkr__claim *claim, zkr__answer_fn on_answer) ZKR__LOCKED
{
    zkr__reckon_begin(claim->directory);
    bool bare = zkr__reckon_expects(claim);
    create(claim, on_answer);
    if (bare) {
        zkr__claim_drop_list(claim);
        claim->engine->spared.guesses++;
    } else {
        list(claim, on_answer);
    }
}

/* --- after a wish --- */

/*
 * Only over the wish that was told: a newer one stays, and is seen. A text of ours that reads like a wish is
 * not written, and nothing to a leader latch: see zkr__queue_revoke().
 */
static void restore(struct zkr__claim *claim, zkr__answer_fn on_answer) ZKR__LOCKED
{
    char text[ZKR__OWNER_TEXT_MAX];
    struct zkr__creation ours;
    char *noted = fill_noted(claim, &ours, text);
    struct zkr__op op = {.kind = ZKR__OP_SET,
                         .path = claim->node,
                         .data = ours.data,
                         .data_len = ours.data_len,
                         .version = claim->k.told};
    if (claim->q->kind != ZKR__NAME_LATCH && !zkr__is_wish(op.data, op.data_len)) {
        ask(claim, ZKR__ASKED_RESTORE, &op, on_answer);
    }
    zkr__mem_free(noted);
}

/* --- parents --- */

/*
 * @level: 0 = the first, above which only a chroot can be missing. One further down lacks what the level above has
 * answered for, or what was reaped since.
 */
static void
on_parent(void *ctx, unsigned level, const struct zkr__answer *answer) ZKR__LOCKED
{
    static const int unimplemented = ZKR_EZK(-6);
    struct zkr__claim *claim = ctx;
    bool follows = answer->code == ZKR_ENONODE && level > 0;
    if (answer->code == unimplemented) {
        claim->q->persistent_parent = true; /* a server before 3.5 */
    } else if (answer->code != ZKR_OK && !follows && answer->code != ZKR_EEXIST &&
               !zkr__worth_retrying(answer->code) && claim->parent_code == 0) {
        claim->parent_code = answer->code;
        claim->detail = answer->zk_rc;
    }
    zkr__claim_unref(claim);
}

/* All levels at once: those that exist say so. The create behind them tells whether that was enough. */
static void create_parents(struct zkr__claim *claim) ZKR__LOCKED
{
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
    bool lost = answer->code == ZKR_ECONNLOSS || answer->code == ZKR_ESESSION ||
                answer->code == ZKR_ENOMEM || answer->code == ZKR_ESYS;
    if (!lost && zkr__asked_in_round(tag, claim->k.round)) {
        claim->written = true;
    }
    zkr__claim_unref(claim);
}

/*
 * The list that follows must show our node if it was ever made, now or later. A sync is not enough for that: a
 * leader that has been replaced and does not know answers it. A write is answered by the one that leads, which from
 * now on refuses what comes by our old connection. What it says does not matter, but that it is answered does: a list
 * without it is not believed.
 */
static void write_first(struct zkr__claim *claim) ZKR__LOCKED
{
    struct zkr__op op = {.kind = ZKR__OP_CHECK,
                         .paths = (const char *const[]){claim->q->dir},
                         .path_count = 1};
    claim->written = false;
    zkr__claim_ref(claim);
    zkr__submit(claim->q->c, &op, on_written, claim,
                zkr__asked_tag(ZKR__ASKED_PROVE, claim->k.round));
}

void zkr__claim_request(struct zkr__claim *claim,
                        unsigned todo,
                        zkr__answer_fn on_answer)
{
    const char *ahead = zkr__path_watched(&claim->ahead_watcher);
    const struct zkr__op get_own = {.kind = ZKR__OP_GET,
                                    .path = claim->node,
                                    .watch = true,
                                    .spare = !claim->q->watch_node};
    const struct zkr__op ask_owner = {.kind = ZKR__OP_EXISTS, .path = claim->node};
    const struct zkr__op get_ahead = {
        .kind = ZKR__OP_GET, .path = ahead, .watch = true};
    const struct zkr__op prove = {.kind = ZKR__OP_CHECK,
                                  .paths = (const char *const[]){claim->node},
                                  .path_count = 1};
    const struct zkr__op remove = {.kind = ZKR__OP_DELETE, .path = claim->node};
    if (todo & ZKR__DO_PARENTS) {
        create_parents(claim);
    }
    if (todo & ZKR__DO_CREATE) {
        join_queue(claim, on_answer);
    }
    if (todo & ZKR__DO_FIND) {
        write_first(claim);
        list(claim, on_answer);
    }
    if (todo & ZKR__DO_GET_OWN) {
        ask(claim, ZKR__ASKED_OWN, &get_own, on_answer);
    }
    if (todo & ZKR__DO_ASK_OWNER) {
        ask(claim, ZKR__ASKED_OWNER, &ask_owner, on_answer);
    }
    if (todo & ZKR__DO_LIST) {
        list(claim, on_answer);
    }
    if ((todo & ZKR__DO_GET_AHEAD) && ahead) {
        ask(claim, ZKR__ASKED_AHEAD, &get_ahead, on_answer);
    }
    if (todo & ZKR__DO_PROVE) {
        ask(claim, ZKR__ASKED_PROVE, &prove, on_answer);
    }
    if (todo & ZKR__DO_DOWNGRADE) {
        downgrade(claim, on_answer);
    }
    if (todo & ZKR__DO_RESTORE) {
        restore(claim, on_answer);
    }
    if (todo & ZKR__DO_REMOVE) {
        ask(claim, ZKR__ASKED_REMOVE, &remove, on_answer);
    }
}

/* --- others on our path who may not respect us, or cannot see us at all: the log says so --- */

/* Directories of Curator's semaphores, whose path is this one. */
static bool is_of_semaphore(const char *name)
{
    return strcmp(name, "locks") == 0 || strcmp(name, "leases") == 0;
}

static bool has_semaphore(const struct zkr__answer *list)
{
    for (size_t i = 0; i < list->name_count; i++) {
        if (list->names[i] && is_of_semaphore(list->names[i])) {
            return true;
        }
    }
    return false;
}

/* The first child of a recipe that this one does not expect beside itself, or NULL. */
static const struct zkr__child *find_stranger(const struct zkr__queue *q,
                                              const struct zkr__children *children)
{
    unsigned expected = q->other_kinds | 1U << q->kind;
    for (size_t i = 0; i < children->count; i++) {
        if (!(expected & 1U << children->list[i].kind)) {
            return &children->list[i];
        }
    }
    return NULL;
}

static void warn_of_child(const struct zkr__queue *q,
                          const struct zkr__child *child) ZKR__LOCKED
{
    bool shared = child->kind == ZKR__NAME_READ || child->kind == ZKR__NAME_WRITE;
    zkr__log(
        q->c, ZKR_LOG_WARN,
        ZKR__EVENT("stranger", .path = q->dir, .node = child->name,
                   .reason =
                       shared
                           ? "node of a read-write lock; it counts by its number, but "
                             "Curator's does not see ours: use the writer of a "
                             "zkr_rwlock"
                           : "node of another recipe; it counts by its number, but its "
                             "maker may not respect ours"));
}

/* Look at a list, whose children in order are @children, and warn once for each queue. */
static void strangers_warn(struct zkr__queue *q,
                           const struct zkr__children *children,
                           const struct zkr__answer *list) ZKR__LOCKED
{
    if (q->warned_foreign) {
        return;
    }
    const struct zkr__child *stranger = find_stranger(q, children);
    if (stranger) {
        q->warned_foreign = true;
        warn_of_child(q, stranger);
    } else if (list && children->strays > 0 && has_semaphore(list)) {
        q->warned_foreign = true;
        zkr__log(q->c, ZKR_LOG_WARN,
                 ZKR__EVENT("stranger", .path = q->dir,
                            .reason =
                                "a semaphore also uses this path; they do not exclude "
                                "each other"));
    }
}

/* --- answers: our node --- */

static bool is_spent(const struct zkr__claim *claim)
{
    return claim->sequence < 0 || claim->sequence >= ZKR__SEQUENCE_LIMIT;
}

/* A node of ours has been seen. */
static void note_node(struct zkr__claim *claim,
                      struct zkr__claim_event *e,
                      const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__queue *q = claim->q;
    claim->czxid = answer->czxid;
    claim->epoch = q->c->epoch;
    e->spent = is_spent(claim);
    if (claim->sequence >= ZKR__SEQUENCE_WARN && !q->warned_sequence) {
        q->warned_sequence = true;
        zkr__log_more(q->c, ZKR_LOG_WARN,
                      ZKR__EVENT("sequence_high", .path = q->dir,
                                 .reason =
                                     "the count starts again when the path is empty "
                                     "for a moment, else use another path"),
                      "sequence=%lld limit=%lld", (long long)claim->sequence,
                      (long long)ZKR__SEQUENCE_LIMIT);
    }
}

/*
 * Names are ours alone, so under ours another session never made a node but to replace one. The owner tells; the czxid
 * would tell no more, and that of a reader's node that was a writer's is not known.
 */
static void whose(struct zkr__claim *claim,
                  struct zkr__claim_event *e,
                  const struct zkr__answer *answer) ZKR__LOCKED
{
    e->ours = answer->code == ZKR_OK && answer->owner == claim->q->c->session_id;
    if (answer->code == ZKR_OK && !e->ours) {
        zkr__reckon_forget(claim->directory); /* it is among the others there */
        zkr__log(
            claim->q->c, ZKR_LOG_WARN,
            ZKR__EVENT("node_replaced", .path = claim->q->dir,
                       .node = zkr__path_name(claim->node),
                       .reason = "under its name stands a node of another session"));
    }
}

static void on_own(struct zkr__claim *claim,
                   struct zkr__claim_event *e,
                   const struct zkr__answer *answer) ZKR__LOCKED
{
    if (answer->code == ZKR_OK) {
        whose(claim, e, answer);
        e->version = answer->version;
        e->wish = zkr__is_wish(answer->data, answer->data_len) ? answer->version : 0;
        e->noted = zkr__is_noted(answer->data, answer->data_len);
    }
    if (answer->code == ZKR_OK && claim->k.phase == ZKR__ADOPTING) {
        note_node(claim, e, answer);
        e->code = claim->czxid > 0 ? ZKR_OK : ZKR_ECONNLOSS; /* nobody made it */
    }
}

/* Refused for another reason than that our node is gone: then it is there, and no reader's was made. */
static void on_downgraded(struct zkr__claim *claim,
                          struct zkr__claim_event *e,
                          const struct zkr__answer *answer) ZKR__LOCKED
{
    if (answer->code == ZKR_OK) {
        return;
    }
    bool gone = answer->failed_at == 0 && answer->code == ZKR_ENONODE;
    e->refused = !gone && answer->failed_at != SIZE_MAX;
    e->code = gone ? ZKR_ENONODE : ZKR_ECONNLOSS;
    if (e->refused) {
        zkr__claim_turn(claim, ZKR__NAME_WRITE);
        zkr__reckon_forget(
            claim->directory); /* a list meanwhile took it for another's */
        zkr__log_more(claim->q->c, ZKR_LOG_WARN,
                      ZKR__EVENT("downgrade_refused", .path = claim->q->dir,
                                 .node = zkr__path_name(claim->node),
                                 .reason = "others wait for it as for a writer's node"),
                      "zookeeper_code=%d", answer->zk_rc);
    }
}

/* --- lists --- */

/* Note what the verdict says to wait for. */
static void wait_as_told(struct zkr__claim *claim,
                         struct zkr__claim_event *e,
                         const struct zkr__verdict *verdict,
                         const struct zkr__children *children) ZKR__LOCKED
{
    bool noted;
    if (verdict->watch == ZKR__ALL_CHILDREN) {
        e->wait = ZKR__WAIT_CHILDREN;
        noted = zkr__claim_watch_children(claim);
    } else {
        const struct zkr__child *ahead = &children->list[verdict->watch];
        noted = zkr__claim_stand_behind(claim, ahead->name);
        e->wait = claim->ahead ? ZKR__WAIT_NEIGHBOUR : ZKR__WAIT_NODE;
        e->ahead = ahead->sequence;
    }
    e->then = verdict->then;
    if (!noted) {
        e->code = ZKR_ENOMEM;
    }
}

/* A writer may have become a reader, or may not have yet. */
static bool may_be_own(const struct zkr__claim *claim,
                       const struct zkr__child *child) ZKR__LOCKED
{
    const unsigned shared = 1U << ZKR__NAME_READ | 1U << ZKR__NAME_WRITE;
    unsigned kind = 1U << claim->q->kind, is = 1U << child->kind;
    bool may_be = is == kind || ((is & shared) && (kind & shared));
    return may_be && zkr__claim_is_node(claim, child->name, child->kind);
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
    zkr__reckon_forget(claim->directory); /* it may be among the others there */
    if (!e->found) {
        e->code = ZKR_ENOMEM;
    }
    zkr__mem_free(path);
}

static void judge(struct zkr__claim *claim,
                  struct zkr__claim_event *e,
                  const struct zkr__children *children) ZKR__LOCKED
{
    const struct zkr__queue *q = claim->q;
    size_t self = zkr__children_find(children, zkr__path_name(claim->node));
    e->found = self < children->count;
    if (!e->found) { /* gone, or of another number than we were told */
        find_own(claim, e, children);
        e->found = false;
        return;
    }
    struct zkr__verdict verdict = q->rule(children, self, q->rule_arg);
    e->granted = verdict.granted;
    e->once = claim->once;
    if (!verdict.granted && !claim->once) {
        wait_as_told(claim, e, &verdict, children);
    }
}

static void on_listed(struct zkr__claim *claim,
                      struct zkr__claim_event *e,
                      const struct zkr__answer *answer) ZKR__LOCKED
{
    bool told = answer->code == ZKR_OK || answer->code == ZKR_ENONODE;
    if (told && claim->k.phase == ZKR__FINDING && !claim->written) {
        e->code = ZKR_ECONNLOSS; /* see write_first() */
        return;
    }
    if (answer->code != ZKR_OK) {
        return;
    }
    const struct zkr__children *children;
    e->code = zkr__lists_children(claim->directory, &children);
    if (e->code != ZKR_OK) {
        return;
    }
    strangers_warn(claim->q, children, answer);
    if (claim->k.phase == ZKR__LOOKING) {
        return;
    }
    if (claim->k.phase == ZKR__FINDING) {
        find_own(claim, e, children);
    } else {
        judge(claim, e, children);
    }
}

/* --- a node is made --- */

/* A node of another client may be gone by now: a try must not fail by it, nor be parked while a list is on its way. */
static bool may_be_gone(const struct zkr__claim *claim, const char *name) ZKR__LOCKED
{
    bool doubted = claim->once || zkr__lists_wanted(claim);
    return doubted && !zkr__claim_in(claim->directory, name);
}

/* Its number may tell all that a list would. Without memory to note whom it waits for, the list will fail. */
static void judge_by_number(struct zkr__claim *claim,
                            struct zkr__claim_event *e) ZKR__LOCKED
{
    struct zkr__verdict verdict;
    struct zkr__children who;
    e->bare = !zkr__lists_wanted(claim);
    e->placed = !claim->k.leaving && !e->spent && zkr__reckon(claim, &verdict, &who) &&
                (verdict.granted || !may_be_gone(claim, who.list[verdict.watch].name));
    if (e->placed) {
        strangers_warn(claim->q, &who, NULL);
        e->granted = verdict.granted;
        e->once = claim->once;
    }
    if (e->placed && !verdict.granted && !claim->once) {
        wait_as_told(claim, e, &verdict, &who);
        e->placed = e->code == ZKR_OK;
        e->code = ZKR_OK;
        claim->engine->spared.behind += e->placed && e->wait == ZKR__WAIT_NODE;
    }
    claim->engine->spared.wrong += e->bare && !e->placed;
}

static void on_created(struct zkr__claim *claim,
                       struct zkr__claim_event *e,
                       const struct zkr__answer *answer) ZKR__LOCKED
{
    if (answer->code == ZKR_OK &&
        zkr__claim_know_node(claim, answer->path, claim->q->kind)) {
        note_node(claim, e, answer);
        zkr__reckon_made(claim);
        judge_by_number(claim, e);
    } else if (answer->code == ZKR_OK) {
        /* Another path than ours, or no memory for the table. The node is found by its GUID. */
        e->code = ZKR_ECONNLOSS;
    } else if (answer->code == ZKR_ENONODE && claim->k.made_parents &&
               claim->parent_code != 0) {
        e->code = claim->parent_code;
        e->hopeless = true;
    }
}

/* --- the end --- */

static void
on_deleted_parent(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    (void)tag;
    zkr_client *c = ctx;
    if (answer->code == ZKR_OK) {
        zkr__log(c, ZKR_LOG_INFO,
                 ZKR__EVENT("empty_path_deleted",
                            .reason = "so that its sequence numbers start again"));
    }
}

static void on_removed(struct zkr__claim *claim,
                       const struct zkr__answer *answer) ZKR__LOCKED
{
    zkr_client *c = claim->q->c;
    if (answer->code == ZKR_OK && claim->sequence >= ZKR__SEQUENCE_WARN) {
        /* Refused while others wait, which is as well. */
        struct zkr__op op = {.kind = ZKR__OP_DELETE, .path = claim->q->dir};
        zkr__submit(c, &op, on_deleted_parent, c, 0);
    } else if (answer->code == ZKR_EAUTH && !claim->k.refused) {
        zkr__reckon_forget(claim->directory);
        zkr__log(c, ZKR_LOG_ERROR,
                 ZKR__EVENT("delete_refused", .path = claim->q->dir,
                            .node = zkr__path_name(claim->node),
                            .reason = "not allowed; it is tried again until it is, or "
                                      "until the session ends"));
    }
}

bool zkr__claim_take_answer(struct zkr__claim *claim,
                            unsigned tag,
                            const struct zkr__answer *answer,
                            struct zkr__claim_event *e)
{
    static const enum zkr__event_kind kinds[] = {
        [ZKR__ASKED_CREATE] = ZKR__EV_CREATED,
        [ZKR__ASKED_LIST] = ZKR__EV_LISTED,
        [ZKR__ASKED_OWN] = ZKR__EV_GOT_OWN,
        [ZKR__ASKED_AHEAD] = ZKR__EV_GOT_AHEAD,
        [ZKR__ASKED_PROVE] = ZKR__EV_PROVED,
        [ZKR__ASKED_REMOVE] = ZKR__EV_REMOVED,
        [ZKR__ASKED_DOWNGRADE] = ZKR__EV_DOWNGRADED,
        [ZKR__ASKED_RESTORE] = ZKR__EV_RESTORED,
        [ZKR__ASKED_OWNER] = ZKR__EV_GOT_OWNER,
    };
    if (!zkr__asked_in_round(tag, claim->k.round)) {
        return false;
    }
    enum zkr__asked asked = zkr__asked_of(tag);
    *e = (struct zkr__claim_event){
        .kind = kinds[asked], .code = answer->code, .unwatched = answer->unwatched};
    if (answer->code != ZKR_OK) {
        claim->detail = answer->zk_rc;
    }
    switch (asked) {
    case ZKR__ASKED_CREATE:
        on_created(claim, e, answer);
        break;
    case ZKR__ASKED_LIST:
        on_listed(claim, e, answer);
        break;
    case ZKR__ASKED_OWN:
        on_own(claim, e, answer);
        break;
    case ZKR__ASKED_OWNER:
        whose(claim, e, answer);
        break;
    case ZKR__ASKED_REMOVE:
        on_removed(claim, answer);
        break;
    case ZKR__ASKED_DOWNGRADE:
        on_downgraded(claim, e, answer);
        break;
    case ZKR__ASKED_AHEAD:
    case ZKR__ASKED_PROVE:
    case ZKR__ASKED_RESTORE:
        break;
    }
    return true;
}
