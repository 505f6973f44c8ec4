/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The claim's state machine among all that can happen to it, as in test/unit/test_claim_walk.c, all its properties
 * with it; but where that walks at random, here the fuzzer says what happens next.
 */
#include "unit.h"

static int64_t next_choice(uint64_t *state, int64_t n);

/* The walk makes each of its choices with this. */
#define zkt_below next_choice
#include "claim_walk.h"
#undef zkt_below

#include "fuzz.h"

static struct fuzz_input choices;

/* One of 0 ... @n - 1, the rare ones as likely as the others. */
static int64_t next_choice(uint64_t *state, int64_t n)
{
    return choices.left == 0 ? zkt_below(state, n)
                             : (int64_t)(fuzz_byte(&choices) % (uint64_t)n);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    /* cmocka runs no test here; its assertions abort */
    return setenv("CMOCKA_TEST_ABORT", "1", 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices = (struct fuzz_input){data, size};
    begin_walk(11);
    while (choices.left > 0) {
        anything();
        check_ends();
    }
    return 0;
}
