/* SPDX-License-Identifier: Apache-2.0 */
#include "session/lookup.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/thread.h"
#include "session/resolve.h"
#include "session/wake.h"

/* So long names have, when there are addresses beside them. */
enum { PATIENCE_MS = 500 };

static void answer(struct zkr__lookup *l, int code, char *servers, const char *why)
{
    l->under_way = false;
    l->here = true;
    l->code = code;
    l->servers = servers;
    (void)snprintf(l->why, sizeof(l->why), "%s", why);
}

static int resolve(const char *list, char **servers, char *why, size_t size)
{
    (void)snprintf(why, size, "out of memory");
    return zkr__servers_resolve(list, servers, why, size);
}

/* What a thread is asked. */
struct question {
    zkr_client *c;
    unsigned list; /* client.list */
    char servers[];
};

static void *run(void *arg)
{
    struct question *q = arg;
    zkr_client *c = q->c;
    char why[sizeof(c->lookup.why)];
    char *servers = NULL;
    int code = resolve(q->servers, &servers, why, sizeof(why));
    zkr__lock(c);
    if (q->list == c->list) {
        zkr__lookup_drop(c);
        answer(&c->lookup, code, servers, why);
        zkr__wake_by(c, zkr__now(c));
    } else {
        zkr__mem_free(servers);
    }
    zkr__unlock(c);
    zkr__client_free(c);
    zkr__mem_free(q);
    return NULL;
}

static struct question *make_question(zkr_client *c) ZKR__LOCKED
{
    size_t size = strlen(c->servers) + 1;
    struct question *q = zkr__mem_alloc(sizeof(*q) + size);
    if (q) {
        q->c = c;
        q->list = c->list;
        memcpy(q->servers, c->servers, size);
    }
    return q;
}

static void start(zkr_client *c) ZKR__LOCKED
{
    pthread_t thread;
    struct question *q = make_question(c);
    if (!q) {
        answer(&c->lookup, ZKR_ENOMEM, NULL, "out of memory");
        return;
    }
    zkr__client_keep(c);
    int error = zkr__thread_start(&thread, "zkr-resolve", run, q);
    if (error == 0) {
        c->lookup.under_way = true;
        c->lookup.enough_at = zkr__now(c) + PATIENCE_MS * ZKR__MS;
        zkr__thread_detach(thread);
    } else {
        zkr__client_free(c); /* not the last one to have it */
        zkr__mem_free(q);
        answer(&c->lookup, ZKR_ESYS, NULL, "no thread for the resolver");
    }
}

bool zkr__lookup(zkr_client *c)
{
    struct zkr__lookup *l = &c->lookup;
    if (l->here || l->under_way) {
        return l->here;
    }
    if (!c->numeric) {
        start(c);
        return l->here;
    }
    char why[sizeof(l->why)];
    char *servers = NULL;
    int code = resolve(c->servers, &servers, why, sizeof(why));
    answer(l, code, servers, why);
    return true;
}

bool zkr__lookup_addresses(zkr_client *c, int64_t now, int64_t *next)
{
    struct zkr__lookup *l = &c->lookup;
    char *servers = NULL;
    *next = l->under_way && now < l->enough_at ? l->enough_at : ZKR__NEVER;
    if (l->under_way && now >= l->enough_at &&
        zkr__servers_addresses(c->servers, &servers) == ZKR_OK) {
        answer(l, ZKR_OK, servers, "");
        l->under_way = true;
        return true;
    }
    return false;
}

int zkr__lookup_take(zkr_client *c, char **servers, char *why, size_t why_size)
{
    struct zkr__lookup *l = &c->lookup;
    *servers = l->servers;
    (void)snprintf(why, why_size, "%s", l->why);
    l->servers = NULL;
    l->here = false;
    return l->code;
}

void zkr__lookup_drop(zkr_client *c)
{
    if (c->lookup.here) {
        zkr__mem_free(c->lookup.servers);
        c->lookup.servers = NULL;
        c->lookup.here = false;
    }
}

void zkr__lookup_restart(zkr_client *c)
{
    zkr__lookup_drop(c);
    c->lookup.under_way = false;
}
