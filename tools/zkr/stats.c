/* SPDX-License-Identifier: Apache-2.0 */
#include "stats.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zkr/metrics.h>

#include "cli.h"
#include "prom.h"

/* --- writing --- */

/* Allocated, or NULL and errno. */
static char *metrics_text(zkr_client *c)
{
    enum { MORE = 1024 };
    size_t size = 0, needed = 0;
    char *text = NULL;
    int rc = ZKR_EINVAL;
    while (rc == ZKR_EINVAL && needed >= size) {
        size = needed + MORE;
        free(text);
        text = malloc(size);
        rc = text ? zkr_client_metrics(c, text, size, &needed) : ZKR_ENOMEM;
    }
    if (rc != ZKR_OK) {
        free(text);
        errno = ENOMEM;
        return NULL;
    }
    return text;
}

/* Readable as a file that a shell makes: who collects is another user. */
static void open_mode(int fd)
{
    mode_t mask = umask(0);
    (void)umask(mask);
    (void)fchmod(fd, 0666 & ~mask);
}

/* All of it, or nothing: into a file beside it, which takes its place. False and errno. */
static bool put_file(const struct stats *s, const char *text, char *beside)
{
    int fd = mkostemp(beside, O_CLOEXEC);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!out) {
        return false;
    }
    open_mode(fd);
    prom_write(out, text, s->path);
    bool whole = !ferror(out);
    whole = fclose(out) == 0 && whole && rename(beside, s->file) == 0;
    if (!whole) {
        int why = errno;
        (void)unlink(beside);
        errno = why;
    }
    return whole;
}

/* 0 or errno. */
static int write_once(const struct stats *s)
{
    char *beside = NULL, *text = metrics_text(s->client);
    bool done = text && asprintf(&beside, "%s.XXXXXX", s->file) > 0 &&
                put_file(s, text, beside);
    int why = done ? 0 : errno;
    free(beside);
    free(text);
    return why;
}

/* From then on a failure is no reason to let go. */
static void write_again(struct stats *s)
{
    int why = write_once(s);
    if (why != 0 && !s->failed) {
        s->failed = true;
        cli_note("cannot write --stats %.1000s: %s", s->file, strerrordesc_np(why));
    }
}

/* --- the thread --- */

static void *work(void *ctx)
{
    enum { PAUSE_MS = 5000 };
    struct stats *s = ctx;
    struct pollfd news = {.fd = s->news, .events = POLLIN};
    uint64_t count;
    while (!atomic_load(&s->over)) {
        (void)poll(&news, 1, PAUSE_MS);
        (void)!read(s->news, &count, sizeof(count));
        if (!atomic_load(&s->over)) {
            write_again(s);
        }
    }
    return NULL;
}

int stats_begin(struct stats *s)
{
    if (!s->file) {
        return 0;
    }
    struct stat st;
    if (lstat(s->file, &st) == 0 &&
        !S_ISREG(st.st_mode)) { /* a link would be replaced, too */
        return cli_fail(CLI_USAGE,
                        "--stats %.1000s is no file, and would be replaced by "
                        "one; name a file",
                        s->file);
    }
    int why = write_once(s);
    if (why != 0) {
        return cli_fail(CLI_USAGE, "cannot write --stats %.1000s: %s", s->file,
                        strerrordesc_np(why));
    }
    s->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    errno = s->news < 0 ? errno : pthread_create(&s->thread, NULL, work, s);
    s->started = errno == 0;
    return s->started ? 0 : cli_fail_thread();
}

void stats_news(struct stats *s)
{
    const uint64_t one = 1;
    if (s->started) {
        (void)!write(s->news, &one, sizeof(one));
    }
}

void stats_end(struct stats *s)
{
    if (s->started) {
        atomic_store(&s->over, true);
        stats_news(s);
        (void)pthread_join(s->thread, NULL);
        write_again(s);
        (void)close(s->news);
        s->started = false;
    }
}
