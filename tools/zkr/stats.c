/* SPDX-License-Identifier: Apache-2.0 */
#include "stats.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zkr/metrics.h>

#include "cli.h"

/* --- the format --- */

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
    bool bare = *rest == ' ';
    if (bare || !starts(rest, "{path=")) {
        (void)fputc('{', out);
        put_label(out, path);
        (void)fputc(bare ? '}' : ',', out);
        rest += bare ? 0 : 1;
    }
    (void)fwrite(rest, 1, length - (size_t)(rest - line), out);
}

/* Writes "# TYPE name ..." or "# HELP name ...". */
static void put_about(FILE *out, const char *line, size_t length, bool counter)
{
    size_t head = strlen("# TYPE ");
    head += strcspn(line + head, " \n");
    (void)fwrite(line, 1, head, out);
    (void)fputs(counter ? "_total" : "", out);
    (void)fwrite(line + head, 1, length - head, out);
}

/*
 * Writes OpenMetrics text in the older format of Prometheus, which node_exporter's textfile collector reads. Adds the
 * suffix to the names of counters, and leaves out units and the end mark. Adds the label @path to samples without a
 * label "path", so that the collector can read the files of several locks.
 */
static void put_metrics(FILE *out, const char *text, const char *path)
{
    static const char kind[] = " counter\n";
    /* The current family is a counter, according to its line "# TYPE". */
    bool counter = false;
    for (size_t length; *text; text += length) {
        length = strcspn(text, "\n");
        length += text[length] == '\n';
        bool type = starts(text, "# TYPE ");
        counter = type ? starts(text + length - strlen(kind), kind) : counter;
        if (type || starts(text, "# HELP ")) {
            put_about(out, text, length, counter);
        } else if (*text != '#') {
            put_sample(out, text, length, path);
        }
    }
}

/* --- writing --- */

static struct {
    zkr_client *client;
    const char *file;
    const char *path; /* path of the lock */
    int wake;         /* an eventfd that requests a write */
    bool started;
    bool failed; /* a failure has been reported */
    pthread_t thread;
    atomic_bool over;
} stats;

/* Returns the metrics as text in new memory, or NULL with the reason in errno. */
static char *metrics_text(void)
{
    enum { MORE = 1024 };
    size_t size = 0, needed = 0;
    char *text = NULL;
    int rc;
    do {
        size = needed + MORE;
        free(text);
        text = malloc(size);
        rc = text ? zkr_client_metrics(stats.client, text, size, &needed) : ZKR_ENOMEM;
    } while (rc == ZKR_EINVAL && needed >= size);
    if (rc != ZKR_OK) {
        free(text);
        errno = ENOMEM;
        return NULL;
    }
    return text;
}

/* Writes a new file beside the old one, and renames it. Returns false with the reason in errno. */
static bool put_file(const char *text, char *beside)
{
    int fd = mkostemp(beside, O_CLOEXEC);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!out) {
        return false;
    }
    /* The file gets the mode that a shell would give it, because the collector runs as another user. */
    mode_t mask = umask(0);
    (void)umask(mask);
    (void)fchmod(fd, 0666 & ~mask);
    put_metrics(out, text, stats.path);
    bool whole = !ferror(out);
    whole = fclose(out) == 0 && whole && rename(beside, stats.file) == 0;
    if (!whole) {
        int error = errno;
        (void)unlink(beside);
        errno = error;
    }
    return whole;
}

/* Writes the file. Returns 0 or errno. */
static int write_once(void)
{
    char *beside = NULL, *text = metrics_text();
    bool done = text && asprintf(&beside, "%s.XXXXXX", stats.file) > 0 &&
                put_file(text, beside);
    int error = done ? 0 : errno;
    free(beside);
    free(text);
    return error;
}

/* Writes the file again. A failure is reported once, and does not release the lock. */
static void write_again(void)
{
    int error = write_once();
    if (error != 0 && !stats.failed) {
        stats.failed = true;
        cli_note("cannot write --stats %.1000s: %s", stats.file,
                 strerrordesc_np(error));
    }
}

/* --- the thread --- */

static void *work(void *ctx)
{
    enum { PAUSE_MS = 5000 };
    struct pollfd wake = {.fd = stats.wake, .events = POLLIN};
    eventfd_t count;
    while (!atomic_load(&stats.over)) {
        (void)poll(&wake, 1, PAUSE_MS);
        (void)eventfd_read(stats.wake, &count);
        if (!atomic_load(&stats.over)) {
            write_again();
        }
    }
    return ctx;
}

int stats_begin(zkr_client *client, const char *file, const char *path)
{
    struct stat st;
    stats.client = client;
    stats.file = file;
    stats.path = path;
    /* rename() would replace a link or a device. */
    if (lstat(file, &st) == 0 && !S_ISREG(st.st_mode)) {
        return cli_fail(
            CLI_USAGE,
            "--stats %.1000s is not a regular file; name a regular file or a new file",
            file);
    }
    int error = write_once();
    if (error != 0) {
        return cli_fail(CLI_USAGE, "cannot write --stats %.1000s: %s", file,
                        strerrordesc_np(error));
    }
    stats.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    errno = stats.wake < 0 ? errno : pthread_create(&stats.thread, NULL, work, NULL);
    stats.started = errno == 0;
    return stats.started ? 0 : cli_fail_thread();
}

void stats_wake(void)
{
    if (stats.started) {
        (void)eventfd_write(stats.wake, 1);
    }
}

void stats_end(void)
{
    if (stats.started) {
        atomic_store(&stats.over, true);
        stats_wake();
        (void)pthread_join(stats.thread, NULL);
        write_again();
        (void)close(stats.wake);
        stats.started = false;
    }
}
