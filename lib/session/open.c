/* SPDX-License-Identifier: Apache-2.0 */
#include "session/open.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/options.h"
#include "session/log_foreign.h"
#include "session/request.h"
#include "session/resolve.h"
#include "session/service.h"
#include "session/tls.h"
#include "session/zk_real.h"
#include "session/zk_value.h"

ZKR__OPTIONS_CHECK(zkr_client_options, 26, tls_cert);

enum { DEFAULT_SESSION_MS = 10000, DEFAULT_CONNECT_MS = 15000, DEFAULT_BASE_MS = 50 };
enum {
    DEFAULT_MAX_MS = 5000,
    DAY_MS = ZKR__SESSION_MOST_MS,
    OWNER_MAX = 65536,
    AUTH_MAX = 1000
};
enum { MARGIN_MAX = 500000 };

static int64_t or_default(int64_t value, int64_t fallback)
{
    return value == 0 ? fallback : value;
}

static int check_range(const char *name, int64_t value, int64_t least, int64_t most)
{
    if (value < least || value > most) {
        return zkr__fail(ZKR_EINVAL, NULL,
                         "option %s = %lld is not within %lld and %lld", name,
                         (long long)value, (long long)least, (long long)most);
    }
    return ZKR_OK;
}

static bool is_credential(const zkr_auth *auth, bool needed)
{
    return auth->cert_len <= OWNER_MAX && (auth->scheme || (!auth->cert && !needed)) &&
           (auth->cert || auth->cert_len == 0);
}

static zkr_auth first_auth(const zkr_client_options *o)
{
    return (zkr_auth){o->auth_scheme, o->auth_cert, o->auth_cert_len};
}

static bool are_credentials(const zkr_client_options *o)
{
    const zkr_auth first = first_auth(o);
    bool fine = is_credential(&first, false) && o->more_auth_count >= 0 &&
                o->more_auth_count <= AUTH_MAX &&
                (o->more_auth || o->more_auth_count == 0);
    for (int64_t i = 0; fine && i < o->more_auth_count; i++) {
        fine = is_credential(&o->more_auth[i], true);
    }
    return fine;
}

static int take_options(zkr_client_options *o, const zkr_client_options *from)
{
    int rc = zkr__options_take(o, sizeof(*o), from, "zkr_client_options");
    if (rc != ZKR_OK) {
        return rc;
    }
    o->session_timeout_ms = or_default(o->session_timeout_ms, DEFAULT_SESSION_MS);
    o->connect_timeout_ms = or_default(o->connect_timeout_ms, DEFAULT_CONNECT_MS);
    o->retry_base_ms = or_default(o->retry_base_ms, DEFAULT_BASE_MS);
    o->retry_max_ms = or_default(o->retry_max_ms, DEFAULT_MAX_MS);
    o->log_level = or_default(o->log_level, ZKR_LOG_WARN);
    const struct {
        const char *name;
        int64_t value, least, most;
    } ranges[] = {
        {"server_tick_ms", o->server_tick_ms, 0, DAY_MS},
        {"session_timeout_ms", o->session_timeout_ms,
         o->server_tick_ms > ZKR__SESSION_LEAST_MS / 2 ? 2 * o->server_tick_ms
                                                       : ZKR__SESSION_LEAST_MS,
         DAY_MS},
        {"connect_timeout_ms", o->connect_timeout_ms, 1, DAY_MS},
        {"retry_base_ms", o->retry_base_ms, 1, DAY_MS},
        {"retry_max_ms", o->retry_max_ms, o->retry_base_ms, DAY_MS},
        {"retry_attempts", o->retry_attempts, 0, DAY_MS},
        {"log_level", o->log_level, ZKR_LOG_ERROR, ZKR_LOG_DEBUG},
        {"lease_margin_ppm", o->lease_margin_ppm, 0, MARGIN_MAX},
    };
    for (size_t i = 0; rc == ZKR_OK && i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        rc = check_range(ranges[i].name, ranges[i].value, ranges[i].least,
                         ranges[i].most);
    }
    if (rc == ZKR_OK && !are_credentials(o)) {
        rc = zkr__fail(ZKR_EINVAL, NULL,
                       "scheme, cert and cert_len of credentials do not match");
    }
    if (rc == ZKR_OK && o->owner && strlen(o->owner) > OWNER_MAX) {
        rc = zkr__fail(ZKR_EINVAL, NULL, "option owner is longer than %d bytes",
                       OWNER_MAX);
    }
    if (rc == ZKR_OK && o->tls_cert) {
        rc = o->open_handle
                 ? zkr__fail(ZKR_EINVAL, NULL,
                             "options tls_cert and open_handle exclude each other")
                 : zkr__tls_check(o->tls_cert);
    }
    return rc;
}

static bool copy_string(char **to, const char *from)
{
    *to = from ? zkr__mem_string(from) : NULL;
    return !from || *to;
}

static bool copy_credential(zkr_client *c, const zkr_auth *from)
{
    zkr_auth *to = &c->auths[c->auth_count++];
    to->scheme = zkr__mem_string(from->scheme);
    to->cert = from->cert ? zkr__mem_copy(from->cert, from->cert_len) : NULL;
    to->cert_len = from->cert_len;
    return to->scheme && (!from->cert || to->cert);
}

static bool copy_credentials(zkr_client *c)
{
    const zkr_client_options *o = &c->options;
    const zkr_auth first = first_auth(o);
    c->auths = zkr__mem_alloc(((size_t)o->more_auth_count + 1) * sizeof(*c->auths));
    bool whole = c->auths && (!first.scheme || copy_credential(c, &first));
    for (int64_t i = 0; whole && i < o->more_auth_count; i++) {
        whole = copy_credential(c, &o->more_auth[i]);
    }
    return whole;
}

/* Copy what the options point to, and forget the caller's pointers. */
static bool copy_pointers(zkr_client *c, const char *servers)
{
    zkr_client_options *o = &c->options;
    bool whole = copy_string(&c->servers, servers) &&
                 copy_string(&c->owner, o->owner) &&
                 copy_string(&c->tls_cert, o->tls_cert) && copy_credentials(c);
    if (whole && o->acl) {
        c->acl = zkr__zk_acl_copy(o->acl);
        whole = c->acl != NULL;
    }
    o->owner = NULL;
    o->auth_scheme = NULL;
    o->tls_cert = NULL;
    o->auth_cert = NULL;
    o->more_auth = NULL;
    o->acl = NULL;
    return whole;
}

static void set_fields(zkr_client *c, const struct zkr__env *env)
{
    c->door = env && env->door ? env->door : &zkr__zk_real;
    c->numeric = zkr__servers_numeric(c->servers);
    c->retry = (struct zkr__retry){.base = c->options.retry_base_ms * ZKR__MS,
                                   .max = c->options.retry_max_ms * ZKR__MS,
                                   .attempts = c->options.retry_attempts};
    c->random = (uint64_t)c->door->boot() | 1;
    c->session_ms = c->options.session_timeout_ms;
    c->watch_most = ZKR__WATCH_BYTES;
    c->state = ZKR_STATE_CONNECTING;
    zkr__request_begin(c);
}

static int start_threads(zkr_client *c)
{
    int rc = c->options.dispatch_by_application
                 ? zkr__dispatch_begin_by_hand(&c->dispatch)
                 : zkr__dispatch_start(&c->dispatch);
    if (rc == 0) {
        rc = zkr__service_start(c);
        if (rc != 0) {
            zkr__dispatch_stop(&c->dispatch);
        }
    }
    return rc;
}

int zkr__client_open(zkr_client **out,
                     const char *servers,
                     const zkr_client_options *options,
                     const struct zkr__env *env)
{
    if (!out) {
        return zkr__fail(ZKR_EINVAL, NULL, "zkr_client_open: out is NULL");
    }
    zkr_client_options o;
    int rc = take_options(&o, options);
    if (rc == ZKR_OK) {
        rc = zkr__servers_check(servers);
    }
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr_client *c;
    int error = zkr__client_new(&c);
    if (error != 0) {
        return zkr__fail_sys(error, "zkr_client_open");
    }
    c->options = o;
    if (!copy_pointers(c, servers)) {
        zkr__client_free(c);
        return zkr__fail(ZKR_ENOMEM, NULL, "zkr_client_open: out of memory");
    }
    set_fields(c, env);
    zkr__log_join(c);
    error = env && env->no_threads ? 0 : start_threads(c);
    if (error != 0) {
        zkr__log_leave(c);
        zkr__client_free(c);
        return zkr__fail_sys(error, error == EMFILE || error == ENFILE
                                        ? "zkr_client_open: cannot open a descriptor"
                                        : "zkr_client_open: cannot start a thread");
    }
    *out = c;
    return ZKR_OK;
}

int zkr_client_open(zkr_client **out,
                    const char *servers,
                    const zkr_client_options *options)
{
    int cancel_state = zkr__cancel_hold();
    int rc = zkr__client_open(out, servers, options, NULL);
    zkr__cancel_restore(cancel_state);
    return rc;
}
