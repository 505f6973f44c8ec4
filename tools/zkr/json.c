/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <inttypes.h>

#include "text.h"

static void separate(struct json *j)
{
    if (j->comma) {
        (void)fputc(',', j->out);
    }
    j->comma = true;
}

void json_open(struct json *j, char bracket)
{
    separate(j);
    (void)fputc(bracket, j->out);
    j->comma = false;
}

void json_close(struct json *j, char bracket)
{
    (void)fputc(bracket, j->out);
    j->comma = true;
}

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

void json_key(struct json *j, const char *name)
{
    separate(j);
    put_string(j->out, name);
    (void)fputc(':', j->out);
    j->comma = false;
}

void json_string(struct json *j, const char *text)
{
    separate(j);
    put_string(j->out, text);
}

void json_int(struct json *j, int64_t value)
{
    separate(j);
    (void)fprintf(j->out, "%" PRId64, value);
}

void json_bool(struct json *j, bool value)
{
    separate(j);
    (void)fputs(value ? "true" : "false", j->out);
}

void json_null(struct json *j)
{
    separate(j);
    (void)fputs("null", j->out);
}

void json_hex(struct json *j, int64_t value)
{
    separate(j);
    (void)fprintf(j->out, "\"0x%" PRIx64 "\"", (uint64_t)value);
}

void json_number(struct json *j, const char *key, bool known, int64_t value)
{
    json_key(j, key);
    if (known) {
        json_int(j, value);
    } else {
        json_null(j);
    }
}

void json_text(struct json *j, const char *key, const char *text)
{
    json_key(j, key);
    if (text) {
        json_string(j, text);
    } else {
        json_null(j);
    }
}
