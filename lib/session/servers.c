/* SPDX-License-Identifier: Apache-2.0 */
#include "session/servers.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "guardian/guardian.h"
#include "session/log.h"
#include "session/resolve.h"
#include "session/session.h"
#include "session/support.h"

/* --- looking up --- */

/* How long to wait for the resolver if the list also has numeric addresses. */
enum { PATIENCE_MS = 500 };

/* Store an answer. If no address was found, @servers is NULL, and @why has the reason. */
static void answer(struct zkr__lookup *l, char *servers, const char *why)
{
    l->under_way = false;
    l->here = true;
    l->servers = servers;
    (void)snprintf(l->why, sizeof(l->why), "%s", why);
}

/* A thread that looks up names. */
struct zkr__resolver {
    struct zkr__resolver *next; /* next in client.resolvers */
    zkr_client *c;
    pthread_t thread;
    unsigned list; /* client.list when the thread started */
    bool over;     /* the thread can be joined */
    bool left; /* the client is closed, and the thread has a reference to its memory */
    char servers[];
};

static void *run(void *arg)
{
    struct zkr__resolver *r = arg;
    zkr_client *c = r->c;
    char why[sizeof(c->lookup.why)];
    char *servers;
    (void)zkr__servers_resolve(r->servers, true, &servers, why, sizeof(why));
    zkr__lock(c);
    if (r->list == c->list) {
        zkr__lookup_drop(c);
        answer(&c->lookup, servers, why);
        zkr__wake_by(c, zkr__now(c));
    } else {
        zkr__mem_free(servers);
    }
    bool left = r->left;
    r->over = true;
    zkr__unlock(c);
    if (left) {
        zkr__client_free(c);
        zkr__mem_free(r);
    }
    return NULL;
}

static void start(zkr_client *c) ZKR__LOCKED
{
    size_t size = strlen(c->servers) + 1;
    struct zkr__resolver *r = zkr__mem_alloc(sizeof(*r) + size);
    if (!r) {
        answer(&c->lookup, NULL, "out of memory");
        return;
    }
    r->c = c;
    r->list = c->list;
    memcpy(r->servers, c->servers, size);
    int error = zkr__thread_start(&r->thread, "zkr-resolve", run, r);
    if (error == 0) {
        c->lookup.under_way = true;
        c->lookup.enough_at = zkr__now(c) + PATIENCE_MS * ZKR__MS;
        LL_PREPEND(c->resolvers, r);
    } else {
        zkr__mem_free(r);
        answer(&c->lookup, NULL, "no thread for the resolver");
    }
}

static void join(zkr_client *c, struct zkr__resolver *r) ZKR__LOCKED
{
    LL_DELETE(c->resolvers, r);
    zkr__unlock(c);
    zkr__thread_join(r->thread);
    zkr__mem_free(r);
    zkr__lock(c);
}

/* Detach a thread that outlives the close of the client. The thread gets a reference to the client's memory. */
static void leave(zkr_client *c, struct zkr__resolver *r) ZKR__LOCKED
{
    LL_DELETE(c->resolvers, r);
    r->left = true;
    zkr__client_keep(c);
    zkr__thread_detach(r->thread);
}

void zkr__resolvers_join(zkr_client *c)
{
    struct zkr__resolver *r, *next;
    LL_FOREACH_SAFE(c->resolvers, r, next)
    {
        if (r->over) {
            join(c, r);
        }
    }
}

void zkr__resolvers_end(zkr_client *c)
{
    struct zkr__resolver *r, *next;
    zkr__lock(c);
    zkr__resolvers_join(c);
    bool any = c->resolvers != NULL;
    zkr__unlock(c);
    bool pinned = any && zkr__thread_pin_code();
    zkr__lock(c);
    LL_FOREACH_SAFE(c->resolvers, r, next)
    {
        if (pinned && !r->over) {
            leave(c, r);
        } else {
            join(c, r);
        }
    }
    zkr__unlock(c);
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
    char *servers;
    (void)zkr__servers_resolve(c->servers, true, &servers, why, sizeof(why));
    answer(l, servers, why);
    return true;
}

bool zkr__lookup_addresses(zkr_client *c, int64_t now, int64_t *next)
{
    struct zkr__lookup *l = &c->lookup;
    char why[sizeof(l->why)];
    char *servers;
    *next = l->under_way && now < l->enough_at ? l->enough_at : ZKR__NEVER;
    if (l->under_way && now >= l->enough_at &&
        zkr__servers_resolve(c->servers, false, &servers, why, sizeof(why)) == ZKR_OK) {
        answer(l, servers, "");
        l->under_way = true;
        return true;
    }
    return false;
}

char *zkr__lookup_take(zkr_client *c)
{
    char *servers = c->lookup.servers;
    c->lookup.servers = NULL;
    c->lookup.here = false;
    return servers;
}

void zkr__lookup_drop(zkr_client *c)
{
    zkr__mem_free(zkr__lookup_take(c));
}

/* --- following changes --- */

/* Limits of the pause between look-ups while there is no connection. */
enum { CHECK_LEAST_MS = 1000, CHECK_MOST_MS = 5000 };
/* How long requests in flight may delay the move to other servers, and how often the service checks for them. */
enum { QUIET_MS = 1000, QUIET_LOOK_MS = 5 };
/* The first pause before a handle gets an update again. The pause doubles each time. */
enum { AGAIN_MS = 500 };

static void forget_list(zkr_client *c) ZKR__LOCKED
{
    zkr__mem_free(c->next_servers);
    c->next_servers = NULL;
    c->new_list = false;
    c->list_at = 0;
}

void zkr__follow_begin(struct zkr__link *link)
{
    zkr_client *c = link->c;
    forget_list(c);
    link->check_at = zkr__now(c) + CHECK_MOST_MS * ZKR__MS;
}

void zkr__follow_tell(zkr_client *c, const char *servers, bool anew)
{
    struct zkr__link *link = c->link;
    link->moved = true;
    bool left = c->door->set_servers(link->zh, servers, anew);
    if (!zkr__connected(c)) {
        zkr__no_answer_yet(c);
    } else if (left) {
        zkr__session_down(c);
    }
}

static void take_servers(struct zkr__link *link, char *servers)
{
    zkr__mem_free(link->servers);
    zkr__mem_free(link->home);
    link->servers = servers;
    link->home = NULL;
}

void zkr__follow_adopt(zkr_client *c)
{
    if (c->next_servers) {
        take_servers(c->link, c->next_servers);
        c->next_servers = NULL;
        forget_list(c);
        (void)zkr__guardian_session(c, c->link->zh, c->link->servers);
    }
}

/*
 * Give new addresses to the handle. If the handle has no session, the client gives it up instead, because the next
 * handle starts with the new addresses.
 */
static void move(zkr_client *c, char *servers, bool anew) ZKR__LOCKED
{
    struct zkr__link *link = c->link;
    if (c->session_id == 0) {
        zkr__mem_free(servers);
        zkr__session_over(c, "the servers have other addresses now");
        return;
    }
    zkr__log(c, ZKR_LOG_INFO, ZKR__EVENT("servers_moved", .reason = servers));
    take_servers(link, servers);
    zkr__follow_tell(c, servers, anew);
    (void)zkr__guardian_session(c, link->zh, servers);
}

int64_t zkr__follow_names(zkr_client *c, int64_t now)
{
    struct zkr__link *link = c->link;
    if (c->numeric) {
        return ZKR__NEVER;
    }
    if (now < link->check_at) {
        return link->check_at;
    }
    if (!zkr__lookup(c)) {
        return ZKR__NEVER; /* the answer will wake the service */
    }
    int64_t pause = zkr__later(c->session_ms / 10, CHECK_LEAST_MS);
    pause = c->session_id != 0 ? zkr__sooner(pause, CHECK_MOST_MS) : CHECK_MOST_MS;
    link->check_at = now + pause * ZKR__MS;
    char *servers = zkr__lookup_take(c);
    if (servers && !zkr__servers_same(servers, link->servers)) {
        /*
         * Without @anew libzookeeper may ignore a list that includes all previous addresses, and zkr__servers_odd() may
         * repeat an address. While the handle has only one server, the new list may be that server with another port,
         * which libzookeeper does not notice either.
         */
        move(c, servers, link->home || zkr__servers_include(servers, link->servers));
    } else {
        zkr__mem_free(servers);
    }
    return c->link == link ? link->check_at : now;
}

/* Returns false if the resolver has not answered yet, or found no address. */
static bool resolve_list(zkr_client *c, int64_t now) ZKR__LOCKED
{
    c->list_at = ZKR__NEVER; /* the answer will wake the service */
    if (!zkr__lookup(c)) {
        return false;
    }
    c->next_servers = zkr__lookup_take(c);
    if (!c->next_servers) {
        c->list_at = now + CHECK_LEAST_MS * ZKR__MS;
        zkr__log(c, ZKR_LOG_WARN,
                 ZKR__EVENT("new_servers_unknown", .reason = c->lookup.why));
        return false;
    }
    c->list_by = now + QUIET_MS * ZKR__MS;
    c->list_at = now;
    c->list_pause = AGAIN_MS * ZKR__MS;
    return true;
}

/*
 * The client keeps the update until the handle is connected to one of the new servers. A handle that gets the update
 * while it is connecting may still connect to a server of the old list. It then gets the update again.
 */
int64_t zkr__follow_list(zkr_client *c, int64_t now)
{
    struct zkr__link *link = c->link;
    if (!c->new_list) {
        return ZKR__NEVER;
    }
    if (!c->next_servers) {
        bool early = now < c->list_at && !c->lookup.here;
        if (early || !resolve_list(c, now)) {
            return c->list_at;
        }
    }
    bool known = zkr__servers_same(c->next_servers, link->servers);
    if (zkr__connected(c) && c->door->connected_to(link->zh, c->next_servers)) {
        if (known) {
            forget_list(c);
        }
        return ZKR__NEVER; /* wait until the connection is lost */
    }
    if (known && now < c->list_at) {
        return c->list_at;
    }
    if (zkr__connected(c) && link->pending && now < c->list_by) {
        return now + QUIET_LOOK_MS * ZKR__MS;
    }
    char *servers = zkr__mem_string(c->next_servers);
    c->list_at = now + c->list_pause;
    c->list_pause *= 2; /* a slow network needs more time to connect */
    if (servers) {
        move(c, servers, true);
    }
    return c->list_at;
}

static int replace_list(zkr_client *c, char **servers, bool numeric) ZKR__LOCKED
{
    if (strcmp(zkr__servers_chroot(c->servers), zkr__servers_chroot(*servers)) != 0) {
        return zkr__fail(ZKR_EINVAL, NULL,
                         "a client cannot change its chroot, which is '%s'",
                         zkr__servers_chroot(c->servers));
    }
    char *old = c->servers;
    c->servers = *servers;
    *servers = old;
    c->numeric = numeric;
    c->list++;
    zkr__support_forget(c);
    zkr__lookup_drop(c);
    c->lookup.under_way = false; /* this answer would be for the old list */
    forget_list(c);
    c->new_list = true;
    c->open_at = zkr__now(c);
    c->open_failures = 0;
    zkr__wake_by(c, c->open_at);
    return ZKR_OK;
}

int zkr_client_set_servers(zkr_client *c, const char *servers)
{
    int rc = zkr__client_enter(c);
    if (rc == ZKR_OK) {
        rc = zkr__servers_check(servers);
    }
    if (rc != ZKR_OK) {
        return rc;
    }
    char *copy = zkr__mem_string(servers);
    if (!copy) {
        return zkr__fail(ZKR_ENOMEM, NULL, "zkr_client_set_servers: out of memory");
    }
    bool numeric = zkr__servers_numeric(servers);
    zkr__lock(c);
    rc = replace_list(c, &copy, numeric);
    zkr__unlock(c);
    zkr__mem_free(copy);
    return rc;
}
