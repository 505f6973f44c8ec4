/* SPDX-License-Identifier: Apache-2.0 */
/* The record of zkr once: which paths can have a record, and whether a command is due. */
#include "once_record.h"
#include "unit.h"

static const char own[] = "/p/_c_11234567-89ab-4def-8123-456789abcdef-lock-";

static const char *fault_of(const char *data, size_t length, const char *number)
{
    char node[128];
    (void)snprintf(node, sizeof(node), "%s%s", own, number);
    return once_record_fault(data, length, node);
}

/* An empty path can have a record if our node is the first below it. A path with a record keeps it. */
ZKT_UNIT_CASE(a_path_that_nobody_else_used_can_have_a_record)
{
    static const char record[] = "zkr once\nasked_ms=7\ntoken=9\n";
    assert_null(fault_of("", 0, "0000000000"));
    assert_null(fault_of("zkr once\n", 9, "0000000000"));
    assert_null(fault_of(record, strlen(record), "0000000012"));
}

ZKT_UNIT_CASE(a_path_of_others_cannot)
{
    static const char used[] =
        "it has been used without a record, so servers may remove it when it is empty";
    static const char data[] =
        "it contains data of another program, which the record would replace";
    assert_string_equal(fault_of("", 0, "0000000001"), used);
    assert_string_equal(fault_of("", 0, "1000000000"), used);
    assert_string_equal(fault_of("", 0, "-2147483648"), used);
    assert_string_equal(once_record_fault("", 0, "/p/0000000000"), used);
    assert_string_equal(fault_of("other", 5, "0000000000"), data);
    assert_string_equal(fault_of("zkr once", 8, "0000000000"), data);
    /* The data begin with a zero byte. */
    assert_string_equal(fault_of("", 3, "0000000000"), data);
}

static enum once_due due(int64_t last_ms, int64_t asked_ms, int64_t every_ms)
{
    char text[ONCE_RECORD_ROOM];
    once_record_write(text, last_ms, 9);
    assert_int_equal(once_record_asked_ms(text), last_ms);
    assert_int_equal(once_record_token(text), 9);
    return once_record_due(text, asked_ms, every_ms);
}

ZKT_UNIT_CASE(without_a_success_it_is_due)
{
    assert_int_equal(once_record_asked_ms("zkr once\n"), 0);
    assert_int_equal(once_record_token("zkr once\n"), 0);
    assert_int_equal(once_record_due("", 5000, 1000), ONCE_DUE);
    assert_int_equal(once_record_due("zkr once\n", 5000, 1000), ONCE_DUE);
    assert_int_equal(once_record_due("zkr once\nasked_ms=x\n", 5000, 1000), ONCE_DUE);
    assert_int_equal(once_record_due("zkr once\nasked_ms=-9223372036854775808\n", 5000,
                                     INT64_MAX / 2),
                     ONCE_DUE);
}

/* The command is due a tenth of the period early. */
ZKT_UNIT_CASE(it_is_due_after_nine_tenths_of_the_period)
{
    enum { NOW = 1000000 };
    assert_int_equal(due(NOW, NOW, 1000), ONCE_NOT_DUE);
    assert_int_equal(due(NOW - 899, NOW, 1000), ONCE_NOT_DUE);
    assert_int_equal(due(NOW - 900, NOW, 1000), ONCE_DUE);
    assert_int_equal(due(NOW - 5000, NOW, 1000), ONCE_DUE);
    assert_int_equal(due(NOW, NOW, 1), ONCE_NOT_DUE);
    assert_int_equal(due(NOW - 1, NOW, 1), ONCE_DUE);
}

/* A record from the future counts for one period. A later record comes from a wrong clock. */
ZKT_UNIT_CASE(a_record_of_the_future_counts_for_a_period)
{
    enum { NOW = 1000000 };
    assert_int_equal(due(NOW + 1, NOW, 1000), ONCE_AHEAD);
    assert_int_equal(due(NOW + 1000, NOW, 1000), ONCE_AHEAD);
    assert_int_equal(due(NOW + 1001, NOW, 1000), ONCE_DUE);
    assert_int_equal(due(INT64_MAX, NOW, 1000), ONCE_DUE);
}
