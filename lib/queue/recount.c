/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/recount.h"

#include "base/mem.h"
#include "queue/claim.h"
#include "queue/directory.h"
#include "queue/engine_state.h"
#include "queue/queue.h"
#include "session/log.h"
#include "session/zk_value.h"

enum { OWN, DIRECTORY };

static void keep_directory(struct zkr__directory *d, const char *reason) ZKR__LOCKED
{
    if (!d->warned) {
        d->warned = true;
        zkr__log(d->engine->c, ZKR_LOG_WARN,
                 ZKR__EVENT("path_kept", .path = d->path, .reason = reason));
    }
}

/*
 * Servers replace "auth" with the IDs of the session's credentials, so the ACL that a client requests is not the ACL of
 * its nodes. Also, servers do not report whether a node is a container. So this function compares the ACLs of a node of
 * ours and of the directory.
 */
static void
on_look(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__directory *d = ctx;
    struct zkr__recount *r = zkr__recount_of(d);
    bool answered = answer->code == ZKR_OK;
    if (answer->code == ZKR_EAUTH || (answered && !answer->acl)) {
        keep_directory(d,
                       "its sequence numbers cannot restart: this client has no "
                       "permission to read all ACLs, so it does not delete the path");
    } else if (answered && tag == OWN) {
        zkr__zk_acl_free(r->acl);
        r->acl = zkr__zk_acl_copy(answer->acl);
    } else if (answered && r->acl && answer->empty &&
               zkr__zk_acl_same(r->acl, answer->acl)) {
        r->deletable = answer->version;
    } else if (answered && r->acl) {
        keep_directory(
            d, "its sequence numbers cannot restart: the path has data, or an ACL "
               "different from that of this client's nodes, so it is not deleted");
    }
    zkr__directory_unref(d);
}

static void ask(struct zkr__directory *d, const char *path, unsigned tag) ZKR__LOCKED
{
    const struct zkr__op op = {.kind = ZKR__OP_ACL, .path = path};
    d->refs++;
    zkr__submit(d->engine->c, &op, on_look, d, tag);
}

/* Returns the recount of the directory, or NULL if memory runs out. The directory frees the recount. */
static struct zkr__recount *need_recount(const struct zkr__directory *d) ZKR__LOCKED
{
    struct zkr__recount *r = zkr__recount_of(d);
    if (r) {
        return r;
    }
    r = zkr__mem_alloc(sizeof(*r));
    if (r) {
        r->directory = d;
        LL_PREPEND(d->engine->recounts, r);
    }
    return r;
}

void zkr__recount_look(const struct zkr__claim *claim)
{
    struct zkr__directory *d = claim->directory;
    struct zkr__recount *r = need_recount(d);
    if (!r) {
        return; /* the directory will not be deleted */
    }
    zkr__zk_acl_free(r->acl);
    r->acl = NULL;
    r->deletable = -1;
    ask(d, claim->node, OWN);
    ask(d, d->path, DIRECTORY);
}

static void
on_deleted(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__directory *d = ctx;
    (void)tag;
    if (answer->code == ZKR_OK) {
        zkr__log(d->engine->c, ZKR_LOG_INFO,
                 ZKR__EVENT("empty_path_deleted", .path = d->path,
                            .reason = "so that its sequence numbers restart"));
    } else if (answer->code == ZKR_EAUTH) {
        keep_directory(
            d, "its sequence numbers cannot restart: this client has no permission to "
               "delete the path");
    }
    zkr__directory_unref(d);
}

/*
 * Servers refuse the delete while other contenders have nodes, or if the data have been set since they were read. A
 * transaction cannot check the ACL, so an ACL that has been set since then, one round trip ago, is lost.
 */
void zkr__recount_begin(struct zkr__directory *d)
{
    struct zkr__recount *r = zkr__recount_of(d);
    if (r && r->deletable >= 0) {
        const struct zkr__op op = {.kind = ZKR__OP_MULTI,
                                   .paths = &d->path,
                                   .path_count = 1,
                                   .versions = &r->deletable,
                                   .deleted = &d->path,
                                   .deleted_count = 1};
        d->refs++;
        zkr__submit(d->engine->c, &op, on_deleted, d, 0);
    }
}
