/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How zkr shows data of other programs: node data become text without control characters. The table keeps its lines,
 * and shows nothing that controls a terminal. JSON is valid for any bytes, and returns them.
 */
#include <jansson.h>

#include "base/mem.h"
#include "contender.h"
#include "fuzz.h"
#include "look/contender.h"
#include "utf8.h"
#include "view.h"

enum { MOST = 8 };

static struct {
    zkr_contender list[MOST];
    size_t count;
} shown;

/* The list that tools/zkr gets, because the library's own lists come only from answers. */
__typeof__(zkr_contenders_count) __wrap_zkr_contenders_count;
__typeof__(zkr_contenders_get) __wrap_zkr_contenders_get;

size_t __wrap_zkr_contenders_count(const zkr_contenders *list)
{
    return list ? shown.count : 0;
}

const zkr_contender *__wrap_zkr_contenders_get(const zkr_contenders *list, size_t i)
{
    return i < shown.count ? &shown.list[i] : NULL;
}

/* --- node data --- */

/* A line feed ends a field of the input, so RS stands for a line feed in the data. */
static void take(zkr_contender *c, char *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        data[i] = data[i] == '\036' ? '\n' : data[i];
    }
    const struct zkr__answer answer = {.data = data,
                                       .data_len = size,
                                       .owner = c->session_id,
                                       .created_ms = c->created_ms,
                                       .czxid = c->fencing_token};
    FUZZ_TRUE(zkr__contender_take(c, &answer) == ZKR_OK);
    for (const char *s = c->owner; *s; s++) {
        FUZZ_TRUE((unsigned char)*s >= ' ' && *s != 0x7f);
    }
}

static void make_list(struct fuzz_input *in)
{
    shown.count = 0;
    while (in->left > 0 && shown.count < MOST) {
        size_t size;
        zkr_contender *c = &shown.list[shown.count++];
        *c = (zkr_contender){.session_id = (int64_t)fuzz_number(in, 8)};
        c->created_ms =
            (int64_t)fuzz_number(in, 8) >> 16; /* clocks count 48 bits or less */
        c->fencing_token = (int64_t)fuzz_number(in, 2);
        c->sequence = (int32_t)(uint32_t)fuzz_number(in, 4);
        c->kind = (int)fuzz_number(in, 1);
        c->holds = shown.count == 1;
        c->node = fuzz_field(in, '\0', NULL);
        char *data = fuzz_field(in, '\n', &size);
        take(c, data, size);
        free(data);
    }
}

static void free_list(void)
{
    for (size_t i = 0; i < shown.count; i++) {
        free((void *)(uintptr_t)shown.list[i].node);
        shown.list[i].node = NULL;
        zkr__contender_drop(&shown.list[i]);
    }
}

/* --- what is shown --- */

/* Returns whether the code point starts a line, moves the cursor or changes the direction of text. */
static bool terminal_obeys(uint32_t point)
{
    return point < 0x20 || (point >= 0x7f && point <= 0x9f) || point == 0x2028 ||
           point == 0x2029 || (point >= 0x202a && point <= 0x202e) ||
           (point >= 0x2066 && point <= 0x2069) || point == 0x200e || point == 0x200f ||
           point == 0x061c;
}

static void check_text(const char *text, size_t least, size_t most)
{
    size_t ends = 0;
    uint32_t point = 0;
    for (size_t length; *text; text += length) {
        length = utf8_point(text, &point);
        FUZZ_TRUE(length > 0);
        FUZZ_TRUE(point == '\n' || !terminal_obeys(point));
        ends += point == '\n';
    }
    FUZZ_TRUE(ends >= least && ends <= most);
}

/* Returns the output of print(), which contains no zero. The caller frees it. */
static char *written(void (*print)(FILE *out, const char *path), const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    FUZZ_TRUE(out != NULL);
    print(out, path);
    FUZZ_TRUE(fclose(out) == 0);
    FUZZ_TRUE(text && strlen(text) == size);
    return text;
}

/* The list of the functions above. */
static zkr_contenders *all(void)
{
    return (void *)&shown;
}

static void show(FILE *out, const char *path, bool permits, bool json)
{
    struct view v;
    const struct peers nobody = {.list = NULL};
    zkr_contenders *lists[VIEW_LISTS] = {NULL};
    lists[permits ? VIEW_PERMITS : VIEW_QUEUE] = all();
    FUZZ_TRUE(view_begin(&v, lists, &nobody));
    if (json) {
        view_json(out, path, &v, true);
    } else {
        view_print(out, &v);
    }
    view_end(&v);
}

static void print_table(FILE *out, const char *path)
{
    show(out, path, false, false);
}

static void print_json(FILE *out, const char *path)
{
    show(out, path, false, true);
}

static void print_permits_json(FILE *out, const char *path)
{
    show(out, path, true, true);
}

static void print_leader(FILE *out, const char *path)
{
    contender_leader_print(out, all());
}

static void print_leader_json(FILE *out, const char *path)
{
    contender_leader_json(out, path, all());
}

/* Each byte that is not part of a character has become U+FFFD. */
static void is_said(const json_t *object, const char *key, const char *bytes)
{
    const char *said = json_string_value(json_object_get(object, key));
    FUZZ_TRUE(said != NULL);
    while (*bytes) {
        uint32_t point;
        size_t length = utf8_point(bytes, &point);
        size_t wrote = length > 0 ? length : 3;
        FUZZ_TRUE(strncmp(said, length > 0 ? bytes : "\xef\xbf\xbd", wrote) == 0);
        said += wrote;
        bytes += length > 0 ? length : 1;
    }
    FUZZ_TRUE(!*said);
}

static void owner_is_said(const json_t *object, const zkr_contender *c)
{
    is_said(object, "owner", c->asked ? "" : c->owner);
}

static void contender_is_said(const json_t *object, const zkr_contender *c)
{
    is_said(object, "node", c->node);
    owner_is_said(object, c);
    const json_t *token = json_object_get(object, "fencing_token");
    FUZZ_TRUE(json_is_integer(token) && json_integer_value(token) == c->fencing_token);
}

/* Check that @text is one line, valid by RFC 8259, without a repeated member, and that its "path" is @path. Free
   @text. The caller releases the result with json_decref(). */
static json_t *read_json(char *text, const char *path)
{
    FUZZ_TRUE(text[0] && text[strlen(text) - 1] == '\n');
    text[strlen(text) - 1] = '\0';
    FUZZ_TRUE(!strpbrk(text, "\n\r"));
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_TRUE(json != NULL);
    is_said(json, "path", path);
    free(text);
    return json;
}

static void check_queue_json(const char *path)
{
    json_t *json = read_json(written(print_json, path), path);
    const json_t *list = json_object_get(json, "contenders");
    FUZZ_TRUE(json_array_size(list) == shown.count);
    for (size_t i = 0; i < shown.count; i++) {
        contender_is_said(json_array_get(list, i), &shown.list[i]);
    }
    if (shown.count > 0) { /* the first holds */
        owner_is_said(json, &shown.list[0]);
    }
    json_decref(json);
}

static void check_leader_json(const char *path)
{
    json_t *json = read_json(written(print_leader_json, path), path);
    const json_t *leader = json_object_get(json, "leader");
    if (shown.count > 0) {
        contender_is_said(leader, &shown.list[0]);
    } else {
        FUZZ_TRUE(json_is_null(leader));
    }
    json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    char *path = fuzz_field(&in, '\n', NULL);
    make_list(&in);
    char *text = written(print_table, path);
    /* And one line about the holder. */
    check_text(text, 1 + shown.count, 2 + shown.count);
    free(text);
    text = written(print_leader, path);
    check_text(text, 1, 1);
    free(text);
    check_queue_json(path);
    json_decref(read_json(written(print_permits_json, path), path));
    check_leader_json(path);
    free_list();
    free(path);
    return 0;
}
