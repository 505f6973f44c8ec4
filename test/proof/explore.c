/* SPDX-License-Identifier: Apache-2.0 */
#include "explore.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "transition.h"

enum { PICKS_MAX = 40, WAY_MAX = 4096 };

/* The ordinal of a calm step. */
#define CALM UINT16_MAX
#define NONE UINT32_MAX

/* --- picks --- */

static struct {
    int at, count;
    bool calm;
    uint8_t picked[PICKS_MAX], of[PICKS_MAX];
} choice;

int zkp_pick(int n)
{
    if (n <= 1 || choice.calm) {
        return 0;
    }
    if (choice.at == choice.count) {
        if (choice.count == PICKS_MAX) {
            fputs("too many picks in a move\n", stderr);
            abort();
        }
        choice.picked[choice.count] = 0;
        choice.of[choice.count++] = (uint8_t)n;
    }
    return choice.picked[choice.at++];
}

bool zkp_calm(void)
{
    return choice.calm;
}

static void begin_picks(bool calm)
{
    choice.at = choice.count = 0;
    choice.calm = calm;
}

/* Repeat the move with the next combination of picks. Returns false if all were tried. */
static bool pick_another(void)
{
    choice.at = 0;
    while (choice.count > 0 &&
           choice.picked[choice.count - 1] + 1 == choice.of[choice.count - 1]) {
        choice.count--;
    }
    if (choice.count == 0) {
        return false;
    }
    choice.picked[choice.count - 1]++;
    return true;
}

/* --- what is known of each state --- */

struct hash {
    uint64_t x, y;
};

static struct {
    const struct zkp_model *model;
    uint32_t count, room;
    struct hash *hashes;
    uint32_t *parents;
    uint32_t *calms;
    uint16_t *ordinals; /* which step of the parent leads here */
    uint32_t *table;    /* index + 1; 0 = free */
    uint64_t table_room;
    uint64_t steps;
    /* States to be explored, in their order, and the next of them. */
    unsigned char *ahead;
    uint64_t ahead_count, ahead_room, ahead_at;
    uint32_t first; /* the index of the state at ahead_at */
    /* The current step. */
    uint32_t from;
    uint16_t ordinal;
    const char *broken;
    bool telling;
} X;

static void *grow(void *old, uint64_t count, size_t size)
{
    void *grown = realloc(old, count * size);
    if (!grown) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return grown;
}

static struct hash hash_of(const void *state, size_t size)
{
    struct hash h = {UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xd1b54a32d192ed03)};
    const unsigned char *at = state;
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at + i, sizeof(word));
        h.x = zkt_mix(h.x ^ word) + i;
        h.y = (h.y << 23 | h.y >> 41) * UINT64_C(0x9fb21c651e98df25) ^
              zkt_mix(word + h.y);
    }
    h.y = zkt_mix(h.y);
    return h;
}

static void rehash(void)
{
    uint64_t room = X.table_room == 0 ? 1 << 16 : 2 * X.table_room;
    free(X.table);
    X.table = calloc(room, sizeof(*X.table));
    X.table_room = room;
    if (!X.table) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    for (uint32_t i = 0; i < X.count; i++) {
        uint64_t at = X.hashes[i].x & (room - 1);
        while (X.table[at] != 0) {
            at = (at + 1) & (room - 1);
        }
        X.table[at] = i + 1;
    }
}

static void make_room(void)
{
    if (X.count == X.room) {
        X.room = X.room == 0 ? 1 << 15 : X.room + X.room / 2;
        X.hashes = grow(X.hashes, X.room, sizeof(*X.hashes));
        X.parents = grow(X.parents, X.room, sizeof(*X.parents));
        X.calms = grow(X.calms, X.room, sizeof(*X.calms));
        X.ordinals = grow(X.ordinals, X.room, sizeof(*X.ordinals));
    }
    if (2 * (uint64_t)X.count >= X.table_room) {
        rehash();
    }
}

static void push(const void *state)
{
    size_t size = X.model->size;
    if (X.ahead_count == X.ahead_room && X.ahead_at > X.ahead_room / 2) {
        X.ahead_count -= X.ahead_at;
        memmove(X.ahead, X.ahead + X.ahead_at * size, X.ahead_count * size);
        X.ahead_at = 0;
    }
    if (X.ahead_count == X.ahead_room) {
        X.ahead_room = X.ahead_room == 0 ? 1 << 12 : X.ahead_room + X.ahead_room / 2;
        X.ahead = grow(X.ahead, X.ahead_room, size);
    }
    memcpy(X.ahead + X.ahead_count++ * size, state, size);
}

/* Returns the index of the state. A new state is explored later. */
static uint32_t add(const void *state)
{
    make_room();
    struct hash h = hash_of(state, X.model->size);
    uint64_t at = h.x & (X.table_room - 1);
    for (; X.table[at] != 0; at = (at + 1) & (X.table_room - 1)) {
        uint32_t i = X.table[at] - 1;
        if (X.hashes[i].x == h.x && X.hashes[i].y == h.y) {
            return i;
        }
    }
    X.hashes[X.count] = h;
    X.parents[X.count] = X.from;
    X.ordinals[X.count] = X.ordinal;
    X.calms[X.count] = NONE;
    X.table[at] = ++X.count;
    push(state);
    return X.count - 1;
}

/* --- the way to a state --- */

void zkp_must(bool fine, const char *what)
{
    if (!fine && !X.broken) {
        X.broken = what;
        zkp_say("    *** %s", what);
    }
}

void zkp_say(const char *format, ...)
{
    if (X.telling) {
        va_list args;
        va_start(args, format);
        (void)vprintf(format, args);
        va_end(args);
        (void)putchar('\n');
    }
}

static bool step(void *state, int move)
{
    bool moved = choice.calm ? X.model->calm(state) : X.model->move(state, move);
    if (moved && X.model->normalise) {
        X.model->normalise(state);
    }
    return moved;
}

/* Repeat the step with this ordinal, and report it. */
static void repeat(unsigned char *state, uint16_t ordinal)
{
    size_t size = X.model->size;
    unsigned char *to = grow(NULL, 1, size);
    uint16_t at = 0;
    if (ordinal == CALM) {
        begin_picks(true);
        X.telling = true;
        (void)step(state, 0);
        free(to);
        return;
    }
    for (int move = 0; move < X.model->moves; move++) {
        begin_picks(false);
        do {
            memcpy(to, state, size);
            X.telling = at == ordinal;
            bool moved = step(to, move);
            if (moved && at++ == ordinal) {
                memcpy(state, to, size);
                free(to);
                return;
            }
        } while (pick_another());
    }
    free(to);
}

static void tell_way(uint32_t to)
{
    static uint32_t way[WAY_MAX];
    int length = 0;
    for (uint32_t i = to; i != NONE && length < WAY_MAX; i = X.parents[i]) {
        way[length++] = i;
    }
    unsigned char *state = grow(NULL, 1, X.model->size);
    memset(state, 0, X.model->size);
    X.model->begin(state);
    X.model->print(state);
    for (int i = length - 2; i >= 0; i--) {
        repeat(state, X.ordinals[way[i]]);
        X.telling = true;
        X.model->print(state);
    }
    free(state);
}

static void fail_if_broken(const unsigned char *state)
{
    if (!X.broken) {
        return;
    }
    const char *broken = X.broken;
    uint16_t last = X.ordinal;
    printf("%s: %s\n\n", X.model->name, broken);
    X.broken = NULL;
    tell_way(X.from);
    if (state) {
        unsigned char *again = grow(NULL, 1, X.model->size);
        memcpy(again, state, X.model->size);
        repeat(again, last);
        X.telling = true;
        X.model->print(again);
    }
    printf("\n%s: %s\n", X.model->name, broken);
    (void)fflush(stdout);
    _Exit(1);
}

/* --- all of them --- */

static void look_at(const unsigned char *state, unsigned char *to)
{
    const struct zkp_model *m = X.model;
    X.ordinal = 0;
    for (int move = 0; move < m->moves; move++) {
        begin_picks(false);
        do {
            memcpy(to, state, m->size);
            if (step(to, move)) {
                fail_if_broken(state);
                (void)add(to);
                X.steps++;
                X.ordinal++;
            }
        } while (pick_another());
    }
    X.ordinal = CALM;
    begin_picks(true);
    memcpy(to, state, m->size);
    bool calm = step(to, 0);
    if (!calm) {
        m->check_end(state);
        X.calms[X.from] = X.from;
        fail_if_broken(NULL);
        return;
    }
    fail_if_broken(state);
    uint32_t next = add(to); /* this may move the table */
    X.calms[X.from] = next;
}

/* Check that the calm steps from each state come to an end. */
static void check_ways_out(void)
{
    enum { NEW, ON_THE_WAY, FINE };
    unsigned char *seen = calloc(X.count, 1);
    if (!seen) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    for (uint32_t i = 0; i < X.count; i++) {
        uint32_t at = i;
        for (; seen[at] == NEW && X.calms[at] != at; at = X.calms[at]) {
            seen[at] = ON_THE_WAY;
        }
        if (seen[at] == ON_THE_WAY) {
            X.from = at;
            X.broken = "without faults it goes round and round";
            fail_if_broken(NULL);
        }
        seen[at] = FINE;
        for (at = i; seen[at] == ON_THE_WAY; at = X.calms[at]) {
            seen[at] = FINE;
        }
    }
    free(seen);
}

static unsigned depth_of(uint32_t i)
{
    unsigned depth = 0;
    for (; X.parents[i] != NONE; i = X.parents[i]) {
        depth++;
    }
    return depth;
}

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void end(void)
{
    free(X.hashes);
    free(X.parents);
    free(X.calms);
    free(X.ordinals);
    free(X.table);
    free(X.ahead);
    memset(&X, 0, sizeof(X));
}

struct zkp_result zkp_explore(const struct zkp_model *model, uint64_t most)
{
    double begun = now();
    X.model = model;
    unsigned char *state = grow(NULL, 2, model->size);
    memset(state, 0, model->size);
    model->begin(state);
    X.from = NONE;
    (void)add(state);
    for (X.first = 0; X.first < X.count; X.first++) {
        memcpy(state, X.ahead + X.ahead_at++ * model->size, model->size);
        X.from = X.first;
        look_at(state, state + model->size);
        if (X.count > most) {
            printf("%s: more than %llu states\n", model->name,
                   (unsigned long long)most);
            exit(1);
        }
    }
    check_ways_out();
    struct zkp_result result = {.states = X.count,
                                .steps = X.steps,
                                .depth = depth_of(X.count - 1),
                                .seconds = now() - begun};
    free(state);
    end();
    return result;
}
