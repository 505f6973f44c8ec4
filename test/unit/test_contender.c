/* SPDX-License-Identifier: Apache-2.0 */
/* How the data of a contender's node are parsed: an owner text, fields, a wish. */
#include <string.h>

#include "look/contender.h"
#include "unit.h"

static zkr_contender taken(const char *data, size_t len)
{
    zkr_contender entry = {0};
    const struct zkr__answer answer = {.data = data, .data_len = len, .czxid = 7};
    ZKT_MUST(zkr__contender_take(&entry, &answer));
    assert_int_equal(entry.fencing_token, 7);
    return entry;
}

static void expect_field(const zkr_contender *entry, const char *key, const char *value)
{
    const char *found = zkr_contender_field(entry, key);
    if (value) {
        assert_non_null(found);
        assert_string_equal(found, value);
    } else {
        assert_null(found);
    }
}

/* The first line is the owner. The lines behind it are fields. */
ZKT_UNIT_CASE(lines_behind_the_owner_are_fields)
{
    static const char data[] = "host/1/2\nuser=\nmax=3\nheld_since_ms=1700000000123\n"
                               "command=make x=y";
    zkr_contender entry = taken(data, sizeof(data) - 1);
    assert_string_equal(entry.owner, "host/1/2");
    assert_int_equal(entry.held_since_ms, INT64_C(1700000000123));
    expect_field(&entry, "user", "");
    expect_field(&entry, "max", "3");
    expect_field(&entry, "command", "make x=y");
    expect_field(&entry, "comman", NULL);
    expect_field(&entry, "commands", NULL);
    expect_field(&entry, "", NULL);
    expect_field(&entry, NULL, NULL);
    expect_field(NULL, "user", NULL);
    zkr__contender_drop(&entry);
}

/* A wish replaces the owner and all fields. */
ZKT_UNIT_CASE(a_wish_has_neither_owner_nor_fields)
{
    zkr_contender entry = taken("__REVOKE__", 10);
    assert_true(entry.asked);
    assert_string_equal(entry.owner, "");
    expect_field(&entry, "max", NULL);
    zkr__contender_drop(&entry);
    zkr__contender_drop(&entry); /* a second call has nothing to free */
}

#define WISH_END "\xea\x2c\x89\xfb\x0a\0\0\0"
#define WISH_DEFLATED "\x8b\x8f\x0f\x72\x0d\xf3\xf7\x76\x8d\x8f\x07\0" WISH_END
// clang-format off
#define ROW(text) text, sizeof(text) - 1
// clang-format on

static const struct {
    const char *data;
    size_t len;
    const char *owner;
    const char *key; /* the value of this field */
} rows[] = {
    /* Data that are not a list of fields are one owner text. */
    {ROW("one"), "one", NULL},
    {ROW("one\ntwo"), "one?two", NULL},
    {ROW("one\nkey=1\ntwo"), "one?key=1?two", NULL},
    {ROW("one\n\nkey=1"), "one??key=1", NULL},
    {ROW("one\nKey=1"), "one?Key=1", NULL},
    {ROW("one\n=1"), "one?=1", NULL},
    {ROW("one\nkey"), "one?key", NULL},
    {ROW(""), "", NULL},
    /* A final newline changes nothing. Control characters are shown as '?', and a Latin-1 letter stays. */
    {ROW("o\033\nkey=\t\n"), "o?", "?"},
    {ROW("\302\233o\233\303\233\351\342\200\233"), "??o?\303\233\351\342\200\233",
     NULL},
    {ROW("o\n"), "o", NULL},
    {ROW("a\0b\nkey=1"), "a?b?key=1", NULL}, /* binary data */
    /* Only a whole number of milliseconds since 1970 is a time. */
    {ROW("o\nheld_since_ms="), "o", NULL},
    {ROW("o\nheld_since_ms=-5"), "o", NULL},
    {ROW("o\nheld_since_ms=12x"), "o", NULL},
    {ROW("o\nheld_since_ms=99999999999999999999"), "o", NULL},
    /* Compressed data are not shown: "10.0.0.7" and "__REVOKE_!" compressed by Java, a wish that is cut, and data that
       only look compressed. */
    {ROW("\x1f\x8b\x08\0\0\0\0\0\0\xff\x33\x34\xd0\x03\x41\x73\0"
         "\xa6\x64\x9d\xcf\x08\0\0\0"),
     "compressed data", NULL},
    {ROW("\x1f\x8b\x08\0\0\0\0\0\0\xff\x8b\x8f\x0f\x72\x0d\xf3\xf7\x76\x8d\x57"
         "\x04\0\xd1\x70\x34\x4c\x0a\0\0\0"),
     "compressed data", NULL},
    {"\x1f\x8b\x08\0\0\0\0\0\0\xff" WISH_DEFLATED, 29, "compressed data", NULL},
    {ROW("\x1f\x8b\x08\0\0\0\0\0" WISH_END), "compressed data", NULL},
    {ROW("\x1f\x8b" WISH_END), "compressed data", NULL},
    {ROW("\x1f\x8b\nmax=3"), "compressed data", NULL},
    {ROW("\x1f\x8b"), "compressed data", NULL},
    {ROW("\x1f"), "?", NULL},
    {"\x1f_compressed" WISH_END, 20, NULL, NULL},
};

ZKT_UNIT_CASE(each_text_is_taken_for_what_it_is)
{
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        print_message("row %zu, of the owner '%s'\n", i,
                      rows[i].owner ? rows[i].owner : "");
        zkr_contender entry = taken(rows[i].data, rows[i].len);
        assert_false(entry.asked);
        assert_int_equal(entry.held_since_ms, 0);
        expect_field(&entry, "key", rows[i].key);
        expect_field(&entry, "max", NULL);
        if (rows[i].owner) {
            assert_string_equal(entry.owner, rows[i].owner);
        }
        zkr__contender_drop(&entry);
    }
}

/* Compressed by Java, by Python with a file name and stored, and by gzip -1. */
ZKT_UNIT_CASE(a_wish_may_be_compressed)
{
    static const struct {
        const char *data;
        size_t len;
    } wishes[] = {
        {ROW("\x1f\x8b\x08\0\0\0\0\0\0\xff" WISH_DEFLATED)},
        {ROW("\x1f\x8b\x08\0\0\0\0\0\0\0" WISH_DEFLATED)},
        {ROW("\x1f\x8b\x08\x08\0\xf1\x53\x65\x02\xffname\0" WISH_DEFLATED)},
        {ROW("\x1f\x8b\x08\0\0\0\0\0\0\xff\x01\x0a\0\xf5\xff__REVOKE__" WISH_END)},
        {ROW("\x1f\x8b\x08\0\0\0\0\0\x04\x03" WISH_DEFLATED)},
    };
    for (size_t i = 0; i < ZKT_COUNT(wishes); i++) {
        zkr_contender entry = taken(wishes[i].data, wishes[i].len);
        assert_true(entry.asked);
        assert_string_equal(entry.owner, "");
        zkr__contender_drop(&entry);
    }
}
