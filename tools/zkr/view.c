/* SPDX-License-Identifier: Apache-2.0 */
#include "view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "contender.h"
#include "json.h"
#include "peers.h"
#include "text.h"

/* --- rows --- */

int64_t view_other_max(const zkr_contenders *permits, int64_t mine)
{
    int64_t max = 0;
    for (size_t i = zkr_contenders_count(permits); i > 0 && max == 0; i--) {
        max = contender_number(zkr_contenders_get(permits, i - 1), "max", INT32_MAX);
        max = max == mine ? 0 : max;
    }
    return max;
}

int64_t view_max(const zkr_contenders *permits)
{
    return view_other_max(permits, 0);
}

static void add(struct view *v, const zkr_contender *c, int64_t permits, bool holds)
{
    v->rows[v->count++] =
        (struct view_row){c, peers_find(v->peers, c->session_id), permits, holds};
    v->holders += holds;
}

/*
 * Adds a row for each holder of permits. The permits of one holder were created in one transaction, so they share a
 * token. The last permits may not be granted yet.
 */
static void add_permits(struct view *v, const zkr_contenders *permits)
{
    size_t count = zkr_contenders_count(permits);
    for (size_t i = 0, next; i < count; i = next) {
        const zkr_contender *c = zkr_contenders_get(permits, i);
        next = i + 1;
        while (next < count &&
               zkr_contenders_get(permits, next)->fencing_token == c->fencing_token) {
            next++;
        }
        if (c->holds) {
            add(v, c, (int64_t)(next - i), true);
            v->permits += (int64_t)(next - i);
        }
    }
}

/* Adds a queue. With @wait, nobody in this queue holds. */
static void add_queue(struct view *v, const zkr_contenders *queue, bool wait)
{
    for (size_t i = 0; i < zkr_contenders_count(queue); i++) {
        const zkr_contender *c = zkr_contenders_get(queue, i);
        add(v, c, 0, c->holds && !wait);
    }
}

/*
 * Returns whether the order is unknown. It is known if locks queue behind the node of an unknown recipe, because they
 * wait for that node.
 */
static bool is_unordered(const zkr_contenders *queue)
{
    bool other = !zkr_contenders_get(queue, 0)->ordered;
    for (size_t i = 0; i < zkr_contenders_count(queue) && other; i++) {
        other = zkr_contenders_get(queue, i)->kind == ZKR_KIND_OTHER;
    }
    return other;
}

bool view_begin(struct view *v, zkr_contenders *const *lists, const struct peers *p)
{
    size_t below = zkr_contenders_count(lists[VIEW_PERMITS]) +
                   zkr_contenders_count(lists[VIEW_GATE]);
    size_t queue = zkr_contenders_count(lists[VIEW_QUEUE]);
    *v = (struct view){.semaphore = queue == 0 && below > 0, .peers = p};
    v->rows = calloc(queue + below + 1, sizeof(*v->rows));
    if (!v->rows) {
        return false;
    }
    if (v->semaphore) {
        v->kind = contender_kind(ZKR_KIND_LEASE);
        v->max = view_max(lists[VIEW_PERMITS]);
        add_permits(v, lists[VIEW_PERMITS]);
        add_queue(v, lists[VIEW_GATE], true);
    } else if (queue > 0) {
        const zkr_contender *first = zkr_contenders_get(lists[VIEW_QUEUE], 0);
        v->kind = contender_kind(first->kind);
        v->unordered = is_unordered(lists[VIEW_QUEUE]);
        add_queue(v, lists[VIEW_QUEUE], false);
    }
    return true;
}

void view_add_node(struct view *v, const zkr_contender *node)
{
    v->kind = contender_kind(node->kind);
    v->unordered = true;
    add(v, node, 0, true);
}

void view_end(struct view *v)
{
    free(v->rows);
    v->rows = NULL;
}

/* --- output for people --- */

/* Prints a line with details of a holder, or nothing if no details are known. */
static void print_holder(FILE *out, const struct view_row *row)
{
    enum { STAMP = 32 };
    const zkr_contender *c = row->c;
    char stamp[STAMP];
    struct tm tm;
    time_t seconds = (time_t)(c->held_since_ms / 1000);
    bool known = c->held_since_ms > 0 && gmtime_r(&seconds, &tm) &&
                 strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", &tm) > 0;
    const struct {
        const char *label, *value, *unit; /* value NULL: not known */
    } parts[] = {
        {"since ", known ? stamp : NULL, " UTC"},
        {"user ", zkr_contender_field(c, "user"), ""},
        {"host ", zkr_contender_field(c, "host"), ""},
        {"session timeout ", zkr_contender_field(c, "session_timeout_ms"), " ms"},
        {"session served by ", row->server, ""},
        {"command ", zkr_contender_field(c, "command"), ""},
    };
    bool begun = false;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!parts[i].value) {
            continue;
        }
        (void)fputs(begun ? ", " : "holder ", out);
        text_print(out, begun ? "" : contender_owner(c), 0);
        (void)fprintf(out, "%s%s", begun ? "" : ": ", parts[i].label);
        text_print(out, parts[i].value, 0);
        (void)fputs(parts[i].unit, out);
        begun = true;
    }
    (void)fputs(begun ? "\n" : "", out);
}

enum { LEAST_OWNER = 5, MOST_OWNER = 60, LEAST_KIND = 7, MOST_KIND = 20, CELL = 32 };

static void kind_of(char *buf, size_t size, const struct view *v, size_t i)
{
    const struct view_row *row = &v->rows[i];
    if (row->permits > 1) {
        (void)snprintf(buf, size, "%" PRId64 " permits", row->permits);
    } else {
        (void)snprintf(buf, size, "%s",
                       v->semaphore ? "permit" : contender_recipe(row->c));
    }
}

/* Prints a row. All joint holders have position 1. */
static void
print_row(FILE *out, const struct view *v, size_t i, int width, int kind_width)
{
    const struct view_row *row = &v->rows[i];
    const zkr_contender *c = row->c;
    char age[CELL], held[CELL] = "-", kind[CELL];
    contender_age(age, sizeof(age), c->created_ms);
    if (row->holds) {
        contender_held_for(held, sizeof(held), c);
    }
    kind_of(kind, sizeof(kind), v, i);
    (void)fprintf(out, "%-3zu  ", row->holds ? 1 : i + 1);
    text_cell(out, contender_owner(c), width);
    (void)fprintf(out, "  0x%-16" PRIx64 "  %7s  %7s  %12" PRId64 "  %-*s  ",
                  (uint64_t)c->session_id, age, held, c->fencing_token, kind_width,
                  kind);
    text_line(out, "", c->node);
}

static void print_permits(FILE *out, const struct view *v)
{
    (void)fprintf(out, "%" PRId64, v->permits);
    if (v->max > 0) {
        (void)fprintf(out, " of %" PRId64, v->max);
    }
    (void)fprintf(out, " permits held, %zu wait\n", v->count - v->holders);
}

void view_print(FILE *out, const struct view *v)
{
    if (v->semaphore) {
        print_permits(out, v);
    }
    int width = LEAST_OWNER, kind_width = LEAST_KIND;
    for (size_t i = 0; i < v->count; i++) {
        char kind[CELL];
        kind_of(kind, sizeof(kind), v, i);
        text_widen(&width, contender_owner(v->rows[i].c), MOST_OWNER);
        text_widen(&kind_width, kind, MOST_KIND);
    }
    (void)fprintf(out, "%-3s  %-*s  %-18s  %7s  %7s  %12s  %-*s  %s\n", "POS", width,
                  "OWNER", "SESSION", "AGE", "HELD", "TOKEN", kind_width, "KIND",
                  "NODE");
    for (size_t i = 0; i < v->count; i++) {
        print_row(out, v, i, width, kind_width);
    }
    for (size_t i = 0; i < v->count && v->rows[i].holds; i++) {
        print_holder(out, &v->rows[i]);
    }
}

/* --- output for programs --- */

static void rows_json(struct json *j, const struct view *v)
{
    json_open(j, "contenders", '[');
    for (size_t i = 0; i < v->count; i++) {
        const struct view_row *row = &v->rows[i];
        json_open(j, NULL, '{');
        contender_json(j, row->c, i, row->holds);
        json_text(j, "server", row->server);
        if (v->semaphore) {
            json_int(j, "permits", row->permits);
        }
        json_close(j, '}');
    }
    json_close(j, ']');
}

void view_json(FILE *out, const char *path, const struct view *v, bool exists)
{
    struct json j = {.out = out};
    json_begin(&j, path);
    json_text(&j, "kind", v->kind);
    contender_holder_json(&j, v->holders > 0 ? v->rows[0].c : NULL);
    json_number(&j, "waiting", !v->unordered, (int64_t)(v->count - v->holders));
    json_number(&j, "permits", v->semaphore, v->permits);
    json_number(&j, "max", v->max > 0, v->max);
    json_bool(&j, "exists", exists);
    rows_json(&j, v);
    peers_json(v->peers, &j);
    json_end(&j);
}

/* --- warnings --- */

bool view_warn_stays(const char *path, const zkr_contenders *queue)
{
    const zkr_contender *first = zkr_contenders_get(queue, 0);
    bool stays = first && first->session_id == 0;
    if (stays) {
        cli_note("%.1000s: %.100s is not ephemeral: no session ends it, and a lock at "
                 "this path waits for it",
                 path, first->node);
    }
    return stays;
}

bool view_warn(const char *path, zkr_contenders *const *lists)
{
    size_t count = zkr_contenders_count(lists[VIEW_QUEUE]), leaders = 0;
    if (view_warn_stays(path, lists[VIEW_QUEUE])) {
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        const zkr_contender *c = zkr_contenders_get(lists[VIEW_QUEUE], i);
        leaders += c->kind == ZKR_KIND_LEADER;
        if (c->kind == ZKR_KIND_OTHER) {
            cli_note(
                "%.1000s: %.100s belongs to %s, which might not wait for the other "
                "contenders",
                path, c->node, c->maker ? c->maker : "another recipe");
            return true;
        }
    }
    bool mixed = leaders > 0 && leaders < count;
    size_t below = zkr_contenders_count(lists[VIEW_PERMITS]) +
                   zkr_contenders_count(lists[VIEW_GATE]);
    bool both = count > 0 && below > 0;
    if (mixed || both) {
        cli_note("%.1000s: %s", path,
                 mixed ? "leaders and locks share this queue, but those of Curator do "
                         "not wait for each other; use separate paths"
                       : "there is also a semaphore; its permits are not shown and do "
                         "not exclude the holder of the lock");
    }
    return mixed || both;
}
