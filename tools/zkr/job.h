/* SPDX-License-Identifier: Apache-2.0 */
/* Running the command from its start until its whole group has gone. */
#ifndef ZKR_CLI_JOB_H
#define ZKR_CLI_JOB_H

#include <stdbool.h>

#include "child.h"
#include "lease.h"
#include "wish.h"

struct job {
    struct child_spec spec;
    struct signals *signals;
    struct lease *lease;
    struct wish *wish;
    const char *path; /* what is held, for messages */
    int kill_signal;

    /* results */
    bool
        lost; /* the hold was not sure to the end: the command was killed, or not started */
    int start_errno;  /* the command could not be started, 0 = it was */
    bool interrupted; /* it died of the terminal's ^C or ^\, which only its group got */
    bool told;        /* INT, TERM, HUP or QUIT came and was forwarded */

    /* inside */
    struct child child;
    bool killed;    /* the kill signal has been sent */
    bool resume;    /* somebody continued us */
    bool stop;      /* somebody wants us to stop */
    int64_t end_at; /* asked to let go: SIGKILL is due then; 0 = not asked */
};

/** Returns the command's exit code, when nothing else is set among the results. */
int job_run(struct job *j);

#endif
