/* SPDX-License-Identifier: Apache-2.0 */
/*
 * with_server COMMAND [ARGUMENT...]: runs the command with a server in $ZKR_SERVERS, unless that is set already. All
 * test programs of the command share the server, whose start is most of what a test program costs alone. The server
 * ends with the command, and the status is the command's.
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

int main(int argc, char **argv)
{
    static const int ends[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction act = {.sa_handler = pass_on};
    int status = 0;

    if (argc < 2) {
        (void)fprintf(stderr, "usage: with_server COMMAND [ARGUMENT...]\n");
        return 64;
    }
    (void)setenv("ZKR_SERVERS", zkt_servers(), 1);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        (void)sigaction(ends[i], &act, NULL);
    }
    pid_t pid = fork();
    if (pid == 0) {
        run(argv + 1); /* handlers end with the exec */
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
