/* SPDX-License-Identifier: Apache-2.0 */
#include "session/follow.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "session/log.h"
#include "session/lookup.h"
#include "session/resolve.h"
#include "session/session.h"
#include "session/wake.h"

/* Pauses between questions for the addresses while there is no connection. */
enum { CHECK_LEAST_MS = 1000, CHECK_MOST_MS = 5000 };
/* How long a connection is not left while requests are in flight, and how often that is looked at. */
enum { QUIET_MS = 1000, QUIET_LOOK_MS = 5 };
/* When a handle that is not connected is told of a new list again. */
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

/* A handle without a session is not worth it: another one has the addresses right at once. */
static void move(zkr_client *c, char *servers, bool anew) ZKR__LOCKED
{
    struct zkr__link *link = c->link;
    if (!link->was_up) {
        zkr__mem_free(servers);
        zkr__session_over(c, "the servers have other addresses now");
        return;
    }
    zkr__log(c, ZKR_LOG_INFO, ZKR__EVENT("servers_moved", .reason = servers));
    zkr__mem_free(link->servers);
    link->servers = servers;
    bool left = c->door->set_servers(link->zh, servers, anew);
    if (!zkr__connected(c)) {
        zkr__no_answer_yet(c);
    } else if (left) {
        zkr__session_down(c);
    }
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
        return ZKR__NEVER; /* the answer wakes us */
    }
    int64_t pause = c->session_ms * ZKR__MS / 10;
    pause = pause < CHECK_MOST_MS * ZKR__MS ? pause : CHECK_MOST_MS * ZKR__MS;
    pause = pause > CHECK_LEAST_MS * ZKR__MS ? pause : CHECK_LEAST_MS * ZKR__MS;
    link->check_at = now + (link->was_up ? pause : CHECK_MOST_MS * ZKR__MS);
    char *servers = NULL;
    char why[sizeof(c->obstacle)];
    int rc = zkr__lookup_take(c, &servers, why, sizeof(why));
    if (rc == ZKR_OK && !zkr__servers_same(servers, link->servers)) {
        move(c, servers, false);
    } else {
        zkr__mem_free(servers);
    }
    return c->link == link ? link->check_at : now;
}

/* False: not here yet, or none of the names can be resolved. */
static bool resolve_list(zkr_client *c, int64_t now) ZKR__LOCKED
{
    char why[sizeof(c->obstacle)];
    c->list_at = ZKR__NEVER; /* the answer wakes us */
    if (!zkr__lookup(c)) {
        return false;
    }
    if (zkr__lookup_take(c, &c->next_servers, why, sizeof(why)) != ZKR_OK) {
        c->list_at = now + CHECK_LEAST_MS * ZKR__MS;
        zkr__log(c, ZKR_LOG_WARN, ZKR__EVENT("new_servers_unknown", .reason = why));
        return false;
    }
    c->list_by = now + QUIET_MS * ZKR__MS;
    c->list_at = now;
    c->list_pause = AGAIN_MS * ZKR__MS;
    return true;
}

/*
 * The list is kept until the handle is connected to one of its servers: libzookeeper, changed while it
 * connects, can go on with one server of the old list, and then is told again.
 */
int64_t zkr__follow_list(zkr_client *c, int64_t now)
{
    struct zkr__link *link = c->link;
    if (!c->new_list) {
        return ZKR__NEVER;
    }
    if (!c->next_servers && now < c->list_at && !c->lookup.here) {
        return c->list_at;
    }
    if (!c->next_servers && !resolve_list(c, now)) {
        return c->list_at;
    }
    bool known = zkr__servers_same(c->next_servers, link->servers);
    if (zkr__connected(c) && c->door->connected_to(link->zh, c->next_servers)) {
        if (known) {
            forget_list(c);
        }
        return ZKR__NEVER; /* else until that connection breaks */
    }
    if (known && now < c->list_at) {
        return c->list_at;
    }
    if (zkr__connected(c) && link->pending && now < c->list_by) {
        return now + QUIET_LOOK_MS * ZKR__MS;
    }
    char *servers = zkr__mem_string(c->next_servers);
    c->list_at = now + c->list_pause;
    c->list_pause *= 2; /* a slow network must not be cut off each time */
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
    zkr__lookup_restart(c);
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
