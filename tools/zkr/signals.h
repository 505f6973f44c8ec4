/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command gets as zkr itself got it: signals and descriptors. Signals are read from a descriptor, by one thread at a
 * time.
 */
#ifndef ZKR_CLI_SIGNALS_H
#define ZKR_CLI_SIGNALS_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct signals {
    int fd;            /* signalfd */
    sigset_t mask;     /* as it was at our start */
    sigset_t taken;    /* what arrives at fd */
    bool stop_ignored; /* SIGTSTP was ignored at our start */
    /* USR1 and USR2 are only forwarded to a command: they do not stop zkr itself. */
    bool users_ignored;
    struct sigaction old_child; /* the dispositions we had to change */
    struct sigaction old_cont;
};

/** Is it one of INT TERM HUP QUIT USR1 USR2? */
bool signals_is_forwarded(int signo);

/**
 * Before any thread is made. From now on the forwarded signals, CHLD and CONT arrive at fd,
 * except for those that were ignored at our start. PIPE, TTIN and TTOU are blocked.
 * False: no descriptor.
 */
bool signals_begin(struct signals *s);
/** Blocks or unblocks TSTP in this thread. @how: SIG_BLOCK or SIG_UNBLOCK. */
void signals_mask_stop(int how);
/** From now on TSTP, too, arrives at fd. */
void signals_take_stop(struct signals *s);

enum { SIGNALS_TIMER = -1 };

/** Takes the next pending signal. Returns its number, SIGNALS_TIMER for the SIGCONT of our own timer, or 0: none. */
int signals_next(const struct signals *s);
/** Takes all pending signals. Returns the first that tells zkr to stop, or 0. */
int signals_stop(const struct signals *s);
/** In the child, just before exec: restores mask and dispositions of our start. */
void signals_restore(const struct signals *s);

/**
 * First thing in main(): notes what is open, and replaces a closed stdin, stdout or stderr by a placeholder, so that no
 * socket of zkr gets its number. In the child the placeholder is closed again.
 */
void fds_begin(void);
/** In a child, before exec: only what was noted is inherited. Only calls that are safe after a fork among threads. */
void fds_hide(void);

/** A thread that handles signals while the main thread waits in the library. */
struct signals_guard {
    const struct signals *s;
    pthread_t thread;
    int64_t late;
    int done; /* eventfd */
    void (*cancel)(void *ctx);
    void *ctx;
    atomic_int caught;
};

/**
 * A signal, also one that is pending already, calls @cancel, and so does the time @late, or NEVER. @cancel makes the wait
 * of the main thread return, or ends the process. It may come before the wait, and comes repeatedly.
 *
 * False: no thread, or no descriptor for it, could be made; errno says why.
 */
bool signals_guard_begin(struct signals_guard *g,
                         const struct signals *s,
                         int64_t late,
                         void (*cancel)(void *ctx),
                         void *ctx);
/** Returns the signal that told zkr to stop, or 0. */
int signals_guard_end(struct signals_guard *g);

#endif
