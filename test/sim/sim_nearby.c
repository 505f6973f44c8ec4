/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The letters between simulated processes of one host. Letters are lost, late, doubled, or forged by processes that
 * have read them. A forged letter says that a node is released although its owner may hold. It is right in all but one
 * detail.
 */
#include <errno.h>
#include <string.h>

#include "nearby/nearby.h"
#include "sim.h"

enum { BOXES = 32, LETTERS = 64, HANDED = 256, LETTER_MAX = 2048 };

static struct box {
    struct zkr__mailbox_owner *owner; /* NULL = closed */
    int client, calls;
    struct zkr__near_address self;
} boxes[BOXES];
static int box_count;

static struct letter {
    struct zkf_actor actor;
    bool used;
    int to; /* index of a box */
    struct zkr__near_address from;
    size_t len;
    char text[LETTER_MAX];
} letters[LETTERS];

/* Nodes whose owners have sent news of their release. */
static char handed[HANDED][SIM_PATH];
static int handed_count;

void sim_nearby_begin(void)
{
    box_count = handed_count = 0;
    memset(letters, 0, sizeof(letters));
}

bool sim_handed(const char *path)
{
    for (int i = 0; i < handed_count && i < HANDED; i++) {
        if (strcmp(handed[i], path) == 0) {
            return true;
        }
    }
    return false;
}

/* --- the network --- */

static void deliver(void *arg)
{
    struct letter *l = arg;
    struct box *box = &boxes[l->to];
    if (box->owner) {
        box->calls++;
        did.news++;
        box->owner->take(box->owner, &l->from, l->text, l->len);
        box->calls--;
    }
    l->actor.due = ZKR__NEVER;
    l->used = false;
}

static int64_t some_time(void)
{
    int64_t kind = zkf_below(16);
    return kind < 8    ? 0
           : kind < 13 ? zkf_below(ZKR__MS)
           : kind < 15 ? zkf_below(30 * ZKR__MS)
                       : zkf_below(2 * scene.session);
}

static void
put(int to, const struct zkr__near_address *from, const void *text, size_t len)
{
    int at = 0;
    while (at < LETTERS && letters[at].used) {
        at++;
    }
    if (at == LETTERS || len > LETTER_MAX) {
        return;
    }
    struct letter *l = &letters[at];
    bool known = l->actor.act != NULL;
    l->used = true;
    l->to = to;
    l->from = *from;
    l->len = len;
    memcpy(l->text, text, len);
    l->actor.act = deliver;
    l->actor.ctx = l;
    l->actor.library = boxes[to].client + 1;
    l->actor.stopped = zkf_client_stopped(boxes[to].client);
    l->actor.due = zkf_now() + some_time();
    if (!known) {
        zkf_actor_add(&l->actor);
    }
}

static int find_box(const struct zkr__near_address *to)
{
    for (int i = 0; i < box_count; i++) {
        if (boxes[i].owner && strcmp(boxes[i].self.text, to->text) == 0) {
            return i;
        }
    }
    return -1;
}

/* --- forgers, who can read all letters --- */

/* Write a letter like zkr__nearby_send(). */
static size_t write_letter(char text[LETTER_MAX], const struct zkr__news *news)
{
    uint32_t head[2] = {0x5a4b4e31, (uint32_t)news->kind};
    size_t len = sizeof(head);
    memcpy(text, head, sizeof(head));
    memcpy(text + len, &news->token, sizeof(news->token));
    len += sizeof(news->token);
    memcpy(text + len, news->key, sizeof(news->key));
    len += sizeof(news->key);
    memcpy(text + len, news->holder, strlen(news->holder) + 1);
    len += strlen(news->holder) + 1;
    memcpy(text + len, news->next, strlen(news->next) + 1);
    return len + strlen(news->next) + 1;
}

/* The letter @next tells @to that its sender is next. Forge the answer that the node ahead is released, with one false
   detail. */
static void forge(int to, const struct zkr__near_address *self, struct zkr__news next)
{
    char text[LETTER_MAX], other[SIM_PATH];
    struct zkr__near_address from = boxes[to].self;
    int teller = find_box(self);
    next.kind = ZKR__NEWS_RELEASED;
    switch (zkf_below(5)) {
    case 0: /* another process or user */
        from.text[ZKR__NEAR_HOST + zkf_below(ZKR__NEAR_WHO)] ^= 1;
        break;
    case 1: /* another socket of the same process */
        from.text[ZKR__NEAR_HOST + ZKR__NEAR_WHO + zkf_below(ZKR__NEAR_NAME)] ^= 1;
        break;
    case 2: /* an answer to an earlier letter */
        next.key[zkf_below(ZKR__NEAR_KEY)] ^= 1;
        break;
    case 3: /* an earlier node of that name */
        next.token--;
        break;
    default: /* an earlier node of that process */
        (void)snprintf(other, sizeof(other), "%s", next.holder);
        other[strlen(other) - 1] ^= 1;
        next.holder = other;
        break;
    }
    did.news_forged++;
    if (teller >= 0) {
        put(teller, &from, text, write_letter(text, &next));
    }
}

/* --- the door --- */

/*
 * Record the release of the node @holder, and of the client's own nodes ahead of it, which the client is deleting
 * because it passed the lock on internally.
 */
static void hand(int client, const char *holder)
{
    const struct zkf_node *node = zkf_find(holder);
    (void)snprintf(handed[handed_count++ % HANDED], SIM_PATH, "%s", holder);
    for (const struct zkf_node *n = node ? zkf_nodes() : NULL; n; n = n->next) {
        if (n->parent_hash == node->parent_hash && n->label == client + 1 &&
            n->czxid < node->czxid && sim_makes_way(client, n, false)) {
            (void)snprintf(handed[handed_count++ % HANDED], SIM_PATH, "%s", n->path);
        }
    }
}

static void *open_box(struct zkr__mailbox_owner *owner, struct zkr__near_address *self)
{
    if (box_count == BOXES || (!scene.peace && zkf_chance(2))) {
        errno = EMFILE;
        return NULL;
    }
    struct box *box = &boxes[box_count++];
    *box = (struct box){.owner = owner, .client = sim_self()->client};
    /* In some scenes, the last client is on another host. */
    bool apart = box->client == SIM_CLIENTS - 1 && scene.seed % 3 == 0;
    (void)snprintf(box->self.text, sizeof(box->self.text), "%023x%x%016x%016llx%016llx",
                   0, (unsigned)apart, (unsigned)box->client + 16,
                   (unsigned long long)zkf_random(), (unsigned long long)box_count);
    *self = box->self;
    return box;
}

static void send_letter(void *of,
                        const struct zkr__near_address *to,
                        const void *letter,
                        size_t len)
{
    const struct box *box = of;
    struct zkr__news news;
    int at = find_box(to);
    if (!zkr__letter_read(&news, letter, len)) {
        sim_violation("client %d sends what is no letter", box->client);
        return;
    }
    if (memcmp(to->text, box->self.text, ZKR__NEAR_HOST) != 0) {
        sim_violation("client %d sends a letter to another host", box->client);
    }
    if (news.kind == ZKR__NEWS_RELEASED) {
        hand(box->client, news.holder);
    }
    if (at < 0) {
        return; /* that process has ended */
    }
    if (zkf_chance(15)) {
        did.news_lost++;
        return;
    }
    put(at, &box->self, letter, len);
    if (zkf_chance(15)) {
        put(at, &box->self, letter, len);
    }
    if (news.kind == ZKR__NEWS_NEXT && zkf_chance(30)) {
        forge(at, &box->self, news);
    }
}

static void close_box(void *of)
{
    struct box *box = of;
    if (sim_self()->locks != 0) {
        sim_violation("%s closes a socket with a lock held", sim_self()->name);
    }
    box->owner = NULL;
    while (box->calls > 0) {
        sim_block(SIM_CLOSE, box, ZKR__NEVER);
    }
}

const struct zkr__nearby_door *sim_nearby_door(void)
{
    static const struct zkr__nearby_door door = {
        .open = open_box, .send = send_letter, .close = close_box};
    return &door;
}
