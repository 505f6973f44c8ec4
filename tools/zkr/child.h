/* SPDX-License-Identifier: Apache-2.0 */
/* The command: a process group of its own that cannot outlive us, with our descriptors and our terminal. */
#ifndef ZKR_CLI_CHILD_H
#define ZKR_CLI_CHILD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

#include "signals.h"

/* Which descriptors are the caller's, and which ones only ours. */
struct fds {
    int *inherited; /* from 3 on, ascending */
    size_t count;
};

/**
 * First thing in main(): notes what is open, and fills a closed stdin, stdout or stderr with
 * a placeholder, so that no socket of ours gets its number. The child finds it closed. False: out of memory.
 */
bool fds_begin(struct fds *f);
void fds_end(struct fds *f);

/*
 * Whether a command may run, for other threads: whoever deletes a lock node by hand lets the next one in at once, so the
 * thread that hears of it kills the command there and then.
 */
struct child_permit {
    pthread_mutex_t mu;
    pid_t group; /* of the command, 0 = there is none */
    bool denied;
};

/** From any thread: kills the group, and lets none start any more until it is allowed again. */
void child_deny(struct child_permit *p);
void child_allow(struct child_permit *p);

struct child_spec {
    char *const *argv;
    char *const *envp;
    const struct fds *fds;
    const struct signals *signals;
    struct child_permit *permit;
};

/* The controlling terminal, lent to the group as a shell would. */
struct terminal {
    int fd; /* -1: there is none */
    bool lent;
    bool has_modes;
    struct termios modes; /* as they were at our start */
};

struct child {
    pid_t pid;      /* also the group's id */
    int exec_fd;    /* becomes readable when exec has worked or failed; -1: known */
    int exec_errno; /* why it failed, 0 = it did not */
    int bond[2];    /* see child.c */
    bool reaped;
    bool gone;      /* no process of the group is left */
    int status;     /* of waitpid(), once reaped */
    int stopped_by; /* signal, 0 = it is not stopped */
    struct child_permit *permit;
    struct terminal terminal;
};

/**
 * Start it, from the main thread: the kernel kills it when the thread that forked ends. False:
 * errno says why, ECANCELED: it is denied.
 */
bool child_start(struct child *c, const struct child_spec *spec);

/** exec_fd is readable. */
void child_read_exec(struct child *c);

/** Collect what has ended or stopped, orphans of the group too. */
void child_reap(struct child *c);

/** To the whole group. False: not allowed (a set-user-ID program). */
bool child_kill(const struct child *c, int signo);

/** It may have been stopped: it goes on, in the foreground if we are. */
void child_resume(struct child *c);

/** It has stopped; @told: we were told to. True: we stop as well. False: it goes on, or nobody could make us go on. */
bool child_stop(struct child *c, bool told);

/** Its exit status, or 128 + N. */
int child_exit(const struct child *c);

/** Only when it is gone. True: it died of the terminal's ^C or ^\, which only its group got. */
bool child_end(struct child *c);

#endif
