/* SPDX-License-Identifier: Apache-2.0 */
#include "event.h"

#include <inttypes.h>

void zkt_event(FILE *out, const char *op, int64_t called, int64_t returned)
{
    (void)fprintf(out, "{\"op\":\"%s\",\"call\":%" PRId64, op, called);
    if (returned != 0) {
        zkt_event_number(out, "return", returned);
    }
}

void zkt_event_by(FILE *out, int process, int life, int thread)
{
    (void)fprintf(out, ",\"client\":\"%d.%d\",\"thread\":%d", process, life, thread);
}

void zkt_event_number(FILE *out, const char *field, int64_t value)
{
    (void)fprintf(out, ",\"%s\":%" PRId64, field, value);
}

void zkt_event_text(FILE *out, const char *field, const char *text)
{
    (void)fprintf(out, ",\"%s\":\"%s\"", field, text);
}

void zkt_event_paths(FILE *out, const char *first, const char *second)
{
    (void)fprintf(out, ",\"paths\":[\"%s\"", first);
    if (second != NULL) {
        (void)fprintf(out, ",\"%s\"", second);
    }
    (void)fprintf(out, "]");
}

void zkt_event_end(FILE *out)
{
    (void)fprintf(out, "}\n");
}
