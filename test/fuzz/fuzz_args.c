/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments of zkr, parsed up to the point where it would open a session. Each run ends with a documented exit code,
 * and prints one line on stderr exactly if it fails. PATH and the settings are words from the arguments. Credentials
 * are overwritten where ps shows them. A second run gives the same result.
 */
#include <getopt.h>
#include <unistd.h>

#include <zkr/leader_latch.h>
#include <zkr/zkr.h>

#include "access.h"
#include "cli.h"
#include "clock.h"
#include "fds.h"
#include "fuzz.h"
#include "interrupt.h"
#include "settings.h"

enum { WORDS_MAX = 24, SAID_MAX = 4096 };

int zkr_main(int argc, char **argv); /* main() of tools/zkr/main.c */

/* The outcome of a run. */
struct outcome {
    int status;
    bool opened;
    const char *servers, *path, *id;
    int64_t session_ms, connect_ms;
    size_t secret_len;
    char said[SAID_MAX];
    size_t said_len;
};

static struct outcome outcome;
static bool inside;

/* --- what zkr meets instead of the world --- */

__typeof__(fds_begin) __wrap_fds_begin;
__typeof__(signals_begin) __wrap_signals_begin;
__typeof__(settings_take_rest) __wrap_settings_take_rest;
__typeof__(auth_add_file) __wrap_auth_add_file;
__typeof__(zkr_client_open) __wrap_zkr_client_open;
__typeof__(interrupt_begin) __wrap_interrupt_begin;
__typeof__(interrupt_end) __wrap_interrupt_end;
__typeof__(zkr_client_wait_connected) __wrap_zkr_client_wait_connected;
__typeof__(zkr_survey_read) __wrap_zkr_survey_read;
__typeof__(zkr_mutex_create) __wrap_zkr_mutex_create;
__typeof__(zkr_leader_latch_create) __wrap_zkr_leader_latch_create;
__typeof__(zkr_rwlock_create) __wrap_zkr_rwlock_create;
__typeof__(zkr_semaphore_create) __wrap_zkr_semaphore_create;
__typeof__(zkr_multi_lock_create) __wrap_zkr_multi_lock_create;
__typeof__(write) __wrap_write;
__typeof__(write) __real_write;

void __wrap_fds_begin(void)
{
}

bool __wrap_signals_begin(struct signals *s)
{
    return true;
}

/* Read no file. */
int __wrap_settings_take_rest(struct globals *g)
{
    return GO_ON;
}

const char *
__wrap_auth_add_file(struct auth *a, const char *file, char *buf, size_t size)
{
    return NULL;
}

int __wrap_zkr_client_open(zkr_client **out,
                           const char *servers,
                           const zkr_client_options *o)
{
    outcome.opened = true;
    outcome.servers = servers;
    outcome.session_ms = o->session_timeout_ms;
    outcome.connect_ms = o->connect_timeout_ms;
    outcome.id = o->owner && strstr(o->owner, "\nhost=")
                     ? NULL
                     : o->owner; /* generated, because no argument gives one */
    for (int64_t i = 0; i < o->more_auth_count; i++) {
        const zkr_auth *auth = &o->more_auth[i];
        FUZZ_TRUE(*auth->scheme && !strchr(auth->scheme, ':'));
        FUZZ_TRUE(strlen(auth->cert) == auth->cert_len);
        outcome.secret_len = auth->cert_len;
    }
    for (int32_t i = 0; o->acl && i < o->acl->count; i++) {
        const struct ACL *entry = &o->acl->data[i];
        FUZZ_TRUE(*entry->id.scheme && entry->id.id && entry->perms > 0);
    }
    return ZKR_OK;
}

/* zkr ls creates nothing, and so gets further. */
bool __wrap_interrupt_begin(struct interrupt *g,
                            const struct signals *s,
                            int64_t late,
                            void (*cancel)(void *ctx),
                            void *ctx)
{
    return true;
}

int __wrap_interrupt_end(struct interrupt *g)
{
    return 0;
}

int __wrap_zkr_client_wait_connected(zkr_client *c, int64_t timeout_ms)
{
    return ZKR_OK;
}

int __wrap_zkr_survey_read(zkr_client *c,
                           const char *path,
                           int64_t flags,
                           zkr_survey **out)
{
    FUZZ_TRUE((flags & ~(int64_t)(ZKR_SURVEY_DEEP | ZKR_SURVEY_NODES)) == 0);
    outcome.path = path;
    return ZKR_ECONNLOSS;
}

int __wrap_zkr_mutex_create(zkr_mutex **out,
                            zkr_client *c,
                            const char *path,
                            const zkr_mutex_options *o)
{
    outcome.path = path;
    return ZKR_ECONNLOSS; /* end here */
}

int __wrap_zkr_rwlock_create(zkr_rwlock **out,
                             zkr_client *c,
                             const char *path,
                             const zkr_rwlock_options *o)
{
    outcome.path = path;
    return ZKR_ECONNLOSS;
}

int __wrap_zkr_semaphore_create(zkr_semaphore **out,
                                zkr_client *c,
                                const char *path,
                                int64_t max,
                                const zkr_semaphore_options *o)
{
    FUZZ_TRUE(max >= 1 && max <= INT32_MAX);
    outcome.path = path;
    return ZKR_ECONNLOSS;
}

int __wrap_zkr_multi_lock_create(zkr_multi_lock **out,
                                 zkr_client *c,
                                 const char *const *paths,
                                 size_t count,
                                 const zkr_multi_lock_options *o)
{
    FUZZ_TRUE(count >= 2 && count <= WORDS_MAX);
    for (size_t i = 0; i < count; i++) {
        FUZZ_TRUE(paths[i] != NULL);
    }
    outcome.path = paths[0];
    return ZKR_ECONNLOSS;
}

int __wrap_zkr_leader_latch_create(zkr_leader_latch **out,
                                   zkr_client *c,
                                   const char *path,
                                   const char *id,
                                   const zkr_leader_latch_options *o)
{
    outcome.path = path;
    outcome.id = id;
    return ZKR_ECONNLOSS;
}

/* Record the messages of zkr, which writes to descriptor 2 directly. */
ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
    if (!inside || fd != STDERR_FILENO) {
        return __real_write(fd, bytes, size);
    }
    FUZZ_TRUE(outcome.said_len + size < SAID_MAX);
    memcpy(outcome.said + outcome.said_len, bytes, size);
    outcome.said_len += size;
    return (ssize_t)size;
}

/* --- properties --- */

struct words {
    char *list[WORDS_MAX + 2]; /* with the program's name and a final NULL */
    int count;
};

static bool is_known(int status)
{
    return status == 0 || status == CLI_USAGE || status == CLI_PATH ||
           status == CLI_SERVER;
}

/* A failure prints one line that begins with "zkr: " and contains no control characters. */
static void check_said(void)
{
    const char *said = outcome.said;
    size_t length = outcome.said_len;
    if (outcome.status == 0) {
        FUZZ_TRUE(length == 0);
        return;
    }
    FUZZ_TRUE(length > 6 && strncmp(said, "zkr: ", 5) == 0);
    for (size_t i = 0; i < length; i++) {
        bool control = (unsigned char)said[i] < ' ' || said[i] == 0x7f;
        FUZZ_TRUE(control == (i == length - 1));
    }
    FUZZ_TRUE(said[length - 1] == '\n');
}

static bool is_all(const char *text, char byte)
{
    while (*text == byte) {
        text++;
    }
    return *text == '\0';
}

static int index_of(const struct words *w, const char *word)
{
    for (int i = 0; i < w->count; i++) {
        if (w->list[i] == word) {
            return i;
        }
    }
    return -1;
}

/* Returns whether @value is part of a word, as in "-zHOST" or "--servers=HOST". */
static bool is_given(const struct words *w, const char *value)
{
    for (int i = 0; i < w->count; i++) {
        uintptr_t from = (uintptr_t)w->list[i];
        if ((uintptr_t)value >= from && (uintptr_t)value <= from + strlen(w->list[i])) {
            return true;
        }
    }
    return false;
}

static void check_opened(const struct words *w)
{
    int path = index_of(w, outcome.path);
    bool root = outcome.path && strcmp(outcome.path, "/") == 0; /* the default of ls */
    FUZZ_TRUE(outcome.path && (path > 1 || root));
    FUZZ_TRUE(is_given(w, outcome.servers) ||
              strcmp(outcome.servers, "127.0.0.1:2181") == 0);
    FUZZ_TRUE(!outcome.id || is_given(w, outcome.id));
    FUZZ_TRUE(outcome.session_ms >= 0 && outcome.session_ms <= INT32_MAX);
    FUZZ_TRUE(outcome.connect_ms > 0);
    FUZZ_TRUE(outcome.status == CLI_SERVER);
    /* Options end at the first word that is not an option. */
    bool none = root || *outcome.path != '-' || !outcome.path[1];
    FUZZ_TRUE(none || strcmp(w->list[path - 1], "--") == 0);
}

/* Words keep their place and their bytes. Only credentials and the password of --tls are overwritten with x. */
static void check_words(const struct words *now, const struct words *given)
{
    bool wiped = outcome.secret_len == 0;
    for (int i = 1; i < now->count; i++) {
        const char *a = now->list[i], *b = given->list[i];
        size_t same = 0;
        FUZZ_TRUE(strlen(a) == strlen(b));
        while (a[same] == b[same] && a[same]) {
            same++;
        }
        bool secret = memchr(b, ':', same) || memchr(b, ',', same);
        FUZZ_TRUE(!a[same] || (secret && is_all(a + same, 'x')));
        size_t length = strlen(a);
        wiped = wiped || (length > outcome.secret_len &&
                          is_all(a + length - outcome.secret_len, 'x'));
    }
    FUZZ_TRUE(wiped);
    FUZZ_TRUE(now->list[now->count] == NULL);
}

static struct words copy_words(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    struct words w = {.count = 1};
    w.list[0] = fuzz_copy("zkr", 3);
    while (in.left > 0 && w.count <= WORDS_MAX) {
        size_t length;
        char *word = fuzz_field(&in, '\n', &length);
        w.list[w.count++] = fuzz_copy(word, strlen(word));
        free(word);
    }
    return w;
}

static void free_words(struct words *w)
{
    for (int i = 0; i < w->count; i++) {
        free(w->list[i]);
    }
}

static void run_once(struct words *w)
{
    outcome = (struct outcome){.status = -1};
    char *name = w->list[0]; /* zkr replaces the name */
    optind = 0;              /* reset getopt, as in a new process */
    inside = true;
    outcome.status = zkr_main(w->count, w->list);
    inside = false;
    w->list[0] = name;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)unsetenv("ZKR_SERVERS");
    return freopen("/dev/null", "w", stdout) ? 0 : 1; /* for the output of --help */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct words given = copy_words(data, size);
    struct words w = copy_words(data, size);
    run_once(&w);
    FUZZ_TRUE(is_known(outcome.status));
    check_said();
    check_words(&w, &given);
    if (outcome.opened) {
        check_opened(&w);
    }
    static struct outcome first;
    first = outcome;
    struct words again = copy_words(data, size);
    run_once(&again);
    FUZZ_TRUE(first.status == outcome.status && first.said_len == outcome.said_len);
    FUZZ_TRUE(memcmp(first.said, outcome.said, first.said_len) == 0);
    FUZZ_TRUE(!first.opened ||
              index_of(&w, first.path) == index_of(&again, outcome.path));
    free_words(&again);
    free_words(&w);
    free_words(&given);
    return 0;
}
