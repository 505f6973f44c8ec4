/* SPDX-License-Identifier: Apache-2.0 */
/* The fake's time, randomness, memory and channels. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "fake_impl.h"
#include "util.h"

struct zkf__world zkf__w;
struct zkf_counts zkf__did;

/* --- memory --- */

enum { CHUNK = 1 << 18 };

static struct chunk {
    struct chunk *next;
    size_t used;
    _Alignas(16) char room[CHUNK];
} * chunks, *chunk;

void *zkf__alloc(size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (size > CHUNK) {
        zkt_fail("the fake wants %zu bytes at once", size);
    }
    if (!chunk || chunk->used + size > CHUNK) {
        struct chunk **next = chunk ? &chunk->next : &chunks;
        if (!*next) {
            *next = calloc(1, sizeof(**next));
            if (!*next) {
                zkt_fail("out of memory");
            }
        }
        chunk = *next;
        chunk->used = 0;
    }
    void *p = chunk->room + chunk->used;
    chunk->used += size;
    memset(p, 0, size);
    return p;
}

void zkf__alloc_reset(void)
{
    chunk = chunks;
    if (chunk) {
        chunk->used = 0;
    }
}

void *zkf__copy(const void *from, size_t size)
{
    char *to = zkf__alloc(size + 1);
    if (size > 0) {
        memcpy(to, from, size);
    }
    return to;
}

char *zkf__string(const char *text)
{
    return zkf__copy(text, strlen(text));
}

/* --- randomness --- */

uint64_t zkf_random(void)
{
    /* The generator is splitmix64, for which any seed is good. */
    uint64_t z = (zkf__w.random += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/*
 * Replaces the C library's function, so that the GUIDs also depend on the seed. Nodes with equal sequence numbers are
 * ordered by their GUIDs.
 */
ssize_t getrandom(void *buffer, size_t size, unsigned flags)
{
    for (size_t i = 0; i < size; i++) {
        ((unsigned char *)buffer)[i] = (unsigned char)(zkf_random() >> 56);
    }
    return (ssize_t)size;
}

int64_t zkf_below(int64_t n)
{
    return n < 2 ? 0 : (int64_t)(zkf_random() % (uint64_t)n);
}

bool zkf_chance(int percent)
{
    return zkf_below(100) < percent;
}

bool zkf__fails(int once_in)
{
    return once_in > 0 && zkf_below(once_in) == 0;
}

void zkf__take_time(int client)
{
    struct zkf__world *w = &zkf__w;
    if (!w->hurry && w->config.hooks.wait && zkf__fails(w->door.slow)) {
        zkf__did.slow_calls++;
        zkf_trace("fault: client %d waits for its door", client);
        w->config.hooks.wait(client, zkf_below(w->door.span));
    }
}

/* Mostly there is no delay, so that many actors are due at once, and any of them may be first. */
int64_t zkf__delay(void)
{
    if (zkf__w.config.calm) {
        return 0;
    }
    int64_t kind = zkf_below(32);
    return kind < 16   ? 0
           : kind < 28 ? zkf_below(2 * ZKR__MS)
           : kind < 31 ? zkf_below(30 * ZKR__MS)
                       : zkf_below(zkf__w.config.slow);
}

/* --- actors --- */

int64_t zkf_now(void)
{
    return zkf__w.now;
}

void zkf_actor_add(struct zkf_actor *actor)
{
    struct zkf__world *w = &zkf__w;
    if (w->actor_count == w->actor_room) {
        w->actor_room = w->actor_room * 2 + 64;
        w->actors =
            realloc(w->actors, (size_t)w->actor_room * sizeof(struct zkf_actor *));
        w->due = realloc(w->due, (size_t)w->actor_room * sizeof(int));
        if (!w->actors || !w->due) {
            zkt_fail("out of memory");
        }
    }
    actor->at = w->actor_count;
    w->actors[w->actor_count++] = actor;
}

void zkf_actor_remove(struct zkf_actor *actor)
{
    struct zkf__world *w = &zkf__w;
    if (actor->at >= 0) {
        w->actors[actor->at] = w->actors[--w->actor_count];
        w->actors[actor->at]->at = actor->at;
        actor->at = -1;
    }
}

bool zkf_step(int64_t end)
{
    struct zkf__world *w = &zkf__w;
    int64_t soonest = ZKR__NEVER;
    int count = 0;
    for (int i = 0; i < w->actor_count; i++) {
        const struct zkf_actor *actor = w->actors[i];
        int64_t due = actor->due > w->now ? actor->due : w->now;
        if (due > soonest || actor->due == ZKR__NEVER ||
            (actor->stopped && *actor->stopped) || actor->busy) {
            continue;
        }
        count = due < soonest ? 0 : count;
        soonest = due;
        w->due[count++] = i;
    }
    if (count == 0 || soonest > end) {
        w->now = end > w->now && end != ZKR__NEVER ? end : w->now;
        return false;
    }
    w->now = soonest;
    struct zkf_actor *actor = w->actors[w->due[zkf_below(count)]];
    if (actor->library > 0 && w->config.hooks.act) {
        actor->busy = true;
        w->config.hooks.act(actor);
    } else {
        actor->act(actor->ctx);
    }
    return true;
}

/* --- channels --- */

static void channel_rearm(struct zkf__channel *ch)
{
    ch->actor.due = ch->head && !ch->blocked ? ch->head->ready : ZKR__NEVER;
}

static void channel_act(void *ctx)
{
    struct zkf__channel *ch = ctx;
    struct zkf__item *item = ch->head;
    ch->head = item->next;
    if (!ch->head) {
        ch->tail = &ch->head;
    }
    channel_rearm(ch);
    struct zkf__item copy = *item;
    item->next = ch->free;
    ch->free = item;
    ch->take(ch->ctx, &copy);
}

void zkf__channel_init(struct zkf__channel *ch,
                       void (*take)(void *ctx, const struct zkf__item *item),
                       void *ctx)
{
    *ch = (struct zkf__channel){.take = take, .ctx = ctx};
    ch->tail = &ch->head;
    ch->actor = (struct zkf_actor){.due = ZKR__NEVER, .act = channel_act, .ctx = ch};
    zkf_actor_add(&ch->actor);
}

void zkf__channel_end(struct zkf__channel *ch)
{
    zkf_actor_remove(&ch->actor);
    ch->head = NULL;
    ch->tail = &ch->head;
}

void zkf__channel_put(struct zkf__channel *ch, struct zkf__item item)
{
    struct zkf__item *p = ch->free;
    if (p) {
        ch->free = p->next;
    } else {
        p = zkf__alloc(sizeof(*p));
    }
    int64_t ready = zkf__w.now + zkf__delay();
    *p = item;
    p->next = NULL;
    p->ready = ready > ch->last_ready ? ready : ch->last_ready;
    ch->last_ready = p->ready;
    *ch->tail = p;
    ch->tail = &p->next;
    channel_rearm(ch);
}

void zkf__channel_block(struct zkf__channel *ch, bool blocked)
{
    ch->blocked = blocked;
    channel_rearm(ch);
}

size_t zkf__channel_count(const struct zkf__channel *ch)
{
    size_t n = 0;
    for (const struct zkf__item *item = ch->head; item; item = item->next) {
        n++;
    }
    return n;
}

void zkf__channel_truncate(struct zkf__channel *ch, size_t keep)
{
    struct zkf__item **at = &ch->head;
    while (*at && keep > 0) {
        at = &(*at)->next;
        keep--;
    }
    *at = NULL;
    ch->tail = at;
    channel_rearm(ch);
}

/* --- trace --- */

void zkf_trace(const char *format, ...)
{
    if (!zkf__w.config.trace) {
        return;
    }
    va_list args;
    va_start(args, format);
    (void)printf("%10.3f  ", (double)zkf__w.now / 1e6);
    (void)vprintf(format, args);
    (void)printf("\n");
    va_end(args);
}
