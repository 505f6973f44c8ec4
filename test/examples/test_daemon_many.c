/* SPDX-License-Identifier: Apache-2.0 */
/* test_daemon_many PROGRAM: tests daemon_epoll of examples/ as a black box, with ten thousand waiting tickets. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "fourlw.h"

enum { PATHS = 100, WAITING = 10000, TICKETS = PATHS + WAITING, PATIENCE_MS = 250000 };

static char *paths[PATHS];

/* Gives the daemon each path many times, so its tickets queue behind one another. */
static void start(struct cli *c, int tickets)
{
    static const char *argv[3 + TICKETS + 1];
    argv[0] = cli_zkr();
    argv[1] = zkt_servers();
    argv[2] = "many";
    for (int i = 0; i < tickets; i++) {
        argv[3 + i] = paths[i % PATHS];
    }
    argv[3 + tickets] = NULL;
    cli_spawn(c, false, argv);
}

/* Returns how often @what is in the output. */
static int said(const struct cli *c, const char *what)
{
    struct stat file;
    assert_int_equal(fstat(c->out, &file), 0);
    char *text = calloc((size_t)file.st_size + 1, 1);
    assert_non_null(text);
    assert_int_equal(pread(c->out, text, (size_t)file.st_size, 0), file.st_size);
    int count = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++) {
        count++;
    }
    free(text);
    return count;
}

/* Each thread is a folder in this folder, which has two more links. */
static int threads_of(const struct cli *c)
{
    char path[64];
    struct stat tasks;
    (void)snprintf(path, sizeof(path), "/proc/%d/task", (int)c->pid);
    assert_int_equal(stat(path, &tasks), 0);
    return (int)tasks.st_nlink - 2;
}

static void stop_by(struct cli *c)
{
    assert_int_equal(kill(c->pid, SIGTERM), 0);
    assert_int_equal(cli_wait(c), 0);
    assert_string_equal(cli_err(c), "");
}

static int64_t nodes(void)
{
    return zkt_ephemerals_under(zkt_servers(), zkt_path());
}

static void make_paths(void)
{
    for (int i = 0; i < PATHS; i++) {
        assert_true(asprintf(&paths[i], "%s/%d", zkt_path(), i) > 0);
    }
}

/*
 * A daemon with ten thousand waiting tickets has as many threads as a daemon with one ticket. A signal ends it, and no
 * node remains.
 */
ZKT_CASE(ten_thousand_wait_in_one_daemon)
{
    struct cli one, many;
    make_paths();
    start(&one, 1);
    ZKT_EVENTUALLY(said(&one, " works ") > 0, PATIENCE_MS);
    int threads = threads_of(&one);
    stop_by(&one);

    start(&many, TICKETS);
    ZKT_BECOMES(nodes(), TICKETS, PATIENCE_MS);
    ZKT_EVENTUALLY(said(&many, " holds ") >= PATHS, PATIENCE_MS);
    assert_int_equal(threads_of(&many), threads);
    stop_by(&many);
    /* If there was no time to delete all nodes, they end with the session. */
    ZKT_BECOMES(nodes(), 0, PATIENCE_MS);
}
