/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_script_cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fake.h"
#include "fixture.h"
#include "fourlw.h"

enum { PATIENCE_MS = 30000 };

static zkt_ensemble *ensemble;
static int session_ms;
/* Indexed by sender and receiver. */
static zkt_proxy *links[SCRIPT_SERVERS][SCRIPT_SERVERS];

/* State of one side. Scripts run on one side after the other. */
static int servers[SCRIPT_SERVERS]; /* indexed by role */
static bool apart[SCRIPT_SERVERS];
static bool replaced; /* the leader is cut off */

static int through_proxy(void *ctx, int from, int to, int port)
{
    char target[32];
    (void)snprintf(target, sizeof(target), "127.0.0.1:%d", port);
    zkt_proxy_stop(links[from][to]); /* from an earlier attempt to start */
    links[from][to] = zkt_proxy_start_raw(target);
    return zkt_proxy_port(links[from][to]);
}

void script_cluster_start(int asked_ms)
{
    const zkt_server_options o = {
        .link_port = through_proxy, .sync_limit = 40, .max_session_ms = asked_ms};
    session_ms = asked_ms;
    ensemble = zkt_ensemble_start(SCRIPT_SERVERS, &o);
    (void)zkt_ensemble_wait(ensemble, PATIENCE_MS);
}

int script_cluster_session_ms(void)
{
    return session_ms;
}

void script_cluster_stop(void)
{
    zkt_ensemble_stop(ensemble);
    ensemble = NULL;
    for (int i = 0; i < SCRIPT_SERVERS * SCRIPT_SERVERS; i++) {
        zkt_proxy_stop(links[i / SCRIPT_SERVERS][i % SCRIPT_SERVERS]);
    }
}

bool script_cluster(void)
{
    return ensemble != NULL;
}

int script_role(const char *word)
{
    static const char *const roles[] = {"leader", "follower", "other"};
    for (int i = 0; i < SCRIPT_SERVERS; i++) {
        if (strcmp(roles[i], word) == 0) {
            return i;
        }
    }
    zkt_fail("there is no server '%s'", word);
}

static zkt_server *real_server(int role)
{
    return zkt_ensemble_server(ensemble, servers[role]);
}

const char *script_cluster_host(int role)
{
    return zkt_server_host(real_server(role));
}

static bool serves(bool real, int role)
{
    if (!real) {
        return zkf_serves(servers[role]);
    }
    enum zkr__test_mode mode = zkt_mode(script_cluster_host(role));
    return mode == ZKT_MODE_LEADER || mode == ZKT_MODE_FOLLOWER;
}

static bool leads(bool real, int role)
{
    return real ? zkt_mode(script_cluster_host(role)) == ZKT_MODE_LEADER
                : zkf_leader() == servers[role];
}

void script_cluster_begin(bool real)
{
    int leader = real ? zkt_ensemble_wait(ensemble, PATIENCE_MS) : zkf_leader();
    for (int i = 0; i < SCRIPT_SERVERS; i++) {
        servers[i] = (leader + i) % SCRIPT_SERVERS;
    }
}

void script_cluster_lead(bool real, int client, zkt_proxy *proxy, int role)
{
    if (real) {
        zkt_proxy_target(proxy, script_cluster_host(role));
    } else {
        zkf_direct(client, servers[role]);
    }
}

static zkt_proxy *link_to_leader(int role)
{
    return links[servers[role]][servers[SCRIPT_LEADER]];
}

static void lag(bool real, int role, bool on)
{
    apart[role] = on;
    if (real) {
        (on ? zkt_proxy_freeze : zkt_proxy_thaw)(link_to_leader(role), ZKT_TO_CLIENT);
    } else {
        zkf_lag(servers[role], on);
    }
}

static void cut_leader(bool real)
{
    replaced = apart[SCRIPT_LEADER] = true;
    if (real) {
        zkt_proxy_orphan(link_to_leader(SCRIPT_FOLLOWER));
        zkt_proxy_orphan(link_to_leader(SCRIPT_OTHER));
    } else {
        zkf_isolate(servers[SCRIPT_LEADER]);
    }
}

static void heal(bool real)
{
    replaced = false;
    memset(apart, 0, sizeof(apart));
    if (real) {
        zkt_proxy_heal(link_to_leader(SCRIPT_FOLLOWER));
        zkt_proxy_heal(link_to_leader(SCRIPT_OTHER));
    } else {
        zkf_heal();
    }
}

static void limit(bool real, int role, const char *least, const char *most)
{
    long from = strtol(least, NULL, 10), to = strtol(most, NULL, 10);
    if (real) {
        zkt_server_limits(real_server(role), (int)from, (int)to);
        zkt_server_restart(real_server(role), false);
    } else {
        zkf_limits(servers[role], from * ZKR__MS, to * ZKR__MS);
        zkf_crash(servers[role]);
    }
}

void script_cluster_do(bool real, char *const words[])
{
    const char *verb = words[0];
    if (strcmp(verb, "cut") == 0) {
        cut_leader(real);
    } else if (strcmp(verb, "heal") == 0) {
        heal(real);
    } else if (strcmp(verb, "lag") == 0 || strcmp(verb, "catch-up") == 0) {
        lag(real, script_role(words[1]), strcmp(verb, "lag") == 0);
    } else if (strcmp(verb, "limits") == 0) {
        limit(real, script_role(words[1]), words[2], words[3]);
    } else {
        zkt_fail("servers cannot '%s'", verb);
    }
}

bool script_cluster_done(bool real)
{
    bool all_serve = true;
    int leaders = 0;
    for (int i = replaced ? SCRIPT_FOLLOWER : SCRIPT_LEADER; i < SCRIPT_SERVERS; i++) {
        leaders += leads(real, i);
        all_serve = all_serve && serves(real, i);
    }
    return leaders == 1 && all_serve;
}

bool script_cluster_apart(int role)
{
    return apart[role];
}
