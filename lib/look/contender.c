/* SPDX-License-Identifier: Apache-2.0 */
#include "look/contender.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zkr/error.h>

#include "base/mem.h"
#include "queue/makers.h"
#include "queue/node_data.h"

/* --- text --- */

/* Returns the length in bytes of the character at @s, or 1 for a byte that is not UTF-8. */
static size_t char_len(const unsigned char *s, size_t left)
{
    size_t len = s[0] < 0xc2 || s[0] > 0xf4 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < len; i++) {
        if (i >= left || (s[i] & 0xc0) != 0x80) {
            return 1;
        }
    }
    return len;
}

/* Returns whether the character at @s is a control character: C0 or DEL (one byte), or C1 (one byte, or two in UTF-8). */
static bool is_control(const unsigned char *s, size_t len)
{
    unsigned char last = s[len - 1];
    return len == 1 ? last < 0x20 || (last >= 0x7f && last < 0xa0)
                    : len == 2 && s[0] == 0xc2 && last < 0xa0;
}

/* Replace control characters by '?', and with @zeros also NUL bytes. The text need not be UTF-8. */
static void hide_controls(char *text, size_t len, bool zeros)
{
    size_t step;
    for (size_t i = 0; i < len; i += step) {
        const unsigned char *s = (const unsigned char *)text + i;
        step = char_len(s, len - i);
        if (is_control(s, step) && (zeros || *s != '\0')) {
            memset(text + i, '?', step);
        }
    }
}

/* Returns an allocated copy followed by two NUL bytes, or NULL if memory runs out. */
static char *copy_data(const void *data, size_t len)
{
    char *text = zkr__mem_alloc(len + 2);
    if (text && data && len > 0) {
        memcpy(text, data, len);
    }
    return text;
}

/* --- fields: the lines after the first, each with a key, '=' and a value --- */

static size_t key_len(const char *line)
{
    return strspn(line, "abcdefghijklmnopqrstuvwxyz_");
}

/*
 * Returns whether all lines of the text, except the first, are fields. Two NUL bytes must follow the @len bytes of
 * @text.
 */
static bool has_fields(const char *text, size_t len)
{
    const char *line = memchr(text, '\n', len);
    bool all = line != NULL;
    while (line && all && line[1] != '\0') { /* the last line may end in a newline */
        size_t key = key_len(line + 1);
        all = key > 0 && line[1 + key] == '=';
        line = memchr(line + 1, '\n', len - (size_t)(line + 1 - text));
    }
    return all;
}

/*
 * Split the text into one string for each line. Returns the strings after the first line, which are the fields, or NULL
 * if there are none.
 */
static const char *split(char *text, size_t len)
{
    if (!has_fields(text, len)) {
        return NULL;
    }
    char *first_end = memchr(text, '\n', len);
    for (char *at = first_end; at && at < text + len; at++) {
        if (*at == '\n') {
            *at = '\0';
        }
    }
    return first_end + 1;
}

const char *zkr_contender_field(const zkr_contender *c, const char *key)
{
    const char *field = c && key ? c->fields : NULL;
    size_t len = field ? strlen(key) : 0;
    while (field && *field != '\0') {
        if (len > 0 && strncmp(field, key, len) == 0 && field[len] == '=') {
            return field + len + 1;
        }
        field += strlen(field) + 1;
    }
    return NULL;
}

/* Returns the number in a field, or 0 if there is no positive number. */
static int64_t number_in(const zkr_contender *entry, const char *key)
{
    const char *value = zkr_contender_field(entry, key);
    char *end = NULL;
    errno = 0;
    long long number = value ? strtoll(value, &end, 10) : 0;
    return value && end != value && *end == '\0' && errno == 0 && number > 0 ? number
                                                                             : 0;
}

/* --- an entry --- */

int zkr__contender_kind(enum zkr__name_kind kind)
{
    static const int kinds[] = {
        [ZKR__NAME_LOCK] = ZKR_KIND_LOCK,   [ZKR__NAME_READ] = ZKR_KIND_READ,
        [ZKR__NAME_WRITE] = ZKR_KIND_WRITE, [ZKR__NAME_LATCH] = ZKR_KIND_LEADER,
        [ZKR__NAME_LEASE] = ZKR_KIND_LEASE, [ZKR__NAME_OTHER] = ZKR_KIND_OTHER,
    };
    return kinds[kind];
}

int zkr__contender_begin(zkr_contender *entry, const struct zkr__child *child)
{
    bool other = child->kind == ZKR__NAME_OTHER;
    const struct zkr__maker *maker = other ? zkr__maker_of(child->name) : NULL;
    *entry = (zkr_contender){.node = zkr__mem_string(child->name),
                             .sequence = child->sequence,
                             .kind = zkr__contender_kind(child->kind),
                             .maker = maker ? maker->name : NULL,
                             .ordered = maker ? maker->ordered : !other};
    return entry->node ? ZKR_OK : ZKR_ENOMEM;
}

int zkr__contender_take(zkr_contender *entry, const struct zkr__answer *answer)
{
    entry->asked = zkr__is_revocation(answer->data, answer->data_len);
    static const char compressed[] = "compressed data";
    bool legible = !zkr__is_compressed(answer->data, answer->data_len);
    const void *data = legible ? answer->data : compressed;
    size_t len = entry->asked ? 0 : legible ? answer->data_len : sizeof(compressed) - 1;
    char *text = copy_data(data, len);
    if (!text) {
        return ZKR_ENOMEM;
    }
    if (memchr(text, '\0', len)) { /* not text, so newlines do not separate fields */
        hide_controls(text, len, true);
    }
    entry->fields = split(text, len);
    hide_controls(text, len, false);
    entry->owner = text;
    entry->session_id = answer->owner;
    entry->created_ms = answer->created_ms;
    entry->fencing_token = answer->czxid;
    entry->held_since_ms = number_in(entry, ZKR__FIELD_HELD_SINCE);
    return ZKR_OK;
}

void zkr__contender_drop(zkr_contender *entry)
{
    zkr__mem_free((void *)(uintptr_t)entry->node);
    zkr__mem_free((void *)(uintptr_t)entry->owner);
    entry->node = entry->owner = entry->fields = NULL;
}

/* --- which leases hold permits --- */

static int64_t read_max(const zkr_contender *leases, size_t count)
{
    int64_t max = 0;
    for (size_t i = count; i > 0 && max == 0; i--) {
        max = number_in(&leases[i - 1], ZKR__FIELD_MAX);
    }
    return max;
}

/*
 * A lease without a maximum is waiting if its client is first at the gate, and created the lease after its node at the
 * gate.
 */
static bool is_waited_for(const zkr_contender *newest, const zkr_contender *gate)
{
    return gate && newest->session_id != 0 && newest->session_id == gate->session_id &&
           newest->fencing_token > gate->fencing_token;
}

size_t zkr__permits_held(const zkr_contender *leases,
                         size_t count,
                         const zkr_contender *gate,
                         int64_t *max)
{
    size_t held = 0;
    *max = read_max(leases, count);
    while (held < count) {
        const zkr_contender *first = &leases[held];
        int64_t own = number_in(first, ZKR__FIELD_MAX);
        int64_t most = own > *max ? own : *max;
        size_t end = held + 1;
        while (end < count && leases[end].fencing_token == first->fencing_token) {
            end++;
        }
        bool waits =
            own > 0 ? end > (uint64_t)most : end == count && is_waited_for(first, gate);
        if (waits) {
            return held;
        }
        held = end;
    }
    return held;
}
