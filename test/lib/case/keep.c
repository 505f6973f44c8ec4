/* SPDX-License-Identifier: Apache-2.0 */
#include "keep.h"

#include <pthread.h>
#include <stdbool.h>

#include "util.h"

enum { MOST = 4096 };

struct kept {
    void *object;
    void (*end)(void *object);
};

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct kept kept[MOST];
static int count;
static bool in_a_case;

void zkt_keep(void *object, void (*end)(void *object))
{
    (void)pthread_mutex_lock(&mu);
    bool room = count < MOST;
    if (room && in_a_case) {
        kept[count++] = (struct kept){object, end};
    }
    (void)pthread_mutex_unlock(&mu);
    if (!room) {
        zkt_fail("a case that opens more than %d objects", MOST);
    }
}

void zkt_unkeep(const void *object)
{
    (void)pthread_mutex_lock(&mu);
    int i = count - 1;
    while (i >= 0 && kept[i].object != object) {
        i--;
    }
    if (i >= 0) {
        for (count--; i < count; i++) {
            kept[i] = kept[i + 1];
        }
    }
    (void)pthread_mutex_unlock(&mu);
}

void zkt_keep_begin(void)
{
    count = 0;
    in_a_case = true;
}

void zkt_keep_end(void)
{
    while (count > 0) {
        const struct kept newest = kept[--count];
        newest.end(newest.object);
    }
    in_a_case = false;
}
