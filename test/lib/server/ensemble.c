/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clean.h"
#include "fourlw.h"
#include "keep.h"
#include "server_impl.h"
#include "util.h"

enum { MEMBERS_MAX = 9 };

struct zkt_ensemble {
    int n;
    zkt_server *servers[MEMBERS_MAX];
    char hosts[MEMBERS_MAX * 24];
};

static zkt_server *shared;
static char shared_hosts[1024];

static void write_config(const zkt_server *s)
{
    const zkt_server_options *o = &s->options;

    zkt_server_write(s, "zoo.cfg",
                     "tickTime=%d\ninitLimit=%d\nsyncLimit=%d\ndataDir=%s/data\n"
                     "clientPort=%d\nclientPortAddress=127.0.0.1\n"
                     "4lw.commands.whitelist=*\nadmin.enableServer=false\n"
                     "maxClientCnxns=0\n",
                     o->tick_ms, o->init_limit, o->sync_limit, s->dir, s->port);
    zkt_server_limits(s, o->min_session_ms, o->max_session_ms);
    if (o->config != NULL) {
        zkt_server_write(s, "zoo.cfg", "%s\n", o->config);
    }
}

static void write_members(const zkt_ensemble *e, int from)
{
    const zkt_server *s = e->servers[from];
    const zkt_server_options *o = &s->options;

    for (int to = 0; to < e->n; to++) {
        int port = e->servers[to]->quorum_port;
        if (to != from && o->link_port != NULL) {
            port = o->link_port(o->link_ctx, from, to, port);
        }
        zkt_server_write(s, "zoo.cfg", "server.%d=127.0.0.1:%d:%d\n", to + 1, port,
                         e->servers[to]->election_port);
    }
}

static void close_all(const int *fds, int n)
{
    for (int i = 0; i < n; i++) {
        if (fds[i] >= 0) {
            (void)close(fds[i]);
        }
    }
}

static void end_server(void *s)
{
    zkt_server_stop(s);
}

zkt_server *zkt_server_start(const zkt_server_options *o)
{
    for (int left = ZKT_START_TRIES;; left--) {
        int fds[3];
        zkt_server *s = zkt_server_create(o, -1, fds);

        write_config(s);
        close_all(fds, 3);
        zkt_server_launch(s);
        if (zkt_server_wait(s, ZKT_START_MS)) {
            zkt_keep(s, end_server);
            return s;
        }
        zkt_server_kill(s);
        if (left == 1 || !zkt_server_log_says(s, "BindException")) {
            zkt_server_show_log(s);
            zkt_server_destroy(s);
            zkt_fail("the server does not serve");
        }
        zkt_server_destroy(s);
    }
}

void zkt_server_stop(zkt_server *s)
{
    if (s != NULL) {
        zkt_unkeep(s);
        zkt_server_destroy(s);
    }
}

/* Whether every server serves by @deadline; else *@bad is one that does not. */
static bool all_serve(const zkt_ensemble *e, int64_t deadline, zkt_server **bad)
{
    for (int i = 0; i < e->n; i++) {
        if (!zkt_server_wait(e->servers[i], deadline - zkt_now_ms())) {
            *bad = e->servers[i];
            return false;
        }
    }
    return true;
}

static zkt_ensemble *prepare(int n, const zkt_server_options *o)
{
    int fds[MEMBERS_MAX * 3];
    zkt_ensemble *e = calloc(1, sizeof *e);

    if (e == NULL || n < 1 || n > MEMBERS_MAX) {
        free(e);
        zkt_fail("no ensemble of %d servers", n);
    }
    e->n = n;
    for (int i = 0; i < n; i++) {
        e->servers[i] = zkt_server_create(o, i, fds + (ptrdiff_t)i * 3);
        size_t used = strlen(e->hosts);
        (void)snprintf(e->hosts + used, sizeof e->hosts - used, "%s%s",
                       i > 0 ? "," : "", e->servers[i]->host);
    }
    for (int i = 0; i < n; i++) {
        write_config(e->servers[i]);
        write_members(e, i);
    }
    close_all(fds, n * 3);
    return e;
}

static void end_ensemble(void *e)
{
    zkt_ensemble_stop(e);
}

zkt_ensemble *zkt_ensemble_start(int n, const zkt_server_options *o)
{
    for (int left = ZKT_START_TRIES;; left--) {
        zkt_ensemble *e = prepare(n, o);
        zkt_server *bad = NULL;
        bool taken = false;

        for (int i = 0; i < n; i++) {
            zkt_server_launch(e->servers[i]);
        }
        if (all_serve(e, zkt_now_ms() + ZKT_START_MS, &bad)) {
            zkt_keep(e, end_ensemble);
            return e;
        }
        for (int i = 0; i < n; i++) {
            taken = taken || zkt_server_log_says(e->servers[i], "BindException");
        }
        if (left == 1 || !taken) {
            zkt_server_show_log(bad);
            zkt_ensemble_stop(e);
            zkt_fail("the ensemble does not serve");
        }
        zkt_ensemble_stop(e);
    }
}

void zkt_ensemble_stop(zkt_ensemble *e)
{
    if (e == NULL) {
        return;
    }
    zkt_unkeep(e);
    for (int i = 0; i < e->n; i++) {
        zkt_server_destroy(e->servers[i]);
    }
    free(e);
}

const char *zkt_ensemble_hosts(const zkt_ensemble *e)
{
    return e->hosts;
}

int zkt_ensemble_size(const zkt_ensemble *e)
{
    return e->n;
}

zkt_server *zkt_ensemble_server(const zkt_ensemble *e, int index)
{
    return e->servers[index];
}

/* The leader's index or -1; *@serving counts the servers that serve. */
static int survey(const zkt_ensemble *e, int *serving)
{
    int leader = -1;

    *serving = 0;
    for (int i = 0; i < e->n; i++) {
        const zkt_server *s = e->servers[i];
        enum zkt_mode mode = ZKT_MODE_NONE;
        if (s->pid > 0 && !s->frozen) {
            mode = zkt_mode_within(s->host, 1000);
        }
        *serving += mode != ZKT_MODE_NONE;
        if (mode == ZKT_MODE_LEADER || mode == ZKT_MODE_STANDALONE) {
            leader = i;
        }
    }
    return leader;
}

int zkt_ensemble_leader(const zkt_ensemble *e)
{
    int serving;
    return survey(e, &serving);
}

int zkt_ensemble_wait(const zkt_ensemble *e, int64_t timeout_ms)
{
    const int64_t end = zkt_now_ms() + timeout_ms;

    for (;;) {
        int serving;
        int leader = survey(e, &serving);
        if (leader >= 0 && serving > e->n / 2) {
            return leader;
        }
        if (zkt_now_ms() >= end) {
            break;
        }
        zkt_sleep_ms(10);
    }
    for (int i = 0; i < e->n; i++) {
        zkt_server_show_log(e->servers[i]);
    }
    zkt_fail("no quorum within %lld ms", (long long)timeout_ms);
}

/* ---- the server a program shares --------------------------------------------------- */

const char *zkt_servers(void)
{
    const char *env = getenv("ZKR_SERVERS");

    if (shared_hosts[0] == '\0') {
        if (env != NULL && *env != '\0') {
            (void)snprintf(shared_hosts, sizeof shared_hosts, "%s", env);
        } else {
            shared = zkt_server_start(NULL);
            zkt_unkeep(shared); /* it is every case's */
            (void)snprintf(shared_hosts, sizeof shared_hosts, "%s",
                           zkt_server_host(shared));
        }
    }
    return shared_hosts;
}

const char *zkt_servers_known(void)
{
    return shared_hosts[0] != '\0' ? shared_hosts : NULL;
}

bool zkt_servers_private(void)
{
    return shared != NULL;
}

void zkt_servers_anew(void)
{
    if (shared != NULL) {
        zkt_server_restart(shared, true);
    }
}

int zkt_group_setup(void **state)
{
    (void)state;
    (void)zkt_servers();
    zkt_baseline();
    return 0;
}

int zkt_group_teardown(void **state)
{
    (void)state;
    zkt_server_stop(shared);
    shared = NULL;
    shared_hosts[0] = '\0';
    return 0;
}
