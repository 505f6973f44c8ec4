/* SPDX-License-Identifier: Apache-2.0 */
/* Three hundred waiters, a third of which are killed at random. */
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "cli.h"

enum { CROWD = 300, VICTIMS = CROWD / 3 };

static int by_first(const void *a, const void *b)
{
    const struct cli_beat *x = *(struct cli_beat *const *)a;
    const struct cli_beat *y = *(struct cli_beat *const *)b;
    int64_t s = atomic_load(&x->first), t = atomic_load(&y->first);
    return (s > t) - (s < t);
}

/* Checks that no beat overlaps the next, and that tokens rise from one to the next. */
static void check_turns(struct cli_beat *beats)
{
    struct cli_beat *order[CROWD];
    int n = 0;
    for (int i = 0; i < CROWD; i++) {
        if (atomic_load(&beats[i].first) != 0) {
            order[n++] = &beats[i];
        }
    }
    qsort(order, (size_t)n, sizeof(order[0]), by_first);
    for (int i = 1; i < n; i++) {
        assert_true(atomic_load(&order[i - 1]->last) < atomic_load(&order[i]->first));
        assert_true(atomic_load(&order[i - 1]->token) < atomic_load(&order[i]->token));
    }
    print_message("           %d had their turn\n", n);
}

ZKT_CASE(survivors_of_a_crowd_all_get_their_turn)
{
    static struct cli crowd[CROWD];
    static bool killed[CROWD];
    unsigned seed = (unsigned)time(NULL);
    print_message("           seed %u\n", seed);
    struct cli_beat *beats = cli_beats(CROWD);
    struct cli holder;
    CLI_QUEUE(&holder, "lock", zkt_path(), "sleep", "120");
    for (int i = 0; i < CROWD; i++) {
        CLI_START(&crowd[i], "-t", "10000", "--connect-timeout", "60", "lock",
                  zkt_path(), CLI_BEAT(&beats[i], "brief"));
    }
    ZKT_BECOMES(cli_queue(), CROWD + 1, 4 * CLI_PATIENCE_MS);
    cli_stop(&holder, SIGTERM);
    for (int i = 0; i < VICTIMS; i++) {
        int victim = rand_r(&seed) % CROWD;
        while (killed[victim]) {
            victim = (victim + 1) % CROWD;
        }
        killed[victim] = true;
        /* Killing a process that is already done has no effect, which is fine. */
        (void)kill(crowd[victim].pid, i % 2 ? SIGKILL : SIGTERM);
        zkt_sleep_ms(rand_r(&seed) % 20);
    }
    for (int i = 0; i < CROWD; i++) {
        int status = cli_wait(&crowd[i]);
        if (!killed[i] && (status != 0 || atomic_load(&beats[i].first) == 0)) {
            zkt_fail("survivor %d: status %d: %s", i, status, cli_err(&crowd[i]));
        }
    }
    check_turns(beats);
    ZKT_EVENTUALLY(cli_queue() <= 0, 2 * CLI_PATIENCE_MS);
}
