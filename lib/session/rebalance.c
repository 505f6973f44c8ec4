/* SPDX-License-Identifier: Apache-2.0 */
#include "session/rebalance.h"

#include <string.h>

#include "base/mem.h"
#include "session/log.h"
#include "session/request.h"
#include "session/servers.h"

/* The longest random pause before a move, and the pause between checks of whether the client may leave its server. */
enum { PAUSE_MS = 10000, LOOK_MS = 5 };

static int64_t part_of_session(const zkr_client *c, int64_t part)
{
    return c->session_ms * ZKR__MS / part;
}

/* Returns how long a move waits for a moment when the client may leave its server. */
static int64_t patience(const zkr_client *c)
{
    return 2 * c->options.session_timeout_ms * ZKR__MS;
}

/* --- the servers of a list --- */

static size_t count(const char *servers)
{
    size_t n = 1;
    for (; *servers && *servers != '/'; servers++) {
        n += *servers == ',';
    }
    return n;
}

/* Returns NULL if memory runs out. */
static char *server_at(const char *servers, size_t at)
{
    for (; at > 0; at--) {
        servers += strcspn(servers, ",") + 1;
    }
    return zkr__mem_copy(servers, strcspn(servers, ",/"));
}

/*
 * Returns the server of the connection, and sets *@at to its index. Returns NULL if the list does not have that server,
 * or memory runs out.
 */
static char *find_home(zkr_client *c, size_t *at) ZKR__LOCKED
{
    const struct zkr__link *link = c->link;
    for (*at = 0; *at < count(link->servers); (*at)++) {
        char *server = server_at(link->servers, *at);
        if (server && c->door->connected_to(link->zh, server)) {
            return server;
        }
        zkr__mem_free(server);
    }
    return NULL;
}

/*
 * Returns the next server to try, or NULL if all have been tried or memory runs out. The server at @home is removed
 * before the choice. Otherwise the server that follows it would get twice as many clients.
 */
static char *next_server(zkr_client *c, size_t home) ZKR__LOCKED
{
    struct zkr__rebalance *r = &c->rebalance;
    size_t others = count(c->link->servers) - 1;
    if (r->tried >= others) {
        return NULL;
    }
    size_t step = 1 + (r->first + r->tried++) % others;
    return server_at(c->link->servers, (home + step) % (others + 1));
}

/* --- moving --- */

bool zkr__rebalance_due(const zkr_client *c, int64_t now)
{
    return c->rebalance.at != 0 && now >= c->rebalance.at;
}

static int64_t next_at(const zkr_client *c) ZKR__LOCKED
{
    return c->rebalance.at == 0 ? ZKR__NEVER : c->rebalance.at;
}

static int64_t end(zkr_client *c, int level, const char *why) ZKR__LOCKED
{
    c->rebalance.at = 0;
    if (why) {
        zkr__log(c, level, ZKR__EVENT("not_rebalanced", .reason = why));
    }
    return ZKR__NEVER;
}

static bool is_ready(zkr_client *c) ZKR__LOCKED
{
    struct zkr__link *link = c->link;
    bool leaves = c->new_list && !(c->next_servers &&
                                   c->door->connected_to(link->zh, c->next_servers));
    if (link->pending || leaves) {
        return false;
    }
    bool idle = c->stats.held == 0 && c->prepared == 0;
    return idle || c->options.lease_probe_ms < 0 ||
           c->lease.until - c->door->boot() >= 3 * part_of_session(c, 8);
}

static int64_t go(zkr_client *c, int64_t now, const char *server) ZKR__LOCKED
{
    struct zkr__link *link = c->link;
    link->alone_until = now + part_of_session(c, 8);
    zkr__follow_tell(c, server, true);
    return link->alone_until;
}

static int64_t leave(zkr_client *c, int64_t now) ZKR__LOCKED
{
    struct zkr__link *link = c->link;
    zkr__follow_adopt(c);
    size_t at;
    char *home = find_home(c, &at);
    char *server = home ? next_server(c, at) : NULL;
    if (!server) {
        bool alone = count(link->servers) == 1;
        zkr__mem_free(home);
        return alone || !home
                   ? end(c, ZKR_LOG_INFO, "no other server of the list is known")
                   : end(c, ZKR_LOG_WARN, "no other server has answered in time");
    }
    zkr__log_more(c, ZKR_LOG_INFO, ZKR__EVENT("rebalance"), "from=%s to=%s", home,
                  server);
    zkr__mem_free(link->home);
    link->home = home;
    link->returns = false;
    c->rebalance.by = now + patience(c);
    int64_t next = go(c, now, server);
    zkr__mem_free(server);
    return next;
}

static int64_t come_back(zkr_client *c, int64_t now) ZKR__LOCKED
{
    struct zkr__link *link = c->link;
    if (now < link->alone_until) {
        return link->alone_until;
    }
    if (!link->returns) {
        link->returns = true;
        return go(c, now, link->home);
    }
    zkr__mem_free(link->home);
    link->home = NULL;
    zkr__follow_tell(c, link->servers, true);
    return zkr__rebalance_due(c, now)
               ? end(c, ZKR_LOG_WARN, "no server has answered in time")
               : next_at(c);
}

int64_t zkr__rebalance_run(zkr_client *c, int64_t now)
{
    struct zkr__link *link = c->link;
    struct zkr__rebalance *r = &c->rebalance;
    bool connected = zkr__connected(c);
    if (link->home && !connected) {
        return come_back(c, now);
    }
    if (r->at == 0) {
        return ZKR__NEVER;
    }
    if (connected && link->home && !link->returns &&
        !c->door->connected_to(link->zh, link->home)) {
        link->returns = true;
        return end(c, ZKR_LOG_INFO, NULL);
    }
    if (now < r->at) {
        return r->at;
    }
    if (!connected) {
        return end(c, ZKR_LOG_INFO, "the connection was lost first");
    }
    if (is_ready(c)) {
        return leave(c, now);
    }
    return now < r->by
               ? now + LOOK_MS * ZKR__MS
               : end(c, ZKR_LOG_WARN,
                     "requests were always in flight, or the lease was too short");
}

int zkr_client_rebalance(zkr_client *c)
{
    int rc = zkr__client_enter(c);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(c);
    struct zkr__rebalance *r = &c->rebalance;
    if (r->at == 0) {
        uint64_t pause =
            zkr__retry_random(&c->random) % (uint64_t)(PAUSE_MS * ZKR__MS + 1);
        r->at = zkr__now(c) + (int64_t)pause;
        r->by = r->at + patience(c);
        r->first = (size_t)(zkr__retry_random(&c->random) >> 32);
        r->tried = 0;
        zkr__wake_by(c, r->at);
    }
    zkr__unlock(c);
    return ZKR_OK;
}
