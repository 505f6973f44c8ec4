/* SPDX-License-Identifier: Apache-2.0 */
#include "session/meter.h"

#include <string.h>

#include <zkr/error.h>

#include "base/mem.h"

static struct zkr__meter *make(struct zkr__meters *meters, const char *path)
{
    size_t size = strlen(path) + 1;
    struct zkr__meter *m = zkr__mem_alloc(sizeof(*m) + size);
    if (!m) {
        return NULL;
    }
    char *copy = (char *)(m + 1);
    memcpy(copy, path, size);
    m->path = copy;
    if (!zkr__path_table_add(&meters->by_path, &m->by_path, m->path)) {
        zkr__mem_free(m);
        return NULL;
    }
    if (!meters->tail) {
        meters->tail = &meters->first;
    }
    *meters->tail = m;
    meters->tail = &m->next;
    meters->count++;
    return m;
}

struct zkr__meter *zkr__meter_of(struct zkr__meters *meters, const char *path)
{
    struct zkr__path_entry *entry = zkr__path_table_find(&meters->by_path, path);
    if (entry) {
        return ZKR__OWNER_OF(entry, struct zkr__meter, by_path);
    }
    struct zkr__meter *m = meters->count < ZKR__METERS ? make(meters, path) : NULL;
    meters->other.path = "other"; /* also without memory for its own */
    return m ? m : &meters->other;
}

void zkr__meters_free(struct zkr__meters *meters)
{
    while (meters->first) {
        struct zkr__meter *m = meters->first;
        meters->first = m->next;
        zkr__path_table_remove(&meters->by_path, &m->by_path);
        zkr__mem_free(m);
    }
}

void zkr__meter_wait(struct zkr__meter *m)
{
    m->n.waiting++;
}

void zkr__meter_grant(struct zkr__meter *m, int64_t waited, bool contended)
{
    m->n.waiting--;
    m->n.held++;
    m->n.acquired++;
    m->n.contended += contended;
    zkr__histogram_add(&m->n.wait, waited);
}

void zkr__meter_fail(struct zkr__meter *m, int code)
{
    bool late = code == ZKR_ETIMEDOUT || code == ZKR_ENOANSWER;
    bool canceled = code == ZKR_ECANCELED || code == ZKR_ECLOSED;
    m->n.waiting--;
    m->n.timed_out += late;
    m->n.canceled += canceled;
    m->n.failed += !late && !canceled;
}

void zkr__meter_release(struct zkr__meter *m, int64_t held)
{
    m->n.held--;
    zkr__histogram_add(&m->n.hold, held);
}

void zkr__meter_lose(struct zkr__meter *m, int64_t held, enum zkr__metered_loss why)
{
    zkr__meter_release(m, held);
    m->n.lost[why]++;
}
