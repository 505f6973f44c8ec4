/* SPDX-License-Identifier: Apache-2.0 */
#include "yield_ask.h"

#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "cli.h"
#include "clock.h"
#include "contender.h"
#include "held.h"
#include "news.h"
#include "yield.h"
#include "yield_request.h"

struct request {
    struct held *held;
    const char *to;
    int64_t asked; /* session of the leader that got the request */
};

static const zkr_contender *next_leader(const zkr_contenders *list)
{
    const zkr_contender *first = zkr_contenders_get(list, 0);
    return first && !yield_request_is(first) ? first : NULL;
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
        count += !yield_request_is(zkr_contenders_get(list, i));
    }
    return count;
}

/* Creates the latch on the path. @id: NULL to look only, or the id of a request; the latch then also reports changes.
 */
static int make_latch(struct held *h, const char *id)
{
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    o.on_contenders = id ? news_on_contenders : NULL;
    o.ctx = &h->news;
    int rc = zkr_leader_latch_create(&h->grant.latch, h->env->client, h->path, id, &o);
    return cli_check(rc);
}

/* Returns the id of the request to send, allocated. NULL: none is sent, and *status is a reported exit code; 0 = no
 * need. */
static char *choose(struct request *r, const zkr_contenders *list, int *status)
{
    const zkr_contender *leader = next_leader(list);
    const char *path = r->held->path;
    char *text = NULL;
    *status = 0;
    if (!leader) {
        *status = cli_fail(CLI_HELD, "nobody leads at %.1000s", path);
    } else if (r->to && !yield_request_find(list, 0, r->to)) {
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
        text = yield_request_text(r->to, leader->fencing_token);
        *status = text ? contender_say("asked ", leader) : cli_fail_memory();
    }
    return text;
}

/* Is nobody left to wait for? */
static bool is_vain(const struct request *r, const zkr_contenders *list)
{
    return r->to ? !yield_request_find(list, 0, r->to) : candidates(list) == 0;
}

/* A candidate whose node was lost joins again. Returns how long to wait for that, in ms; 0 = no longer. */
static int rest_of_vain(bool vain, int64_t *until)
{
    enum { BACK_MS = 3000 };
    if (!vain || *until == NEVER) {
        *until = vain ? clock_now_ms() + BACK_MS : NEVER;
    }
    return clock_left_ms(*until);
}

/* @stays: the leader that got the request has not stepped down. */
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
 * Waits until another leads. When all in front have stepped aside, our request itself gets the leadership. It then
 * moves behind the candidates, one of which is to lead.
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
        if (status == 0 && done) { /* a slow reader may block us */
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
            status = yield_requeue(h->grant.latch);
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
