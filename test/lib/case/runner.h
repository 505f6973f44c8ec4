/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_RUNNER_H
#define ZKT_RUNNER_H

#include <stddef.h>

#include "expect.h"

/*
 * Runs the cases of a program, each in a process of its own, so that whatever a case leaves, breaks or waits for in
 * vain, the other cases run.
 *
 *     int main(int argc, char **argv)
 *     {
 *         const struct CMUnitTest tests[] = {cmocka_unit_test(an_empty_list_has_no_first)};
 *         return zkt_run(argc, argv, tests, NULL, NULL);
 *     }
 *
 * The set-up of the group runs once, in the process from which the cases are forked, and its state is the first state
 * of each case. It must not leave threads behind, as a forked process has none of them. A case runs set-up, test and
 * teardown. The first failed check, in any thread, ends the process of the case without a teardown: nothing outlives
 * the process but what a server keeps, and the server is wiped (zkt_servers_anew()). What else has to be put right, a
 * set-up does.
 *
 * Arguments: names of cases, or how they begin; without any, all cases run. "-l" lists them. "--no-fork NAME" runs one
 * in this process, for a debugger. A case has 300 seconds, or $ZKT_CASE_SECONDS. The last
 * lines say how many cases passed and which failed; the program returns 0, 1, or 64 for a wrong argument.
 */
#define zkt_run(argc, argv, tests, setup, teardown)                                    \
    zkt_run_cases((argc), (argv), (tests), sizeof(tests) / sizeof *(tests), (setup),   \
                  (teardown))

int zkt_run_cases(int argc,
                  char **argv,
                  const struct CMUnitTest *tests,
                  size_t count,
                  CMFixtureFunction setup,
                  CMFixtureFunction teardown);

/** End the running case as skipped. A program may only with MAY_SKIP in CMakeLists.txt. */
_Noreturn void zkt_skip(const char *why);

#endif
