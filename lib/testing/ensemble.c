/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing/net.h"
#include "testing/server.h"

enum { MEMBERS_MAX = 9 };

struct zkr_test_ensemble {
    pid_t owner;
    int n;
    zkr_test_server *servers[MEMBERS_MAX];
    char hosts[MEMBERS_MAX * 24];
};

static int write_config(const zkr_test_server *s)
{
    const zkr_test_server_options *o = &s->options;
    int rc = zkr__test_server_write(
        s, "zoo.cfg",
        "tickTime=%lld\ninitLimit=%lld\nsyncLimit=%lld\ndataDir=%s/data\n"
        "clientPort=%d\nclientPortAddress=127.0.0.1\n"
        "4lw.commands.whitelist=*\nadmin.enableServer=false\n"
        "maxClientCnxns=0\n",
        (long long)o->tick_ms, (long long)o->init_limit, (long long)o->sync_limit,
        s->dir, s->port);

    if (rc == ZKR_OK) {
        rc = zkr__test_server_limits(s, o->min_session_ms, o->max_session_ms);
    }
    if (rc == ZKR_OK && o->config != NULL) {
        rc = zkr__test_server_write(s, "zoo.cfg", "%s\n", o->config);
    }
    return rc;
}

static int write_members(const zkr_test_ensemble *e, int from)
{
    const zkr_test_server *s = e->servers[from];
    const zkr_test_server_options *o = &s->options;
    int rc = ZKR_OK;

    for (int to = 0; to < e->n && rc == ZKR_OK; to++) {
        int port = e->servers[to]->quorum_port;
        if (to != from && o->link_port != NULL) {
            port = o->link_port(o->link_ctx, from, to, port);
        }
        rc = zkr__test_server_write(s, "zoo.cfg", "server.%d=127.0.0.1:%d:%d\n", to + 1,
                                    port, e->servers[to]->election_port);
    }
    return rc;
}

static void close_all(const int *fds, int n)
{
    for (int i = 0; i < n; i++) {
        if (fds[i] >= 0) {
            (void)close(fds[i]);
        }
    }
}

/* Tries once to start a server. Sets *@taken if another process took a port before the server did. */
static int
start_server(zkr_test_server **out, const zkr_test_server_options *o, bool *taken)
{
    zkr_test_server *s = NULL;
    int fds[3];
    int rc = zkr__test_server_create(&s, o, -1, fds);

    if (rc == ZKR_OK) {
        rc = write_config(s);
    }
    close_all(fds, 3);
    if (rc == ZKR_OK) {
        rc = zkr__test_server_launch(s);
    }
    if (rc == ZKR_OK && !zkr__test_server_wait(s, ZKR__TEST_START_MS)) {
        rc = zkr__test_server_failed(s);
        *taken = zkr__test_server_log_says(s, "BindException");
    }
    if (rc == ZKR_OK) {
        *out = s;
    } else if (s != NULL) {
        zkr__test_server_destroy(s);
    }
    return rc;
}

int zkr_test_server_start(zkr_test_server **out, const zkr_test_server_options *options)
{
    bool taken = true;
    int rc = ZKR_EINVAL;

    if (out == NULL) {
        return zkr__test_fail(ZKR_EINVAL, 0, "out is NULL");
    }
    for (int left = ZKR__TEST_START_TRIES; taken && left > 0; left--) {
        taken = false;
        rc = start_server(out, options, &taken);
    }
    return rc;
}

static int create_all(zkr_test_ensemble *e, const zkr_test_server_options *o, int *fds)
{
    int rc = ZKR_OK;

    for (int i = 0; i < e->n && rc == ZKR_OK; i++) {
        rc = zkr__test_server_create(&e->servers[i], o, i, fds + (ptrdiff_t)i * 3);
        if (rc == ZKR_OK) {
            const size_t used = strlen(e->hosts);
            (void)snprintf(e->hosts + used, sizeof e->hosts - used, "%s%s",
                           i > 0 ? "," : "", e->servers[i]->host);
        }
    }
    for (int i = 0; i < e->n && rc == ZKR_OK; i++) {
        rc = write_config(e->servers[i]);
        if (rc == ZKR_OK) {
            rc = write_members(e, i);
        }
    }
    return rc;
}

static int all_serve(const zkr_test_ensemble *e)
{
    const int64_t deadline = zkr__test_now_ms() + ZKR__TEST_START_MS;

    for (int i = 0; i < e->n; i++) {
        if (!zkr__test_server_wait(e->servers[i], deadline - zkr__test_now_ms())) {
            return zkr__test_server_failed(e->servers[i]);
        }
    }
    return ZKR_OK;
}

static void destroy(zkr_test_ensemble *e)
{
    for (int i = 0; i < e->n && e->servers[i] != NULL; i++) {
        zkr__test_server_destroy(e->servers[i]);
    }
    free(e);
}

static int start_ensemble(zkr_test_ensemble **out,
                          int n,
                          const zkr_test_server_options *o,
                          bool *taken)
{
    int fds[MEMBERS_MAX * 3];
    zkr_test_ensemble *e = calloc(1, sizeof *e);

    if (e == NULL) {
        return zkr__test_fail(ZKR_ENOMEM, 0,
                              "cannot create an ensemble: out of memory");
    }
    memset(fds, -1, sizeof fds);
    e->owner = getpid();
    e->n = n;
    int rc = create_all(e, o, fds);
    close_all(fds, n * 3);
    for (int i = 0; i < n && rc == ZKR_OK; i++) {
        rc = zkr__test_server_launch(e->servers[i]);
    }
    if (rc == ZKR_OK) {
        rc = all_serve(e);
    }
    if (rc == ZKR_OK) {
        *out = e;
        return rc;
    }
    for (int i = 0; i < n && e->servers[i] != NULL; i++) {
        *taken = *taken || zkr__test_server_log_says(e->servers[i], "BindException");
    }
    destroy(e);
    return rc;
}

int zkr_test_ensemble_start(zkr_test_ensemble **out,
                            int n,
                            const zkr_test_server_options *options)
{
    bool taken = true;
    int rc = ZKR_EINVAL;

    if (out == NULL || n < 1 || n > MEMBERS_MAX) {
        return zkr__test_fail(ZKR_EINVAL, 0,
                              "out is NULL, or an ensemble cannot have %d servers", n);
    }
    for (int left = ZKR__TEST_START_TRIES; taken && left > 0; left--) {
        taken = false;
        rc = start_ensemble(out, n, options, &taken);
    }
    return rc;
}

int zkr_test_ensemble_stop(zkr_test_ensemble *e)
{
    if (e != NULL && e->owner != getpid()) {
        return zkr__test_fail(ZKR_ESTATE, 0,
                              "the ensemble belongs to the parent process");
    }
    if (e != NULL) {
        destroy(e);
    }
    return ZKR_OK;
}

const char *zkr_test_ensemble_hosts(const zkr_test_ensemble *e)
{
    return e != NULL ? e->hosts : NULL;
}

zkr_test_server *zkr_test_ensemble_server(const zkr_test_ensemble *e, int index)
{
    return e != NULL && index >= 0 && index < e->n ? e->servers[index] : NULL;
}

int zkr__test_ensemble_survey(const zkr_test_ensemble *e, int *serving)
{
    int leader = -1;

    *serving = 0;
    for (int i = 0; i < e->n; i++) {
        const zkr_test_server *s = e->servers[i];
        enum zkr__test_mode mode = ZKR__TEST_NONE;
        if (s->pid > 0 && !s->frozen) {
            mode = zkr__test_mode(s->host, 1000);
        }
        *serving += mode != ZKR__TEST_NONE;
        if (mode == ZKR__TEST_LEADER || mode == ZKR__TEST_STANDALONE) {
            leader = i;
        }
    }
    return leader;
}

int zkr_test_ensemble_leader(const zkr_test_ensemble *e, int64_t timeout_ms)
{
    const int64_t end = zkr__test_now_ms() + timeout_ms;

    if (e == NULL) {
        return zkr__test_fail(ZKR_EINVAL, 0, "the ensemble is NULL");
    }
    for (;;) {
        int serving;
        int leader = zkr__test_ensemble_survey(e, &serving);
        if (leader >= 0 && serving > e->n / 2) {
            return leader;
        }
        if (zkr__test_now_ms() >= end) {
            return zkr__test_fail(ZKR_ETIMEDOUT, 0, "%d of %d servers serve, %s",
                                  serving, e->n,
                                  leader >= 0 ? "and one leads" : "and none leads");
        }
        zkr__test_sleep_ms(10);
    }
}
