/* SPDX-License-Identifier: Apache-2.0 */
#include "session/support.h"

#include "base/error.h"
#include "session/log.h"
#include "session/must.h"
#include "session/request.h"

/*
 * libzookeeper's codes for a connection that the server closed. A connection that timed out has another code.
 * libzookeeper reports RUNTIME_INCONSISTENCY if a refusal arrives before the answers to earlier requests, because it
 * takes the refusal for the first of those answers.
 */
enum { CONNECTION_LOSS = -4, RUNTIME_INCONSISTENCY = -2 };

/* --- before a request is sent --- */

/*
 * ClickHouse Keeper supported create2 before it supported containers, and it gives each connection a new session. So
 * trying an operation that it lacks would cost all holds. Other servers keep the session.
 */
static bool is_risky(const zkr_client *c, const struct zkr__support *s)
{
    return c->keeper && c->stats.held > 0 && !s->known;
}

static bool avoids_create2(const zkr_client *c)
{
    return c->create2.missing || is_risky(c, &c->create2);
}

static bool avoids_containers(const zkr_client *c)
{
    return c->create2.missing || c->containers.missing || is_risky(c, &c->containers);
}

void zkr__support_adapt(zkr_client *c, struct zkr__op *op, struct zkr__creation *one)
{
    if (op->kind == ZKR__OP_CREATE && avoids_create2(c)) {
        *one = (struct zkr__creation){
            .path = op->path, .data = op->data, .data_len = op->data_len};
        *op = (struct zkr__op){.kind = ZKR__OP_CREATES,
                               .creations = one,
                               .creation_count = 1,
                               .acl = op->acl};
    }
    op->container = op->container && !avoids_containers(c);
}

/* --- after the answer --- */

static void find_missing(zkr_client *c, struct zkr__support *s) ZKR__LOCKED
{
    if (!s->missing) {
        s->missing = true;
        zkr__log(
            c, ZKR_LOG_WARN,
            ZKR__EVENT(
                "operation_missing",
                .reason =
                    s == &c->create2
                        ? "the servers lack create2, so a transaction creates each node"
                        : "the servers lack containers, so parents are persistent"));
    }
}

/*
 * After two closes in a row, the operation counts as missing. If both closes had another cause, little is lost, because
 * a transaction creates a node as well.
 */
static void
count_close(zkr_client *c, struct zkr__support *s, int64_t connection) ZKR__LOCKED
{
    enum { MOST = 2 };
    if (!s->known && s->closed != connection) {
        s->closed = connection;
        s->closes++;
        if (s->closes >= MOST) {
            find_missing(c, s);
        }
        ZKR__MUST(c, s->closes > 0 && (s->closes < MOST || s->missing));
    }
}

void zkr__support_learn(zkr_client *c,
                        const struct zkr__support_sent *sent,
                        struct zkr__answer *answer)
{
    bool container = sent->kind == ZKR__OP_PARENT && sent->container;
    if (!container && sent->kind != ZKR__OP_CREATE) {
        return;
    }
    struct zkr__support *s = container ? &c->containers : &c->create2;
    if (answer->zk_rc == ZKR__UNIMPLEMENTED) {
        find_missing(c, s);
        /* The server did nothing, so the caller can retry without the operation. */
        answer->code = ZKR_EZK(ZKR__THROTTLED);
    } else if (answer->zk_rc == CONNECTION_LOSS ||
               answer->zk_rc == RUNTIME_INCONSISTENCY) {
        count_close(c, s, sent->connection);
    } else if (answer->code != ZKR_ECONNLOSS && answer->code != ZKR_ESESSION) {
        *s = (struct zkr__support){.known = true};
    }
}

void zkr__support_begin(zkr_client *c)
{
    c->create2.known = c->containers.known = false;
}

void zkr__support_forget(zkr_client *c)
{
    c->create2 = (struct zkr__support){.known = c->create2.known};
    c->containers = (struct zkr__support){.known = c->containers.known};
}
