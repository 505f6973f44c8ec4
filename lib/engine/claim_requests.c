/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/claim_requests.h"

#include <string.h>

#include "base/mem.h"
#include "engine/lists.h"
#include "engine/reckon.h"
#include "engine/transitions.h"

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
