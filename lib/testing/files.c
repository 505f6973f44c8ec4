/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <ftw.h>
#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "testing/net.h"
#include "testing/server.h"

#define DIR_PREFIX "zkr-test-"

enum { SAID_MAX = 200 };

const char *zkr__test_environment(const char *name)
{
    const char *value = secure_getenv(name);
    return value != NULL && *value != '\0' ? value : NULL;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    (void)remove(path);
    return 0;
}

void zkr__test_remove_tree(const char *dir)
{
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): safe without FTW_CHDIR */
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *
zkr__test_in_dir(const zkr_test_server *s, const char *name, char *out, size_t size)
{
    (void)snprintf(out, size, "%s/%s", s->dir, name);
    return out;
}

/* Calls @fn with each line of the log until @fn returns true. */
static bool
each_line(const zkr_test_server *s, bool (*fn)(void *ctx, char *line), void *ctx)
{
    char path[256];
    char line[1024];
    bool found = false;
    FILE *f = fopen(zkr__test_in_dir(s, "log", path, sizeof path), "re");

    while (f != NULL && !found && fgets(line, sizeof line, f) != NULL) {
        found = fn(ctx, line);
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    return found;
}

static bool contains(void *words, char *line)
{
    return strstr(line, words) != NULL;
}

bool zkr__test_server_log_says(const zkr_test_server *s, const char *words)
{
    char copy[64];
    (void)snprintf(copy, sizeof copy, "%s", words);
    return each_line(s, contains, copy);
}

/* Keeps the last line about an error or, without such a line, the first line. */
static bool keep_telling(void *said, char *line)
{
    char *kept = said;
    line[strcspn(line, "\n")] = '\0';
    if (kept[0] == '\0' || (line[0] != '\t' && (strstr(line, "rror") != NULL ||
                                                strstr(line, "xception") != NULL))) {
        (void)snprintf(kept, SAID_MAX, "%.*s", SAID_MAX - 1, line);
    }
    return false;
}

int zkr__test_server_failed(const zkr_test_server *s)
{
    char said[SAID_MAX] = "";
    (void)each_line(s, keep_telling, said);
    return zkr__test_fail(ZKR_ENOANSWER, 0, "the server does not serve: %s",
                          said[0] != '\0' ? said : "its log is empty");
}

int zkr__test_server_write(const zkr_test_server *s,
                           const char *name,
                           const char *format,
                           ...)
{
    char path[256];
    va_list args;
    FILE *f = fopen(zkr__test_in_dir(s, name, path, sizeof path), "ae");
    int written = -1;

    if (f != NULL) {
        va_start(args, format);
        written = vfprintf(f, format, args);
        va_end(args);
        if (fclose(f) != 0) {
            written = -1;
        }
    }
    return written < 0 ? zkr__test_fail(ZKR_ESYS, errno, "%s", path) : ZKR_OK;
}

/* Removes directories that killed programs left in @tmp more than ten minutes ago. */
static void remove_stale(const char *tmp)
{
    char pattern[512];
    struct stat st;
    glob_t found = {0};

    (void)snprintf(pattern, sizeof pattern, "%s/" DIR_PREFIX "*", tmp);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): without a tilde in the pattern, it looks up no user */
    if (glob(pattern, 0, NULL, &found) != 0) {
        return;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        const char *name = path + strlen(tmp) + sizeof "/" DIR_PREFIX - 1;
        const pid_t pid = (pid_t)strtol(name, NULL, 10);
        if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH && stat(path, &st) == 0 &&
            st.st_uid == geteuid() && st.st_mtime + 600 < time(NULL)) {
            zkr__test_remove_tree(path);
        }
    }
    globfree(&found);
}

int zkr__test_make_dir(zkr_test_server *s)
{
    const char *env = zkr__test_environment("TMPDIR");
    const char *tmp = env != NULL ? env : "/tmp";
    static atomic_bool swept;

    (void)snprintf(s->dir, sizeof s->dir, "%s/" DIR_PREFIX "%d-XXXXXX", tmp,
                   (int)getpid());
    if (mkdtemp(s->dir) == NULL) {
        return zkr__test_fail(ZKR_ESYS, errno, "no directory %s", s->dir);
    }
    if (!atomic_exchange(&swept, true)) {
        remove_stale(tmp);
    }
    return ZKR_OK;
}
