/* SPDX-License-Identifier: Apache-2.0 */
#include "expect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*tell_more)(void);

void zkt_on_failure(void (*tell)(void))
{
    tell_more = tell;
}

static _Noreturn void failed(const char *file, int line)
{
    void (*tell)(void) = tell_more;
    tell_more = NULL; /* tell() may fail, too */
    if (tell != NULL) {
        tell();
    }
    _fail(file, line);
    abort();
}

void zkt_check_rc(int rc, int wanted, const char *call, const char *file, int line)
{
    const zkr_error *last = zkr_last_error();
    if (rc == wanted) {
        return;
    }
    print_error("%s is %s, not %s%s%s\n", call, zkr_err_name(rc), zkr_err_name(wanted),
                rc != ZKR_OK && last->code == rc ? ": " : "",
                rc != ZKR_OK && last->code == rc ? last->message : "");
    failed(file, line);
}

void zkt_check_range(int64_t value,
                     int64_t least,
                     int64_t most,
                     const char *text,
                     const char *file,
                     int line)
{
    if (value < least || value > most) {
        print_error("%s is %" PRId64 ", not from %" PRId64 " to %" PRId64 "\n", text,
                    value, least, most);
        failed(file, line);
    }
}

void zkt_not_in_time(const char *expr, int64_t ms, const char *file, int line)
{
    print_error("not within %" PRId64 " ms: %s\n", ms, expr);
    failed(file, line);
}

/*
 * Returns @value as text, for example "5". If @text, the expression in the test, is the name of a code, returns the
 * name of the code @value instead.
 */
static const char *named(int64_t value, const char *text, char out[32])
{
    if (strncmp(text, "ZKR_E", 5) == 0 || strcmp(text, "ZKR_OK") == 0) {
        return zkr_err_name((int)value);
    }
    (void)snprintf(out, 32, "%" PRId64, value);
    return out;
}

void zkt_never(int64_t value,
               int64_t wanted,
               const char *value_text,
               const char *wanted_text,
               int64_t ms,
               const char *file,
               int line)
{
    char is[32];
    char not [32];
    print_error("not within %" PRId64 " ms: %s == %s; it is %s, not %s\n", ms,
                value_text, wanted_text, named(value, wanted_text, is),
                named(wanted, wanted_text, not ));
    failed(file, line);
}
