/* SPDX-License-Identifier: Apache-2.0 */
/* How zkr shows text of other programs. */
#include <stdlib.h>

#include "text.h"
#include "unit.h"

static void expect_shown(const char *text, int width, const char *wanted)
{
    char *shown = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&shown, &size);
    assert_non_null(out);
    text_print(out, text, width);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(shown, wanted);
    free(shown);
}

static void expect_widened(int width, const char *text, int most, int wanted)
{
    text_widen(&width, text, most);
    assert_int_equal(width, wanted);
}

/* Letters of all scripts are shown unchanged. */
ZKT_UNIT_CASE(letters_are_shown)
{
    expect_shown("host/1/2", 0, "host/1/2");
    expect_shown("schl\303\274ssel", 0, "schl\303\274ssel");
    expect_shown("\360\237\230\200 \327\220", 0, "\360\237\230\200 \327\220");
}

/* Characters that control a terminal are not shown: control characters, line ends, and characters that change the
   direction. */
ZKT_UNIT_CASE(what_a_terminal_obeys_is_not_shown)
{
    static const char *const obeyed[] = {
        "\t",           "\n",           "\033",         "\177",         "\302\200",
        "\302\237",     "\330\234",     "\342\200\216", "\342\200\217", "\342\200\250",
        "\342\200\251", "\342\200\252", "\342\200\256", "\342\201\246", "\342\201\251",
    };
    for (size_t i = 0; i < ZKT_COUNT(obeyed); i++) {
        expect_shown(obeyed[i], 0, "?");
        expect_widened(0, obeyed[i], 9, 1);
    }
}

/* Text is also cleaned in place. A control character leaves a space. */
ZKT_UNIT_CASE(text_is_cleaned_in_place)
{
    char text[] = "a\tb\302\233c\342\200\256d\233\377 schl\303\274ssel\303";
    text_clean(text);
    assert_string_equal(text, "a b??c???d?? schl\303\274ssel?");
}

/* A byte that is not part of a character takes one column. */
ZKT_UNIT_CASE(bytes_that_are_no_text_are_not_shown)
{
    expect_shown("\377a\303", 0, "?a?");
    expect_shown("\355\240\200", 0, "???"); /* a surrogate */
    expect_shown("\300\257", 0, "??");      /* overlong */
    expect_shown("\364\220\200\200", 0, "????");
    expect_widened(0, "\364\220\200\200", 9, 4);
    expect_widened(0, "\364\220\200\200", 3, 3);
    expect_widened(5, "\364\220\200\200", 9, 5);
}

/* Spaces fill a column. A text that is too long is not cut. */
ZKT_UNIT_CASE(short_text_is_filled_up)
{
    expect_shown("\303\274", 3, "\303\274  ");
    expect_shown("\377", 2, "? ");
    expect_shown("abc", 2, "abc");
    expect_shown("", 2, "  ");
}

static void expect_age(int64_t ms, const char *wanted)
{
    char age[32];
    text_age(age, sizeof(age), ms);
    assert_string_equal(age, wanted);
}

/* An age has at most two units. If the clock is behind the server's, the age is 0 and not negative. */
ZKT_UNIT_CASE(an_age_is_short)
{
    expect_age(-5000, "0s");
    expect_age(59999, "59s");
    expect_age(60000, "1m00s");
    expect_age(3600000, "1h00m");
    expect_age(86400000, "1d00h");
    expect_age(INT64_MAX, "106751991167d07h");
}
