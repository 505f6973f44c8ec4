/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/claim_data.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "engine/contender.h"

#define NOTE "\n" ZKR__FIELD_HELD_SINCE "="
#define TIMEOUT "\n" ZKR__FIELD_SESSION_TIMEOUT "="

enum { NUMBER_ROOM = sizeof("-9223372036854775808") };
enum { ARG_ROOM = sizeof("\n" ZKR__FIELD_MAX "=") + NUMBER_ROOM };
enum { NOTE_ROOM = sizeof(NOTE TIMEOUT) + NUMBER_ROOM + NUMBER_ROOM };

/* As much of it as leaves room for the field, whole lines if there are several: fields are to stay fields. */
static size_t fitting(const char *owner)
{
    size_t most = strnlen(owner, ZKR__OWNER_TEXT_MAX - ARG_ROOM), len = most;
    while (owner[most] != '\0' && len > 0 && owner[len] != '\n') {
        len--;
    }
    return len > 0 ? len : most;
}

/* @owner: NULL = host/pid/thread. Returns the length. */
static size_t write_owner(const struct zkr__claim *claim,
                          const char *owner,
                          char text[ZKR__OWNER_TEXT_MAX])
{
    const struct zkr__queue *q = claim->q;
    char arg[ARG_ROOM] = "";
    if (q->tells_arg && q->rule_arg > 0) {
        (void)snprintf(arg, sizeof(arg), "\n" ZKR__FIELD_MAX "=%lld",
                       (long long)q->rule_arg);
    }
    int len = owner ? snprintf(text, ZKR__OWNER_TEXT_MAX, "%.*s%s", (int)fitting(owner),
                               owner, arg)
                    : snprintf(text, ZKR__OWNER_TEXT_MAX, "%s/%ld/%ld%s",
                               claim->engine->host, (long)getpid(), claim->thread, arg);
    return len < 0                     ? 0
           : len < ZKR__OWNER_TEXT_MAX ? (size_t)len
                                       : ZKR__OWNER_TEXT_MAX - 1;
}

void zkr__claim_fill_data(const struct zkr__claim *claim,
                          struct zkr__creation *creation,
                          char text[ZKR__OWNER_TEXT_MAX])
{
    const struct zkr__queue *q = claim->q;
    const char *owner = q->owner ? q->owner : q->c->owner;
    creation->path = claim->node;
    if (q->data) {
        creation->data = q->data;
        creation->data_len = q->data_len;
    } else if (owner && !q->tells_arg) {
        creation->data = owner;
        creation->data_len = strlen(owner);
    } else {
        creation->data = text;
        creation->data_len = write_owner(claim, owner, text);
    }
}

char *zkr__claim_noted_data(const struct zkr__claim *claim, size_t *len)
{
    if (!claim->k.notes || claim->held_since_ms == 0) {
        return NULL;
    }
    char text[ZKR__OWNER_TEXT_MAX];
    struct zkr__creation plain;
    zkr__claim_fill_data(claim, &plain, text);
    if (plain.data_len > ZKR__PROBE_BYTES / 2) {
        return NULL; /* with more a request might be too long for a server */
    }
    char *data = zkr__mem_alloc(plain.data_len + NOTE_ROOM);
    if (!data) {
        return NULL;
    }
    if (plain.data_len > 0) {
        memcpy(data, plain.data, plain.data_len);
    }
    int more =
        snprintf(data + plain.data_len, NOTE_ROOM, NOTE "%lld" TIMEOUT "%lld",
                 (long long)claim->held_since_ms, (long long)claim->q->c->session_ms);
    *len = plain.data_len + (more > 0 ? (size_t)more : 0);
    return data;
}

bool zkr__is_noted(const void *data, size_t len)
{
    const char *text = data;
    bool found = false;
    for (size_t i = 0; !found && i + sizeof(NOTE) - 1 <= len; i++) {
        found = memcmp(text + i, NOTE, sizeof(NOTE) - 1) == 0;
    }
    return found;
}
