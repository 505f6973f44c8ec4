/* SPDX-License-Identifier: Apache-2.0 */
#include "base/timers.h"

#include <stddef.h>

/* Merge two heaps, each of which may be NULL. */
static struct zkr__timer *merge(struct zkr__timer *a, struct zkr__timer *b)
{
    if (!a || !b) {
        return a ? a : b;
    }
    struct zkr__timer *first = b->at < a->at ? b : a;
    struct zkr__timer *other = first == a ? b : a;
    other->next = first->child;
    if (other->next) {
        other->next->link = &other->next;
    }
    first->child = other;
    other->link = &first->child;
    return first;
}

/* Merge a list of heaps: first in pairs from left to right, and then the pairs from right to left. */
static struct zkr__timer *merge_all(struct zkr__timer *list)
{
    struct zkr__timer *pairs = NULL;
    while (list) {
        struct zkr__timer *a = list, *b = a->next;
        list = b ? b->next : NULL;
        a->next = NULL;
        if (b) {
            b->next = NULL;
        }
        struct zkr__timer *pair = merge(a, b);
        pair->next = pairs;
        pairs = pair;
    }
    struct zkr__timer *all = NULL;
    while (pairs) {
        struct zkr__timer *pair = pairs;
        pairs = pair->next;
        pair->next = NULL;
        all = merge(all, pair);
    }
    return all;
}

static void set_root(struct zkr__timers *timers, struct zkr__timer *root)
{
    timers->root = root;
    if (root) {
        root->link = &timers->root;
    }
}

void zkr__timer_stop(struct zkr__timers *timers, struct zkr__timer *timer)
{
    if (timer->at == 0) {
        return;
    }
    struct zkr__timer *below = merge_all(timer->child);
    if (timers->root == timer) {
        set_root(timers, below);
    } else {
        *timer->link = timer->next;
        if (timer->next) {
            timer->next->link = timer->link;
        }
        set_root(timers, merge(timers->root, below));
    }
    timer->at = 0;
    timer->child = NULL;
    timer->next = NULL;
    timer->link = NULL;
}

void zkr__timer_set(struct zkr__timers *timers, struct zkr__timer *timer, int64_t at)
{
    zkr__timer_stop(timers, timer);
    timer->at = at;
    set_root(timers, merge(timers->root, timer));
}

int64_t zkr__timers_next(const struct zkr__timers *timers)
{
    return timers->root ? timers->root->at : ZKR__NEVER;
}

void zkr__timers_fire(struct zkr__timers *timers, int64_t now)
{
    while (timers->root && timers->root->at <= now) {
        struct zkr__timer *timer = timers->root;
        zkr__timer_stop(timers, timer);
        timer->fire(timer, now);
    }
}
