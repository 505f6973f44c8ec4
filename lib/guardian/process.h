/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guardian's process, one for all clients of this process, and its socket. fork() blocks while a guardian is being
 * started; a forked child has none. Call without any client's lock, unless stated otherwise.
 */
#ifndef ZKR_GUARDIAN_PROCESS_H
#define ZKR_GUARDIAN_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct msghdr;
struct zkr__guardian;
struct zkr__guardian_record;

/*
 * Returns the guardian of the process, started if none lives. Sets *ward to a number for the client. Drop the guardian
 * with zkr__guardian_drop().
 */
int zkr__guardian_take(struct zkr__guardian **out, uint64_t *ward);
/* Drop a client's use of the guardian. The last drop ends the guardian, and waits for its end. */
void zkr__guardian_drop(struct zkr__guardian *g);

/*
 * Does the guardian watch this process? Waits at most @ms. The guardian answers once, and its answer stays readable.
 * Returns ZKR_OK, or an error with the thread's last error set.
 */
int zkr__guardian_verdict(const struct zkr__guardian *g, int ms);
/* Has the guardian answered? */
bool zkr__guardian_has_spoken(const struct zkr__guardian *g);
/* Report in the thread's last error why there is no guardian. Returns the code. */
int zkr__guardian_refuse(int code, const char *why);
int zkr__guardian_refuse_errno(int error);

/*
 * Send a message or a record. Returns 0 or errno; EPIPE: the guardian has ended. Never blocks. Call with or without the
 * client's lock.
 */
int zkr__guardian_message(const struct zkr__guardian *g, const struct msghdr *message);
int zkr__guardian_tell(const struct zkr__guardian *g,
                       struct zkr__guardian_record *record);
/*
 * Is the socket too full for directories? Part of its buffer is reserved for sessions and process groups, which matter
 * more.
 */
bool zkr__guardian_is_full(const struct zkr__guardian *g);

#endif
