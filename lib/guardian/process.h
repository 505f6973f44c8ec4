/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guardian's process and its socket, which all clients of this process share. fork() blocks while a guardian is
 * being started, and a forked child has no guardian. Unless stated otherwise, these functions are called without any
 * client's lock.
 */
#ifndef ZKR_GUARDIAN_PROCESS_H
#define ZKR_GUARDIAN_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct msghdr;
struct zkr__guardian;
struct zkr__guardian_record;

/*
 * Get the guardian of the process, and start it if there is none. Sets *ward to a number for the client.
 * zkr__guardian_drop() drops the guardian.
 */
int zkr__guardian_take(struct zkr__guardian **out, uint64_t *ward);
/* Drop a client's use of the guardian. The last drop ends the guardian, and waits until it has ended. */
void zkr__guardian_drop(struct zkr__guardian *g);

/*
 * Wait at most @ms until the guardian reports whether it watches this process. The guardian answers once, and its
 * answer stays readable. Returns ZKR_OK, or an error with the thread's last error set.
 */
int zkr__guardian_verdict(const struct zkr__guardian *g, int ms);
/* Returns whether the guardian has answered. */
bool zkr__guardian_has_spoken(const struct zkr__guardian *g);
/* Report in the thread's last error why there is no guardian. Returns the code. */
int zkr__guardian_refuse(int code, const char *why);
int zkr__guardian_refuse_errno(int error);

/*
 * Send a message or a record. Returns 0 or errno. EPIPE: the guardian has ended. Never blocks. Called with or without
 * the client's lock.
 */
int zkr__guardian_message(const struct zkr__guardian *g, const struct msghdr *message);
int zkr__guardian_tell(const struct zkr__guardian *g,
                       struct zkr__guardian_record *record);
/*
 * Returns whether the socket is too full for directories. Part of its buffer is reserved for sessions and process
 * groups, which matter more.
 */
bool zkr__guardian_is_full(const struct zkr__guardian *g);

#endif
