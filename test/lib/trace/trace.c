/* SPDX-License-Identifier: Apache-2.0 */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 1 << 18, PROGRAM = 40 };

/* A program that is killed may leave a hash without the rest. */
struct slot {
    _Atomic uint64_t hash;
    struct zkt_transition t;
    char program[PROGRAM];
};

struct zkt_trace {
    _Atomic uint64_t steps;
    struct slot slots[SLOTS];
};

struct zkt_trace *zkt_trace_open(const char *file, bool create)
{
    const size_t size = sizeof(struct zkt_trace);
    int fd = open(file, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0644);
    struct zkt_trace *set = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, (off_t)size) == 0) {
        set = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (set == MAP_FAILED) {
        (void)fprintf(stderr, "%s: %s\n", file, strerror(errno));
        exit(2);
    }
    (void)close(fd);
    return set;
}

/* Returns the slot of @hash, or the free slot where it belongs. */
static size_t slot_of(const struct zkt_trace *set, uint64_t hash)
{
    size_t at = hash % SLOTS;
    for (int i = 0; i < SLOTS; i++) {
        uint64_t there = atomic_load(&set->slots[at].hash);
        if (there == 0 || there == hash) {
            return at;
        }
        at = (at + 1) % SLOTS;
    }
    (void)fputs("there is no room for another step in the trace\n", stderr);
    abort();
}

static void add(struct zkt_trace *set, const struct zkt_transition *t)
{
    const uint64_t hash = zkt_transition_hash(t);
    for (;;) {
        uint64_t there = 0;
        struct slot *slot = &set->slots[slot_of(set, hash)];
        if (atomic_load(&slot->hash) == hash) {
            return;
        }
        if (atomic_compare_exchange_strong(&slot->hash, &there, hash)) {
            slot->t = *t;
            (void)snprintf(slot->program, sizeof(slot->program), "%s",
                           program_invocation_short_name);
            return;
        }
    }
}

void zkt_trace_add(struct zkt_trace *set,
                   const struct zkr__claim_state *before,
                   const struct zkr__claim_event *e,
                   const struct zkr__claim_state *after,
                   unsigned todo)
{
    enum { RECENT = 1 << 14 };
    static _Thread_local uint64_t
        recent[RECENT]; /* whole steps that were added, and to which set */
    const struct zkt_transition whole = zkt_transition_whole(before, e, after, todo);
    const uint64_t hash = zkt_transition_hash(&whole) ^ (uintptr_t)set;
    atomic_fetch_add_explicit(&set->steps, 1, memory_order_relaxed);
    if (before->phase == ZKR__GONE && after->phase == ZKR__GONE && todo == 0) {
        return; /* the worlds end when a claim is GONE */
    }
    if (recent[hash % RECENT] != hash) {
        recent[hash % RECENT] = hash;
        const struct zkt_transition t = zkt_transition(before, e, after, todo);
        add(set, &t);
    }
}

int zkt_trace_compare(const struct zkt_trace *seen,
                      const struct zkt_trace *set,
                      uint64_t *steps,
                      int *different)
{
    int outside = 0;
    *steps = atomic_load(&seen->steps);
    *different = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        const struct slot *slot = &seen->slots[i];
        const uint64_t hash = atomic_load(&slot->hash);
        *different += hash != 0;
        if (hash != 0 && atomic_load(&set->slots[slot_of(set, hash)].hash) == 0) {
            char text[600];
            zkt_transition_print(&slot->t, text, sizeof(text));
            printf("%s: %s\n", slot->program, text);
            outside++;
        }
    }
    return outside;
}

/* --- the steps of a test, whose calls of zkr__claim_step() are linked to the function below --- */

zkr__step __real_zkr__claim_step, __wrap_zkr__claim_step;

static struct zkt_trace *recorded; /* NULL: $ZKT_TRACE is not set */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_recorded(void)
{
    const char *file = getenv("ZKT_TRACE");
    recorded = file && file[0] != '\0' ? zkt_trace_open(file, true) : NULL;
}

unsigned __wrap_zkr__claim_step(struct zkr__claim_state *k,
                                const struct zkr__claim_event *e)
{
    (void)pthread_once(&once, open_recorded);
    const struct zkr__claim_state before = *k;
    unsigned todo = __real_zkr__claim_step(k, e);
    if (recorded) {
        zkt_trace_add(recorded, &before, e, k, todo);
    }
    return todo;
}
