/* SPDX-License-Identifier: Apache-2.0 */
/* Signals, read from a descriptor by one thread at a time. A command gets them as zkr itself got them. */
#ifndef ZKR_CLI_SIGNALS_H
#define ZKR_CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

struct signals {
    int fd;            /* signalfd */
    sigset_t mask;     /* as it was at our start */
    sigset_t taken;    /* what arrives at fd */
    bool stop_ignored; /* SIGTSTP was ignored at our start */
    /* USR1 and USR2 are only forwarded to a command: they do not end zkr itself. */
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
/** Takes all pending signals. Returns the first that tells zkr to end, or 0. */
int signals_take_ending(const struct signals *s);
/** In the child, just before exec: restores mask and dispositions of our start. */
void signals_restore(const struct signals *s);

#endif
