/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char zkr[PATH_MAX], self[PATH_MAX];

enum { RUNNING_MAX = 512, BEATS_MAX = 512, TRACES_MAX = 8 };
static pid_t running[RUNNING_MAX];

/* Those of a test that failed are left to cli_leave(). */
static struct {
    struct cli_beat *beats; /* NULL: free */
    int count;
    char name[64];
} traces[TRACES_MAX];

const char *cli_zkr(void)
{
    return zkr;
}

const char *cli_self(void)
{
    return self;
}

/* --- processes --- */

static void remember(pid_t pid)
{
    for (int i = 0; i < RUNNING_MAX; i++) {
        if (running[i] == 0) {
            running[i] = pid;
            return;
        }
    }
    zkt_fail("too many processes");
}

static void forget(pid_t pid)
{
    for (int i = 0; i < RUNNING_MAX; i++) {
        if (running[i] == pid) {
            running[i] = 0;
        }
    }
}

/* Nothing that allocates: a thread of ours may have held the allocator's lock at the fork. */
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
    remember(c->pid);
    (void)close(in[0]);
}

int cli_wait(struct cli *c)
{
    int status = zkt_join(c->pid, CLI_PATIENCE_MS);
    forget(c->pid);
    if (c->in >= 0) {
        (void)close(c->in);
        c->in = -1;
    }
    if (status < 0) {
        zkt_fail("it did not end within %d ms; it wrote: %s", CLI_PATIENCE_MS,
                 cli_err(c));
    }
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

void cli_free(struct cli *c)
{
    (void)close(c->out);
    (void)close(c->err);
}

int cli_status(const char *const *argv)
{
    struct cli c;
    cli_spawn(&c, false, argv);
    int status = cli_wait(&c);
    cli_free(&c);
    return status;
}

void cli_assert_one_line(struct cli *c)
{
    const char *err = cli_err(c);
    const char *end = strchr(err, '\n');
    if (strncmp(err, "zkr: ", 5) != 0 || !end || end[1] != '\0') {
        zkt_fail("not one line of zkr: \"%s\"", err);
    }
}

void cli_refused(int status, const char *const *argv)
{
    struct cli c;
    cli_spawn(&c, false, argv);
    int got = cli_wait(&c);
    if (got != status) {
        zkt_fail("status %d instead of %d: %s", got, status, cli_err(&c));
    }
    cli_assert_one_line(&c);
    assert_string_equal(cli_out(&c), "");
    cli_free(&c);
}

int cli_queue(void)
{
    return zkt_children_count(zkt_servers(), zkt_path());
}

/* Is it still one of our beats, and not a process that got its number? */
static bool is_beat(int64_t pid)
{
    char link[64], exe[PATH_MAX];
    (void)snprintf(link, sizeof(link), "/proc/%lld/exe", (long long)pid);
    ssize_t n = readlink(link, exe, sizeof(exe) - 1);
    exe[n > 0 ? n : 0] = '\0';
    return strcmp(exe, self) == 0;
}

static void end_beats(struct cli_beat *beats, int count)
{
    for (int i = 0; i < count; i++) {
        int64_t pid = atomic_load(&beats[i].pid);
        if (pid > 0 && is_beat(pid)) {
            pid_t group = getpgid((pid_t)pid); /* with what it has started */
            print_error("left running: %d\n", (int)pid);
            (void)kill(group > 0 && group != getpgrp() ? -group : (pid_t)pid, SIGKILL);
        }
    }
}

int cli_enter(void **state)
{
    return zkt_enter(state);
}

int cli_leave(void **state)
{
    for (int i = 0; i < RUNNING_MAX; i++) {
        if (running[i] != 0) {
            print_error("left running: %d\n", (int)running[i]);
            (void)kill(running[i], SIGKILL);
            (void)waitpid(running[i], NULL, 0);
            running[i] = 0;
        }
    }
    for (int i = 0; i < TRACES_MAX; i++) {
        if (traces[i].beats) {
            end_beats(traces[i].beats, traces[i].count);
            cli_beats_free(traces[i].beats, traces[i].count, traces[i].name);
        }
    }
    return zkt_leave(state);
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
    (void)close(fd);
    return at == MAP_FAILED ? NULL : at;
}

struct cli_beat *cli_beats(int count, char *name, size_t size)
{
    (void)snprintf(name, size, "/tmp/zkt-beat-XXXXXX");
    int fd = mkostemp(name, O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)sizeof(struct cli_beat) * count), 0);
    struct cli_beat *beats = map_beats(fd, count);
    assert_non_null(beats);
    int i = 0;
    while (traces[i].beats) {
        i++;
        assert_true(i < TRACES_MAX);
    }
    traces[i].beats = beats;
    traces[i].count = count;
    (void)snprintf(traces[i].name, sizeof(traces[i].name), "%s", name);
    return beats;
}

void cli_beats_free(struct cli_beat *beats, int count, const char *name)
{
    for (int i = 0; i < TRACES_MAX; i++) {
        if (traces[i].beats == beats) {
            traces[i].beats = NULL;
        }
    }
    (void)munmap(beats, sizeof(*beats) * (size_t)count);
    (void)unlink(name);
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

/*
 * MODE: once; brief, 5 ms; plain, until a signal; busy, plain without a pause between beats; deaf,
 * for ever; grand, deaf with a child that is as deaf and beats for both.
 */
static int beat(const char *file, const char *index, const char *mode)
{
    int fd = open(file, O_RDWR | O_CLOEXEC);
    struct cli_beat *beats = fd < 0 ? NULL : map_beats(fd, BEATS_MAX);
    if (!beats) {
        return 99;
    }
    struct cli_beat *b = &beats[atoi(index)];
    const char *token = getenv("ZKR_FENCING_TOKEN");
    atomic_store(&b->token, token ? atoll(token) : 0);
    atomic_store(&b->pid, getpid());
    if (strcmp(mode, "deaf") == 0 || strcmp(mode, "grand") == 0) {
        ignore_signals();
    }
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
    beat_on(b, strcmp(mode, "busy") == 0);
}

bool cli_main(int argc, char **argv, int *status)
{
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[n > 0 ? n : 0] = '\0';
    if (argc == 5 && strcmp(argv[1], "--beat") == 0) {
        *status = beat(argv[2], argv[3], argv[4]);
        return true;
    }
    if (argc != 2 || !realpath(argv[1], zkr)) {
        (void)fprintf(stderr, "usage: %s PATH-OF-ZKR\n", argv[0]);
        *status = 64;
        return true;
    }
    return false;
}
