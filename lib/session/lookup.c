/* SPDX-License-Identifier: Apache-2.0 */
#include "session/lookup.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/thread.h"
#include "session/resolve.h"
#include "session/wake.h"

static void answer(struct zkr__lookup *l, int code, char *servers, const char *why)
{
    l->under_way = false;
    l->here = true;
    l->code = code;
    l->servers = servers;
    (void)snprintf(l->why, sizeof(l->why), "%s", why);
}

/* Reads of the client only what never changes. */
static int resolve(const zkr_client *c, char **servers, char *why, size_t size)
{
    (void)snprintf(why, size, "out of memory");
    return zkr__servers_resolve(c->servers, servers, why, size);
}

static void *run(void *arg)
{
    zkr_client *c = arg;
    char why[sizeof(c->lookup.why)];
    char *servers = NULL;
    int code = resolve(c, &servers, why, sizeof(why));
    zkr__lock(c);
    answer(&c->lookup, code, servers, why);
    zkr__wake_by(c, zkr__now(c));
    zkr__unlock(c);
    zkr__client_free(c);
    return NULL;
}

static void start(zkr_client *c) ZKR__LOCKED
{
    pthread_t thread;
    zkr__client_keep(c);
    int error = zkr__thread_start(&thread, "zkr-resolve", run, c);
    if (error == 0) {
        c->lookup.under_way = true;
        (void)pthread_detach(thread);
    } else {
        zkr__client_free(c); /* not the last one to have it */
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
    int code = resolve(c, &servers, why, sizeof(why));
    answer(l, code, servers, why);
    return true;
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
