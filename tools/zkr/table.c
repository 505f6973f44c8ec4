/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <inttypes.h>
#include <time.h>

#include "json.h"
#include "text.h"

enum { LEAST_OWNER = 5, MOST_OWNER = 60, CELL = 32 };

static int owner_width(const zkr_contenders *list)
{
    int width = LEAST_OWNER;
    for (size_t i = 0; i < zkr_contenders_count(list); i++) {
        int w = text_width(zkr_contenders_get(list, i)->owner);
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

void table_print(FILE *out, const zkr_contenders *list)
{
    int64_t now_ms = wall_ms();
    size_t count = zkr_contenders_count(list);
    if (count == 0) {
        (void)fputs("nobody\n", out);
        return;
    }
    int width = owner_width(list);
    (void)fprintf(out, "%-3s  %-*s  %-18s  %7s  %12s  %s\n", "POS", width, "OWNER",
                  "SESSION", "AGE", "TOKEN", "NODE");
    for (size_t i = 0; i < count; i++) {
        const zkr_contender *c = zkr_contenders_get(list, i);
        char age[CELL];
        text_age(age, sizeof(age), now_ms - c->created_ms);
        (void)fprintf(out, "%-3zu  ", i + 1);
        text_print(out, *c->owner ? c->owner : "-", width);
        (void)fprintf(out, "  0x%-16" PRIx64 "  %7s  %12" PRId64 "  ",
                      (uint64_t)c->session_id, age, c->fencing_token);
        text_print(out, c->node, 0);
        (void)fputc('\n', out);
    }
}

static void contender_json(struct json *j, const zkr_contender *c, size_t i)
{
    int64_t age = wall_ms() - c->created_ms;
    json_open(j, '{');
    json_key(j, "position");
    json_int(j, (int64_t)i + 1);
    json_key(j, "holder");
    json_bool(j, i == 0);
    json_key(j, "node");
    json_string(j, c->node);
    json_key(j, "owner");
    json_string(j, c->owner);
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
    json_close(j, '}');
}

void table_json(FILE *out, const char *path, const zkr_contenders *list)
{
    struct json j = {.out = out};
    json_open(&j, '{');
    json_key(&j, "path");
    json_string(&j, path);
    json_key(&j, "contenders");
    json_open(&j, '[');
    for (size_t i = 0; i < zkr_contenders_count(list); i++) {
        contender_json(&j, zkr_contenders_get(list, i), i);
    }
    json_close(&j, ']');
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
        contender_json(&j, c, 0);
    } else {
        json_null(&j);
    }
    json_close(&j, '}');
    (void)fputc('\n', out);
}
