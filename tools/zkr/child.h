/* SPDX-License-Identifier: Apache-2.0 */
/* The command, in a process group of its own that cannot outlive zkr. */
#ifndef ZKR_CLI_CHILD_H
#define ZKR_CLI_CHILD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

#include "signals.h"

/* The descriptors that the command inherits: all but those that zkr has opened. */
struct fds {
    int *inherited; /* from 3 on, ascending */
    size_t count;
};

/**
 * First thing in main(): notes what is open, and replaces a closed stdin, stdout or stderr by
 * a placeholder, so that no socket of zkr gets its number. In the child it is closed again. False: out of memory.
 */
bool fds_begin(struct fds *f);
void fds_end(struct fds *f);

/*
 * Whether a command may run, decided by any thread. When somebody deletes the lock node, the next client gets the lock at
 * once: the thread that learns of it kills the command without waiting for the main thread.
 */
struct child_permit {
    pthread_mutex_t mu;
    pid_t group; /* of the command, 0 = none */
    bool denied;
};

/** From any thread: kills the group, and prevents new commands until child_allow(). */
void child_deny(struct child_permit *p);
void child_allow(struct child_permit *p);

struct child_spec {
    char *const *argv;
    char *const *envp;
    const struct fds *fds;
    const struct signals *signals;
    struct child_permit *permit;
};

/* The controlling terminal, which the command gets as from a shell. */
struct terminal {
    int fd; /* -1: there is none */
    bool lent;
    bool has_modes;
    struct termios modes; /* as they were at our start */
};

struct child {
    pid_t pid;      /* also the number of the group */
    int exec_fd;    /* becomes readable when exec has worked or failed; -1: known */
    int exec_errno; /* why exec failed, or 0 */
    int bond[2];    /* see child.c */
    bool reaped;
    bool gone;      /* no process of the group is left */
    int status;     /* of waitpid(), once reaped */
    int stopped_by; /* a signal, 0 = not stopped */
    struct child_permit *permit;
    struct terminal terminal;
};

/**
 * Starts the command, from the main thread: the kernel kills the command when the thread that forked ends. False:
 * errno says why, ECANCELED: denied.
 */
bool child_start(struct child *c, const struct child_spec *spec);

/** Reads the outcome of exec from exec_fd, if there is one. */
void child_read_exec(struct child *c);

/** Collects processes of the group that have ended or stopped, orphans included. */
void child_reap(struct child *c);

/** Sends a signal to the whole group. False: not permitted (a set-user-ID program). */
bool child_kill(const struct child *c, int signo);

/** Continues the group, in the foreground if zkr is there. */
void child_resume(struct child *c);

/** The command has stopped; @requested: zkr got SIGTSTP. True: zkr has to stop as well. */
bool child_stop(struct child *c, bool requested);

/** The exit status of the command, or 128 + N for signal N. */
int child_exit(const struct child *c);

/** Only when the group is gone. True: ^C or ^\ of the terminal, which only the group got, ended the command. */
bool child_end(struct child *c);

#endif
