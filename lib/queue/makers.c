/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/makers.h"

#include <stddef.h>
#include <string.h>

enum { DIGITS = 10, ID = 32 /* ID: hexadecimal digits of a UUID */ };

/* The part of a name between its beginning and its end. */
enum middle { NOTHING, AN_ID, A_SESSION, ANYTHING };

/* A name without its number. */
static const struct shape {
    const char *begin;
    enum middle middle;
    const char *end;
    struct zkr__maker maker;
} shapes[] = {
    {"", ANYTHING, "__lock__", {"kazoo", ZKR__IGNORES, true, false}},
    {"", ANYTHING, "__rlock__", {"kazoo", ZKR__IGNORES, false, false}},
    {"", ANYTHING, "__wlock__", {"kazoo", ZKR__IGNORES, false, false}},
    {"lock-", AN_ID, "-", {"aiozk", ZKR__WAITS, true, false}},
    {"candidate-", AN_ID, "-", {"aiozk", ZKR__WAITS, true, false}},
    {"latch-", ANYTHING, "-", {"zookeeper-async", ZKR__WAITS, true, true}},
    {"", AN_ID, "_", {"zookeeper-async", ZKR__IGNORES, true, true}},
    {"", NOTHING, "", {"Vitess", ZKR__IGNORES, true, true}},
    {"0", NOTHING, "", {"Camel", ZKR__IGNORES, true, true}},
    {"le_", NOTHING, "", {"go-leaderelection", ZKR__BREAKS, true, true}},
    {"LOCK-SHARED-", NOTHING, "", {"Hive", ZKR__IGNORES, false, false}},
    {"LOCK-EXCLUSIVE-", NOTHING, "", {"Hive", ZKR__IGNORES, false, false}},
    {"R_", NOTHING, "", {"Solr", ZKR__BREAKS, false, true}},
    {"W_", NOTHING, "", {"Solr", ZKR__BREAKS, false, true}},
    {"", A_SESSION, "-n_", {"Solr", ZKR__BREAKS, true, true}},
    {"V_", NOTHING, "", {"BookKeeper", ZKR__BREAKS, true, true}},
    {"urL", NOTHING, "", {"BookKeeper", ZKR__IGNORES, false, true}},
    {"member_", ANYTHING, "_", {"DistributedLog", ZKR__IGNORES, true, true}},
    {"zlock#", AN_ID, "#", {"Accumulo", ZKR__IGNORES, true, false}},
    {"", ANYTHING, "|", {"Ignite", ZKR__IGNORES, false, true}},
};

static bool is_id(const char *text, size_t length)
{
    size_t digits = 0;
    for (size_t i = 0; i < length; i++) {
        bool digit = text[i] != '\0' && strchr("0123456789abcdefABCDEF", text[i]);
        if (!digit && text[i] != '-') {
            return false;
        }
        digits += digit;
    }
    return digits == ID;
}

/* Returns true for a session ID, a hyphen, and more text. A UUID has fewer decimal digits before its first hyphen. */
static bool begins_with_session(const char *text, size_t length)
{
    enum { LEAST = 12 };
    size_t digits = strspn(text, "0123456789");
    return digits >= LEAST && digits < length && text[digits] == '-';
}

static bool fits(const struct shape *shape, const char *name, size_t length)
{
    size_t begin = strlen(shape->begin), end = strlen(shape->end);
    if (length < begin + end || strncmp(name, shape->begin, begin) != 0 ||
        strncmp(name + length - end, shape->end, end) != 0) {
        return false;
    }
    size_t middle = length - begin - end;
    return shape->middle == NOTHING     ? middle == 0
           : shape->middle == AN_ID     ? is_id(name + begin, middle)
           : shape->middle == A_SESSION ? begins_with_session(name + begin, middle)
                                        : true;
}

const struct zkr__maker *zkr__maker_of(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; length >= DIGITS && i < sizeof(shapes) / sizeof(shapes[0]);
         i++) {
        if (fits(&shapes[i], name, length - DIGITS)) {
            return &shapes[i].maker;
        }
    }
    return NULL;
}

bool zkr__maker_is_certain(const char *name)
{
    const struct zkr__maker *maker = zkr__maker_of(name);
    return maker && !maker->vague;
}
