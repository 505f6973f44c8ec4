/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock on a terminal. The programs that get a signal there are not dash, which may lose a signal while it forks. */
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

struct screen {
    pid_t pid;
    int fd;
    char text[4096];
    size_t used;
};

static void screen_open(struct screen *s, const char *const *argv)
{
    *s = (struct screen){.fd = -1};
    cli_servers(true);
    s->pid = forkpty(&s->fd, NULL, NULL, NULL);
    if (s->pid == 0) {
        (void)execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    cli_servers(false);
    assert_true(s->pid > 0);
    (void)fcntl(s->fd, F_SETFD, FD_CLOEXEC);
    (void)fcntl(s->fd, F_SETFL, O_NONBLOCK);
}

#define SCREEN_OPEN(s, ...) screen_open((s), (const char *const[]){__VA_ARGS__, NULL})

static bool screen_shows(struct screen *s, const char *text)
{
    ssize_t n = read(s->fd, s->text + s->used, sizeof(s->text) - 1 - s->used);
    s->used += n > 0 ? (size_t)n : 0;
    s->text[s->used] = '\0';
    return strstr(s->text, text) != NULL;
}

static void screen_expect(struct screen *s, const char *text)
{
    int64_t until = zkt_now_ms() + CLI_PATIENCE_MS;
    while (!screen_shows(s, text)) {
        if (zkt_now_ms() > until) {
            zkt_fail("no \"%s\" on the screen, but: %s", text, s->text);
        }
        zkt_sleep_ms(2);
    }
    s->used = 0;
    s->text[0] = '\0';
}

static void screen_type(struct screen *s, const char *text)
{
    assert_int_equal(write(s->fd, text, strlen(text)), (ssize_t)strlen(text));
}

static int screen_end(struct screen *s)
{
    int status = zkt_join(s->pid, CLI_PATIENCE_MS);
    (void)close(s->fd);
    return status;
}

ZKT_CASE(a_command_can_read_the_terminal)
{
    struct screen s;
    SCREEN_OPEN(&s, cli_zkr(), "lock", zkt_path(), "-c",
                "stty -echo; echo ready; read x; echo \"got $x\"");
    screen_expect(&s, "ready");
    screen_type(&s, "hello\n");
    screen_expect(&s, "got hello");
    assert_int_equal(screen_end(&s), 0);
}

ZKT_CASE(interrupt_of_the_terminal_reaches_the_command)
{
    struct screen s;
    SCREEN_OPEN(&s, cli_zkr(), "lock", zkt_path(), "-c", "echo ready; exec sleep 60");
    screen_expect(&s, "ready");
    screen_type(&s, "\x03");
    assert_int_equal(screen_end(&s), 130);
}

/* With job control of a shell, the job stops and continues as a whole. */
ZKT_CASE(a_job_can_be_stopped_and_continued)
{
    struct screen s;
    char line[512];
    SCREEN_OPEN(&s, "bash", "--norc", "--noprofile", "-i");
    screen_type(&s, "PS1='> '\n");
    screen_expect(&s, "> ");
    (void)snprintf(line, sizeof(line), "%s lock %s bash -c 'echo re''ady; exec cat'\n",
                   cli_zkr(), zkt_path());
    screen_type(&s, line);
    screen_expect(&s, "ready");
    screen_type(&s, "\x1a");
    screen_expect(&s, "Stopped");
    screen_type(&s, "fg\n");
    screen_expect(&s, "cat'\r\n");
    screen_type(&s, "x\n");
    screen_expect(&s, "x\r\nx\r\n");
    screen_type(&s, "\x04");
    screen_expect(&s, "> ");
    screen_type(&s, "echo status=$?\n");
    screen_expect(&s, "status=0");
    screen_type(&s, "exit\n");
    assert_int_equal(screen_end(&s), 0);
}

/* An interrupt ends a script that runs zkr in a loop, as it would without zkr. */
ZKT_CASE(interrupt_ends_the_script_around_it)
{
    struct screen s;
    SCREEN_OPEN(&s, "bash", "--norc", "-c",
                "trap 'echo int; exit 9' INT; while :; do \"$0\" lock "
                "$1 sh -c 'echo ready; exec sleep "
                "60'; done",
                cli_zkr(), zkt_path());
    screen_expect(&s, "ready");
    screen_type(&s, "\x03");
    screen_expect(&s, "int");
    assert_int_equal(screen_end(&s), 9);
}

/* The ages in the output increase, but zkr sends requests only when something changes. */
ZKT_CASE(a_watched_status_counts_on)
{
    struct screen s;
    struct cli holder;
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    cli_hold(&holder);
    SCREEN_OPEN(&s, cli_zkr(), "-z", zkt_proxy_host(proxy), "status", "--watch",
                zkt_path());
    screen_expect(&s, "-lock-0000000000");
    screen_expect(&s, "-lock-0000000000"); /* by then it has set its watch */
    int64_t before = zkt_proxy_counters(proxy).requests;
    screen_expect(&s, "\033[H\033[2J");
    screen_expect(&s, "\033[H\033[2J");
    assert_true(zkt_proxy_counters(proxy).requests == before);
    screen_type(&s, "\x03");
    assert_int_equal(screen_end(&s), 130);
    cli_stop(&holder, SIGTERM);
}
