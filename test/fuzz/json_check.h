/* SPDX-License-Identifier: Apache-2.0 */
/* A strict reader of JSON (RFC 8259) that also looks whether certain members are as expected. */
#ifndef ZKT_FUZZ_JSON_CHECK_H
#define ZKT_FUZZ_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

enum { JSON_EXPECT_MAX = 32 };

struct json_check {
    const char *at; /* the text */
    struct {
        const char *key;
        const char *value; /* bytes; what is no UTF-8 in it has become U+FFFD */
    } expect[JSON_EXPECT_MAX];
    size_t expected;
    size_t matched; /* of them, in their order */
    int depth;
};

/* The next member called @key has this value. */
void json_expect(struct json_check *c, const char *key, const char *value);

/* One value, and nothing behind it. */
bool json_check_all(struct json_check *c);

#endif
