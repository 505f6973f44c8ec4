/* SPDX-License-Identifier: Apache-2.0 */
#include "nearby/nearby.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "session/log.h"

#define FIELD "\n" ZKR__FIELD_NEARBY "="
enum { FIELD_LEN = sizeof(FIELD) - 1, LETTER_MAX = 2048, MARK = 0x5a4b4e31 };

struct zkr__nearby {
    struct zkr__mailbox_owner owner;
    zkr_client *c;
    const struct zkr__nearby_door *door;
    void *box;
    char field[FIELD_LEN + ZKR__NEAR_ADDRESS + 1];
};

/* --- letters --- */

/*
 * The head of a letter. Both sides are on the same machine, so they have the same byte order. Two paths follow, each
 * with its terminating zero.
 */
struct head {
    uint32_t mark, kind;
    int64_t token;
    unsigned char key[ZKR__NEAR_KEY];
};

void zkr__nearby_send(const zkr_client *c,
                      const struct zkr__near_address *to,
                      const struct zkr__news *news)
{
    char letter[LETTER_MAX];
    struct head head = {
        .mark = MARK, .kind = (uint32_t)news->kind, .token = news->token};
    size_t holder = strlen(news->holder) + 1, next = strlen(news->next) + 1;
    if (sizeof(head) + holder + next <= sizeof(letter)) {
        memcpy(head.key, news->key, sizeof(head.key));
        memcpy(letter, &head, sizeof(head));
        memcpy(letter + sizeof(head), news->holder, holder);
        memcpy(letter + sizeof(head) + holder, news->next, next);
        c->nearby->door->send(c->nearby->box, to, letter, sizeof(head) + holder + next);
    }
}

bool zkr__letter_read(struct zkr__news *news, const void *letter, size_t len)
{
    struct head head;
    const char *text = (const char *)letter + sizeof(head);
    if (len <= sizeof(head) || len > LETTER_MAX) {
        return false;
    }
    memcpy(&head, letter, sizeof(head));
    size_t texts = len - sizeof(head), holder = strnlen(text, texts) + 1;
    news->kind = (enum zkr__news_kind)head.kind;
    news->token = head.token;
    news->holder = text;
    news->next = text + holder;
    memcpy(news->key, head.key, sizeof(head.key));
    return head.mark == MARK &&
           (head.kind == ZKR__NEWS_NEXT || head.kind == ZKR__NEWS_RELEASED) &&
           holder < texts && strnlen(news->next, texts - holder) == texts - holder - 1;
}

static void take(struct zkr__mailbox_owner *owner,
                 const struct zkr__near_address *from,
                 const void *letter,
                 size_t len)
{
    zkr_client *c = ((struct zkr__nearby *)owner)->c;
    struct zkr__news news = {.from = *from};
    bool legible = zkr__letter_read(&news, letter, len);
    zkr__lock(c);
    if (legible && c->up && c->up->news_came) {
        c->up->news_came(c->engine, &news);
    } else {
        c->news_ignored++;
    }
    zkr__unlock(c);
}

/* --- addresses --- */

const char *zkr__nearby_field(const zkr_client *c)
{
    return c->nearby ? c->nearby->field : NULL;
}

bool zkr__nearby_find(const zkr_client *c,
                      const void *data,
                      size_t len,
                      struct zkr__near_address *of)
{
    const char *text = data, *own = zkr__nearby_field(c);
    size_t at = 0, need = FIELD_LEN + ZKR__NEAR_ADDRESS;
    while (own && at + need <= len && memcmp(text + at, FIELD, FIELD_LEN) != 0) {
        at++;
    }
    if (!own || at + need > len) {
        return false;
    }
    memcpy(of->text, text + at + FIELD_LEN, ZKR__NEAR_ADDRESS);
    of->text[ZKR__NEAR_ADDRESS] = '\0';
    own += FIELD_LEN;
    /*
     * Accept only addresses on this host and of this user. Others may have permission to write to the node, and may
     * lie.
     */
    return strspn(of->text, "0123456789abcdef") == ZKR__NEAR_ADDRESS &&
           memcmp(of->text, own, ZKR__NEAR_HOST + ZKR__NEAR_USER) == 0 &&
           strcmp(of->text, own) != 0;
}

/* --- begin, end --- */

void zkr__nearby_begin(zkr_client *c, const struct zkr__nearby_door *door)
{
    struct zkr__near_address self;
    struct zkr__nearby *n = c->options.nearby ? zkr__mem_alloc(sizeof(*n)) : NULL;
    if (n) {
        *n = (struct zkr__nearby){.owner = {.take = take}, .c = c, .door = door};
        n->box = door->open(&n->owner, &self);
    }
    if (n && n->box) {
        (void)snprintf(n->field, sizeof(n->field), FIELD "%s", self.text);
        c->nearby = n;
    } else if (c->options.nearby) {
        char why[80] = "";
        (void)strerror_r(n ? errno : ENOMEM, why, sizeof(why));
        zkr__lock(c);
        zkr__log(c, ZKR_LOG_INFO, ZKR__EVENT("no_nearby", .reason = why));
        zkr__unlock(c);
        zkr__mem_free(n);
    }
}

void zkr__nearby_end(zkr_client *c)
{
    struct zkr__nearby *n = c->nearby;
    if (n) {
        n->door->close(n->box);
        c->nearby = NULL;
        zkr__mem_free(n);
    }
}
