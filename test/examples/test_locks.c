/* SPDX-License-Identifier: Apache-2.0 */
/* test_locks PROGRAM: runs locks.cpp, which tests zkr/zkr.hpp. */
#include "cli.h"

ZKT_CASE(everything_of_the_header_for_cpp_works)
{
    struct cli c;
    int status = CLI_RUN(&c, zkt_servers(), zkt_path());
    assert_string_equal(cli_out(&c), "");
    assert_string_equal(cli_err(&c), "");
    assert_int_equal(status, 0);
}
