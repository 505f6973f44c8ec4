/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of zkr on a stderr that others fill: zkr does not wait for the reader. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zkr/client.h>

#include "cli.h"
#include "log.h"
#include "say.h"
#include "unit.h"

enum { PAGE = 4096, CODE_ENDED = 7, MOST_S = 20 };

/* The linker places __wrap_poll() before the function of the C library. */
int __wrap_poll(struct pollfd *fds, nfds_t count, int ms);
int __real_poll(struct pollfd *fds, nfds_t count, int ms);

/* Report room on stderr that another process has filled before the write. */
int __wrap_poll(struct pollfd *fds, nfds_t count, int ms)
{
    if (count == 1 && fds->fd == STDERR_FILENO) {
        fds->revents = POLLOUT;
        return 1;
    }
    return __real_poll(fds, count, ms);
}

static void fill_page(void)
{
    static char dots[PAGE];
    memset(dots, '.', sizeof(dots));
    if (write(STDERR_FILENO, dots, sizeof(dots)) != PAGE) {
        _exit(1);
    }
}

/* The text that a child wrote. */
static char text[1 << 20];

/* Run @run in a child whose stderr is a full pipe. Read the pipe after the child has written all (@read_it), or never.
   */
static void in_child(int (*run)(void), bool read_it)
{
    int ends[2], said[2], status;
    char byte;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pipe(said), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, PAGE) >= 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)close(ends[0]);
        (void)dup2(ends[1], STDERR_FILENO);
        (void)close(ends[1]);
        (void)alarm(MOST_S);
        fill_page();
        status = run();
        if (write(said[1], "", 1) == 1 && read_it) {
            say_drain();
        }
        _exit(status);
    }
    (void)close(ends[1]);
    (void)close(said[1]);
    assert_int_equal(read(said[0], &byte, 1), 1);
    (void)close(said[0]);
    size_t used = 0;
    ssize_t n = read_it;
    while (n > 0) {
        n = read(ends[0], text + used, sizeof(text) - 1 - used);
        used += n > 0 ? (size_t)n : 0;
    }
    text[used] = '\0';
    assert_int_equal(waitpid(pid, &status, 0), pid);
    (void)close(ends[0]);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), CODE_ENDED);
}

static void log_line(const char *line)
{
    int level = ZKR_LOG_DEBUG;
    log_write(ZKR_LOG_INFO, line, &level);
}

static int say_some(void)
{
    log_line("event=one");
    cli_note("two");
    log_line("event=three");
    return cli_fail(CODE_ENDED, "four");
}

ZKT_UNIT_CASE(no_line_waits_for_the_reader)
{
    in_child(say_some, false);
}

ZKT_UNIT_CASE(lines_come_in_their_order_when_they_are_read)
{
    in_child(say_some, true);
    const char *at = text;
    static const char *const lines[] = {" event=one\n", "\nzkr: two\n",
                                        " event=three\n", "\nzkr: four\n"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        at = strstr(at, lines[i]);
        assert_non_null(at);
    }
    assert_string_equal(at, lines[3]);
}

static int flood(void)
{
    enum { LINES = 20000 };
    for (int i = 0; i < LINES; i++) {
        log_line("event=flood");
    }
    return cli_fail(CODE_ENDED, "after the flood");
}

/* A log leaves room for messages of zkr itself. */
ZKT_UNIT_CASE(a_line_says_how_many_are_missing)
{
    in_child(flood, true);
    static const char missing[] = " lines were dropped here because stderr was full\n"
                                  "zkr: after the flood\n";
    const char *at = strstr(text, missing);
    assert_non_null(at);
    assert_string_equal(at, missing);
}
