/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <inttypes.h>

#include "text.h"

static void put_point(FILE *out, const char *bytes, size_t length, uint32_t point)
{
    if (point == '"' || point == '\\') {
        (void)fprintf(out, "\\%c", (char)point);
    } else if (point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x2028 ||
               point == 0x2029) {
        (void)fprintf(out, "\\u%04" PRIx32, point);
    } else {
        (void)fwrite(bytes, 1, length, out);
    }
}

static void put_string(FILE *out, const char *text)
{
    (void)fputc('"', out);
    while (*text) {
        uint32_t point = 0;
        size_t length = text_decode(text, &point);
        if (length > 0) {
            put_point(out, text, length, point);
            text += length;
        } else {
            (void)fputs("\\ufffd", out);
            text++;
        }
    }
    (void)fputc('"', out);
}

/* Writes the comma and the key before a value. */
static FILE *begin(struct json *j, const char *key)
{
    if (j->comma) {
        (void)fputc(',', j->out);
    }
    if (key) {
        put_string(j->out, key);
        (void)fputc(':', j->out);
    }
    j->comma = true;
    return j->out;
}

void json_open(struct json *j, const char *key, char bracket)
{
    (void)fputc(bracket, begin(j, key));
    j->comma = false;
}

void json_close(struct json *j, char bracket)
{
    (void)fputc(bracket, j->out);
    j->comma = true;
}

void json_begin(struct json *j, const char *path)
{
    json_open(j, NULL, '{');
    json_text(j, "path", path);
}

void json_end(struct json *j)
{
    json_close(j, '}');
    (void)fputc('\n', j->out);
}

void json_text(struct json *j, const char *key, const char *text)
{
    FILE *out = begin(j, key);
    if (text) {
        put_string(out, text);
    } else {
        (void)fputs("null", out);
    }
}

void json_bool(struct json *j, const char *key, bool value)
{
    (void)fputs(value ? "true" : "false", begin(j, key));
}

void json_int(struct json *j, const char *key, int64_t value)
{
    (void)fprintf(begin(j, key), "%" PRId64, value);
}

void json_number(struct json *j, const char *key, bool known, int64_t value)
{
    if (known) {
        json_int(j, key, value);
    } else {
        json_text(j, key, NULL);
    }
}

void json_session(struct json *j, bool known, int64_t id)
{
    if (known) {
        (void)fprintf(begin(j, "session"), "\"0x%" PRIx64 "\"", (uint64_t)id);
    } else {
        json_text(j, "session", NULL);
    }
}
