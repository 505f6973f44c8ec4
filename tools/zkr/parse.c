/* SPDX-License-Identifier: Apache-2.0 */
#include "parse.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *parse_variable(const char *name)
{
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread exists yet */
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

bool parse_int(const char *text, int64_t least, int64_t most, int64_t *value)
{
    const char *at = text;
    for (*value = 0; *at >= '0' && *at <= '9'; at++) {
        int64_t digit = *at - '0';
        if (*value > (most - digit) / 10) {
            return false;
        }
        *value = *value * 10 + digit;
    }
    return at != text && *at == '\0' && *value >= least;
}

bool parse_seconds(const char *text, int64_t *ms)
{
    enum { MOST = 1000000000, MS = 1000 };
    int64_t seconds = 0, part = 0, unit = MS; /* unit: value of the last digit, in ms */
    const char *from = text;
    bool more = false; /* there are digits below 1 ms, so the result is rounded up */
    for (; *text >= '0' && *text <= '9' && seconds <= MOST; text++) {
        seconds = seconds * 10 + (*text - '0');
    }
    bool digits = text > from, point = *text == '.';
    for (text += point; point && *text >= '0' && *text <= '9'; text++) {
        unit /= 10;
        part += unit * (*text - '0');
        more = more || (unit == 0 && *text > '0');
        digits = true;
    }
    *ms = seconds * MS + part + more;
    return digits && *text == '\0' && seconds <= MOST;
}

bool parse_signal(const char *text, int *signo)
{
    int64_t number;
    if (parse_int(text, 1, SIGRTMAX, &number)) {
        *signo = (int)number;
        return true;
    }
    if (strncasecmp(text, "SIG", 3) == 0) {
        text += 3;
    }
    for (int i = 1; i < SIGRTMIN; i++) {
        const char *name = sigabbrev_np(i);
        if (name && strcasecmp(text, name) == 0) {
            *signo = i;
            return true;
        }
    }
    return false;
}
