/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/news.h"

#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "queue/claim_plan.h"
#include "session/bound.h"

/* For PARKED: the client that created the node ahead. */
struct zkr__near {
    struct zkr__near_address of;
    unsigned char key[ZKR__NEAR_KEY];
    int64_t token; /* fencing token of the node ahead */
    bool told;     /* NEXT was sent */
};

/* The claim of another process that has reported that it waits behind our node. */
struct zkr__next {
    struct zkr__near_address of;
    unsigned char key[ZKR__NEAR_KEY];
    char node[];
};

/* --- the waiter --- */

bool zkr__news_find(struct zkr__claim *claim, const struct zkr__answer *answer)
{
    struct zkr__near_address of;
    if (!zkr__claim_hears_news(claim) || answer->code != ZKR_OK ||
        !zkr__nearby_find(claim->q->c, answer->data, answer->data_len, &of)) {
        return false;
    }
    if (claim->near && claim->near->token == answer->czxid) {
        return true;
    }
    zkr__mem_free(claim->near);
    claim->near = NULL;
    struct zkr__near *near = zkr__mem_alloc(sizeof(*near));
    if (!near || getrandom(near->key, sizeof(near->key), 0) != sizeof(near->key)) {
        zkr__mem_free(near);
        return false;
    }
    near->of = of;
    near->token = answer->czxid;
    claim->near = near;
    return true;
}

void zkr__news_settle(struct zkr__claim *claim)
{
    struct zkr__near *near = claim->near;
    const char *ahead = zkr__path_watched(&claim->ahead_watcher);
    if (claim->k.phase != ZKR__PARKED || !near || near->told || !ahead) {
        return;
    }
    struct zkr__news news = {.kind = ZKR__NEWS_NEXT,
                             .token = near->token,
                             .holder = ahead,
                             .next = claim->node};
    memcpy(news.key, near->key, sizeof(news.key));
    near->told = true;
    zkr__nearby_send(claim->q->c, &near->of, &news);
}

/*
 * Returns whether the letter RELEASED is about the node ahead of the claim, and comes from the node's owner, who
 * received our key.
 */
static bool is_true(const struct zkr__claim *claim,
                    const struct zkr__news *news) ZKR__LOCKED
{
    const struct zkr__near *near = claim->near;
    const char *ahead = zkr__path_watched(&claim->ahead_watcher);
    return claim->k.phase == ZKR__PARKED && near && near->told && ahead &&
           strcmp(ahead, news->holder) == 0 && near->token == news->token &&
           memcmp(near->key, news->key, sizeof(near->key)) == 0 &&
           strcmp(near->of.text, news->from.text) == 0;
}

/* --- the holder --- */

static void tell_released(const struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__next *next = claim->next_near;
    struct zkr__news news = {.kind = ZKR__NEWS_RELEASED,
                             .token = claim->czxid,
                             .holder = claim->node,
                             .next = next->node};
    memcpy(news.key, next->key, sizeof(news.key));
    zkr__nearby_send(claim->q->c, &next->of, &news);
}

void zkr__news_pass_on(struct zkr__claim *claim)
{
    zkr_client *c = claim->q->c;
    bool plain = zkr__claim_hears_news(claim) && claim->by_node.path && !claim->guarded;
    claim->passed_on = plain && zkr__claim_may_pass_on(&claim->k) &&
                       claim->epoch == c->epoch && zkr__sure(c);
    if (claim->passed_on && claim->next_near) {
        tell_released(claim);
    }
}

/*
 * Record a waiter. Only the waiters know which of them is next, so the holder notifies the last waiter that sent NEXT.
 */
static bool take_next(struct zkr__claim *claim,
                      const struct zkr__news *news) ZKR__LOCKED
{
    bool serves = zkr__claim_waits_with_node(&claim->k) ||
                  claim->k.phase == ZKR__HELD || claim->passed_on;
    size_t len = strlen(news->next) + 1;
    bool right = serves && zkr__claim_hears_news(claim) && claim->czxid == news->token;
    struct zkr__next *next = right ? zkr__mem_alloc(sizeof(*next) + len) : NULL;
    if (!next) {
        return false;
    }
    next->of = news->from;
    memcpy(next->key, news->key, sizeof(next->key));
    memcpy(next->node, news->next, len);
    zkr__mem_free(claim->next_near);
    claim->next_near = next;
    if (claim->passed_on) {
        tell_released(claim);
    }
    return true;
}

struct zkr__claim *zkr__news_believe(struct zkr__engine *engine,
                                     const struct zkr__news *news)
{
    bool next = news->kind == ZKR__NEWS_NEXT;
    struct zkr__claim *claim = zkr__claim_at(engine, next ? news->holder : news->next);
    bool believed = claim && (next ? take_next(claim, news) : is_true(claim, news));
    engine->c->news_ignored += !believed;
    return believed && !next ? claim : NULL;
}
