/* SPDX-License-Identifier: Apache-2.0 */
#include "session/open.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/options.h"
#include "guardian/guardian.h"
#include "nearby/nearby.h"
#include "session/must.h"
#include "session/request.h"
#include "session/resolve.h"
#include "session/servers.h"
#include "session/service.h"
#include "session/session.h"
#include "session/zk.h"
#include "session/zk_log.h"
#include "session/zk_value.h"

ZKR__OPTIONS_CHECK(zkr_client_options, 29, nearby);

enum { DAY_MS = ZKR__SESSION_MOST_MS, OWNER_MAX = 65536, AUTH_MAX = 1000 };
enum { MARGIN_MAX = 500000, BASE_MS = 50 };

static bool is_credential(const zkr_auth *auth, bool needed)
{
    return auth->cert_len <= OWNER_MAX && (auth->scheme || (!auth->cert && !needed)) &&
           (auth->cert || auth->cert_len == 0);
}

/* Credentials are numbered from 0. Number 0 may be missing. */
static zkr_auth auth_at(const zkr_client_options *o, int64_t i)
{
    return i > 0 ? o->more_auth[i - 1]
                 : (zkr_auth){o->auth_scheme, o->auth_cert, o->auth_cert_len};
}

static bool are_credentials(const zkr_client_options *o)
{
    bool fine = o->more_auth_count >= 0 && o->more_auth_count <= AUTH_MAX &&
                (o->more_auth || o->more_auth_count == 0);
    for (int64_t i = 0; fine && i <= o->more_auth_count; i++) {
        const zkr_auth auth = auth_at(o, i);
        fine = is_credential(&auth, i > 0);
    }
    return fine;
}

/* --- option tls_cert --- */

enum { FILES = 3, FIELDS = 4 };

static int refuse_tls(const char *why)
{
    return zkr__fail(ZKR_EINVAL, NULL, "option tls_cert%s", why);
}

static int check_file(const char *name, size_t len)
{
    char *path = zkr__mem_copy(name, len);
    if (!path) {
        return zkr__fail(ZKR_ENOMEM, NULL, "option tls_cert: out of memory");
    }
    int rc = ZKR_OK;
    if (access(path, R_OK) != 0) {
        char why[80];
        if (strerror_r(errno, why, sizeof(why)) != 0) {
            (void)snprintf(why, sizeof(why), "unreadable");
        }
        rc = zkr__fail(ZKR_EINVAL, NULL, "option tls_cert: %.120s: %s", path, why);
    }
    zkr__mem_free(path);
    return rc;
}

/*
 * Check that @cert is "CA,CERTIFICATE,KEY[,PASSWORD]" and that the files can be read. Otherwise libzookeeper would fail
 * at each connection.
 */
static int check_tls(const char *cert)
{
    static const char bad_form[] =
        " is not \"CA,CERTIFICATE,KEY\" or \"CA,CERTIFICATE,KEY,PASSWORD\"";
    if (!zkr__zk_has_tls()) {
        return refuse_tls(": this libzookeeper was built without TLS; use one that was "
                          "built with OpenSSL, or stunnel");
    }
    int rc = ZKR_OK;
    for (int i = 0; rc == ZKR_OK; i++) {
        size_t len = strcspn(cert, ",");
        if (len == 0 || i == FIELDS) {
            return refuse_tls(bad_form);
        }
        rc = i < FILES ? check_file(cert, len) : ZKR_OK;
        if (cert[len] == '\0') {
            return rc != ZKR_OK || i >= FILES - 1 ? rc
                   : i > 0                        ? refuse_tls(bad_form)
                           : refuse_tls(": a CA alone works only since libzookeeper "
                                        "3.10; also name a certificate and a key");
        }
        cert += len + 1;
    }
    return rc;
}

/* --- all options --- */

static int take_options(zkr_client_options *o, const zkr_client_options *from)
{
    int rc = zkr__options_take(o, sizeof(*o), from, "client");
    if (rc != ZKR_OK) {
        return rc;
    }
    const struct {
        const char *name;
        int64_t *value, fallback, least, most;
    } ranges[] = {
        {"server_tick_ms", &o->server_tick_ms, 0, 0, DAY_MS},
        {"session_timeout_ms", &o->session_timeout_ms, 10000,
         o->server_tick_ms > ZKR__SESSION_LEAST_MS / 2 ? 2 * o->server_tick_ms
                                                       : ZKR__SESSION_LEAST_MS,
         DAY_MS},
        {"connect_timeout_ms", &o->connect_timeout_ms, 15000, 1, DAY_MS},
        {"retry_base_ms", &o->retry_base_ms, BASE_MS, 1, DAY_MS},
        {"retry_max_ms", &o->retry_max_ms, 5000,
         o->retry_base_ms == 0 ? BASE_MS : o->retry_base_ms, DAY_MS},
        {"retry_attempts", &o->retry_attempts, 0, 0, DAY_MS},
        {"log_level", &o->log_level, ZKR_LOG_WARN, ZKR_LOG_ERROR, ZKR_LOG_DEBUG},
        {"lease_margin_ppm", &o->lease_margin_ppm, 0, 0, MARGIN_MAX},
        {"look_ahead", &o->look_ahead, 0, -1, 1},
        {"guardian", &o->guardian, 0, 0, ZKR_GUARDIAN_TRY},
    };
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        int64_t *value = ranges[i].value;
        *value = *value == 0 ? ranges[i].fallback : *value;
        if (*value < ranges[i].least || *value > ranges[i].most) {
            return zkr__fail(ZKR_EINVAL, NULL,
                             "option %s = %lld is not between %lld and %lld",
                             ranges[i].name, (long long)*value,
                             (long long)ranges[i].least, (long long)ranges[i].most);
        }
    }
    if (!are_credentials(o)) {
        return zkr__fail(ZKR_EINVAL, NULL,
                         "scheme, cert and cert_len of credentials do not match");
    }
    if (o->owner && strlen(o->owner) > OWNER_MAX) {
        return zkr__fail(ZKR_EINVAL, NULL, "option owner is longer than %d bytes",
                         OWNER_MAX);
    }
    if (o->tls_cert && o->open_handle) {
        return zkr__fail(ZKR_EINVAL, NULL,
                         "options tls_cert and open_handle exclude each other");
    }
    return o->tls_cert ? check_tls(o->tls_cert) : ZKR_OK;
}

static bool copy_string(char **to, const char *from)
{
    *to = from ? zkr__mem_string(from) : NULL;
    return !from || *to;
}

static bool copy_credentials(zkr_client *c)
{
    const zkr_client_options *o = &c->options;
    c->auths = zkr__mem_alloc(((size_t)o->more_auth_count + 1) * sizeof(*c->auths));
    bool whole = c->auths != NULL;
    for (int64_t i = o->auth_scheme ? 0 : 1; whole && i <= o->more_auth_count; i++) {
        const zkr_auth from = auth_at(o, i);
        zkr_auth *to = &c->auths[c->auth_count++];
        to->scheme = zkr__mem_string(from.scheme);
        to->cert = from.cert ? zkr__mem_copy(from.cert, from.cert_len) : NULL;
        to->cert_len = from.cert_len;
        whole = to->scheme && (!from.cert || to->cert);
    }
    return whole;
}

/* Copy the data to which the options point, and clear the caller's pointers. */
static bool copy_pointers(zkr_client *c, const char *servers)
{
    zkr_client_options *o = &c->options;
    c->acl = zkr__zk_acl_copy(o->acl);
    bool whole = c->acl && copy_string(&c->servers, servers) &&
                 copy_string(&c->owner, o->owner) &&
                 copy_string(&c->tls_cert, o->tls_cert) && copy_credentials(c);
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
    c->watch_most = (struct zkr__watch_bytes){.needed = ZKR__WATCH_NEEDED_BYTES,
                                              .spare = ZKR__WATCH_SPARE_BYTES};
    c->state = ZKR_STATE_CONNECTING;
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

/*
 * A guardian that is not required starts while the client connects. No callback runs meanwhile, so the application
 * cannot create a node before the guardian knows the session.
 */
static int begin(zkr_client *c, const struct zkr__env *env)
{
    bool no_threads = env && env->no_threads;
    bool required = c->options.guardian == ZKR_GUARDIAN_REQUIRED;
    zkr__dispatch_hold(&c->dispatch);
    int rc = required ? zkr__guardian_join(c) : ZKR_OK;
    int error = rc != ZKR_OK || no_threads ? 0 : start_threads(c);
    if (error != 0) {
        zkr__guardian_leave(c);
        return zkr__fail_sys(error, error == EMFILE || error == ENFILE
                                        ? "zkr_client_open: cannot open a descriptor"
                                        : "zkr_client_open: cannot start a thread");
    }
    if (!required) {
        (void)zkr__guardian_join(c); /* a failure is only logged */
        zkr__session_guard(c);
    }
    if (rc == ZKR_OK) {
        zkr__nearby_begin(c, env && env->nearby ? env->nearby : &zkr__mailbox);
    }
    zkr__dispatch_go(&c->dispatch);
    return rc;
}

/* Destroy a client that the caller did not receive. */
static void give_back(zkr_client *c)
{
    zkr__lock(c);
    zkr__request_finish(c);
    zkr__unlock(c);
    zkr__log_leave(c);
    zkr__client_free(c);
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
    zkr_client *c = zkr__client_new(&o);
    if (!c || !copy_pointers(c, servers) || !zkr__request_begin(c)) {
        zkr__client_free(c);
        return zkr__fail(ZKR_ENOMEM, NULL, "zkr_client_open: out of memory");
    }
    set_fields(c, env);
    zkr__log_join(c);
    rc = begin(c, env);
    if (rc != ZKR_OK) {
        give_back(c);
        return rc;
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

/* --- closing --- */

enum { QUIESCE_MS = 1000 };

/*
 * zookeeper_close() closes the socket before the answers are read. The TCP reset that follows can overtake the last
 * request, which ends the session. So the client waits for the answers first.
 */
static void await_answers(zkr_client *c) ZKR__LOCKED
{
    int64_t deadline = zkr__clock_deadline(zkr__now(c), QUIESCE_MS);
    bool in_time = true;
    while (in_time && zkr__connected(c) && zkr__link_oldest(c->link) != ZKR__NEVER) {
        in_time = zkr__wait(c, &c->changed, deadline);
    }
}

static void close_link(zkr_client *c)
{
    zkr__lock(c);
    if (c->link && !zkr__session_tap(c)) {
        await_answers(c);
    }
    if (c->link) {
        zkr__session_end(c, ZKR_STATE_CLOSED, NULL);
    }
    zkr__set_state(c, ZKR_STATE_CLOSED);
    (void)zkr__close_dead(c, ZKR__NEVER);
    zkr__unlock(c);
}

/*
 * Fails while recipes use the client. Once it succeeds, no recipe can be created on the client, not even by a callback.
 */
static int begin_closing(zkr_client *c)
{
    zkr__lock(c);
    int64_t recipes = c->recipes;
    ZKR__MUST(c, recipes > 0 || (recipes == 0 && c->stats.held == 0));
    c->closing = recipes == 0;
    zkr__unlock(c);
    return recipes == 0 ? ZKR_OK
                        : zkr__fail(ZKR_EBUSY, NULL,
                                    "%lld recipes still use the client; destroy "
                                    "them first",
                                    (long long)recipes);
}

int zkr_client_close(zkr_client *c)
{
    if (!c) {
        return ZKR_OK;
    }
    int rc = zkr__client_enter_blocking(c);
    if (rc == ZKR_OK) {
        rc = begin_closing(c);
    }
    if (rc != ZKR_OK) {
        return rc;
    }
    int cancel_state = zkr__cancel_hold();
    zkr__service_stop(c);
    close_link(c);
    zkr__nearby_end(c);
    zkr__guardian_leave(c);
    zkr__log_leave(c);
    /* A callback that is still running may use a claim, even if it has destroyed the claim's recipe. */
    zkr__dispatch_stop(&c->dispatch);
    zkr__lock(c);
    zkr__request_finish(c);
    if (c->up) {
        c->up->free(c->engine);
    }
    zkr__unlock(c);
    zkr__resolvers_end(c);
    zkr__client_free(c);
    zkr__cancel_restore(cancel_state);
    return ZKR_OK;
}

int zkr_client_shutdown(zkr_client *c)
{
    int rc = zkr__client_enter(c);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(c);
    zkr__shut(c);
    zkr__unlock(c);
    return ZKR_OK;
}
