/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zkr once: when the command succeeded last is recorded in the data of the path, and who comes within a period does not run it.
 *
 * The clock is that of the servers: a run counts from when its lock node was made. The record is written under the guard of
 * the hold, before the release, so who holds next sees it.
 */
#ifndef ZKR_CLI_ONCE_H
#define ZKR_CLI_ONCE_H

#include <stdbool.h>
#include <stdint.h>

struct held;

/** Zeroed at first. */
struct once {
    int64_t every_ms; /* 0: nothing is recorded */

    int64_t asked_ms; /* when our lock node was made */
    int version;      /* of the record there is */
};

/** For options: a time such as 90, 30m, 1.5h or 1d. */
bool once_take_period(void *every_ms, char *value);

/**
 * Holding the lock: is the command due? Claims the path for records, so that what is wrong with it is known before the start.
 * Returns HELD_START, HELD_AGAIN, or an exit code, reported: 0 = not due.
 */
int once_begin(struct once *o, struct held *h);
/** Records a success, while the lock is still held. Returns @status, that of the command; or an exit code, reported. */
int once_end(struct once *o, struct held *h, int status);

#endif
