/* SPDX-License-Identifier: Apache-2.0 */
/* The interrupt of zkr: the effect of a signal while the main thread waits for its turn. */
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "interrupt.h"
#include "signals.h"
#include "unit.h"

enum { CODE_ENDED = 7 };

/* Run the rest of a test in a child, because signals_begin() changes the signal handlers. Returns the exit code of the
   child. */
static int in_child(int (*run)(const struct signals *s))
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct signals s;
        _exit(signals_begin(&s) ? run(&s) : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void count(void *ctx)
{
    atomic_int *calls = ctx;
    atomic_fetch_add(calls, 1);
}

static int cancels(const struct signals *s)
{
    atomic_int calls = 0;
    (void)kill(getpid(), SIGTERM);
    struct interrupt interrupt;
    if (!interrupt_begin(&interrupt, s, NEVER, count, &calls)) {
        return 1;
    }
    /* Repeated, because the wait may not have begun. */
    while (atomic_load(&calls) < 2) {
        (void)usleep(1000);
    }
    return interrupt_end(&interrupt) == SIGTERM ? CODE_ENDED : 1;
}

/* A process that is already in a queue must not end before its node is deleted. */
ZKT_UNIT_CASE(a_signal_from_before_the_wait_cancels)
{
    assert_int_equal(in_child(cancels), CODE_ENDED);
}
