/* SPDX-License-Identifier: Apache-2.0 */
/* Actions of claims, turned into requests to ZooKeeper and words to others. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "engine/engine.h"
#include "session/bound.h"

enum { OWNER_TEXT_MAX = 128 };

static void ask(struct zkr__claim *claim,
                enum zkr__asked asked,
                const struct zkr__op *op) ZKR__LOCKED
{
    unsigned tag = claim->k.round << ZKR__ASKED_BITS | asked;
    claim->in_flight++;
    zkr__submit(claim->q->c, op, zkr__claim_answer, claim, tag);
}

static size_t owner_text(struct zkr__claim *claim, char *text, size_t size)
{
    int len = snprintf(text, size, "%s/%ld/%ld", claim->engine->host, (long)getpid(),
                       claim->thread);
    return len < 0 ? 0 : (size_t)len < size ? (size_t)len : size - 1;
}

static void create(struct zkr__claim *claim) ZKR__LOCKED
{
    struct zkr__queue *q = claim->q;
    zkr_client *c = q->c;
    zkr__claim_forget_node(claim);
    if (zkr__guid_make(claim->guid) != 0) {
        unsigned tag = claim->k.round << ZKR__ASKED_BITS | ZKR__ASKED_CREATE;
        claim->in_flight++;
        zkr__answer_later(c, ZKR_ESYS, zkr__claim_answer, claim, tag);
        return;
    }
    /* The name to ask for is written where the name we get will stand. */
    size_t dir_len = strlen(q->dir);
    memcpy(claim->node, q->dir, dir_len);
    claim->node[dir_len] = '/';
    zkr__path_protect(claim->node + dir_len + 1, claim->guid, q->prefix);

    char text[OWNER_TEXT_MAX];
    struct zkr__op op = {.kind = ZKR__OP_CREATE, .path = claim->node, .acl = c->acl};
    const char *owner = q->owner ? q->owner : c->owner;
    if (q->data) {
        op.data = q->data;
        op.data_len = q->data_len;
    } else if (owner) {
        op.data = owner;
        op.data_len = strlen(owner);
    } else {
        op.data = text;
        op.data_len = owner_text(claim, text, sizeof(text));
    }
    ask(claim, ZKR__ASKED_CREATE, &op);
    struct zkr__op list = {.kind = ZKR__OP_CHILDREN, .path = q->dir};
    ask(claim, ZKR__ASKED_LIST, &list);
}

static void
on_parent(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    static const int unimplemented = ZKR_EZK(-6);
    struct zkr__claim *claim = ctx;
    (void)tag;
    if (answer->code == unimplemented) {
        claim->q->persistent_parent = true; /* a server before 3.5 */
    } else if (answer->code != ZKR_OK && answer->code != ZKR_EEXIST &&
               answer->code != ZKR_ECONNLOSS && claim->parent_code == 0) {
        claim->parent_code = answer->code;
        claim->detail = answer->zk_rc;
    }
    claim->in_flight--;
    zkr__claim_settle(claim);
}

/* All levels at once: those that exist say so. What the last create says decides. */
static void create_parents(struct zkr__claim *claim) ZKR__LOCKED
{
    struct zkr__queue *q = claim->q;
    char *path = zkr__mem_string(q->dir);
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
        claim->in_flight++;
        zkr__submit(q->c, &op, on_parent, claim, 0);
        if (slash) {
            *slash = '/';
        }
    }
    zkr__mem_free(path);
}

/* The list behind it is answered next, or fails alike, unless memory ran out in between. */
static void
on_written(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__claim *claim = ctx;
    bool answered = answer->code == ZKR_OK || answer->code == ZKR_ENONODE ||
                    answer->code == ZKR_EAUTH;
    claim->written |= answered && tag == claim->k.round;
    claim->in_flight--;
    zkr__claim_settle(claim);
}

/*
 * The list that follows must show our node if it was ever made, now or later. A sync is not enough
 * for that: a leader that has been replaced and does not know answers it. A write is answered by
 * the one that leads, which from now on refuses what comes by our old connection. What it
 * says does not matter.
 */
static void write_first(struct zkr__claim *claim) ZKR__LOCKED
{
    struct zkr__op op = {.kind = ZKR__OP_CHECK,
                         .paths = (const char *const[]){claim->q->dir},
                         .path_count = 1};
    claim->written = false;
    claim->in_flight++;
    zkr__submit(claim->q->c, &op, on_written, claim, claim->k.round);
}

static void tell(struct zkr__claim *claim)
{
    const struct zkr__claim_state *k = &claim->k;
    if (k->phase == ZKR__PROVING || (k->lost != 0 && !k->doubted)) {
        claim->q->c->stats.losses++; /* in doubt is lost, once */
    }
    if (claim->on_change) {
        claim->on_change(claim, claim->on_change_ctx);
    }
    zkr__cv_signal(&claim->decided);
}

/* Ends after one step: the claim behind tells nobody further when this makes it move. */
// NOLINTNEXTLINE(misc-no-recursion)
static void tell_behind(struct zkr__claim *claim, enum zkr__event_kind kind) ZKR__LOCKED
{
    struct zkr__claim *behind = claim->behind;
    if (behind) {
        claim->behind = NULL;
        behind->ahead = NULL;
        zkr__claim_run(behind, (struct zkr__claim_event){.kind = kind});
    }
}

/* In the order of enum zkr__action. */
// NOLINTNEXTLINE(misc-no-recursion): see tell_behind()
static void carry_out(struct zkr__claim *claim, unsigned todo) ZKR__LOCKED
{
    const char *dir = claim->q->dir;
    const struct {
        unsigned action;
        enum zkr__asked asked;
        struct zkr__op op;
    } requests[] = {
        {ZKR__DO_OWN,
         ZKR__ASKED_OWN,
         {.kind = ZKR__OP_GET, .path = claim->node, .watch = true}},
        {ZKR__DO_LIST | ZKR__DO_FIND,
         ZKR__ASKED_LIST,
         {.kind = ZKR__OP_CHILDREN, .path = dir}},
        {ZKR__DO_AHEAD,
         ZKR__ASKED_AHEAD,
         {.kind = ZKR__OP_GET, .path = claim->ahead_path, .watch = true}},
        {ZKR__DO_PROVE,
         ZKR__ASKED_PROVE,
         {.kind = ZKR__OP_CHECK,
          .paths = (const char *const[]){claim->node},
          .path_count = 1}},
    };
    if (todo & ZKR__DO_PARENTS) {
        create_parents(claim);
    }
    if (todo & ZKR__DO_CREATE) {
        create(claim);
    }
    if (todo & ZKR__DO_FIND) {
        write_first(claim);
    }
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        if ((todo & requests[i].action)) {
            ask(claim, requests[i].asked, &requests[i].op);
        }
    }
    if (todo & ZKR__DO_PASS) {
        tell_behind(claim, ZKR__EV_AHEAD_PASSED);
    }
    if (todo & ZKR__DO_REMOVE) {
        struct zkr__op op = {.kind = ZKR__OP_DELETE, .path = claim->node};
        ask(claim, ZKR__ASKED_REMOVE, &op);
    }
    if (todo & ZKR__DO_YIELD) {
        tell_behind(claim, ZKR__EV_AHEAD_GONE);
    }
    if (todo & ZKR__DO_RETRY) {
        zkr__engine_retry(claim);
    }
    if (todo & ZKR__DO_PACE) {
        zkr__engine_pace(claim);
    }
    if (todo & ZKR__DO_QUIET) {
        zkr__engine_quiet(claim, claim->q->watch_node && (todo & ZKR__DO_TELL));
    }
    if (todo & ZKR__DO_TELL) {
        tell(claim);
    }
}

// NOLINTNEXTLINE(misc-no-recursion): see tell_behind()
void zkr__claim_run(struct zkr__claim *claim, struct zkr__claim_event e)
{
    zkr_client *c = claim->q->c;
    e.connected = zkr__connected(c);
    e.sure = zkr__sure(c);
    e.ample = zkr__amply_sure(c);
    e.patient = c->retry.attempts == 0 || claim->k.failures < c->retry.attempts;
    claim->busy++;
    unsigned todo = zkr__claim_step(&claim->k, &e);
    carry_out(claim, todo);
    claim->busy--;
    zkr__claim_settle(claim);
}
