/* SPDX-License-Identifier: Apache-2.0 */
/* When a guardian ends a session that the client has given up or closed, and how it reaches the servers. */
#include <stdio.h>
#include <string.h>

#include "fixture.h"
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
