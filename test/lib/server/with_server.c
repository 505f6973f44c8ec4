/* SPDX-License-Identifier: Apache-2.0 */
/*
 * with_server [--habit NAME] COMMAND [ARGUMENT...]: runs the command with a server in $ZKR_SERVERS, unless that
 * variable is already set. All test programs of the command share the server, because its start would take most of the
 * time of a test program. The server ends with the command, and the exit status is the command's.
 *
 * With --habit, clients of the command reach the server, even one that is already in $ZKR_SERVERS, through a proxy that
 * gives it this habit (zkr/test_proxy.h). Requests that tests make with raw/raw.h go to the server directly
 * (zkt_direct()).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server.h"

static const struct {
    const char *name;
    int habits;
} habits[] = {
    {"no_create2", ZKR_TEST_NO_CREATE2},
    {"no_containers", ZKR_TEST_NO_CONTAINERS},
    {"refuses", ZKR_TEST_NO_CREATE2 | ZKR_TEST_REFUSES},
    {"new_sessions", ZKR_TEST_NEW_SESSIONS},
    {"counts_changes", ZKR_TEST_COUNTS_CHANGES},
    {"keeper", ZKR_TEST_NO_CREATE2 | ZKR_TEST_NEW_SESSIONS | ZKR_TEST_COUNTS_CHANGES},
};

static volatile sig_atomic_t child;
static volatile sig_atomic_t asked;

static void pass_on(int number)
{
    asked = number;
    if (child > 0) {
        (void)kill((pid_t)child, number);
    }
}

static void run(char **argv)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)execvp(argv[0], argv);
    (void)fprintf(stderr, "with_server: %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/*
 * Starts a proxy with the habit of this name in front of $ZKR_SERVERS. It ends with the process. Returns false if there
 * is no such habit.
 */
static bool put_habit_between(const char *name)
{
    const char *direct = zkt_servers();
    char hosts[512];
    zkr_test_proxy *p = NULL;

    for (size_t i = 0; i < sizeof habits / sizeof habits[0]; i++) {
        if (strcmp(name, habits[i].name) == 0) {
            ZKT_MUST(zkr_test_proxy_start(&p, direct, NULL));
            ZKT_MUST(zkr_test_proxy_habits(p, habits[i].habits));
            (void)snprintf(hosts, sizeof hosts, "%s%s", zkr_test_proxy_host(p),
                           zkt_chroot(direct));
            (void)setenv("ZKR_TEST_DIRECT", direct, 1);
            (void)setenv("ZKR_SERVERS", hosts, 1);
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    static const int ends[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction act = {.sa_handler = pass_on};
    int status = 0;

    const char *habit = argc > 2 && strcmp(argv[1], "--habit") == 0 ? argv[2] : NULL;
    argv += habit != NULL ? 3 : 1;
    if (argv[0] == NULL) {
        (void)fprintf(stderr,
                      "usage: with_server [--habit NAME] COMMAND [ARGUMENT...]\n");
        return 64;
    }
    if (habit == NULL) {
        (void)setenv("ZKR_SERVERS", zkt_servers(), 1);
    } else if (!put_habit_between(habit)) {
        (void)fprintf(stderr, "with_server: no habit is called %s\n", habit);
        return 64;
    }
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        (void)sigaction(ends[i], &act, NULL);
    }
    pid_t pid = fork();
    if (pid == 0) {
        run(argv); /* the exec resets the handlers */
    }
    child = pid;
    if (pid < 0) {
        (void)fprintf(stderr, "with_server: fork: %s\n", strerror(errno));
        return 71;
    }
    if (asked != 0) {
        (void)kill(pid, (int)asked);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
