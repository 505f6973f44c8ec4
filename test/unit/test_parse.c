/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing of user input: numbers, times and signals. */
#include <signal.h>
#include <stdlib.h>

#include "parse.h"
#include "unit.h"

ZKT_UNIT_CASE(an_integer_has_digits_alone_and_two_bounds)
{
    static const struct {
        const char *text;
        int64_t least, most, value; /* -1: refused */
    } rows[] = {
        {"0", 0, 9, 0},
        {"7", 0, 9, 7},
        {"007", 0, 9, 7},
        {"9", 0, 9, 9},
        {"10", 0, 9, -1},
        {"1", 2, 9, -1},
        {"2", 2, 9, 2},
        {"", 0, 9, -1},
        {"1/", 0, 9, -1},
        {"1:", 0, 9, -1},
        {"-1", 0, 9, -1},
        {"+1", 0, 9, -1},
        {" 1", 0, 9, -1},
        {"1 ", 0, 9, -1},
        {"255", 0, 255, 255},
        {"256", 0, 255, -1},
        {"9223372036854775807", 1, INT64_MAX, INT64_MAX},
        {"9223372036854775808", 1, INT64_MAX, -1},
        {"99999999999999999999", 1, INT64_MAX, -1},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        int64_t value;
        bool fine = parse_int(rows[i].text, rows[i].least, rows[i].most, &value);
        if (fine != (rows[i].value >= 0) || (fine && value != rows[i].value)) {
            fail_msg("'%s'", rows[i].text);
        }
    }
}

/* A positive time below a millisecond counts as one millisecond. */
ZKT_UNIT_CASE(seconds_are_rounded_up)
{
    static const struct {
        const char *text;
        int64_t ms; /* -1: refused */
    } rows[] = {
        {"0", 0},
        {"1", 1000},
        {"1.5", 1500},
        {".5", 500},
        {"5.", 5000},
        {"0.001", 1},
        {"0.0001", 1},
        {"0.00010", 1},
        {"0.0010", 1},
        {"0.0011", 2},
        {"0.0000", 0},
        {"0.00000001", 1},
        {"0.9991", 1000},
        {"", -1},
        {".", -1},
        {"x", -1},
        {"1x", -1},
        {"1.x", -1},
        {"1.5x", -1},
        {"1.5/", -1},
        {"1.5:", -1},
        {"1..5", -1},
        {"-1", -1},
        {"1e3", -1},
        {" 1", -1},
        {"1/", -1},
        {"1:", -1},
        {"nan", -1},
        {"1000000000", INT64_C(1000000000000)},
        {"1000000001", -1},
        {"99999999999999999999", -1},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        int64_t ms;
        bool fine = parse_seconds(rows[i].text, &ms);
        if (fine != (rows[i].ms >= 0) || (fine && ms != rows[i].ms)) {
            fail_msg("'%s'", rows[i].text);
        }
    }
}

ZKT_UNIT_CASE(a_signal_has_a_number_and_two_names)
{
    static const struct {
        const char *text;
        int signo; /* 0: refused */
    } rows[] = {
        {"TERM", SIGTERM}, {"SIGTERM", SIGTERM},
        {"term", SIGTERM}, {"sigUsr1", SIGUSR1},
        {"9", SIGKILL},    {"1", SIGHUP},
        {"0", 0},          {"999", 0},
        {"", 0},           {"SIG", 0},
        {"NOPE", 0},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        int signo = 0;
        if (parse_signal(rows[i].text, &signo) != (rows[i].signo != 0) ||
            signo != rows[i].signo) {
            fail_msg("'%s'", rows[i].text);
        }
    }
}

ZKT_UNIT_CASE(an_empty_variable_is_none)
{
    assert_int_equal(setenv("ZKR_TEST_PARSE", "x", 1), 0);
    assert_string_equal(parse_variable("ZKR_TEST_PARSE"), "x");
    assert_int_equal(setenv("ZKR_TEST_PARSE", "", 1), 0);
    assert_null(parse_variable("ZKR_TEST_PARSE"));
    assert_int_equal(unsetenv("ZKR_TEST_PARSE"), 0);
    assert_null(parse_variable("ZKR_TEST_PARSE"));
}
