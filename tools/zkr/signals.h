/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals, read from a descriptor by one thread at a time. The command gets the mask and the dispositions with which
 * zkr was started.
 */
#ifndef ZKR_CLI_SIGNALS_H
#define ZKR_CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#include <zkr/client.h>

struct signals {
    int fd;            /* a signalfd */
    sigset_t mask;     /* the mask at the start of zkr */
    sigset_t taken;    /* the signals that arrive at fd */
    bool stop_ignored; /* SIGTSTP was ignored at the start of zkr */
    /* USR1 and USR2 are only forwarded to a command, and do not end zkr itself. */
    bool users_ignored;
    zkr_client *client; /* URG moves its session to another server; NULL = none */
    struct sigaction old_child; /* the disposition that zkr has replaced */
    struct sigaction old_cont;
};

/** Returns whether @signo is INT, TERM, HUP, QUIT, USR1 or USR2. */
bool signals_is_forwarded(int signo);

/**
 * Called before any thread is created. From now on, the forwarded signals, URG, CHLD and CONT arrive at fd, except those
 * that were ignored at the start of zkr. Blocks PIPE, TTIN, TTOU and TSTP. Returns false if there is no descriptor.
 */
bool signals_begin(struct signals *s);
/** Blocks or unblocks TSTP in this thread. @how is SIG_BLOCK or SIG_UNBLOCK. */
void signals_mask_stop(int how);
/** From now on, TSTP also arrives at fd, unless it was ignored at the start of zkr. */
void signals_take_stop(struct signals *s);

enum { SIGNALS_TIMER = -1 };

/**
 * Takes the next pending signal. Returns its number, SIGNALS_TIMER for a SIGCONT of our own timer, or 0 if there is
 * none. Handles URG itself.
 */
int signals_next(const struct signals *s);
/** Takes all pending signals. Returns the first one that ends zkr, or 0. */
int signals_take_ending(const struct signals *s);
/** Called in a child just before exec. Restores the mask and the dispositions from the start of zkr. */
void signals_restore(const struct signals *s);

#endif
