/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "keep.h"

static char zkr[PATH_MAX], self[PATH_MAX];

enum { BEATS_MAX = 512, BEAT_S = 120 };

const char *cli_zkr(void)
{
    return zkr;
}

const char *cli_self(void)
{
    return self;
}

/* --- processes --- */

/* Must not allocate, because another thread may have held the allocator's lock at the fork. */
static _Noreturn void become(const int fds[3], char *const *argv, pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setpgid(0, 0);
    if (getppid() == parent && dup2(fds[0], 0) >= 0 && dup2(fds[1], 1) >= 0 &&
        dup2(fds[2], 2) >= 0) {
        (void)execvp(argv[0], argv);
    }
    _exit(127);
}

void cli_servers(bool set)
{
    static bool ours;
    if (set && !getenv("ZKR_SERVERS")) {
        ours = true;
        (void)setenv("ZKR_SERVERS", zkt_servers_known(), 1);
    } else if (!set && ours) {
        ours = false;
        (void)unsetenv("ZKR_SERVERS");
    }
}

static void close_kept(void *fd)
{
    (void)close((int)(intptr_t)fd);
}

/* Closes @fd before the end of the case, for commands that are run again and again. */
static void close_now(int fd)
{
    zkt_unkeep((void *)(intptr_t)fd);
    (void)close(fd);
}

static void forget(const struct cli *c)
{
    close_now(c->out);
    close_now(c->err);
}

void cli_spawn(struct cli *c, bool piped, const char *const *argv)
{
    int in[2] = {-1, -1};
    if (piped) {
        zkt_pipe(in);
    } else {
        in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    *c = (struct cli){.in = in[1],
                      .out = memfd_create("out", MFD_CLOEXEC),
                      .err = memfd_create("err", MFD_CLOEXEC)};
    assert_true(in[0] >= 0 && c->out >= 0 && c->err >= 0);
    const int fds[3] = {in[0], c->out, c->err};
    const pid_t parent = getpid();
    cli_servers(true);
    c->pid = fork();
    if (c->pid == 0) {
        become(fds, (char *const *)(uintptr_t)argv, parent);
    }
    cli_servers(false);
    assert_true(c->pid > 0);
    (void)close(in[0]);
    zkt_keep((void *)(intptr_t)c->out, close_kept);
    zkt_keep((void *)(intptr_t)c->err, close_kept);
}

/* A sanitizer may end a program with the status that the test expects. */
static void assert_sane(struct cli *c)
{
    const char *err = cli_err(c);
    if (strstr(err, "Sanitizer") || strstr(err, "runtime error:")) {
        zkt_fail("%s", err);
    }
}

int cli_wait(struct cli *c)
{
    int status = zkt_join(c->pid, CLI_PATIENCE_MS);
    if (c->in >= 0) {
        (void)close(c->in);
        c->in = -1;
    }
    if (status < 0) {
        zkt_fail("it did not end within %d ms; it wrote: %s", CLI_PATIENCE_MS,
                 cli_err(c));
    }
    assert_sane(c);
    return status;
}

static const char *look(struct cli *c, int fd)
{
    ssize_t n = pread(fd, c->text, sizeof(c->text) - 1, 0);
    assert_true(n >= 0);
    c->text[n] = '\0';
    return c->text;
}

const char *cli_out(struct cli *c)
{
    return look(c, c->out);
}

const char *cli_err(struct cli *c)
{
    return look(c, c->err);
}

void cli_stop(struct cli *c, int signo)
{
    assert_int_equal(kill(c->pid, signo), 0);
    assert_int_equal(cli_wait(c), 128 + signo);
}

/* If the command fails, prints what it wrote to stderr. */
int cli_status(const char *const *argv)
{
    struct cli c;
    cli_spawn(&c, false, argv);
    int status = cli_wait(&c);
    if (status != 0) {
        print_message("status %d: %s%s", status, cli_err(&c), *cli_err(&c) ? "" : "\n");
    }
    forget(&c);
    return status;
}

const char *cli_says(const char *const *argv)
{
    static struct cli c;
    cli_spawn(&c, false, argv);
    int status = cli_wait(&c);
    if (status != 0) {
        zkt_fail("status %d: %s", status, cli_err(&c));
    }
    (void)cli_out(&c);
    forget(&c);
    return c.text;
}

static bool said_one_line(struct cli *c)
{
    const char *err = cli_err(c);
    const char *end = strchr(err, '\n');
    return strncmp(err, "zkr: ", 5) == 0 && end && end[1] == '\0';
}

void cli_assert_one_line(struct cli *c)
{
    if (!said_one_line(c)) {
        zkt_fail("not one line of zkr: \"%s\"", cli_err(c));
    }
}

void cli_refused(int status, const char *const *argv)
{
    struct cli c;
    cli_spawn(&c, false, argv);
    int got = cli_wait(&c);
    if (got != status || !said_one_line(&c) || *cli_out(&c)) {
        for (; *argv; argv++) {
            print_error("%s ", *argv);
        }
        print_error("writes: %s\n", cli_out(&c));
        zkt_fail("status %d instead of %d: %s", got, status, cli_err(&c));
    }
    forget(&c);
}

/* Creates an empty file that commands can open by @name. The file ends with the case. */
static int make_file(char name[32])
{
    int fd = memfd_create("file", MFD_CLOEXEC);
    assert_true(fd >= 0);
    zkt_keep((void *)(intptr_t)fd, close_kept);
    (void)snprintf(name, 32, "/proc/%d/fd/%d", (int)getpid(), fd);
    return fd;
}

int cli_queue(void)
{
    return zkt_children_count(zkt_servers(), zkt_path());
}

void cli_hold(struct cli *c)
{
    CLI_QUEUE(c, "lock", "-i", "the holder", zkt_path(), "sleep", "60");
}

/* --- traces --- */

int64_t cli_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct cli_beat *map_beats(int fd, int count)
{
    void *at = mmap(NULL, sizeof(struct cli_beat) * (size_t)count,
                    PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

struct cli_beat *cli_beats(int count)
{
    char name[32];
    int fd = make_file(name);
    assert_int_equal(ftruncate(fd, (off_t)sizeof(struct cli_beat) * count), 0);
    struct cli_beat *beats = map_beats(fd, count);
    assert_non_null(beats);
    for (int i = 0; i < count; i++) {
        (void)snprintf(beats[i].name, sizeof(beats[i].name), "%s:%d", name, i);
    }
    return beats;
}

int64_t cli_gap(const struct cli_beat *one, const struct cli_beat *next)
{
    return atomic_load(&next->first) - atomic_load(&one->last);
}

void cli_beat_wait(struct cli *c, const struct cli_beat *b)
{
    const int64_t until = zkt_now_ms() + CLI_PATIENCE_MS;
    while (atomic_load(&b->first) == 0) {
        siginfo_t info = {.si_pid = 0};
        (void)waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT);
        if (info.si_pid != 0 || zkt_now_ms() > until) {
            zkt_fail("%s: %s", info.si_pid ? "it ended" : "it did not start",
                     cli_err(c));
        }
        zkt_sleep_ms(2);
    }
}

static _Noreturn void beat_on(struct cli_beat *b, bool busy)
{
    const struct timespec pause = {.tv_nsec = 100000};
    for (;;) {
        atomic_store(&b->last, cli_now_ns());
        if (!busy) {
            (void)nanosleep(&pause, NULL);
        }
    }
}

static void ignore_signals(void)
{
    static const int all[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        (void)signal(all[i], SIG_IGN);
    }
}

static void *beat_in_a_thread(void *beat)
{
    beat_on(beat, false);
}

/*
 * Runs a beat. MODE is one of:
 * - once: ends at once
 * - brief: ends after 5 ms
 * - plain: beats until a signal
 * - busy: like plain, without a pause between beats
 * - deaf: ignores signals
 * - grand: like deaf, with a child that is deaf, too, and beats instead of it
 * - headless: like deaf, and its main thread ends
 */
static int beat(char *name, const char *mode)
{
    char *colon = strchr(name, ':');
    *colon = '\0';
    int fd = open(name, O_RDWR | O_CLOEXEC);
    struct cli_beat *beats = fd < 0 ? NULL : map_beats(fd, BEATS_MAX);
    if (!beats) {
        return 99;
    }
    (void)alarm(BEAT_S); /* ends the beat if nothing else does */
    struct cli_beat *b = &beats[strtol(colon + 1, NULL, 10)];
    const char *token = getenv("ZKR_FENCING_TOKEN");
    if (strcmp(mode, "deaf") == 0 || strcmp(mode, "grand") == 0 ||
        strcmp(mode, "headless") == 0) {
        ignore_signals();
    }
    atomic_store(&b->pid, getpid());
    /* b->first is stored last, so a test that sees it can rely on the pid and the token. */
    atomic_store(&b->token, token ? atoll(token) : 0);
    atomic_store(&b->last, cli_now_ns());
    atomic_store(&b->first, atomic_load(&b->last));
    if (strcmp(mode, "once") == 0) {
        return 0;
    }
    if (strcmp(mode, "brief") == 0) {
        zkt_sleep_ms(5);
        atomic_store(&b->last, cli_now_ns());
        return 0;
    }
    if (strcmp(mode, "grand") == 0 && fork() != 0) {
        for (;;) {
            (void)pause();
        }
    }
    pthread_t thread;
    if (strcmp(mode, "headless") == 0 &&
        pthread_create(&thread, NULL, beat_in_a_thread, b) == 0) {
        pthread_exit(NULL);
    }
    beat_on(b, strcmp(mode, "busy") == 0);
}

/* Takes the path of zkr, or runs a beat. */
static int look_at_arguments(char **argv, int *status)
{
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[n > 0 ? n : 0] = '\0';
    if (argv[0] && strcmp(argv[0], "--beat") == 0 && argv[1] && argv[2]) {
        *status = beat(argv[1], argv[2]);
        return -1;
    }
    if (!argv[0] || !realpath(argv[0], zkr)) {
        (void)fprintf(stderr, "arguments: PATH-OF-ZKR [CASE...]\n");
        *status = 64;
        return -1;
    }
    return 1;
}

__attribute__((constructor)) static void register_it(void)
{
    zkt_at_start(look_at_arguments);
}
