/* SPDX-License-Identifier: Apache-2.0 */
/* The interrupt of zkr: what a signal does while the main thread waits for its turn. */
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "interrupt.h"
#include "signals.h"
#include "unit.h"

enum { CODE_ENDED = 7 };

/* The rest of a test runs in a child: signals_begin() changes what signals do. Returns its exit code. */
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
    while (atomic_load(&calls) < 2) { /* again and again: the wait may not have begun */
        (void)usleep(1000);
    }
    return interrupt_end(&interrupt) == SIGTERM ? CODE_ENDED : 1;
}

/* In a queue already, the process must not end before its node is deleted. */
ZKT_UNIT_CASE(a_signal_from_before_the_wait_cancels)
{
    assert_int_equal(in_child(cancels), CODE_ENDED);
}
