/* SPDX-License-Identifier: Apache-2.0 */
#include "contender.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "cli.h"
#include "json.h"
#include "parse.h"
#include "text.h"

/* --- text --- */

const char *contender_kind(int kind)
{
    static const char *const words[] = {
        [ZKR_KIND_LOCK] = "lock",    [ZKR_KIND_READ] = "read",
        [ZKR_KIND_WRITE] = "write",  [ZKR_KIND_LEADER] = "leader",
        [ZKR_KIND_LEASE] = "permit", [ZKR_KIND_OTHER] = "other",
        [ZKR_KIND_NODE] = "node",
    };
    return kind >= ZKR_KIND_LOCK && kind <= ZKR_KIND_NODE ? words[kind] : "other";
}

const char *contender_recipe(const zkr_contender *c)
{
    return c->maker ? c->maker : contender_kind(c->kind);
}

const char *contender_owner(const zkr_contender *c)
{
    return c->asked ? "(asked to release)" : contender_name(c);
}

const char *contender_name(const zkr_contender *c)
{
    return *c->owner ? c->owner : c->node;
}

int64_t contender_ms_since(int64_t since_ms)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    int64_t ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - since_ms;
    return ms > 0 ? ms : 0;
}

void contender_age(char *buf, size_t size, int64_t since_ms)
{
    text_age(buf, size, contender_ms_since(since_ms));
}

void contender_held_for(char *buf, size_t size, const zkr_contender *c)
{
    enum { ROUND_UP_MS = 999 };
    if (c->held_since_ms > 0) {
        contender_age(buf, size, c->held_since_ms);
    } else {
        *buf = '<';
        contender_age(buf + 1, size - 1, c->created_ms - ROUND_UP_MS);
    }
}

int64_t contender_number(const zkr_contender *c, const char *key, int64_t most)
{
    const char *text = zkr_contender_field(c, key);
    int64_t number;
    return text && parse_int(text, 1, most, &number) ? number : 0;
}

/* --- JSON --- */

/* Writes the fields in a node's data, except the owner. */
static void fields_json(struct json *j, const zkr_contender *c)
{
    static const char *const keys[] = {"user", "host", "command"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        json_text(j, keys[i], zkr_contender_field(c, keys[i]));
    }
    int64_t ms = contender_number(c, "session_timeout_ms", INT64_MAX);
    json_number(j, "session_timeout_ms", ms > 0, ms);
}

void contender_json(struct json *j, const zkr_contender *c, size_t i, bool holds)
{
    json_int(j, "position", (int64_t)i + 1);
    json_bool(j, "holder", holds);
    json_text(j, "node", c->node);
    json_text(j, "owner", c->asked ? "" : c->owner);
    json_session(j, true, c->session_id);
    json_int(j, "created_ms", c->created_ms);
    json_int(j, "age_ms", contender_ms_since(c->created_ms));
    json_int(j, "fencing_token", c->fencing_token);
    json_int(j, "sequence", c->sequence);
    json_text(j, "kind", contender_kind(c->kind));
    json_bool(j, "asked", c->asked);
    json_number(j, "held_since_ms", c->held_since_ms > 0, c->held_since_ms);
    fields_json(j, c);
    json_text(j, "maker", c->maker);
}

void contender_holder_json(struct json *j, const zkr_contender *c)
{
    int64_t since = c ? c->held_since_ms : 0;
    json_text(j, "owner", !c ? NULL : c->asked ? "" : c->owner);
    json_session(j, c != NULL, c ? c->session_id : 0);
    json_number(j, "held_since", since > 0, since);
    fields_json(j, c);
}

/* --- lines --- */

int contender_say(const char *what, const zkr_contender *c)
{
    (void)fputs(what, stdout);
    text_print(stdout, contender_name(c), 0);
    (void)printf(", token %" PRId64 "\n", c->fencing_token);
    return cli_flush();
}

void contender_leader_print(FILE *out, const zkr_contenders *list)
{
    const zkr_contender *c = zkr_contenders_get(list, 0);
    if (!c) {
        (void)fputs("nobody\n", out);
        return;
    }
    (void)fputs("node=", out);
    text_print(out, c->node, 0);
    (void)fprintf(out, " token=%" PRId64 " session=0x%" PRIx64, c->fencing_token,
                  (uint64_t)c->session_id);
    text_line(out, " id=", c->owner);
}

void contender_leader_json(FILE *out, const char *path, const zkr_contenders *list)
{
    struct json j = {.out = out};
    const zkr_contender *c = zkr_contenders_get(list, 0);
    json_begin(&j, path);
    if (c) {
        json_open(&j, "leader", '{');
        contender_json(&j, c, 0, true);
        json_close(&j, '}');
    } else {
        json_text(&j, "leader", NULL);
    }
    json_end(&j);
}
