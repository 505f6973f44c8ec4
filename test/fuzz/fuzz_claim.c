/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The claim's state machine against the model of a server of test/unit/test_claim_walk.c, all
 * its properties with it; but where that walks at random, here the fuzzer says what happens next.
 */
#include "unit.h"

static int64_t next_choice(uint64_t *state, int64_t n);
static bool used_up(void);
int walk_main(void);

/* The walk makes each of its choices with this. */
#define zkt_below next_choice
#define main walk_main
#include "../unit/test_claim_walk.c"
#undef main
#undef zkt_below

#include "fuzz.h"

enum { CALM_EVERY = 256 };

static struct fuzz_input choices;
static bool calm; /* the fuzzer has no say: it would let requests fail for ever */

/* One of 0 ... @n - 1, the rare ones as likely as the others. */
static int64_t next_choice(uint64_t *state, int64_t n)
{
    if (calm || used_up()) {
        return zkt_below(state, n);
    }
    return (int64_t)(fuzz_number(&choices, n > 256 ? 2 : 1) % (uint64_t)n);
}

static bool used_up(void)
{
    return choices.left == 0;
}

static void progress(void)
{
    calm = true;
    calm_down();
    calm = false;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    (void)walk_main; /* cmocka runs no test here; its assertions abort */
    return setenv("CMOCKA_TEST_ABORT", "1", 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices = (struct fuzz_input){data, size};
    begin_walk(11);
    for (int i = 1; !used_up(); i++) {
        anything();
        if (i % CALM_EVERY == 0) {
            progress();
        }
    }
    progress();
    return 0;
}
