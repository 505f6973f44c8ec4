/* SPDX-License-Identifier: Apache-2.0 */
/* The option tls_cert. This program has its own zookeeper_init_ssl(). ./run tls tests the real one. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include "fixture.h"

zhandle_t *zookeeper_init_ssl(const char *host,
                              const char *cert,
                              watcher_fn watcher,
                              int recv_timeout,
                              const clientid_t *clientid,
                              void *context,
                              int flags);

static char hosts[64], certs[256];
static int timeout;
static _Atomic int opened;

zhandle_t *zookeeper_init_ssl(const char *host,
                              const char *cert,
                              watcher_fn watcher,
                              int recv_timeout,
                              const clientid_t *clientid,
                              void *context,
                              int flags)
{
    if (atomic_load(&opened) == 0) {
        (void)snprintf(hosts, sizeof(hosts), "%s", host);
        (void)snprintf(certs, sizeof(certs), "%s", cert);
        timeout = recv_timeout;
        assert_true(watcher && context && !clientid);
    }
    atomic_fetch_add(&opened, 1);
    errno = EPROTO;
    return NULL;
}

static int open_with(zkr_client **out, const char *cert)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = 4321;
    o.tls_cert = cert;
    return zkr_client_open(out, "127.0.0.1:2281", &o);
}

/* The option names three readable files, this program among them, and then a password, which is not a file. */
ZKT_UNIT_CASE(the_handle_is_opened_by_tls)
{
    zkr_client *c;
    ZKT_MUST(open_with(&c, "/proc/self/exe,/proc/self/exe,/dev/null,secret"));
    ZKT_EVENTUALLY(atomic_load(&opened) >= 2, 20000); /* a failed open is tried again */
    assert_string_equal(hosts, "127.0.0.1:2281");
    assert_string_equal(certs, "/proc/self/exe,/proc/self/exe,/dev/null,secret");
    assert_int_equal(timeout, 4321);
    zkt_close(c);
}

ZKT_UNIT_CASE(what_cannot_be_used_is_refused)
{
    static const char *const bad[][2] = {
        {"", "is not"},
        {"/dev/null", "a CA alone works only since libzookeeper 3.10"},
        {"/dev/null,/dev/null", "is not"},
        {"/dev/null,,/dev/null", "is not"},
        {"/dev/null,/dev/null,/dev/null,", "is not"},
        {"/dev/null,/dev/null,/dev/null,word,more", "is not"},
        {"/dev/null,/dev/null,/none.pem", "/none.pem: No such file"},
    };
    zkr_client *c;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ZKT_RC(open_with(&c, bad[i][0]), ZKR_EINVAL);
        assert_non_null(strstr(zkr_last_error()->message, bad[i][1]));
    }
}

static struct _zhandle *
never(const char *servers, zkr_watcher_fn watcher, int ms, void *a, void *b)
{
    return NULL;
}

ZKT_UNIT_CASE(a_handle_of_ones_own_excludes_it)
{
    zkr_client *c;
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.tls_cert = "/dev/null,/dev/null,/dev/null";
    o.open_handle = never;
    ZKT_RC(zkr_client_open(&c, "127.0.0.1:2281", &o), ZKR_EINVAL);
}
