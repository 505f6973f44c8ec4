/* SPDX-License-Identifier: Apache-2.0 */
#include "yield_request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "parse.h"

static const char field_token[] = "yield_token", field_to[] = "yield_to";

char *yield_request_text(const char *to, int64_t token)
{
    char *text = NULL;
    int n = to ? asprintf(&text, "zkr elect --yield\n%s=%s", field_to, to)
               : asprintf(&text, "zkr elect --yield\n%s=%" PRId64, field_token, token);
    return n < 0 ? NULL : text;
}

static bool is_request(const zkr_contender *c)
{
    return zkr_contender_field(c, field_token) || zkr_contender_field(c, field_to);
}

/*
 * Returns a candidate that is not a request, found by @id or, if @id is NULL, by @token. Returns NULL if there is none.
 */
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

bool yield_request_asks(const zkr_contenders *list, int64_t token)
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

const zkr_contender *yield_request_leader(const zkr_contenders *list)
{
    const zkr_contender *first = zkr_contenders_get(list, 0);
    return first && !is_request(first) ? first : NULL;
}

static size_t candidates(const zkr_contenders *list)
{
    size_t count = 0;
    for (size_t i = 0; i < zkr_contenders_count(list); i++) {
        count += !is_request(zkr_contenders_get(list, i));
    }
    return count;
}

enum yield_check yield_request_check(const zkr_contenders *list, const char *to)
{
    const zkr_contender *leader = yield_request_leader(list);
    if (!leader) {
        return YIELD_NOBODY_LEADS;
    }
    if (to) {
        return !find(list, 0, to)               ? YIELD_UNKNOWN
               : strcmp(leader->owner, to) == 0 ? YIELD_LEADS
                                                : YIELD_MAY_ASK;
    }
    return candidates(list) > 1 ? YIELD_MAY_ASK : YIELD_ALONE;
}

struct yield_progress
yield_request_progress(const zkr_contenders *list, const char *to, int64_t asked)
{
    const zkr_contender *leader = yield_request_leader(list);
    bool stays = leader && leader->session_id == asked;
    return (struct yield_progress){
        .done = leader && (to ? strcmp(leader->owner, to) == 0 : !stays),
        .stays = stays,
        .vain = to ? !find(list, 0, to) : candidates(list) == 0,
    };
}
