/* SPDX-License-Identifier: Apache-2.0 */
/* The guardian waits for the end of a process group. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case.h"
#include "expect.h"
#include "group.h"

enum { PATIENCE_MS = 30000 };

static void *stay(void *unused)
{
    for (;;) {
        (void)pause();
    }
    return unused;
}

/* Lead a group of one process, whose main thread ends. */
static int end_main_thread(void *unused)
{
    pthread_t thread;
    assert_int_equal(setpgid(0, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, stay, NULL), 0);
    pthread_exit(unused);
}

/* Returns the state of the main thread, as in /proc/PID/stat. */
static int state_of(pid_t pid)
{
    char path[64], text[256] = "";
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
    (void)fclose(file);
    const char *end = strrchr(text, ')'); /* end of the name */
    assert_non_null(end);
    return end[2];
}

/* Name the group to the pipe. Without O_ASYNC, a write to the pipe sends it no signal. */
static void name_group(struct group *g, pid_t leader)
{
    struct f_owner_ex owner = {.type = F_OWNER_PGRP, .pid = leader};
    assert_int_equal(pipe2(g->fds, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(fcntl(g->fds[ZKR__GROUP_READER], F_SETOWN_EX, &owner), 0);
}

/* A process is alive while any of its threads is. Nobody waits for it when it has ended. */
ZKT_UNIT_CASE(a_process_whose_main_thread_has_ended_is_waited_for)
{
    enum { LOOKS = 4 };
    struct group g = {0};
    siginfo_t unused;
    const pid_t pid = zkt_fork(end_main_thread, NULL);
    ZKT_BECOMES(state_of(pid), 'Z', PATIENCE_MS);
    name_group(&g, pid);
    for (int looks = 0; looks < LOOKS;) {
        const int64_t before = g.look_at;
        assert_false(group_end(&g));
        looks += g.look_at != before;
    }
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &unused, WEXITED | WNOWAIT), 0);
    ZKT_EVENTUALLY(group_end(&g), PATIENCE_MS);
    assert_int_equal(zkt_join(pid, PATIENCE_MS), 128 + SIGKILL);
    zkt_pipe_close(g.fds);
}
