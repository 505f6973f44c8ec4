/* SPDX-License-Identifier: Apache-2.0 */
/* test_raii PROGRAM: tests examples/raii.cpp as a black box. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static void start(struct cli *c, const char *servers, const char *count)
{
    CLI_START(c, servers, zkt_path(), count);
}

/* Checks that the output is "work I token TOKEN" for each I below @count, with rising tokens. */
static void assert_worked(struct cli *c, int count)
{
    const char *line = cli_out(c);
    long long before = 0;
    for (int i = 0; i < count; i++) {
        char start_of_line[32];
        int n = snprintf(start_of_line, sizeof(start_of_line), "work %d token ", i);
        assert_int_equal(strncmp(line, start_of_line, (size_t)n), 0);
        char *end;
        long long token = strtoll(line + n, &end, 10);
        assert_true(token > before && *end == '\n');
        before = token;
        line = end + 1;
    }
    assert_string_equal(line, "");
}

static void finish(struct cli *c, int count)
{
    assert_int_equal(cli_wait(c), 0);
    assert_string_equal(cli_err(c), "");
    assert_worked(c, count);
}

/* Each piece of work has its own hold. */
ZKT_CASE(each_piece_has_its_own_token)
{
    struct cli c;
    start(&c, zkt_servers(), "20");
    finish(&c, 20);
    assert_int_equal(cli_queue(), 0);
}

/* Two programs compete for one lock, and each finishes its work. */
ZKT_CASE(two_take_turns)
{
    struct cli a, b;
    start(&a, zkt_servers(), "50");
    start(&b, zkt_servers(), "50");
    finish(&a, 50);
    finish(&b, 50);
}

/* An error of the library becomes an exception with the library's message. */
ZKT_CASE(a_bad_server_list_is_an_exception)
{
    struct cli c;
    start(&c, "", "1");
    assert_int_equal(cli_wait(&c), 1);
    assert_int_equal(strncmp(cli_err(&c), "raii: ", 6), 0);
    assert_true(strlen(cli_err(&c)) > strlen("raii: \n"));
}
