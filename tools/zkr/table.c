/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <inttypes.h>

#include "cli.h"
#include "json.h"
#include "owner.h"
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

/* Whoever holds together has one position. */
static void print_row(FILE *out, const struct sight *s, size_t i, int width)
{
    const struct sight_row *row = &s->rows[i];
    const zkr_contender *c = row->c;
    char age[CELL], held[CELL] = "-", kind[CELL];
    text_age(age, sizeof(age), owner_now_ms() - c->created_ms);
    if (row->holds) {
        owner_held(held, sizeof(held), c);
    }
    (void)snprintf(kind, sizeof(kind), "%s",
                   s->semaphore ? "permit" : sight_kind(c->kind));
    if (row->permits > 1) {
        (void)snprintf(kind, sizeof(kind), "%" PRId64 " permits", row->permits);
    }
    (void)fprintf(out, "%-3zu  ", row->holds ? 1 : i + 1);
    text_print(out, *row->owner ? row->owner : "-", width);
    (void)fprintf(out, "  0x%-16" PRIx64 "  %7s  %7s  %12" PRId64 "  %-7s  ",
                  (uint64_t)c->session_id, age, held, c->fencing_token, kind);
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
    if (s->semaphore) {
        print_permits(out, s);
    }
    int width = owner_width(s);
    (void)fprintf(out, "%-3s  %-*s  %-18s  %7s  %7s  %12s  %-7s  %s\n", "POS", width,
                  "OWNER", "SESSION", "AGE", "HELD", "TOKEN", "KIND", "NODE");
    for (size_t i = 0; i < s->count; i++) {
        print_row(out, s, i, width);
    }
    for (size_t i = 0; i < s->count && s->rows[i].holds; i++) {
        owner_print(out, s->rows[i].c, s->rows[i].owner, s->rows[i].server);
    }
}

/* What a node says of itself, beyond its owner. */
static void fields_json(struct json *j, const zkr_contender *c)
{
    static const char *const keys[] = {"user", "host", "command"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        json_text(j, keys[i], zkr_contender_field(c, keys[i]));
    }
    const char *timeout = zkr_contender_field(c, "session_timeout_ms");
    int64_t ms = 0;
    bool known = timeout && cli_parse_int(timeout, 1, INT64_MAX, &ms);
    json_number(j, "session_timeout_ms", known, ms);
}

static void contender_json(struct json *j,
                           const zkr_contender *c,
                           size_t i,
                           const char *owner,
                           bool holds)
{
    int64_t age = owner_now_ms() - c->created_ms;
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
    json_number(j, "held_since_ms", c->held_since_ms > 0, c->held_since_ms);
    fields_json(j, c);
}

static void rows_json(struct json *j, const struct sight *s)
{
    json_key(j, "contenders");
    json_open(j, '[');
    for (size_t i = 0; s->rows && i < s->count; i++) {
        const struct sight_row *row = &s->rows[i];
        json_open(j, '{');
        contender_json(j, row->c, i, row->owner, row->holds);
        json_text(j, "server", row->server);
        if (s->semaphore) {
            json_key(j, "permits");
            json_int(j, row->permits);
        }
        json_close(j, '}');
    }
    json_close(j, ']');
}

void table_holder_json(struct json *j, const zkr_contender *c, const char *owner)
{
    json_text(j, "owner", !c ? NULL : c->asked ? "" : owner ? owner : c->owner);
    json_key(j, "session");
    if (c) {
        json_hex(j, c->session_id);
    } else {
        json_null(j);
    }
    json_number(j, "held_since", c && c->held_since_ms > 0, c ? c->held_since_ms : 0);
    fields_json(j, c);
}

void table_json(FILE *out,
                const char *path,
                const struct sight *s,
                bool exists,
                const struct peers *peers)
{
    struct json j = {.out = out};
    const struct sight_row *first = s->rows; /* holders stand first */
    bool held = s->holders > 0;
    json_open(&j, '{');
    json_key(&j, "path");
    json_string(&j, path);
    json_text(&j, "kind", s->kind);
    table_holder_json(&j, held ? first->c : NULL, held ? first->owner : NULL);
    json_number(&j, "waiting", true, (int64_t)(s->count - s->holders));
    json_number(&j, "permits", s->semaphore, s->permits);
    json_number(&j, "max", s->max > 0, s->max);
    json_key(&j, "exists");
    json_bool(&j, exists);
    rows_json(&j, s);
    peers_json(peers, &j);
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
