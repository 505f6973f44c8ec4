/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An explorer that visits all states that a model can reach, breadth-first, each once.
 *
 * A model is a state of plain bytes, and moves that change it. A move with several outcomes asks pick() for one, and
 * the explorer makes the move once for each answer. The model asserts conditions by must(). If a condition fails, the
 * explorer prints the path to that state, step by step, as the model reports it by say(), and the program ends.
 *
 * Each state has one calm step: the next step in a world without faults. The calm steps from every state must lead to
 * an end, where the model says that nothing is left to do. So each state has a way out, and the assertions about the
 * end hold wherever the faults stop.
 *
 * For each state, 128 bits are kept: a hash of its whole contents. The chance that two of 100 million states have the
 * same hash, so that one is overlooked, is 1 in 10^23.
 */
#ifndef ZKP_EXPLORE_H
#define ZKP_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zkp_model {
    const char *name;
    /* The size of a state: a multiple of 8, without padding. A state begins as zeros. */
    size_t size;
    int moves;
    void (*begin)(void *state);
    /* Make the move, one of 0 ... moves - 1. Returns false if the move is not possible here. */
    bool (*move)(void *state, int move);
    /* Make the calm step, in which each pick() is 0. Returns false at the end. */
    bool (*calm)(void *state);
    void (*check_end)(const void *state);
    /* Make states with equal behaviour equal. NULL = no two states behave equally. */
    void (*normalise)(void *state);
    void (*print)(const void *state);
};

struct zkp_result {
    uint64_t states, steps;
    unsigned depth; /* of the last state that was reached */
    double seconds;
};

/* Returns one of 0 ... @n - 1; each is tried. 0 is the outcome in a calm world. */
int zkp_pick(int n);
static inline bool zkp_maybe(void)
{
    return zkp_pick(2) != 0;
}

/* Returns whether this is a calm step. */
bool zkp_calm(void);

void zkp_must(bool fine, const char *what);
/* Print this as part of the path. */
void zkp_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* End the program with status 1 if a condition fails, or if there are more than @most states. */
struct zkp_result zkp_explore(const struct zkp_model *model, uint64_t most);

#endif
