/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <inttypes.h>
#include <time.h>

#include "json.h"
#include "text.h"

enum { LEAST_OWNER = 5, MOST_OWNER = 60, CELL = 32 };

static int owner_width(const struct sight *s)
{
    int width = LEAST_OWNER;
    for (size_t i = 0; i < s->count; i++) {
        int w = text_width(s->rows[i].owner);
        width = w > width ? w : width;
    }
    return width < MOST_OWNER ? width : MOST_OWNER;
}

static int64_t wall_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Whoever holds together has one position. */
static void print_row(FILE *out, const struct sight *s, size_t i, int width)
{
    const struct sight_row *row = &s->rows[i];
    const zkr_contender *c = row->c;
    char age[CELL], kind[CELL];
    text_age(age, sizeof(age), wall_ms() - c->created_ms);
    (void)snprintf(kind, sizeof(kind), "%s",
                   s->semaphore ? "permit" : sight_kind(c->kind));
    if (row->permits > 1) {
        (void)snprintf(kind, sizeof(kind), "%" PRId64 " permits", row->permits);
    }
    (void)fprintf(out, "%-3zu  ", row->holds ? 1 : i + 1);
    text_print(out, *row->owner ? row->owner : "-", width);
    (void)fprintf(out, "  0x%-16" PRIx64 "  %7s  %12" PRId64 "  %-7s  ",
                  (uint64_t)c->session_id, age, c->fencing_token, kind);
    text_print(out, c->node, 0);
    (void)fputc('\n', out);
}

static void print_permits(FILE *out, const struct sight *s)
{
    (void)fprintf(out, "%" PRId64, s->permits);
    if (s->max > 0) {
        (void)fprintf(out, " of %" PRId64, s->max);
    }
    (void)fprintf(out, " permits held, %zu wait\n", s->count - s->holders);
}

void table_print(FILE *out, const struct sight *s)
{
    if (s->count == 0) {
        (void)fputs("nobody\n", out);
        return;
    }
    if (s->semaphore) {
        print_permits(out, s);
    }
    int width = owner_width(s);
    (void)fprintf(out, "%-3s  %-*s  %-18s  %7s  %12s  %-7s  %s\n", "POS", width,
                  "OWNER", "SESSION", "AGE", "TOKEN", "KIND", "NODE");
    for (size_t i = 0; i < s->count; i++) {
        print_row(out, s, i, width);
    }
}

static void contender_json(struct json *j,
                           const zkr_contender *c,
                           size_t i,
                           const char *owner,
                           bool holds)
{
    int64_t age = wall_ms() - c->created_ms;
    json_key(j, "position");
    json_int(j, (int64_t)i + 1);
    json_key(j, "holder");
    json_bool(j, holds);
    json_key(j, "node");
    json_string(j, c->node);
    json_key(j, "owner");
    json_string(j, c->asked ? "" : owner);
    json_key(j, "session");
    json_hex(j, c->session_id);
    json_key(j, "created_ms");
    json_int(j, c->created_ms);
    json_key(j, "age_ms");
    json_int(j, age > 0 ? age : 0);
    json_key(j, "fencing_token");
    json_int(j, c->fencing_token);
    json_key(j, "sequence");
    json_int(j, c->sequence);
    json_key(j, "kind");
    json_string(j, sight_kind(c->kind));
    json_key(j, "asked");
    json_bool(j, c->asked);
}

static void rows_json(struct json *j, const struct sight *s)
{
    json_key(j, "contenders");
    json_open(j, '[');
    for (size_t i = 0; s->rows && i < s->count; i++) {
        const struct sight_row *row = &s->rows[i];
        json_open(j, '{');
        contender_json(j, row->c, i, row->owner, row->holds);
        if (s->semaphore) {
            json_key(j, "permits");
            json_int(j, row->permits);
        }
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* Null where there is nobody, or it is about no permits. */
static void number_json(struct json *j, const char *key, bool known, int64_t value)
{
    json_key(j, key);
    if (known) {
        json_int(j, value);
    } else {
        json_null(j);
    }
}

static void text_json(struct json *j, const char *key, const char *text)
{
    json_key(j, key);
    if (text) {
        json_string(j, text);
    } else {
        json_null(j);
    }
}

void table_json(FILE *out, const char *path, const struct sight *s)
{
    struct json j = {.out = out};
    const struct sight_row *first = s->rows; /* holders stand first */
    bool held = s->holders > 0;
    json_open(&j, '{');
    json_key(&j, "path");
    json_string(&j, path);
    text_json(&j, "kind", s->kind);
    text_json(&j, "owner", !held ? NULL : first->c->asked ? "" : first->owner);
    json_key(&j, "session");
    if (held) {
        json_hex(&j, first->c->session_id);
    } else {
        json_null(&j);
    }
    number_json(&j, "held_since", held, held ? first->c->created_ms : 0);
    number_json(&j, "waiting", true, (int64_t)(s->count - s->holders));
    number_json(&j, "permits", s->semaphore, s->permits);
    number_json(&j, "max", s->max > 0, s->max);
    rows_json(&j, s);
    json_close(&j, '}');
    (void)fputc('\n', out);
}

void table_leader_print(FILE *out, const zkr_contenders *list)
{
    const zkr_contender *c = zkr_contenders_get(list, 0);
    if (!c) {
        (void)fputs("nobody\n", out);
        return;
    }
    (void)fputs("node=", out);
    text_print(out, c->node, 0);
    (void)fprintf(out, " token=%" PRId64 " session=0x%" PRIx64 " id=", c->fencing_token,
                  (uint64_t)c->session_id);
    text_print(out, c->owner, 0);
    (void)fputc('\n', out);
}

void table_leader_json(FILE *out, const char *path, const zkr_contenders *list)
{
    struct json j = {.out = out};
    const zkr_contender *c = zkr_contenders_get(list, 0);
    json_open(&j, '{');
    json_key(&j, "path");
    json_string(&j, path);
    json_key(&j, "leader");
    if (c) {
        json_open(&j, '{');
        contender_json(&j, c, 0, c->owner, true);
        json_close(&j, '}');
    } else {
        json_null(&j);
    }
    json_close(&j, '}');
    (void)fputc('\n', out);
}
