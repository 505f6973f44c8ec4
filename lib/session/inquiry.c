/* SPDX-License-Identifier: Apache-2.0 */
#include "session/inquiry.h"

#include <string.h>

#include <zkr/node.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "session/must.h"
#include "session/resolve.h"

static void drop(struct zkr__inquiry *inquiry) ZKR__LOCKED
{
    ZKR__MUST(inquiry->c, inquiry->refs > inquiry->in_flight);
    if (--inquiry->refs == 0) {
        zkr__cv_destroy(&inquiry->done);
        if (inquiry->forget) {
            inquiry->forget(inquiry);
        }
        zkr__mem_free(inquiry);
    }
}

static void on_state(struct zkr__listener *listener, int state)
{
    (void)state;
    zkr__cv_signal(&ZKR__OWNER_OF(listener, struct zkr__inquiry, listener)->done);
}

/* ZKR_EAUTH and ZKR_ECLOSED take precedence over @code. */
static int outcome(const struct zkr__inquiry *inquiry, int code) ZKR__LOCKED
{
    const zkr_client *c = inquiry->c;
    return c->state == ZKR_STATE_AUTH_FAILED ? ZKR_EAUTH
           : c->shut && !inquiry->even_shut  ? ZKR_ECLOSED
                                             : code;
}

static int await_session(struct zkr__inquiry *inquiry) ZKR__LOCKED
{
    zkr_client *c = inquiry->c;
    bool in_time = true;
    while (!zkr__connected(c) && outcome(inquiry, ZKR_OK) == ZKR_OK && in_time) {
        in_time = zkr__wait(c, &c->changed, inquiry->deadline);
    }
    return outcome(inquiry, zkr__connected(c) ? ZKR_OK : ZKR_ETIMEDOUT);
}

int zkr__inquiry_begin(struct zkr__inquiry *inquiry,
                       zkr_client *c,
                       void (*forget)(void *inquiry))
{
    zkr__cv_init(&inquiry->done);
    inquiry->c = c;
    inquiry->forget = forget;
    if (inquiry->deadline == 0) {
        inquiry->deadline =
            zkr__clock_deadline(zkr__now(c), c->options.connect_timeout_ms);
    }
    inquiry->refs = 1;
    inquiry->listener.on_state = on_state;
    zkr__listen(c, &inquiry->listener);
    int rc = await_session(inquiry);
    if (rc != ZKR_OK) {
        zkr__inquiry_end(inquiry);
    }
    return rc;
}

void zkr__inquiry_end(struct zkr__inquiry *inquiry)
{
    zkr__unlisten(inquiry->c, &inquiry->listener);
    drop(inquiry);
}

void zkr__inquiry_answered(struct zkr__inquiry *inquiry, int code)
{
    if (inquiry->code == ZKR_OK) {
        inquiry->code = code;
    }
    ZKR__MUST(inquiry->c, inquiry->in_flight > 0);
    inquiry->in_flight--;
    zkr__cv_signal(&inquiry->done);
    drop(inquiry);
}

static void
on_code(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    (void)tag;
    zkr__inquiry_answered(ctx, answer->code);
}

void zkr__inquiry_ask(struct zkr__inquiry *inquiry,
                      const struct zkr__op *op,
                      zkr__answer_fn fn,
                      unsigned tag)
{
    inquiry->refs++;
    inquiry->in_flight++;
    if (op->path || op->kind == ZKR__OP_MULTI) {
        zkr__submit(inquiry->c, op, fn ? fn : on_code, inquiry, tag);
    } else {
        zkr__inquiry_answered(inquiry, ZKR_ENOMEM);
    }
}

int zkr__inquiry_await(struct zkr__inquiry *inquiry)
{
    zkr_client *c = inquiry->c;
    bool in_time = true;
    while (inquiry->in_flight > 0 && !(c->shut && !inquiry->even_shut) && in_time) {
        in_time = zkr__wait(c, &inquiry->done, inquiry->deadline);
    }
    return outcome(inquiry, inquiry->in_flight > 0 ? ZKR_ETIMEDOUT : inquiry->code);
}

int zkr__inquiry_check_chroot(struct zkr__inquiry *inquiry)
{
    const struct zkr__op op = {.kind = ZKR__OP_EXISTS, .path = "/"};
    if (*zkr__servers_chroot(inquiry->c->servers) == '\0') {
        return ZKR_OK;
    }
    zkr__inquiry_ask(inquiry, &op, NULL, 0);
    return zkr__inquiry_await(inquiry);
}

/* --- retries while the servers are busy --- */

bool zkr__inquiry_try(zkr_client *c, struct zkr__tries *t)
{
    bool again =
        t->count == 0 || (t->rc == ZKR_EZK(ZKR__THROTTLED) &&
                          (c->retry.attempts == 0 || t->count < c->retry.attempts));
    if (t->deadline == 0) {
        t->deadline = zkr__clock_deadline(zkr__now(c), c->options.connect_timeout_ms);
    }
    if (again && t->count > 0) {
        int64_t at = zkr__now(c) + zkr__retry_pause(&c->retry, t->count - 1,
                                                    zkr__retry_random(&c->random));
        again = at < t->deadline;
        while (again && !c->shut && zkr__wait(c, &c->changed, at)) {
        }
    }
    t->count++;
    return again;
}

/* --- reading a node for the application --- */

struct reading {
    struct zkr__inquiry asked;
    zkr_node node;
    int64_t grants; /* client.news_grants when the reading began */
    size_t size;
    char data[]; /* at most the first `size` bytes of the data */
};

static void
on_data(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct reading *r = ctx;
    (void)tag;
    r->node = (zkr_node){.length = answer->data_len,
                         .version = answer->version,
                         .czxid = answer->czxid,
                         .owner = answer->owner,
                         .created_ms = answer->created_ms};
    size_t length = answer->data_len < r->size ? answer->data_len : r->size;
    if (length > 0) {
        memcpy(r->data, answer->data, length);
    }
    zkr__inquiry_answered(&r->asked, answer->code);
}

static void
on_sync(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct reading *r = ctx;
    (void)tag;
    if (answer->code == ZKR_OK && r->asked.c->news_synced < r->grants) {
        r->asked.c->news_synced = r->grants;
    }
    zkr__inquiry_answered(&r->asked, answer->code);
}

/*
 * News can grant a lock before the client's server has received the previous holder's last writes. A sync brings the
 * server up to date with all answered writes. The client sends the read right behind the sync.
 */
static void sync_first(zkr_client *c, struct reading *r, const char *path) ZKR__LOCKED
{
    const struct zkr__op sync = {.kind = ZKR__OP_SYNC, .path = path};
    r->grants = c->news_grants;
    if (c->news_synced < r->grants) {
        zkr__inquiry_ask(&r->asked, &sync, on_sync, 0);
    }
}

static int read_once(zkr_client *c,
                     const char *path,
                     void *data,
                     size_t size,
                     zkr_node *node,
                     int64_t deadline) ZKR__LOCKED
{
    const struct zkr__op op = {.kind = ZKR__OP_GET, .path = path};
    struct reading *r = zkr__mem_alloc(sizeof(*r) + size);
    if (!r) {
        return ZKR_ENOMEM;
    }
    r->size = size;
    r->asked.deadline = deadline;
    int rc = zkr__inquiry_begin(&r->asked, c, NULL);
    if (rc != ZKR_OK) {
        return rc;
    }
    sync_first(c, r, path);
    zkr__inquiry_ask(&r->asked, &op, on_data, 0);
    rc = zkr__inquiry_await(&r->asked);
    if (rc == ZKR_OK) {
        *node = r->node;
    }
    if (rc == ZKR_OK && size > 0) {
        memcpy(data, r->data, size < node->length ? size : node->length);
    }
    zkr__inquiry_end(&r->asked);
    return rc;
}

int zkr__node_read(zkr_client *c,
                   const char *path,
                   void *data,
                   size_t size,
                   zkr_node *node,
                   int64_t deadline)
{
    struct zkr__tries t = {.deadline = deadline};
    while (zkr__inquiry_try(c, &t)) {
        t.rc = read_once(c, path, data, size, node, t.deadline);
    }
    return t.rc;
}

int zkr_client_get(zkr_client *c,
                   const char *path,
                   void *data,
                   size_t size,
                   zkr_node *node,
                   size_t node_size)
{
    zkr_node whole;
    int rc = zkr__client_enter_blocking(c);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (!path || !node || node_size == 0 || (!data && size > 0)) {
        return zkr__fail(
            ZKR_EINVAL, path,
            "a read needs a path, a zkr_node, and a buffer if its size is not 0");
    }
    const char *fault = strcmp(path, "/") == 0 ? NULL : zkr__path_fault(path);
    if (fault) {
        return zkr__fail(ZKR_EINVAL, path, "the path to read %s", fault);
    }
    zkr__lock(c);
    rc = zkr__node_read(c, path, data, size, &whole, 0);
    zkr__unlock(c);
    if (rc != ZKR_OK) {
        return zkr__fail_zk(rc, zkr_err_zk(rc), path, "cannot read");
    }
    memset(node, 0, node_size);
    memcpy(node, &whole, node_size < sizeof(whole) ? node_size : sizeof(whole));
    return rc;
}
