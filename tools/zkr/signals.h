/* SPDX-License-Identifier: Apache-2.0 */
/* Signals arrive through a descriptor, in no thread but the one that asks. */
#ifndef ZKR_CLI_SIGNALS_H
#define ZKR_CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct signals {
    int fd;            /* signalfd */
    sigset_t mask;     /* as it was at our start */
    sigset_t taken;    /* what arrives at fd */
    bool stop_ignored; /* SIGTSTP was ignored at our start */
    bool
        users_ignored; /* USR1 and USR2 are for a command alone: without one they tell nobody to stop */
    struct sigaction old_child; /* the dispositions we had to change */
    struct sigaction old_cont;
    /* Called now and then by whatever waits: does what is due, and says in how many ms to call it again. NULL: none. */
    int64_t (*pulse)(void *ctx);
    void *pulse_ctx;
};

/** Is it one of INT TERM HUP QUIT USR1 USR2? */
bool signals_is_forwarded(int signo);

/**
 * Before any thread is made. From now on the forwarded signals, CHLD and CONT arrive at fd,
 * unless they were ignored at our start: those stay ignored. PIPE, TTIN and TTOU are held back.
 * False: no descriptor.
 */
bool signals_begin(struct signals *s);

/** From now on TSTP, too, arrives at fd. */
void signals_take_stop(struct signals *s);

/** One that waits at fd. False: none does. @timer: our own timer sent it. */
bool signals_next(const struct signals *s, int *signo, bool *timer);

/** The first of those that wait that tells us to stop, 0 = none does; all are taken. */
int signals_stop(const struct signals *s);

/** Does what is due by the pulse. Returns for how long one may sleep before it is due again, @ms at most. */
int signals_pulse(const struct signals *s, int ms);

/** In the child, just before exec: all as it was at our start. */
void signals_restore(const struct signals *s);

void signals_end(struct signals *s);

/*
 * While the main thread connects or waits for its turn, a thread of its own minds the signals.
 */
struct signals_guard;

/** How to make the main thread return from what it waits in; may be called early and often. */
struct signals_cancel {
    void (*call)(void *ctx);
    void *ctx;
};

/**
 * @late: when it cancels, signal or not; or CLI_NEVER.
 * @how: NULL: nothing has been asked of a server, and a signal ends the process at once. Else a signal cancels,
 * one that is waiting already too. Borrowed until the end.
 *
 * NULL: no thread could be made, or no descriptor for it; errno says why.
 */
struct signals_guard *signals_guard_begin(const struct signals *s,
                                          int64_t late,
                                          const struct signals_cancel *how);

/** The signal that told us to stop, 0 = none. */
int signals_guard_end(struct signals_guard *g);

#endif
