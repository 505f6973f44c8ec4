/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "testing/net.h"
#include "testing/proxy.h"

/* Locks the proxy. */
static int begin(zkr_test_proxy *p)
{
    if (p == NULL) {
        return zkr__test_fail(ZKR_EINVAL, 0, "the proxy is NULL");
    }
    if (p->owner != getpid()) {
        return zkr__test_fail(ZKR_ESTATE, 0, "the proxy belongs to the parent process");
    }
    (void)pthread_mutex_lock(&p->lock);
    return ZKR_OK;
}

/* Waits until the thread has acted on the changes, and then unlocks the proxy. */
static int commit(zkr_test_proxy *p)
{
    if (!pthread_equal(pthread_self(), p->thread)) {
        const uint64_t mine = ++p->asked;
        (void)!write(p->wake, &(uint64_t){1}, sizeof(uint64_t));
        while (p->turns < mine) {
            (void)pthread_cond_wait(&p->turned, &p->lock);
        }
    }
    (void)pthread_mutex_unlock(&p->lock);
    return ZKR_OK;
}

/* ---- start and end ----------------------------------------------------------------- */

static int resolve(const char *target, struct sockaddr_in *out)
{
    char host[256];

    if (target == NULL || !zkr__test_host_at(target, 0, host, sizeof host) ||
        !zkr__test_resolve(host, out)) {
        return zkr__test_fail(ZKR_EINVAL, 0, "no server at %.200s",
                              target != NULL ? target : "NULL");
    }
    return ZKR_OK;
}

static void destroy(zkr_test_proxy *p)
{
    while (p->conns != NULL) {
        conn *next = p->conns->next;
        zkr__test_conn_free(p->conns);
        p->conns = next;
    }
    zkr__test_changes_forget(p);
    if (p->listener >= 0) {
        (void)close(p->listener);
    }
    if (p->wake >= 0) {
        (void)close(p->wake);
    }
    (void)pthread_cond_destroy(&p->turned);
    (void)pthread_mutex_destroy(&p->lock);
    free(p);
}

/* Starts the thread with all signals blocked, because signals belong to the program. */
static int start_thread(zkr_test_proxy *p)
{
    sigset_t every;
    sigset_t before;

    (void)sigfillset(&every);
    (void)pthread_sigmask(SIG_SETMASK, &every, &before);
    (void)pthread_mutex_lock(&p->lock);
    int error = pthread_create(&p->thread, NULL, zkr__test_proxy_run, p);
    (void)pthread_mutex_unlock(&p->lock);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0
               ? ZKR_OK
               : zkr__test_fail(ZKR_ESYS, error, "cannot create a thread for a proxy");
}

static int open_at(zkr_test_proxy *p, const zkr_test_proxy_options *o)
{
    const char *address = o != NULL && o->address != NULL ? o->address : "127.0.0.1";

    p->port = o != NULL ? (int)o->port : 0;
    p->framed = o == NULL || !o->raw;
    p->listener = zkr__test_listen(address, &p->port);
    if (p->listener < 0) {
        return p->listener;
    }
    (void)snprintf(p->host, sizeof p->host, "%s:%d", address, p->port);
    p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return p->wake < 0
               ? zkr__test_fail(ZKR_ESYS, errno, "cannot create an eventfd for a proxy")
               : ZKR_OK;
}

int zkr_test_proxy_start(zkr_test_proxy **out,
                         const char *target,
                         const zkr_test_proxy_options *options)
{
    struct sockaddr_in address;

    if (out == NULL || (options != NULL && options->size != sizeof *options)) {
        return zkr__test_fail(ZKR_EINVAL, 0,
                              "out is NULL, or options->size is not "
                              "sizeof(zkr_test_proxy_options)");
    }
    int rc = resolve(target, &address);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr_test_proxy *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return zkr__test_fail(ZKR_ENOMEM, 0, "cannot create a proxy: out of memory");
    }
    p->owner = getpid();
    p->target = address;
    p->wake = -1;
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_cond_init(&p->turned, NULL);
    rc = open_at(p, options);
    if (rc == ZKR_OK) {
        rc = start_thread(p);
    }
    if (rc != ZKR_OK) {
        destroy(p);
        return rc;
    }
    *out = p;
    return ZKR_OK;
}

int zkr_test_proxy_stop(zkr_test_proxy *p)
{
    int rc = p == NULL ? ZKR_OK : begin(p);

    if (p == NULL || rc != ZKR_OK) {
        return rc;
    }
    p->stop = true;
    (void)!write(p->wake, &(uint64_t){1}, sizeof(uint64_t));
    (void)pthread_mutex_unlock(&p->lock);
    (void)pthread_join(p->thread, NULL);
    destroy(p);
    return ZKR_OK;
}

const char *zkr_test_proxy_host(const zkr_test_proxy *p)
{
    return p != NULL ? p->host : NULL;
}

int zkr__test_proxy_port(const zkr_test_proxy *p)
{
    return p->port;
}

int zkr_test_proxy_target(zkr_test_proxy *p, const char *target)
{
    struct sockaddr_in address;
    int rc = resolve(target, &address);

    if (rc != ZKR_OK || (rc = begin(p)) != ZKR_OK) {
        return rc;
    }
    p->target = address;
    return commit(p);
}

/* ---- faults ------------------------------------------------------------------------ */

/* Sets a field, and waits until the thread has acted on it. */
#define SET(p, field, value)                                                           \
    do {                                                                               \
        int rc_ = begin(p);                                                            \
        if (rc_ != ZKR_OK) {                                                           \
            return rc_;                                                                \
        }                                                                              \
        (p)->field = (value);                                                          \
        return commit(p);                                                              \
    } while (0)

int zkr_test_proxy_cut(zkr_test_proxy *p)
{
    SET(p, cut, true);
}

int zkr_test_proxy_drop(zkr_test_proxy *p)
{
    SET(p, drop_all, true);
}

int zkr__test_proxy_orphan(zkr_test_proxy *p)
{
    SET(p, orphan, true);
}

int zkr__test_proxy_freeze(zkr_test_proxy *p, int d, bool frozen)
{
    SET(p, frozen[d], frozen);
}

int zkr_test_proxy_lose_request(zkr_test_proxy *p, int n)
{
    SET(p, before, n);
}

int zkr_test_proxy_lose_reply(zkr_test_proxy *p, int n)
{
    SET(p, after, n);
}

int zkr__test_proxy_drop_reply(zkr_test_proxy *p, int n)
{
    SET(p, drop, n);
}

/* Locks the proxy if @ways is valid. */
static int begin_ways(zkr_test_proxy *p, int ways)
{
    if (ways < ZKR_TEST_TO_SERVER || ways > ZKR_TEST_BOTH_WAYS) {
        return zkr__test_fail(ZKR_EINVAL, 0, "%d is not a direction through a proxy",
                              ways);
    }
    return begin(p);
}

int zkr_test_proxy_silence(zkr_test_proxy *p, int ways)
{
    int rc = begin_ways(p, ways);
    for (int d = 0; rc == ZKR_OK && d < 2; d++) {
        p->frozen[d] = p->frozen[d] || (ways & 1 << d) != 0;
    }
    return rc == ZKR_OK ? commit(p) : rc;
}

int zkr_test_proxy_delay(zkr_test_proxy *p, int ways, int64_t ms)
{
    int rc = ms < 0 ? zkr__test_fail(ZKR_EINVAL, 0, "the delay is negative")
                    : begin_ways(p, ways);
    for (int d = 0; rc == ZKR_OK && d < 2; d++) {
        p->delay_ms[d] = (ways & 1 << d) != 0 ? ms : p->delay_ms[d];
    }
    return rc == ZKR_OK ? commit(p) : rc;
}

int zkr_test_proxy_heal(zkr_test_proxy *p)
{
    int rc = begin(p);
    if (rc != ZKR_OK) {
        return rc;
    }
    p->cut = false;
    p->orphan = false;
    for (int d = 0; d < 2; d++) {
        p->frozen[d] = false;
        p->delay_ms[d] = 0;
    }
    p->before = 0;
    p->after = 0;
    p->drop = 0;
    return commit(p);
}

int zkr_test_proxy_habits(zkr_test_proxy *p, int habits)
{
    enum {
        NOT_KNOWN = ZKR_TEST_NO_CREATE2 | ZKR_TEST_NO_CONTAINERS,
        ALL = NOT_KNOWN | ZKR_TEST_REFUSES | ZKR_TEST_NEW_SESSIONS |
              ZKR_TEST_COUNTS_CHANGES | ZKR_TEST_NO_LEADER
    };
    if ((habits & ~ALL) != 0) {
        return zkr__test_fail(ZKR_EINVAL, 0, "%d is not a sum of ZKR_TEST_ habits",
                              habits);
    }
    if ((habits & ZKR_TEST_REFUSES) != 0 && (habits & NOT_KNOWN) == 0) {
        return zkr__test_fail(ZKR_EINVAL, 0,
                              "ZKR_TEST_REFUSES needs ZKR_TEST_NO_CREATE2 or "
                              "ZKR_TEST_NO_CONTAINERS");
    }
    int rc = begin(p);
    if (rc != ZKR_OK) {
        return rc;
    }
    p->habits = habits;
    if ((habits & ZKR_TEST_COUNTS_CHANGES) == 0) {
        zkr__test_changes_forget(p);
    }
    return commit(p);
}

int zkr__test_proxy_triggered(zkr_test_proxy *p)
{
    int n = begin(p);
    if (n == ZKR_OK) {
        n = p->triggered;
        (void)pthread_mutex_unlock(&p->lock);
    }
    return n;
}

int zkr_test_proxy_counts(zkr_test_proxy *p, zkr_test_counts *out, size_t size)
{
    if (out == NULL || size != sizeof *out) {
        return zkr__test_fail(ZKR_EINVAL, 0,
                              "out is NULL, or size is not sizeof(zkr_test_counts)");
    }
    int rc = begin(p);
    if (rc != ZKR_OK) {
        return rc;
    }
    *out = p->counts;
    for (const conn *c = p->conns; c != NULL; c = c->next) {
        out->open += c->fd[0] >= 0;
    }
    (void)pthread_mutex_unlock(&p->lock);
    return ZKR_OK;
}

int zkr__test_proxy_on_request(zkr_test_proxy *p,
                               void (*hook)(void *ctx, int n, int op),
                               void *ctx)
{
    int rc = begin(p);
    if (rc != ZKR_OK) {
        return rc;
    }
    p->hook = hook;
    p->hook_ctx = ctx;
    return commit(p);
}

int zkr__test_proxy_edit(zkr_test_proxy *p, zkr__test_edit edit, void *ctx)
{
    int rc = begin(p);
    if (rc != ZKR_OK) {
        return rc;
    }
    p->edit = edit;
    p->edit_ctx = ctx;
    return commit(p);
}
