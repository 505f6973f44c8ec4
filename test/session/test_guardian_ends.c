/* SPDX-License-Identifier: Apache-2.0 */
/* When a guardian ends a session that the client has given up or closed, and how it reaches the servers. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "keep.h"
#include "session/request.h"

enum { SESSION_MS = 10000, SOON_MS = 6000, PATIENCE_MS = 30000 };

static zkr_client_options guarded(void)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = SESSION_MS;
    o.guardian = ZKR_GUARDIAN_REQUIRED;
    o.auth_scheme = "digest";
    o.auth_cert = "user:word";
    o.auth_cert_len = 9;
    return o;
}

/* --- what was promised --- */

/* At its next connection it hands them in under the name of a scheme that no server has. */
static void spoil_credentials(zkr_client *c)
{
    zkr__lock(c);
    memcpy((char *)(uintptr_t)c->auths[0].scheme, "nosuch", sizeof("nosuch"));
    c->link->authorized = 0;
    zkr__unlock(c);
}

/* The holder may act for as long as it was told, so the session stays until then, and no longer. */
ZKT_CASE(refused_credentials_end_no_session_that_holds)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client_options o = guarded();
    zkr_client *c = zkt_client_with(zkt_proxy_host(p), &o);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_proxy_cut(p);
    ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
    spoil_credentials(c);
    const int64_t until = zkt_now_ms() + zkr_mutex_valid_for_ms(m);
    zkt_proxy_heal(p);
    ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_AUTH_FAILED, PATIENCE_MS);
    assert_true(zkt_now_ms() < until);
    while (zkt_now_ms() < until) {
        assert_true(zkt_nodes() == 1 || zkt_now_ms() >= until);
        zkt_sleep_ms(5);
    }
    ZKT_BECOMES(zkt_nodes(), 0, SOON_MS);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
}

/* --- what no server knows --- */

/* All that a client has sent is lost, its close too, and it does not know. */
ZKT_CASE(a_close_without_an_answer_is_made_up_for)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client_options o = guarded();
    zkr_client *c = zkt_client_with(zkt_proxy_host(p), &o);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_proxy_blackhole(p);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_destroy(m);
    zkt_close(c);
    zkt_proxy_cut(p);
    zkt_proxy_heal(p);
    assert_int_equal(zkt_nodes(), 1);
    ZKT_BECOMES(zkt_nodes(), 0, SOON_MS);
}

/* --- a process that is killed --- */

struct holder {
    char hosts[512], path[128];
    bool plain; /* without credentials */
    atomic_bool holds;
};

static void drop_shared(void *h)
{
    zkt_shared_free(h, sizeof(struct holder));
}

static int hold(void *arg)
{
    struct holder *h = arg;
    zkr_client_options o = guarded();
    zkr_client *c = NULL;
    zkr_mutex *m = NULL;
    if (h->plain) {
        o.auth_scheme = o.auth_cert = NULL;
        o.auth_cert_len = 0;
    }
    ZKT_MUST(zkr_client_open(&c, h->hosts, &o));
    ZKT_MUST(zkr_mutex_create(&m, c, h->path, NULL));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    atomic_store(&h->holds, true);
    while (pause() != 0) {
    }
    return 1;
}

static pid_t start(struct holder **out, bool plain, const char *hosts)
{
    struct holder *h = zkt_shared(sizeof(*h));
    zkt_keep(h, drop_shared);
    h->plain = plain;
    (void)snprintf(h->hosts, sizeof(h->hosts), "%s", hosts);
    (void)snprintf(h->path, sizeof(h->path), "%s", zkt_path());
    *out = h;
    pid_t pid = zkt_fork(hold, h);
    ZKT_EVENTUALLY(atomic_load(&h->holds), PATIENCE_MS);
    return pid;
}

static void kill_holder(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(zkt_join(pid, PATIENCE_MS), 128 + SIGKILL);
}

static int64_t connections(zkt_proxy *p)
{
    return zkt_proxy_counters(p).connections;
}

/*
 * Of four ways to the servers some are silent: the one that the holder used and two more, or two others, which nobody
 * tries then.
 */
ZKT_CASE(silent_servers_do_not_hold_it_up)
{
    enum { WAYS = 4, ROUNDS = 6 };
    zkt_proxy *ways[WAYS];
    char hosts[512] = "";
    for (int i = 0; i < WAYS; i++) {
        ways[i] = zkt_proxy_start(zkt_servers());
        size_t len = strlen(hosts);
        (void)snprintf(hosts + len, sizeof(hosts) - len, "%s%s", len > 0 ? "," : "",
                       zkt_proxy_host(ways[i]));
    }
    for (int round = 0; round < ROUNDS; round++) {
        struct holder *h;
        int64_t before[WAYS];
        int used = 0;
        for (int i = 0; i < WAYS; i++) {
            before[i] = connections(ways[i]);
        }
        const pid_t pid = start(&h, false, hosts);
        while (used < WAYS - 1 && connections(ways[used]) == before[used]) {
            used++;
        }
        for (int i = round % 2; i < WAYS - 1; i++) {
            zkt_proxy_blackhole(ways[(used + i) % WAYS]);
        }
        kill_holder(pid);
        ZKT_BECOMES(zkt_nodes(), 0, SOON_MS);
        for (int i = 0; i < WAYS; i++) {
            assert_true(round % 2 == 0 || i == used ||
                        connections(ways[i]) == before[i]);
            zkt_proxy_heal(ways[i]);
        }
    }
}

/* --- servers that demand credentials --- */

static const char demands[] =
    "enforce.auth.enabled=true\nenforce.auth.schemes=digest\n";

/* Each attempt that is refused renews the session, so there are few of them. */
ZKT_CASE(credentials_that_servers_demand_and_nobody_has_hold_nothing_up)
{
    enum { MOST_MS = SESSION_MS * 3 / 2 };
    char config[512];
    zkt_server *s = zkt_server_start(NULL);
    struct holder *h;
    const pid_t pid = start(&h, true, zkt_server_host(s));
    (void)snprintf(config, sizeof(config), "%s/zoo.cfg", zkt_server_dir(s));
    FILE *f = fopen(config, "a");
    assert_non_null(f);
    (void)fputs(demands, f);
    assert_int_equal(fclose(f), 0);
    zkt_server_restart(s, 0);
    zkr_client_options o = guarded();
    zkr_mutex *m = zkt_mutex(zkt_client_with(zkt_server_host(s), &o));
    ZKT_RC(zkr_mutex_acquire(m, 0), ZKR_ETIMEDOUT);
    kill_holder(pid);
    ZKT_MUST(zkr_mutex_acquire(m, MOST_MS));
    ZKT_MUST(zkr_mutex_release(m));
}

/* The guardian has those of its client. */
ZKT_CASE(credentials_that_servers_demand_are_at_hand)
{
    zkt_server_options so = {.config = demands};
    zkt_server *s = zkt_server_start(&so);
    struct holder *h;
    const pid_t pid = start(&h, false, zkt_server_host(s));
    zkr_client_options o = guarded();
    zkr_mutex *m = zkt_mutex(zkt_client_with(zkt_server_host(s), &o));
    kill_holder(pid);
    ZKT_MUST(zkr_mutex_acquire(m, SOON_MS));
    ZKT_MUST(zkr_mutex_release(m));
}
