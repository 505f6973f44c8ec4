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

/* --- the format --- */

/* The family that a line "# TYPE zkr_x counter" begins. */
struct family {
    const char *name; /* not terminated */
    size_t length;
    bool counter;
};

static bool starts(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

static void put_label(FILE *out, const char *path)
{
    (void)fputs("path=\"", out);
    for (; *path; path++) {
        if (*path == '"' || *path == '\\') {
            (void)fputc('\\', out);
        }
        (void)fputc(*path, out);
    }
    (void)fputc('"', out);
}

static void put_sample(FILE *out, const char *line, size_t length, const char *path)
{
    size_t name = strcspn(line, "{ ");
    const char *rest = line + name;
    (void)fwrite(line, 1, name, out);
    if (*rest == ' ') {
        (void)fputc('{', out);
        put_label(out, path);
        (void)fputc('}', out);
    } else if (!starts(rest, "{path=")) {
        (void)fputc('{', out);
        put_label(out, path);
        (void)fputc(',', out);
        rest++;
    }
    (void)fwrite(rest, 1, length - (size_t)(rest - line), out);
}

/* "# TYPE name ..." and "# HELP name ...". */
static void put_about(FILE *out, const char *line, size_t length, struct family *f)
{
    enum { WORD = sizeof("# TYPE ") - 1 };
    const char *name = line + WORD;
    size_t name_length = strcspn(name, " \n");
    if (starts(line, "# TYPE ")) {
        *f = (struct family){name, name_length,
                             starts(name + name_length, " counter\n")};
    }
    bool same = name_length == f->length && memcmp(name, f->name, name_length) == 0;
    (void)fwrite(line, 1, WORD + name_length, out);
    (void)fputs(same && f->counter ? "_total" : "", out);
    (void)fwrite(name + name_length, 1, length - WORD - name_length, out);
}

/*
 * OpenMetrics text as node_exporter's textfile collector reads it: in the older format of Prometheus. Names of counters are
 * written whole, units and the end mark are left out. What has no label "path" gets @path, so that files of several locks can
 * stand side by side.
 */
static void put_metrics(FILE *out, const char *text, const char *path)
{
    struct family family = {.name = ""};
    for (size_t length; *text; text += length) {
        length = strcspn(text, "\n");
        length += text[length] == '\n';
        if (starts(text, "# TYPE ") || starts(text, "# HELP ")) {
            put_about(out, text, length, &family);
        } else if (*text != '#') {
            put_sample(out, text, length, path);
        }
    }
}

/* --- writing --- */

/* The metrics as text, allocated; NULL and errno on failure. */
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

/* With the mode that a shell gives to a new file: the collector is another user. */
static void set_mode(int fd)
{
    mode_t mask = umask(0);
    (void)umask(mask);
    (void)fchmod(fd, 0666 & ~mask);
}

/* Writes a new file beside the old one and renames it. False: errno says why. */
static bool put_file(const struct stats *s, const char *text, char *beside)
{
    int fd = mkostemp(beside, O_CLOEXEC);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!out) {
        return false;
    }
    set_mode(fd);
    put_metrics(out, text, s->path);
    bool whole = !ferror(out);
    whole = fclose(out) == 0 && whole && rename(beside, s->file) == 0;
    if (!whole) {
        int error = errno;
        (void)unlink(beside);
        errno = error;
    }
    return whole;
}

/* 0 or errno. */
static int write_once(const struct stats *s)
{
    char *beside = NULL, *text = metrics_text(s->client);
    bool done = text && asprintf(&beside, "%s.XXXXXX", s->file) > 0 &&
                put_file(s, text, beside);
    int error = done ? 0 : errno;
    free(beside);
    free(text);
    return error;
}

/* After the first time a failure is reported once, and is no reason to release the lock. */
static void write_again(struct stats *s)
{
    int error = write_once(s);
    if (error != 0 && !s->failed) {
        s->failed = true;
        cli_note("cannot write --stats %.1000s: %s", s->file, strerrordesc_np(error));
    }
}

/* --- the thread --- */

static void *work(void *ctx)
{
    enum { PAUSE_MS = 5000 };
    struct stats *s = ctx;
    struct pollfd wake = {.fd = s->wake, .events = POLLIN};
    uint64_t count;
    while (!atomic_load(&s->over)) {
        (void)poll(&wake, 1, PAUSE_MS);
        (void)!read(s->wake, &count, sizeof(count));
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
        !S_ISREG(st.st_mode)) { /* rename() would replace a link or a device */
        return cli_fail(CLI_USAGE,
                        "--stats %.1000s is no file, and would be replaced by "
                        "one; name a file",
                        s->file);
    }
    int error = write_once(s);
    if (error != 0) {
        return cli_fail(CLI_USAGE, "cannot write --stats %.1000s: %s", s->file,
                        strerrordesc_np(error));
    }
    s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    errno = s->wake < 0 ? errno : pthread_create(&s->thread, NULL, work, s);
    s->started = errno == 0;
    return s->started ? 0 : cli_fail_thread();
}

void stats_wake(struct stats *s)
{
    const uint64_t one = 1;
    if (s->started) {
        (void)!write(s->wake, &one, sizeof(one));
    }
}

void stats_end(struct stats *s)
{
    if (s->started) {
        atomic_store(&s->over, true);
        stats_wake(s);
        (void)pthread_join(s->thread, NULL);
        write_again(s);
        (void)close(s->wake);
        s->started = false;
    }
}
