/* SPDX-License-Identifier: Apache-2.0 */
#include "session/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/thread.h"

enum { QUEUE_MAX = 256, LINE_MAX_LEN = 1024 };

struct line {
    struct zkr__call call;
    zkr_client *c;
    int level;
    char text[];
};

static void write_line(void *call)
{
    const struct line *line = call;
    const zkr_client_options *o = &line->c->options;
    o->log(line->level, line->text, o->log_ctx);
}

static void end_line(void *call, bool cut)
{
    struct line *line = call;
    (void)cut;
    (void)__atomic_sub_fetch(&line->c->log_queued, 1, __ATOMIC_RELAXED);
    zkr__mem_free(line);
}

static bool run_line(struct zkr__call *call)
{
    zkr__thread_call(write_line, end_line, call);
    return true;
}

void zkr__log_line(zkr_client *c, int level, const char *text)
{
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == '\n') {
        len--; /* some libzookeeper lines end in a newline */
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
    line->call.run = run_line;
    (void)__atomic_add_fetch(&c->log_queued, 1, __ATOMIC_RELAXED);
    zkr__dispatch_post(&c->dispatch, &line->call);
}

/* --- the line for an event --- */

struct text {
    size_t len;
    char text[LINE_MAX_LEN];
};

/* Append as much of the text as fits. */
static void put(struct text *t, const char *from, size_t len)
{
    size_t room = sizeof(t->text) - 1 - t->len;
    len = len < room ? len : room;
    memcpy(t->text + t->len, from, len);
    t->len += len;
}

static bool is_plain(const char *value)
{
    bool plain = value[0] != '\0';
    for (const char *at = value; *at != '\0'; at++) {
        unsigned char ch = (unsigned char)*at;
        plain = plain && ch > ' ' && ch != 0x7f && ch != '"' && ch != '=' && ch != '\\';
    }
    return plain;
}

static void put_quoted(struct text *t, const char *value)
{
    put(t, "\"", 1);
    for (const char *at = value; *at != '\0'; at++) {
        unsigned char ch = (unsigned char)*at;
        if (ch == '"' || ch == '\\') {
            put(t, "\\", 1);
        }
        bool control = ch < ' ' || ch == 0x7f;
        put(t, ch == '\n' ? "\\n" : control ? "?" : at, ch == '\n' ? 2 : 1);
    }
    put(t, "\"", 1);
}

static void put_field(struct text *t, const char *key, const char *value)
{
    if (!value) {
        return;
    }
    put(t, " ", t->len > 0);
    put(t, key, strlen(key));
    put(t, "=", 1);
    if (is_plain(value)) {
        put(t, value, strlen(value));
    } else {
        put_quoted(t, value);
    }
}

void zkr__log(zkr_client *c, int level, const struct zkr__event *event)
{
    zkr__log_more(c, level, event, "%s", "");
}

void zkr__log_more(zkr_client *c,
                   int level,
                   const struct zkr__event *event,
                   const char *format,
                   ...)
{
    if (!c->options.log || level > c->options.log_level) {
        return;
    }
    char more[LINE_MAX_LEN], session[64];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(more, sizeof(more), format, args);
    va_end(args);
    bool present = event->session_id == 0;
    (void)snprintf(session, sizeof(session), " session=0x%llx epoch=%u",
                   (unsigned long long)(present ? c->session_id : event->session_id),
                   present ? c->epoch : event->epoch);
    struct text t = {0};
    put_field(&t, "event", event->name);
    put_field(&t, "path", event->path);
    put_field(&t, "node", event->node);
    put(&t, session, strlen(session));
    put(&t, " ", more[0] != '\0');
    put(&t, more, strlen(more));
    put_field(&t, "reason", event->reason);
    zkr__log_line(c, level, t.text);
}
