/* SPDX-License-Identifier: Apache-2.0 */
#include "session/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { QUEUE_MAX = 256, LINE_MAX_LEN = 512 };

struct line {
    struct zkr__call call;
    zkr_client *c;
    int level;
    char text[];
};

static void count_queued(zkr_client *c, int64_t by)
{
    (void)__atomic_add_fetch(&c->log_queued, by, __ATOMIC_RELAXED);
}

static void run_line(struct zkr__call *call)
{
    struct line *line = (struct line *)call;
    zkr_client *c = line->c;
    c->options.log(line->level, line->text, c->options.log_ctx);
    count_queued(c, -1);
    zkr__mem_free(line);
}

void zkr__log_line(zkr_client *c, int level, const char *text)
{
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == '\n') {
        len--; /* some of libzookeeper's end in one */
    }
    struct line *line = NULL;
    if (__atomic_load_n(&c->log_queued, __ATOMIC_RELAXED) < QUEUE_MAX) {
        line = zkr__mem_alloc(sizeof(*line) + len + 1);
    }
    if (!line) {
        (void)__atomic_add_fetch(&c->log_dropped, 1, __ATOMIC_RELAXED);
        return;
    }
    memcpy(line->text, text, len);
    line->c = c;
    line->level = level;
    line->call.owner = NULL;
    line->call.run = run_line;
    count_queued(c, 1);
    zkr__dispatch_post(&c->dispatch, &line->call);
}

void zkr__log(zkr_client *c, int level, const char *format, ...)
{
    if (!c->options.log || level > c->options.log_level) {
        return;
    }
    char text[LINE_MAX_LEN];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    zkr__log_line(c, level, text);
}
