/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "session/session.h"

enum { QUEUE_MAX = 256, LINE_MAX_LEN = 512 };

struct line {
    struct zkr__call call;
    zkr_client *c;
    int level;
    char text[];
};

/* libzookeeper's lines carry no handle: the client that joined first gets them all. */
static pthread_mutex_t foreign_mu = PTHREAD_MUTEX_INITIALIZER;
static zkr_client *foreign;
static pthread_once_t forks = PTHREAD_ONCE_INIT;

/* --- fork: the child has none of the parent's clients, and must not find the mutex locked --- */

static void before_fork(void)
{
    (void)pthread_mutex_lock(&foreign_mu);
    zkr__zk_log_pause();
}

static void after_fork(void)
{
    zkr__zk_log_resume();
    (void)pthread_mutex_unlock(&foreign_mu);
}

static void begin_child(void)
{
    foreign = NULL;
    (void)pthread_mutex_init(&foreign_mu, NULL);
    zkr__zk_log_resume();
}

static void mind_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork, begin_child);
}

/* --- lines --- */

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

static void post_line(zkr_client *c, int level, const char *text)
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
    post_line(c, level, text);
}

void zkr__log_foreign(int level, const char *text)
{
    (void)pthread_mutex_lock(&foreign_mu);
    if (foreign && level <= foreign->options.log_level) {
        post_line(foreign, level, text);
    }
    (void)pthread_mutex_unlock(&foreign_mu);
}

void zkr__log_join(zkr_client *c)
{
    /* Also for one without a log: libzookeeper makes lines all the same. */
    (void)pthread_once(&forks, mind_forks);
    if (!c->options.log) {
        return;
    }
    (void)pthread_mutex_lock(&foreign_mu);
    zkr_client **at = &foreign;
    while (*at) {
        at = &(*at)->next_log;
    }
    *at = c;
    zkr__zk_log_level((int)foreign->options.log_level);
    (void)pthread_mutex_unlock(&foreign_mu);
}

void zkr__log_leave(zkr_client *c)
{
    (void)pthread_mutex_lock(&foreign_mu);
    for (zkr_client **at = &foreign; *at; at = &(*at)->next_log) {
        if (*at == c) {
            *at = c->next_log;
            break;
        }
    }
    (void)pthread_mutex_unlock(&foreign_mu);
}
