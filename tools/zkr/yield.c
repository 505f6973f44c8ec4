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

#include "cli.h"
#include "held.h"
#include "text.h"

/* --- requests among the candidates --- */

/* Of a request: the token of the leader that is asked, or the id of the one to let pass. */
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
        if (asked && cli_parse_int(asked, 1, INT64_MAX, &which) && which == token) {
            return true;
        }
        if (to && strcmp(to, own->owner) != 0 && find(list, 0, to)) {
            return true;
        }
    }
    return false;
}

/* --- who leads --- */

static void signal_fd(int fd)
{
    const uint64_t one = 1;
    (void)!write(fd, &one, sizeof(one));
}

static void drain(int fd)
{
    uint64_t count;
    (void)!read(fd, &count, sizeof(count));
}

static void on_contenders(zkr_leader_latch *l, void *yield)
{
    (void)l;
    signal_fd(((struct yield *)yield)->wake);
}

static int64_t term_of(struct yield *y, bool *over)
{
    (void)pthread_mutex_lock(&y->mu);
    int64_t term = y->term;
    *over = y->over;
    (void)pthread_mutex_unlock(&y->mu);
    return term;
}

static void set_term(struct yield *y, int64_t term, bool over)
{
    (void)pthread_mutex_lock(&y->mu);
    y->term = term;
    y->over = over;
    (void)pthread_mutex_unlock(&y->mu);
    signal_fd(y->wake);
}

/*
 * Looks once, on behalf of @term, which may be over meanwhile. False: the servers could not be asked, and have to be asked
 * again. *told: the term for which it is said.
 */
static bool
look(struct yield *y, zkr_leader_latch *observer, int64_t term, int64_t *told)
{
    zkr_contenders *list = NULL;
    int rc = zkr_leader_latch_participants(observer, &list);
    bool asked = *told != term && is_asked(list, term);
    zkr_contenders_free(list);
    (void)pthread_mutex_lock(&y->mu);
    if (asked && y->term == term) {
        *told = term;
        held_on_revoke(NULL, y->held);
    }
    y->seen = zkr_err_retriable(rc) ? y->seen : term;
    (void)pthread_mutex_unlock(&y->mu);
    if (*told == term && asked) {
        cli_note("asked to let another lead at %.1000s", y->held->path);
    }
    return !zkr_err_retriable(rc);
}

/* Has the thread looked in this term? */
static bool has_looked(struct yield *y, int64_t term)
{
    (void)pthread_mutex_lock(&y->mu);
    bool looked = y->seen == term;
    (void)pthread_mutex_unlock(&y->mu);
    return looked;
}

/* One term after the other. Without a term nothing is asked. */
static void *run(void *arg)
{
    enum { AGAIN_MS = 100 };
    struct yield *y = arg;
    struct held *h = y->held;
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    zkr_leader_latch *observer = NULL;
    bool over, looked = true;
    int64_t term, told = 0;
    o.on_contenders = on_contenders;
    o.ctx = y;
    do {
        struct pollfd fd = {.fd = y->wake, .events = POLLIN};
        (void)poll(&fd, 1, looked ? -1 : AGAIN_MS);
        drain(y->wake);
        term = term_of(y, &over);
        if (term == 0 || over) {
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
                 look(y, observer, term, &told);
        if (looked) {
            signal_fd(y->looked);
        }
    } while (!over);
    return NULL;
}

int yield_begin(struct yield *y)
{
    (void)pthread_mutex_init(&y->mu, NULL);
    y->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    y->looked = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (y->wake < 0 || y->looked < 0) {
        return cli_fail_limits();
    }
    errno = pthread_create(&y->thread, NULL, run, y);
    y->started = errno == 0;
    return y->started ? 0 : cli_fail_thread();
}

int yield_look(struct yield *y)
{
    struct held *h = y->held;
    bool looked = false;
    int signo = 0;
    set_term(y, h->token, false);
    while (!looked && signo == 0 && zkr_leader_latch_has_leadership(h->latch)) {
        int64_t valid = zkr_leader_latch_valid_for_ms(h->latch);
        (void)held_sleep(h, y->looked, cli_alive_rest(valid));
        drain(y->looked);
        looked = has_looked(y, h->token);
        cli_alive();
        signo = signals_stop(&h->env->signals);
    }
    if (signo) {
        return cli_exit_signal(signo);
    }
    if (!looked || !held_is_revoked(h)) {
        return looked ? HELD_START : HELD_AGAIN;
    }
    yield_rest(y);
    (void)zkr_leader_latch_stop(h->latch, ZKR_LATCH_SILENT);
    int rc = zkr_leader_latch_start(h->latch);
    return rc == ZKR_OK ? HELD_AGAIN : cli_fail_rc(rc);
}

void yield_rest(struct yield *y)
{
    set_term(y, 0, false);
}

/* A question that is not answered must not keep zkr from ending at a signal. */
void yield_end(struct yield *y)
{
    enum { TURN_MS = 5 };
    if (!y->started) {
        return;
    }
    set_term(y, 0, true);
    while (pthread_tryjoin_np(y->thread, NULL) != 0) {
        (void)held_sleep(y->held, -1, TURN_MS);
        int signo = signals_stop(&y->held->env->signals);
        if (signo) {
            client_exit(cli_exit_signal(signo));
        }
    }
    (void)close(y->wake);
    (void)close(y->looked);
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

static int print(const char *what, const zkr_contender *c)
{
    (void)fputs(what, stdout);
    text_print(stdout, *c->owner ? c->owner : c->node, 0);
    (void)printf(", token %" PRId64 "\n", c->fencing_token);
    return cli_flush();
}

static int list_them(const struct held *h, zkr_contenders **list)
{
    struct client_try t = {0};
    while (client_try(h->env, &t)) {
        t.rc = zkr_leader_latch_participants(h->latch, list);
    }
    return t.status;
}

/* A latch on the path: to look, or with the text of a request as its id, which tells of changes. */
static int make_latch(struct held *h, const char *id)
{
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    o.on_contenders = id ? held_on_contenders : NULL;
    o.ctx = h;
    int rc = zkr_leader_latch_create(&h->latch, h->env->client, h->path, id, &o);
    return rc == ZKR_OK ? 0 : cli_fail_rc(rc);
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
        *status = print("leads already: ", leader);
    } else if (candidates(list) < 2) {
        *status = cli_fail(CLI_HELD, "there is no other candidate at %.1000s", path);
    } else {
        r->asked = leader->session_id;
        int n = r->to ? asprintf(&text, "zkr elect --yield\n%s=%s", field_to, r->to)
                      : asprintf(&text, "zkr elect --yield\n%s=%" PRId64, field_token,
                                 leader->fencing_token);
        *status = n < 0 ? cli_fail_memory() : print("asked ", leader);
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
    if (!vain || *until == CLI_NEVER) {
        *until = vain ? cli_now_ms() + BACK_MS : CLI_NEVER;
    }
    return cli_until(*until);
}

/*
 * Looks, until another leads. When all in front have stepped aside it is our turn: then we go behind those who are there, of
 * whom one is to lead.
 */
static int await_leader(struct request *r)
{
    struct held *h = r->held;
    int64_t vain_until = CLI_NEVER;
    for (;;) {
        zkr_contenders *list = NULL;
        int status = list_them(h, &list);
        const zkr_contender *leader = next_leader(list);
        bool done = is_done(r, leader);
        int rest = rest_of_vain(is_vain(r, list), &vain_until);
        status = status == 0 && done ? print("leads: ", leader) : status;
        zkr_contenders_free(list);
        if (status != 0 || done) {
            return status;
        }
        if (rest == 0) {
            return cli_fail(CLI_HELD, "the candidates at %.1000s have gone", h->path);
        }
        if (zkr_leader_latch_has_leadership(h->latch)) {
            (void)zkr_leader_latch_stop(h->latch, ZKR_LATCH_SILENT);
            int rc = zkr_leader_latch_start(h->latch);
            if (rc != ZKR_OK) {
                return cli_fail_rc(rc);
            }
        }
        int left = cli_until(h->until);
        if (left == 0) {
            return cli_fail(CLI_HELD,
                            "in time no other leads at %.1000s; candidates that are "
                            "no zkr do not yield",
                            h->path);
        }
        (void)held_sleep(h, -1, rest < left ? rest : left);
        int signo = signals_stop(&h->env->signals);
        if (signo) {
            return cli_exit_signal(signo);
        }
    }
}

int yield_ask(struct held *h, const char *to)
{
    struct request r = {.held = h, .to = to};
    zkr_contenders *list = NULL;
    int status = make_latch(h, NULL);
    status = status == 0 ? list_them(h, &list) : status;
    char *text = status == 0 ? choose(&r, list, &status) : NULL;
    zkr_contenders_free(list);
    if (text && status == 0) {
        (void)zkr_leader_latch_destroy(h->latch);
        h->latch = NULL;
        status = make_latch(h, text);
        int rc = status == 0 ? zkr_leader_latch_start(h->latch) : ZKR_OK;
        status = rc != ZKR_OK ? cli_fail_rc(rc) : status;
        status = status == 0 ? await_leader(&r) : status;
        (void)zkr_leader_latch_stop(h->latch, ZKR_LATCH_SILENT);
    }
    free(text);
    return status;
}
