/* SPDX-License-Identifier: Apache-2.0 */
/* Shared parts of the guardian tests: a process that holds until it is killed, and clients with a guardian and
   credentials. */
#ifndef ZKT_GUARDED_H
#define ZKT_GUARDED_H

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include "fixture.h"

enum { PATIENCE_MS = 30000 };

static inline zkr_client_options guarded_for(int64_t session_ms)
{
    return (zkr_client_options){.size = sizeof(zkr_client_options),
                                .session_timeout_ms = session_ms,
                                .guardian = ZKR_GUARDIAN_REQUIRED,
                                .auth_scheme = "digest",
                                .auth_cert = "user:word",
                                .auth_cert_len = 9};
}

struct holder {
    pid_t pid;
    int64_t session_ms;
    char hosts[512], path[128];
    char second[128]; /* of a second mutex; "" = none */
    bool plain;       /* without credentials */
    bool private;     /* other clients have no permission for its nodes */
    atomic_bool goes; /* the fields above are set */
    atomic_bool holds;
};

static inline void acquire_at(zkr_client *c, const char *path)
{
    zkr_mutex *m = NULL;
    ZKT_MUST(zkr_mutex_create(&m, c, path, NULL));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
}

static inline int hold_until_killed(void *arg)
{
    struct holder *h = arg;
    zkr_client_options o = guarded_for(h->session_ms);
    zkr_client *c = NULL;
    while (!atomic_load(&h->goes)) {
        zkt_sleep_ms(1);
    }
    if (h->plain) {
        o.auth_scheme = o.auth_cert = NULL;
        o.auth_cert_len = 0;
    }
    o.acl = h->private ? &ZOO_CREATOR_ALL_ACL : NULL;
    ZKT_MUST(zkr_client_open(&c, h->hosts, &o));
    acquire_at(c, h->path);
    if (h->second[0] != '\0') {
        acquire_at(c, h->second);
    }
    atomic_store(&h->holds, true);
    while (pause() != 0) {
    }
    return 1;
}

/* The fork happens early, because a child of a process with busy threads may inherit a taken lock of the address
   sanitizer's allocator. */
static inline struct holder *fork_holder(int64_t session_ms)
{
    struct holder *h = zkt_shared(sizeof(*h));
    h->session_ms = session_ms;
    (void)snprintf(h->path, sizeof(h->path), "%s", zkt_path());
    h->pid = zkt_fork(hold_until_killed, h);
    return h;
}

static inline void let_hold(struct holder *h, const char *hosts)
{
    (void)snprintf(h->hosts, sizeof(h->hosts), "%s", hosts);
    atomic_store(&h->goes, true);
    ZKT_EVENTUALLY(atomic_load(&h->holds), PATIENCE_MS);
}

static inline void kill_holder(const struct holder *h)
{
    assert_int_equal(kill(h->pid, SIGKILL), 0);
    assert_int_equal(zkt_join(h->pid, PATIENCE_MS), 128 + SIGKILL);
}

/* All requests of a client through @p are lost, including its close, and the client does not notice. */
static inline void close_unheard(zkt_proxy *p, int64_t session_ms, int64_t soon_ms)
{
    const zkr_client_options o = guarded_for(session_ms);
    zkr_client *c = zkt_client_with(zkt_proxy_host(p), &o);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_proxy_blackhole(p);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_destroy(m);
    zkt_close(c);
    zkt_proxy_cut(p);
    assert_int_equal(zkt_nodes(), 1);
    zkt_proxy_heal(p);
    ZKT_BECOMES(zkt_nodes(), 0, soon_ms);
}

#endif
