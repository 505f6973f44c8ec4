/* SPDX-License-Identifier: Apache-2.0 */
/* test_lose_a_lock PROGRAM: tests examples/lose_a_lock.c as a black box. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* The worker is notified of the loss, and stops in less than a second. */
ZKT_CASE(the_worker_stops_within_a_second)
{
    static const char before[] =
        "worker: hold or session lost\ntest: it stopped within ";
    struct cli c;
    assert_int_equal(CLI_RUN_AS(&c, cli_zkr()), 0);
    assert_string_equal(cli_err(&c), "");
    const char *said = cli_out(&c);
    assert_int_equal(strncmp(said, before, sizeof before - 1), 0);
    ZKT_IN_RANGE(strtol(said + sizeof before - 1, NULL, 10), 0, 999);
}

ZKT_CASE(without_java_it_says_what_to_install)
{
    struct cli c;
    assert_int_equal(setenv("ZKR_TEST_JAVA", "/nowhere/java", 1), 0);
    assert_int_equal(CLI_RUN_AS(&c, cli_zkr()), 1);
    assert_non_null(strstr(cli_err(&c), "apt-get install default-jre-headless"));
}
