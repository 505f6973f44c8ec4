/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/contender.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zkr/error.h>

#include "base/mem.h"

/* --- text --- */

static bool is_control(char ch)
{
    unsigned char byte = (unsigned char)ch;
    return byte < 0x20 || byte == 0x7f;
}

static char *copy_data(const void *data, size_t len)
{
    char *text = zkr__mem_alloc(len + 2);
    if (text && data && len > 0) {
        memcpy(text, data, len);
    }
    return text;
}

char *zkr__contenders_text(const void *data, size_t len)
{
    char *text = copy_data(data, len);
    for (size_t i = 0; text && i < len; i++) {
        if (is_control(text[i])) {
            text[i] = '?';
        }
    }
    return text;
}

/* --- fields: lines behind the first, each a key, '=', a value --- */

static size_t key_len(const char *line)
{
    return strspn(line, "abcdefghijklmnopqrstuvwxyz_");
}

/* @text has two zeros behind its @len bytes. */
static bool has_fields(const char *text, size_t len)
{
    const char *line = memchr(text, '\n', len);
    bool all = line != NULL;
    while (line && all && line[1] != '\0') { /* the last line may end, too */
        size_t key = key_len(line + 1);
        all = key > 0 && line[1 + key] == '=';
        line = memchr(line + 1, '\n', len - (size_t)(line + 1 - text));
    }
    return all;
}

/* Lines become strings, and what is behind the first of them the fields. */
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

/* 0 when there is no such field, or no number in it. */
static int64_t number_of(const zkr_contender *entry, const char *key)
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

static void hide_controls(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '\0' && is_control(text[i])) {
            text[i] = '?';
        }
    }
}

int zkr__contender_take(zkr_contender *entry, const struct zkr__answer *answer)
{
    entry->asked = zkr__is_wish(answer->data, answer->data_len);
    size_t len = entry->asked ? 0 : answer->data_len;
    char *text = memchr(answer->data ? answer->data : "", '\0', len)
                     ? zkr__contenders_text(answer->data, len)
                     : copy_data(answer->data, len);
    if (!text) {
        return ZKR_ENOMEM;
    }
    entry->fields = split(text, len);
    hide_controls(text, len);
    entry->owner = text;
    entry->session_id = answer->owner;
    entry->created_ms = answer->created_ms;
    entry->fencing_token = answer->czxid;
    entry->held_since_ms = number_of(entry, ZKR__FIELD_HELD_SINCE);
    return ZKR_OK;
}

void zkr__contender_drop(zkr_contender *entry)
{
    zkr__mem_free((void *)(uintptr_t)entry->node);
    zkr__mem_free((void *)(uintptr_t)entry->owner);
    entry->node = entry->owner = entry->fields = NULL;
}
