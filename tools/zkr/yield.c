/* SPDX-License-Identifier: Apache-2.0 */
#include "yield.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cli.h"
#include "client.h"
#include "held.h"
#include "news.h"
#include "yield_request.h"

enum { NO_TERM = 0, OVER = -1 };

static struct {
    struct held *held;
    pthread_t thread;
    bool started;
    int wake; /* an eventfd that wakes the thread */

    _Atomic(int64_t) seen; /* the last term for which the thread has checked */
    /* Token of the current term, or NO_TERM or OVER. Changed only under mu. */
    _Atomic(int64_t) term;
    pthread_mutex_t mu; /* no term ends while a request for it is handled */
} yield = {.mu = PTHREAD_MUTEX_INITIALIZER};

static void on_contenders(zkr_leader_latch *l, void *ctx)
{
    (void)l;
    (void)ctx;
    (void)eventfd_write(yield.wake, 1);
}

static void set_term(int64_t term)
{
    (void)pthread_mutex_lock(&yield.mu);
    yield.term = term;
    (void)pthread_mutex_unlock(&yield.mu);
    (void)eventfd_write(yield.wake, 1);
}

/*
 * Checks once for a request to the leader of @term, which may end meanwhile. Returns false if there was no answer, so
 * that the check must be repeated. *reported is the last term for which a request was reported.
 */
static bool check_requests(zkr_leader_latch *observer, int64_t term, int64_t *reported)
{
    zkr_contenders *list = NULL;
    int rc = zkr_leader_latch_participants(observer, &list);
    bool asked = *reported != term && yield_request_asks(list, term);
    zkr_contenders_free(list);
    (void)pthread_mutex_lock(&yield.mu);
    if (asked && yield.term == term) {
        *reported = term;
        news_revoke(&yield.held->news);
    }
    (void)pthread_mutex_unlock(&yield.mu);
    if (!zkr_err_retriable(rc)) {
        yield.seen = term;
    }
    if (*reported == term && asked) {
        cli_note("got a request to let another candidate lead at %.1000s",
                 yield.held->path);
    }
    return !zkr_err_retriable(rc);
}

/* Checks for requests, term after term. Between terms it sends no requests. */
static void *run(void *held)
{
    enum { AGAIN_MS = 100 };
    struct held *h = held;
    struct pollfd fd = {.fd = yield.wake, .events = POLLIN};
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    zkr_leader_latch *observer = NULL;
    bool looked = true;
    int64_t term, reported = 0;
    eventfd_t count;
    o.on_contenders = on_contenders;
    do {
        (void)poll(&fd, 1, looked ? -1 : AGAIN_MS);
        (void)eventfd_read(yield.wake, &count);
        term = yield.term;
        if (term == NO_TERM || term == OVER) {
            (void)zkr_leader_latch_destroy(observer);
            observer = NULL;
            looked = true;
            continue;
        }
        if (!observer) {
            (void)zkr_leader_latch_create(&observer, h->env->client, h->path, NULL, &o);
        }
        /* Without a connection, a request would delay the end of zkr. */
        looked = observer && zkr_client_state(h->env->client) == ZKR_STATE_CONNECTED &&
                 check_requests(observer, term, &reported);
        if (looked) {
            news_wake(&h->news); /* yield_begin_term() waits for this */
        }
    } while (term != OVER);
    return NULL;
}

int yield_begin(struct held *h)
{
    yield.held = h;
    yield.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (yield.wake < 0) {
        return cli_fail_limits();
    }
    errno = pthread_create(&yield.thread, NULL, run, h);
    yield.started = errno == 0;
    return yield.started ? 0 : cli_fail_thread();
}

int yield_requeue(zkr_leader_latch *latch)
{
    (void)zkr_leader_latch_stop(latch, ZKR_LATCH_SILENT);
    int rc = zkr_leader_latch_start(latch);
    return cli_check(rc);
}

int yield_begin_term(void)
{
    struct held *h = yield.held;
    set_term(h->grant.token);
    while (yield.seen != h->grant.token) {
        int64_t valid =
            zkr_leader_latch_term_valid_for_ms(h->grant.latch, h->grant.token);
        if (valid == 0) {
            return HELD_AGAIN;
        }
        int status = held_pause(h, valid);
        if (status != 0) {
            return status;
        }
    }
    if (!news_take_revocation(&h->news)) {
        return HELD_START;
    }
    yield_end_term();
    int status = yield_requeue(h->grant.latch);
    return status == 0 ? HELD_AGAIN : status;
}

void yield_end_term(void)
{
    if (yield.started) {
        set_term(NO_TERM);
    }
}

/* Ends the thread. An unanswered request must not keep a signal from ending zkr. */
void yield_end(void)
{
    enum { TURN_MS = 5 };
    if (!yield.started) {
        return;
    }
    set_term(OVER);
    while (pthread_tryjoin_np(yield.thread, NULL) != 0) {
        int status = held_pause(yield.held, TURN_MS);
        if (status != 0) {
            client_exit(status);
        }
    }
    (void)close(yield.wake);
}
