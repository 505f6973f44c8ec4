/* SPDX-License-Identifier: Apache-2.0 */
#include "json_check.h"

#include "fuzz.h"
#include "utf8.h"

enum { DEPTH_MAX = 8 };

static bool hex4(const char **at, uint32_t *value)
{
    static const char digits[] = "0123456789abcdef";
    *value = 0;
    for (int i = 0; i < 4; i++, (*at)++) {
        const char *digit = **at ? strchr(digits, **at | 0x20) : NULL;
        if (!digit) {
            return false;
        }
        *value = *value * 16 + (uint32_t)(digit - digits);
    }
    return true;
}

static bool read_escape(const char **at, uint32_t *point)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char letter = *(*at)++;
    if (letter == 'u') {
        return hex4(at, point) && !(*point >= 0xd800 && *point <= 0xdfff);
    }
    const char *found = letter ? strchr(from, letter) : NULL;
    if (found) {
        *point = (uint8_t)to[found - from];
    }
    return found != NULL;
}

static bool read_point(const char **at, uint32_t *point)
{
    if (**at == '\\') {
        (*at)++;
        return read_escape(at, point);
    }
    size_t length = utf8_point(*at, point);
    *at += length;
    return length > 0 && *point >= 0x20;
}

/* The next of the bytes that were written; U+FFFD for one that is part of no character. */
static uint32_t original_point(const char **at)
{
    uint32_t point = 0;
    size_t length = utf8_point(*at, &point);
    *at += length > 0 ? length : 1;
    return length > 0 ? point : 0xfffd;
}

/* @original, if not NULL, is what it must say. */
static bool read_string(struct json_check *c, const char *original)
{
    if (*c->at++ != '"') {
        return false;
    }
    while (*c->at != '"') {
        uint32_t point;
        if (!read_point(&c->at, &point)) {
            return false;
        }
        if (original && (!*original || original_point(&original) != point)) {
            return false;
        }
    }
    c->at++;
    return !original || !*original;
}

static bool read_number(struct json_check *c)
{
    c->at += *c->at == '-';
    size_t digits = strspn(c->at, "0123456789");
    bool good = digits > 0 && (*c->at != '0' || digits == 1);
    c->at += digits;
    return good && !strchr(".eE", *c->at ? *c->at : ' ');
}

static bool read_word(struct json_check *c)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < FUZZ_COUNT(words); i++) {
        size_t length = strlen(words[i]);
        if (strncmp(c->at, words[i], length) == 0) {
            c->at += length;
            return true;
        }
    }
    return false;
}

static bool read_value(struct json_check *c, const char *original);

static const char *expected_value(struct json_check *c, const char *key, size_t length)
{
    if (c->matched < c->expected && strlen(c->expect[c->matched].key) == length &&
        strncmp(c->expect[c->matched].key, key, length) == 0) {
        return c->expect[c->matched++].value;
    }
    return NULL;
}

static bool read_member(struct json_check *c)
{
    const char *key = c->at + 1;
    if (!read_string(c, NULL)) {
        return false;
    }
    size_t length = (size_t)(c->at - 1 - key);
    return *c->at++ == ':' && read_value(c, expected_value(c, key, length));
}

static bool
read_many(struct json_check *c, char close, bool (*one)(struct json_check *))
{
    c->at++;
    if (*c->at == close) {
        c->at++;
        return true;
    }
    while (one(c)) {
        if (*c->at == close) {
            c->at++;
            return true;
        }
        if (*c->at++ != ',') {
            return false;
        }
    }
    return false;
}

static bool read_element(struct json_check *c)
{
    return read_value(c, NULL);
}

static bool read_value(struct json_check *c, const char *original)
{
    bool good;
    if (*c->at == '"') {
        return read_string(c, original);
    }
    if (original || ++c->depth > DEPTH_MAX) {
        return false;
    }
    if (*c->at == '{') {
        good = read_many(c, '}', read_member);
    } else if (*c->at == '[') {
        good = read_many(c, ']', read_element);
    } else {
        good = *c->at == '-' || (*c->at >= '0' && *c->at <= '9') ? read_number(c)
                                                                 : read_word(c);
    }
    c->depth--;
    return good;
}

void json_expect(struct json_check *c, const char *key, const char *value)
{
    FUZZ_TRUE(c->expected < JSON_EXPECT_MAX);
    c->expect[c->expected].key = key;
    c->expect[c->expected++].value = value;
}

bool json_check_all(struct json_check *c)
{
    return read_value(c, NULL) && *c->at == '\0';
}
