/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_RUNNER_H
#define ZKT_RUNNER_H

#include <stddef.h>

#include "expect.h"

/*
 * Runs the cases of a program, each in its own process. So the other cases run even if a case leaves something behind,
 * crashes or hangs.
 *
 *     int main(int argc, char **argv)
 *     {
 *         const struct CMUnitTest tests[] = {cmocka_unit_test(an_empty_list_has_no_first)};
 *         return zkt_run(argc, argv, tests, NULL, NULL);
 *     }
 *
 * The set-up of the group runs once, in the process from which the cases are forked, and its state is the initial state
 * of each case. It must not leave threads behind, because a forked process does not have them. A case runs set-up, test
 * and teardown. The first failed check, in any thread, ends the process of the case without a teardown. Only the data
 * of a server outlive the process, and the server is wiped (zkt_servers_anew()). Anything else must be restored by a
 * set-up.
 *
 * Arguments are names of cases, or beginnings of names. Without arguments, all cases run. "-l" lists the cases.
 * "--no-fork NAME" runs one case in this process, for a debugger. A case has 300 seconds, or $ZKT_CASE_SECONDS. The
 * last lines report how many cases passed and which failed. The program returns 0, 1, or 64 for a wrong argument.
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

/** End the running case as skipped. Only a program with MAY_SKIP in CMakeLists.txt may do that. */
_Noreturn void zkt_skip(const char *why);

#endif
