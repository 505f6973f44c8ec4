/* SPDX-License-Identifier: Apache-2.0 */
#include "sight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static size_t count_of(const zkr_contenders *list)
{
    return list ? zkr_contenders_count(list) : 0;
}

const char *sight_kind(int kind)
{
    static const char *const words[] = {
        [ZKR_KIND_LOCK] = "lock",    [ZKR_KIND_READ] = "read",
        [ZKR_KIND_WRITE] = "write",  [ZKR_KIND_LEADER] = "leader",
        [ZKR_KIND_LEASE] = "permit", [ZKR_KIND_OTHER] = "other",
    };
    return kind >= ZKR_KIND_LOCK && kind <= ZKR_KIND_OTHER ? words[kind] : "other";
}

/* --- semaphores --- */

/* The newest that says so. */
static int64_t read_max(const zkr_contenders *leases)
{
    int64_t max = 0;
    for (size_t i = count_of(leases); i > 0 && max == 0; i--) {
        const char *text =
            zkr_contender_field(zkr_contenders_get(leases, i - 1), "max");
        max = text && cli_parse_int(text, 1, INT32_MAX, &max) ? max : 0;
    }
    return max;
}

/* --- rows --- */

static bool add(struct sight *s, const zkr_contender *c, int64_t permits, bool holds)
{
    struct sight_row *row = &s->rows[s->count];
    *row = (struct sight_row){.c = c, .permits = permits, .holds = holds};
    row->owner = c->asked ? strdup("(asked to release)") : strdup(c->owner);
    if (!row->owner) {
        return false;
    }
    s->count++;
    s->holders += holds;
    return true;
}

/* Permits of one holder were made in one transaction, so they have one token. The last ones may be waited for yet. */
static bool add_leases(struct sight *s, const zkr_contenders *leases)
{
    size_t count = count_of(leases);
    for (size_t i = 0, next; i < count; i = next) {
        const zkr_contender *c = zkr_contenders_get(leases, i);
        next = i + 1;
        while (next < count &&
               zkr_contenders_get(leases, next)->fencing_token == c->fencing_token) {
            next++;
        }
        if (c->holds && !add(s, c, (int64_t)(next - i), true)) {
            return false;
        }
        s->permits += c->holds ? (int64_t)(next - i) : 0;
    }
    return true;
}

static bool add_gate(struct sight *s, const zkr_contenders *gate)
{
    for (size_t i = 0; i < count_of(gate); i++) {
        const zkr_contender *c = zkr_contenders_get(gate, i);
        if (!add(s, c, 0, false)) {
            return false;
        }
    }
    return true;
}

static bool add_queue(struct sight *s, const zkr_contenders *queue)
{
    for (size_t i = 0; i < count_of(queue); i++) {
        const zkr_contender *c = zkr_contenders_get(queue, i);
        if (!add(s, c, 0, c->holds)) {
            return false;
        }
    }
    return true;
}

bool sight_begin(struct sight *s, const struct sight_lists *lists)
{
    size_t below = count_of(lists->leases) + count_of(lists->gate);
    size_t queue = count_of(lists->queue);
    *s = (struct sight){.semaphore = queue == 0 && below > 0};
    s->rows = calloc(queue + below + 1, sizeof(*s->rows));
    if (!s->rows) {
        return false;
    }
    if (!s->semaphore) {
        s->kind =
            queue > 0 ? sight_kind(zkr_contenders_get(lists->queue, 0)->kind) : NULL;
        return add_queue(s, lists->queue);
    }
    s->kind = sight_kind(ZKR_KIND_LEASE);
    s->max = read_max(lists->leases);
    return add_leases(s, lists->leases) && add_gate(s, lists->gate);
}

void sight_end(struct sight *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->rows[i].owner);
        free(s->rows[i].server);
    }
    free(s->rows);
    *s = (struct sight){.rows = NULL};
}

/* --- strangers --- */

bool sight_warning(const struct sight_lists *lists, char *text, size_t size)
{
    size_t count = count_of(lists->queue), leaders = 0;
    for (size_t i = 0; i < count; i++) {
        const zkr_contender *c = zkr_contenders_get(lists->queue, i);
        leaders += c->kind == ZKR_KIND_LEADER;
        if (c->kind == ZKR_KIND_OTHER) {
            (void)snprintf(text, size,
                           "%.100s belongs to another recipe: it counts by its number, "
                           "but its maker may not wait for the others",
                           c->node);
            return true;
        }
    }
    if (leaders > 0 && leaders < count) {
        (void)snprintf(
            text, size,
            "leaders and locks are in one queue: those of Curator do not wait "
            "for each other; give each a path of its own");
        return true;
    }
    if (count > 0 && count_of(lists->leases) + count_of(lists->gate) > 0) {
        (void)snprintf(text, size,
                       "there is also a semaphore: its permits are not shown, and do "
                       "not exclude the holder of the lock");
        return true;
    }
    return false;
}
