/* SPDX-License-Identifier: Apache-2.0 */
#include "once_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char once_mark[] = "zkr once\n";

/* Returns the number @name of the record, or 0 if the record has none. */
static int64_t number_in(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtoll(at + strlen(name), NULL, 10) : 0;
}

int64_t once_record_asked_ms(const char *text)
{
    return number_in(text, "\nasked_ms=");
}

int64_t once_record_token(const char *text)
{
    return number_in(text, "\ntoken=");
}

/*
 * Servers delete an empty container, and the record with it. They do not report whether a node is a container, but zkr
 * once creates none. So if there is no record, our node must be the first below the path. Otherwise others have used
 * the path.
 */
const char *once_record_fault(const char *text, size_t length, const char *node)
{
    const char *number = strrchr(node, '-');
    if (length > 0) {
        return strncmp(text, once_mark, strlen(once_mark)) == 0
                   ? NULL
                   : "it contains data of another program, which the record would "
                     "replace";
    }
    return number && strcmp(number, "-0000000000") == 0
               ? NULL
               : "it has been used without a record, so servers may remove it when it "
                 "is empty";
}

/*
 * A tenth of the period is the tolerance for jobs that start early or late. A record that is more than a period in the
 * future comes from a wrong clock, and does not count.
 */
enum once_due once_record_due(const char *text, int64_t asked_ms, int64_t every_ms)
{
    int64_t last = once_record_asked_ms(text), since;
    if (last <= 0) {
        return ONCE_DUE;
    }
    since = asked_ms - last;
    if (since >= every_ms - every_ms / 10 || since < -every_ms) {
        return ONCE_DUE;
    }
    return since < 0 ? ONCE_AHEAD : ONCE_NOT_DUE;
}

void once_record_write(char text[ONCE_RECORD_ROOM], int64_t asked_ms, int64_t token)
{
    (void)snprintf(text, ONCE_RECORD_ROOM,
                   "%sasked_ms=%" PRId64 "\ntoken=%" PRId64 "\n", once_mark, asked_ms,
                   token);
}
