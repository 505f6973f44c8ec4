/* SPDX-License-Identifier: Apache-2.0 */
#include "yield.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ask.h"
#include "cli.h"
#include "client.h"
#include "clock.h"
#include "contender.h"
#include "held.h"
#include "news.h"
#include "parse.h"

/* --- requests among the candidates --- */

/*
 * A request is a candidate that does not mean to lead. Its id has a field: the token of the leader that is asked, or the id
 * of the one to let pass.
 */
static const char field_token[] = "yield_token", field_to[] = "yield_to";

static bool is_request(const zkr_contender *c)
{
    return zkr_contender_field(c, field_token) || zkr_contender_field(c, field_to);
}

/* A candidate that is no request, with this token, or else with this id; NULL: there is none. */
static const zkr_contender *
find(const zkr_contenders *list, int64_t token, const char *id)
{
    for (size_t i = 0; i < zkr_contenders_count(list); i++) {
        const zkr_contender *c = zkr_contenders_get(list, i);
        bool found = id ? strcmp(c->owner, id) == 0 : c->fencing_token == token;
        if (found && !is_request(c)) {
            return c;
        }
    }
    return NULL;
}

/* Does a request ask the leader with this token to step down? One for a candidate that is not there asks nobody. */
static bool is_asked(const zkr_contenders *list, int64_t token)
{
    const zkr_contender *own = find(list, token, NULL);
    for (size_t i = 0; own && i < zkr_contenders_count(list); i++) {
        const zkr_contender *c = zkr_contenders_get(list, i);
        const char *asked = zkr_contender_field(c, field_token);
        const char *to = zkr_contender_field(c, field_to);
        int64_t which;
        if (asked && parse_int(asked, 1, INT64_MAX, &which) && which == token) {
            return true;
        }
        if (to && strcmp(to, own->owner) != 0 && find(list, 0, to)) {
            return true;
        }
    }
    return false;
}

/* --- who leads --- */

enum { NO_TERM = 0, OVER = -1 };

static struct {
    struct held *held;
    pthread_t thread;
    bool started;
    int wake; /* eventfd: of the thread */

    _Atomic(int64_t) seen; /* the term for which the thread has looked */
    _Atomic(int64_t) term; /* its token, or one of these; set under mu */
    pthread_mutex_t mu;    /* a term does not end while a request is found for it */
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
 * Looks once, on behalf of @term, which may be over meanwhile. False: the servers could not be asked, and have to be asked
 * again. *reported: the last term for which the user was told of a request.
 */
static bool check_requests(zkr_leader_latch *observer, int64_t term, int64_t *reported)
{
    zkr_contenders *list = NULL;
    int rc = zkr_leader_latch_participants(observer, &list);
    bool asked = *reported != term && is_asked(list, term);
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
        cli_note("asked to let another lead at %.1000s", yield.held->path);
    }
    return !zkr_err_retriable(rc);
}

/* One term after the other. Without a term nothing is asked. */
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
        /* A request without a connection would hold up the end of zkr. */
        looked = observer && zkr_client_state(h->env->client) == ZKR_STATE_CONNECTED &&
                 check_requests(observer, term, &reported);
        if (looked) {
            news_wake(&h->news); /* yield_begin_term() waits for it */
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

/* Puts the candidate, which leads, behind all others. Returns 0 or an exit code, reported. */
static int requeue(zkr_leader_latch *latch)
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
    int status = requeue(h->grant.latch);
    return status == 0 ? HELD_AGAIN : status;
}

void yield_end_term(void)
{
    if (yield.started) {
        set_term(NO_TERM);
    }
}

/* A question that is not answered must not keep zkr from ending at a signal. */
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

/* --- who asks --- */

struct request {
    struct held *held;
    const char *to;
    int64_t asked; /* session of the leader that was asked */
};

static const zkr_contender *next_leader(const zkr_contenders *list)
{
    const zkr_contender *first = zkr_contenders_get(list, 0);
    return first && !is_request(first) ? first : NULL;
}

static bool is_done(const struct request *r, const zkr_contender *leader)
{
    return leader &&
           (r->to ? strcmp(leader->owner, r->to) == 0 : leader->session_id != r->asked);
}

static size_t candidates(const zkr_contenders *list)
{
    size_t count = 0;
    for (size_t i = 0; i < zkr_contenders_count(list); i++) {
        count += !is_request(zkr_contenders_get(list, i));
    }
    return count;
}

/* A latch on the path: to look, or with the text of a request as its id, which tells of changes. */
static int make_latch(struct held *h, const char *id)
{
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    o.on_contenders = id ? news_on_contenders : NULL;
    o.ctx = &h->news;
    int rc = zkr_leader_latch_create(&h->grant.latch, h->env->client, h->path, id, &o);
    return cli_check(rc);
}

/* Whom to ask, as the text of the request, allocated. NULL: *status says why not, reported; 0 = there is no need. */
static char *choose(struct request *r, const zkr_contenders *list, int *status)
{
    const zkr_contender *leader = next_leader(list);
    const char *path = r->held->path;
    char *text = NULL;
    *status = 0;
    if (!leader) {
        *status = cli_fail(CLI_HELD, "nobody leads at %.1000s", path);
    } else if (r->to && !find(list, 0, r->to)) {
        *status = cli_fail(CLI_HELD,
                           "'%.200s' is no candidate at %.1000s; 'zkr status %.1000s' "
                           "shows who is",
                           r->to, path, path);
    } else if (r->to && is_done(r, leader)) {
        *status = contender_say("leads already: ", leader);
    } else if (candidates(list) < 2) {
        *status = cli_fail(CLI_HELD, "there is no other candidate at %.1000s", path);
    } else {
        r->asked = leader->session_id;
        int n = r->to ? asprintf(&text, "zkr elect --yield\n%s=%s", field_to, r->to)
                      : asprintf(&text, "zkr elect --yield\n%s=%" PRId64, field_token,
                                 leader->fencing_token);
        *status = n < 0 ? cli_fail_memory() : contender_say("asked ", leader);
        text = n < 0 ? NULL : text;
    }
    return text;
}

/* Nobody is left to wait for. */
static bool is_vain(const struct request *r, const zkr_contenders *list)
{
    return r->to ? !find(list, 0, r->to) : candidates(list) == 0;
}

/* It may come back: one whose node was lost joins again. Returns how long to wait for that; 0 = no more. */
static int rest_of_vain(bool vain, int64_t *until)
{
    enum { BACK_MS = 3000 };
    if (!vain || *until == NEVER) {
        *until = vain ? clock_now_ms() + BACK_MS : NEVER;
    }
    return clock_left_ms(*until);
}

/* @stays: the leader that was asked has not stepped down. */
static int say_late(const struct held *h, bool stays)
{
    return cli_fail(
        CLI_HELD, "in time no other leads at %.1000s; %s", h->path,
        stays
            ? "the leader that was asked still leads: a zkr leads until all processes "
              "of its command have ended, and says on its stderr which of them it "
              "may not signal; other programs do not yield"
            : "candidates that are no zkr do not yield");
}

/*
 * Looks, until another leads. When all in front have stepped aside it is our turn: then we go behind those who are there, of
 * whom one is to lead.
 */
static int await_leader(struct request *r)
{
    struct held *h = r->held;
    int64_t vain_until = NEVER;
    for (;;) {
        zkr_contenders *list = NULL;
        int status =
            ask_list(h->env, (struct ask_source){.latch = h->grant.latch}, &list);
        const zkr_contender *leader = next_leader(list);
        bool done = is_done(r, leader);
        bool stays = leader && leader->session_id == r->asked;
        int rest = rest_of_vain(is_vain(r, list), &vain_until);
        if (status == 0 &&
            done) { /* our request must not stay there while the reader is slow */
            (void)zkr_leader_latch_stop(h->grant.latch, ZKR_LATCH_SILENT);
            status = contender_say("leads: ", leader);
        }
        zkr_contenders_free(list);
        if (status != 0 || done) {
            return status;
        }
        if (rest == 0) {
            return cli_fail(CLI_HELD, "the candidates at %.1000s have gone", h->path);
        }
        if (zkr_leader_latch_has_leadership(h->grant.latch)) {
            status = requeue(h->grant.latch);
        }
        int left = clock_left_ms(h->until);
        if (status == 0 && left == 0) {
            return say_late(h, stays);
        }
        status = status == 0 ? held_pause(h, lesser(rest, left)) : status;
        if (status != 0) {
            return status;
        }
    }
}

int yield_ask(struct held *h, const char *to)
{
    struct request r = {.held = h, .to = to};
    zkr_contenders *list = NULL;
    int status = make_latch(h, NULL);
    status = status == 0
                 ? ask_list(h->env, (struct ask_source){.latch = h->grant.latch}, &list)
                 : status;
    char *text = status == 0 ? choose(&r, list, &status) : NULL;
    zkr_contenders_free(list);
    if (text && status == 0) {
        (void)zkr_leader_latch_destroy(h->grant.latch);
        h->grant.latch = NULL;
        status = make_latch(h, text);
        int rc = status == 0 ? zkr_leader_latch_start(h->grant.latch) : ZKR_OK;
        status = rc != ZKR_OK ? cli_fail_rc(rc) : status;
        status = status == 0 ? await_leader(&r) : status;
        (void)zkr_leader_latch_stop(h->grant.latch, ZKR_LATCH_SILENT);
    }
    free(text);
    return status;
}
