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

bool yield_request_is(const zkr_contender *c)
{
    return zkr_contender_field(c, field_token) || zkr_contender_field(c, field_to);
}

const zkr_contender *
yield_request_find(const zkr_contenders *list, int64_t token, const char *id)
{
    for (size_t i = 0; i < zkr_contenders_count(list); i++) {
        const zkr_contender *c = zkr_contenders_get(list, i);
        bool found = id ? strcmp(c->owner, id) == 0 : c->fencing_token == token;
        if (found && !yield_request_is(c)) {
            return c;
        }
    }
    return NULL;
}

bool yield_request_asks(const zkr_contenders *list, int64_t token)
{
    const zkr_contender *own = yield_request_find(list, token, NULL);
    for (size_t i = 0; own && i < zkr_contenders_count(list); i++) {
        const zkr_contender *c = zkr_contenders_get(list, i);
        const char *asked = zkr_contender_field(c, field_token);
        const char *to = zkr_contender_field(c, field_to);
        int64_t which;
        if (asked && parse_int(asked, 1, INT64_MAX, &which) && which == token) {
            return true;
        }
        if (to && strcmp(to, own->owner) != 0 && yield_request_find(list, 0, to)) {
            return true;
        }
    }
    return false;
}
