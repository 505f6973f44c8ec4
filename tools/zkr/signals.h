/* SPDX-License-Identifier: Apache-2.0 */
/* Signals, read from a descriptor by one thread at a time. */
#ifndef ZKR_CLI_SIGNALS_H
#define ZKR_CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "notify.h"

struct signals {
    int fd;            /* signalfd */
    sigset_t mask;     /* as it was at our start */
    sigset_t taken;    /* what arrives at fd */
    bool stop_ignored; /* SIGTSTP was ignored at our start */
    /* USR1 and USR2 are only forwarded to a command: they do not stop zkr itself. */
    bool users_ignored;
    struct sigaction old_child; /* the dispositions we had to change */
    struct sigaction old_cont;
    struct notify
        *notify; /* gets keep-alive messages during waits; NULL: nobody does */
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

/** Takes the next pending signal. False: there is none. @timer: our own timer has sent the signal. */
bool signals_next(const struct signals *s, int *signo, bool *timer);

/** Takes all pending signals. Returns the first that tells zkr to stop, or 0. */
int signals_stop(const struct signals *s);

/** Sends a keep-alive message if one is due. Returns how long to sleep until the next, @ms at most. */
int signals_pulse(const struct signals *s, int ms);

/** In the child, just before exec: restores mask and dispositions of our start. */
void signals_restore(const struct signals *s);

void signals_end(struct signals *s);

/*
 * A thread that handles signals while the main thread waits in the library.
 */
struct signals_guard;

/** Makes the wait of the main thread return. May be called before the wait, and repeatedly. */
struct signals_cancel {
    void (*call)(void *ctx);
    void *ctx;
};

/**
 * @late: when to cancel without a signal; or CLI_NEVER.
 * @how: how a signal, also one that is pending already, cancels the wait; borrowed until the end. NULL: no node is being
 * made, and a signal ends the process at once.
 *
 * Returns NULL when no thread, or no descriptor for it, could be made; errno says why.
 */
struct signals_guard *signals_guard_begin(const struct signals *s,
                                          int64_t late,
                                          const struct signals_cancel *how);

/** Returns the signal that told zkr to stop, or 0. */
int signals_guard_end(struct signals_guard *g);

#endif
