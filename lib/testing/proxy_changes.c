/* SPDX-License-Identifier: Apache-2.0 */
/* ZKR_TEST_COUNTS_CHANGES: setting the data of a child also raises the cversion of its parent. */
#include <stdlib.h>
#include <string.h>

#include "testing/proxy.h"

enum {
    OP_CREATE = 1,
    OP_EXISTS = 3,
    OP_GET_DATA = 4,
    OP_SET_DATA = 5,
    OP_GET_ACL = 6,
    OP_SET_ACL = 7,
    OP_GET_CHILDREN2 = 12,
    OP_MULTI = 14,
    OP_CREATE2 = 15,
    OP_CREATE_CONTAINER = 19,
    OP_CREATE_TTL = 21
};

/* Offsets. After its length, a request has xid and operation, and an answer has xid, zxid and code. */
enum { XID = 4, REQUEST = 12, CODE = 16, ANSWER = 20 };
/* The size of a Stat, and the offset of its cversion. */
enum { STAT = 68, STAT_CVERSION = 36 };

/* A request without an answer yet. */
struct asked {
    struct asked *next;
    int op;
    size_t size;
    unsigned char frame[];
};

/* A node, and how often the data of its children was set. */
struct changed {
    struct changed *next;
    uint32_t times;
    size_t size;
    unsigned char path[];
};

static uint32_t get32(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* ---- the content of a message ------------------------------------------------------------ */

/* The unread rest of a message. After a read beyond the end, @at is NULL. */
struct rest {
    unsigned char *at;
    unsigned char *end;
};

struct text {
    const unsigned char *at;
    size_t size;
};

static unsigned char *take(struct rest *r, size_t size)
{
    if (r->at == NULL || (size_t)(r->end - r->at) < size) {
        r->at = NULL;
        return NULL;
    }
    r->at += size;
    return r->at - size;
}

static int32_t take_int(struct rest *r)
{
    const unsigned char *b = take(r, 4);
    return b != NULL ? (int32_t)get32(b) : 0;
}

static struct text take_text(struct rest *r)
{
    const int32_t size = take_int(r);
    const struct text t = {.size = size > 0 ? (size_t)size : 0};
    return (struct text){take(r, t.size), t.size};
}

static void skip_acl(struct rest *r)
{
    for (int32_t n = take_int(r); n > 0 && r->at != NULL; n--) {
        (void)take_int(r);
        (void)take_text(r);
        (void)take_text(r);
    }
}

static struct text parent_of(struct text path)
{
    while (path.size > 0 && path.at[path.size - 1] != '/') {
        path.size--;
    }
    path.size -= path.size > 1; /* the root keeps its slash */
    return path;
}

/* ---- the counts -------------------------------------------------------------------------- */

static struct changed **find(zkr_test_proxy *p, struct text path)
{
    struct changed **at = &p->changed;
    while (*at != NULL &&
           ((*at)->size != path.size || memcmp((*at)->path, path.at, path.size) != 0)) {
        at = &(*at)->next;
    }
    return at;
}

/* Counts that the data of the node at @path was set. */
static void count_change(zkr_test_proxy *p, struct text path)
{
    const struct text parent = parent_of(path);
    struct changed **at = find(p, parent);

    if (*at == NULL) {
        *at = calloc(1, sizeof **at + parent.size);
        if (*at == NULL) {
            return;
        }
        (*at)->size = parent.size;
        memcpy((*at)->path, parent.at, parent.size);
    }
    (*at)->times++;
}

/* Drops the count of a new node. */
static void forget(zkr_test_proxy *p, struct text path)
{
    struct changed **at = find(p, path);
    struct changed *old = *at;

    if (old != NULL) {
        *at = old->next;
        free(old);
    }
}

static void raise_counter(zkr_test_proxy *p, struct text path, unsigned char *stat)
{
    const struct changed *c = *find(p, path);

    if (c == NULL || stat == NULL) {
        return;
    }
    unsigned char *at = stat + STAT_CVERSION;
    const uint32_t raised = get32(at) + c->times;
    for (int i = 0; i < 4; i++) {
        at[i] = (unsigned char)(raised >> (24 - 8 * i));
    }
}

/* ---- requests and answers ---------------------------------------------------------- */

static bool is_create(int op)
{
    return op == OP_CREATE || op == OP_CREATE2 || op == OP_CREATE_CONTAINER ||
           op == OP_CREATE_TTL;
}

/* Handles one operation of a transaction and its result. Returns whether another operation may follow. */
static bool pass_result(zkr_test_proxy *p, struct rest *asked, struct rest *answer)
{
    const int op = take_int(asked);
    (void)take(asked, 5); /* done, error */
    const int result = take_int(answer);
    const unsigned char *done = take(answer, 5);
    if (done == NULL || *done != 0 || result == -1) {
        return false;
    }
    const struct text path = take_text(asked);
    if (is_create(op)) {
        (void)take_text(asked);
        skip_acl(asked);
        (void)take(asked, op == OP_CREATE_TTL ? 12 : 4);
        const struct text made = take_text(answer);
        (void)take(answer, result == OP_CREATE ? 0 : STAT);
        if (answer->at != NULL) {
            forget(p, made);
        }
    } else if (op == OP_SET_DATA) {
        (void)take_text(asked);
        (void)take_int(asked);
        unsigned char *stat = take(answer, STAT);
        if (asked->at != NULL && stat != NULL) {
            raise_counter(p, path, stat);
            count_change(p, path);
        }
    } else {
        (void)take_int(asked); /* data and version of a delete or a check */
    }
    return asked->at != NULL && answer->at != NULL;
}

/* Handles the answer to a successful request. */
static void
pass_answer(zkr_test_proxy *p, struct asked *a, unsigned char *frame, size_t size)
{
    struct rest asked = {a->frame + REQUEST, a->frame + a->size};
    struct rest answer = {frame + ANSWER, frame + size};

    if (a->op == OP_MULTI) {
        bool more = true;
        while (more) {
            more = pass_result(p, &asked, &answer);
        }
        return;
    }
    const struct text path = take_text(is_create(a->op) ? &answer : &asked);
    if (path.at == NULL) {
        return;
    }
    if (is_create(a->op)) {
        forget(p, path);
    } else if (size >= ANSWER + STAT) {
        raise_counter(p, path, frame + size - STAT); /* each answer ends in a Stat */
    }
    if (a->op == OP_SET_DATA) {
        count_change(p, path);
    }
}

static bool matters(int op)
{
    return is_create(op) || op == OP_EXISTS || op == OP_GET_DATA || op == OP_SET_DATA ||
           op == OP_GET_ACL || op == OP_SET_ACL || op == OP_GET_CHILDREN2 ||
           op == OP_MULTI;
}

void zkr__test_changes_request(zkr_test_proxy *p,
                               conn *c,
                               int op,
                               const unsigned char *frame,
                               size_t size)
{
    if ((p->habits & ZKR_TEST_COUNTS_CHANGES) == 0 || !matters(op)) {
        return;
    }
    struct asked *a = malloc(sizeof *a + size);
    if (a == NULL) {
        c->reset = true;
        return;
    }
    *a = (struct asked){.op = op, .size = size};
    memcpy(a->frame, frame, size);
    *(c->asked != NULL ? &c->asked_last->next : &c->asked) = a;
    c->asked_last = a;
}

void zkr__test_changes_answer(zkr_test_proxy *p,
                              conn *c,
                              unsigned char *frame,
                              size_t size)
{
    struct asked *a = c->asked;

    if (a == NULL || size < ANSWER || memcmp(a->frame + XID, frame + XID, 4) != 0) {
        return; /* other answers arrive in the order of requests */
    }
    c->asked = a->next;
    if ((p->habits & ZKR_TEST_COUNTS_CHANGES) != 0 && get32(frame + CODE) == 0) {
        pass_answer(p, a, frame, size);
    }
    free(a);
}

void zkr__test_changes_drop(conn *c)
{
    while (c->asked != NULL) {
        struct asked *next = c->asked->next;
        free(c->asked);
        c->asked = next;
    }
}

void zkr__test_changes_forget(zkr_test_proxy *p)
{
    while (p->changed != NULL) {
        struct changed *next = p->changed->next;
        free(p->changed);
        p->changed = next;
    }
}
