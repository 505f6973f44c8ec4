/* SPDX-License-Identifier: Apache-2.0 */
#include "yield_ask.h"

#include <stdlib.h>

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
    int64_t asked; /* session of the leader that received the request */
};

/*
 * Creates the latch on the path. @id is NULL to check only, or the ID of a request. With an ID, the latch also reports
 * changes.
 */
static int make_latch(struct held *h, const char *id)
{
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    o.on_contenders = id ? news_on_contenders : NULL;
    o.ctx = &h->news;
    int rc = zkr_leader_latch_create(&h->grant.latch, h->env->client, h->path, id, &o);
    return cli_check(rc);
}

/*
 * Returns the ID of the request to send, in new memory. Returns NULL if no request is sent. Then *status is a reported
 * exit code. 0 = no request is needed.
 */
static char *choose(struct request *r, const zkr_contenders *list, int *status)
{
    const zkr_contender *leader = yield_request_leader(list);
    const char *path = r->held->path;
    char *text = NULL;
    switch (yield_request_check(list, r->to)) {
    case YIELD_NOBODY_LEADS:
        *status = cli_fail(CLI_HELD, "nobody leads at %.1000s", path);
        break;
    case YIELD_UNKNOWN:
        *status = cli_fail(CLI_HELD,
                           "'%.200s' is not a candidate at %.1000s; see 'zkr status "
                           "%.1000s'",
                           r->to, path, path);
        break;
    case YIELD_LEADS:
        *status = contender_say("leads already: ", leader);
        break;
    case YIELD_ALONE:
        *status = cli_fail(CLI_HELD, "there is no other candidate at %.1000s", path);
        break;
    case YIELD_MAY_ASK:
        r->asked = leader->session_id;
        text = yield_request_text(r->to, leader->fencing_token);
        *status = text ? contender_say("asked ", leader) : cli_fail_memory();
        break;
    }
    return text;
}

/*
 * Returns for how many milliseconds to wait for a candidate whose node was lost, because such a candidate joins again.
 * 0 = wait no longer.
 */
static int rest_of_vain(bool vain, int64_t *until)
{
    enum { BACK_MS = 3000 };
    if (!vain || *until == NEVER) {
        *until = vain ? clock_now_ms() + BACK_MS : NEVER;
    }
    return clock_left_ms(*until);
}

/*
 * Reports that no other leader was found in time. @stays is true if the leader that received the request has not
 * stepped down.
 */
static int say_late(const struct held *h, bool stays)
{
    return cli_fail(
        CLI_HELD, "no other candidate has become the leader at %.1000s in time; %s",
        h->path,
        stays
            ? "the leader that got the request is still leading; zkr leads until all "
              "processes of its command have ended, and reports on its standard error "
              "each process that it has no permission to signal; other programs do "
              "not yield"
            : "candidates of other programs do not yield");
}

/*
 * Waits until another candidate leads. When all candidates ahead have stepped aside, our request itself gets the
 * leadership. It then moves behind the candidates, one of which will lead.
 */
static int await_leader(struct request *r)
{
    struct held *h = r->held;
    int64_t vain_until = NEVER;
    for (;;) {
        zkr_contenders *list = NULL;
        int status =
            ask_list(h->env, (struct ask_source){.latch = h->grant.latch}, &list);
        struct yield_progress now = yield_request_progress(list, r->to, r->asked);
        int rest = rest_of_vain(now.vain, &vain_until);
        if (status == 0 && now.done) { /* a slow reader may block this */
            (void)zkr_leader_latch_stop(h->grant.latch, ZKR_LATCH_SILENT);
            status = contender_say("leads: ", yield_request_leader(list));
        }
        zkr_contenders_free(list);
        if (status != 0 || now.done) {
            return status;
        }
        if (rest == 0) {
            return cli_fail(CLI_HELD, "there is no candidate left at %.1000s", h->path);
        }
        if (zkr_leader_latch_has_leadership(h->grant.latch)) {
            status = yield_requeue(h->grant.latch);
        }
        int left = clock_left_ms(h->until);
        if (status == 0 && left == 0) {
            return say_late(h, now.stays);
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
