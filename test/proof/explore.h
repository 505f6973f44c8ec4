/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All states that a model can reach, breadth-first, each once.
 *
 * A model is a state of plain bytes, and moves that change it. A move that can go several ways asks pick() which; the
 * explorer makes it once for each answer. What may never be, the model says by must(); then the way there is printed,
 * step by step, as the model tells it by say(), and the program ends.
 *
 * From each state there is one calm step: what happens next in a world without faults. The calm steps from every state
 * must lead to an end, where the model says that nothing is left to do. So no state is without a way out, and what is
 * asserted of the end is true wherever the faults stop.
 *
 * Of each state 128 bits are kept, a hash of all that there is in it. That two of 100 million states share them, so that
 * one would be overlooked, has a chance of 1 in 10^23.
 */
#ifndef ZKP_EXPLORE_H
#define ZKP_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zkp_model {
    const char *name;
    /* Of a state: a multiple of 8, no bytes but those of its fields; begins as zeros. */
    size_t size;
    int moves;
    void (*begin)(void *state);
    /* Make the move, one of 0 ... moves - 1. False: it is not possible here. */
    bool (*move)(void *state, int move);
    /* Make the calm step, each pick() of which is 0. False: this is the end. */
    bool (*calm)(void *state);
    void (*check_end)(const void *state);
    /* Make equal what behaves equally. NULL = no states do. */
    void (*normalise)(void *state);
    void (*print)(const void *state);
};

struct zkp_result {
    uint64_t states, steps;
    unsigned depth; /* of the state that is reached last */
    double seconds;
};

/* One of 0 ... @n - 1: each is tried. 0 is what happens in a calm world. */
int zkp_pick(int n);
static inline bool zkp_maybe(void)
{
    return zkp_pick(2) != 0;
}

/* It is the calm step that is made. */
bool zkp_calm(void);

void zkp_must(bool fine, const char *what);
/* Into the way that is printed. */
void zkp_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the program with status 1 where something is not as it must be, or there are more than @most states. */
struct zkp_result zkp_explore(const struct zkp_model *model, uint64_t most);

#endif
