/* SPDX-License-Identifier: Apache-2.0 */
#include "session/unsent.h"

#include "base/mem.h"
#include "session/wake.h"

void zkr__give_up_soon(zkr_client *c)
{
    c->overrun = true;
    zkr__wake_by(c, zkr__now(c));
}

void zkr__request_begin(zkr_client *c)
{
    c->unsent_tail = &c->unsent;
    for (size_t i = 0; i < ZKR__SPARES; i++) {
        c->spares[i].spare = true;
        LL_PREPEND(c->spare, &c->spares[i]);
    }
}

static struct zkr__unsent *make_unsent(zkr_client *c) ZKR__LOCKED
{
    struct zkr__unsent *u = zkr__mem_alloc(sizeof(*u));
    if (!u && c->spare) {
        u = c->spare;
        LL_DELETE(c->spare, u);
    }
    return u;
}

static void free_unsent(zkr_client *c, struct zkr__unsent *u) ZKR__LOCKED
{
    if (u->spare) {
        LL_PREPEND(c->spare, u);
    } else {
        zkr__mem_free(u);
    }
}

static struct zkr__unsent *take_unsent(zkr_client *c) ZKR__LOCKED
{
    struct zkr__unsent *u = c->unsent;
    c->unsent = u->next;
    if (!c->unsent) {
        c->unsent_tail = &c->unsent;
    }
    return u;
}

void zkr__unsent_keep(zkr_client *c,
                      const struct zkr__answer *answer,
                      zkr__answer_fn fn,
                      void *ctx,
                      unsigned tag)
{
    struct zkr__unsent *u = make_unsent(c);
    if (u) {
        u->next = NULL;
        u->fn = fn;
        u->ctx = ctx;
        u->tag = tag;
        u->code = answer->code;
        u->zk_rc = answer->zk_rc;
        *c->unsent_tail = u;
        c->unsent_tail = &u->next;
        zkr__wake_by(c, zkr__now(c));
    } else {
        zkr__give_up_soon(c);
    }
}

void zkr__answer_later(zkr_client *c,
                       int code,
                       zkr__answer_fn fn,
                       void *ctx,
                       unsigned tag)
{
    const struct zkr__answer answer = {.code = code};
    zkr__unsent_keep(c, &answer, fn, ctx, tag);
}

void zkr__request_deliver(zkr_client *c)
{
    size_t count = 0;
    for (const struct zkr__unsent *u = c->unsent; u; u = u->next) {
        count++;
    }
    for (; count > 0 && c->unsent; count--) {
        struct zkr__unsent *u = take_unsent(c);
        const struct zkr__answer answer = {
            .code = u->code, .zk_rc = u->zk_rc, .failed_at = SIZE_MAX};
        u->fn(u->ctx, u->tag, &answer);
        free_unsent(c, u);
    }
}

void zkr__unsent_drop(zkr_client *c)
{
    while (c->unsent) {
        free_unsent(c, take_unsent(c));
    }
}
