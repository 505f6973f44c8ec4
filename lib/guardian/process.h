/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guardian as a process: found or started, once for all clients of this process, and its socket. A fork waits while a
 * guardian is started; a child has none. Without any client's lock, unless said otherwise.
 */
#ifndef ZKR_GUARDIAN_PROCESS_H
#define ZKR_GUARDIAN_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct msghdr;
struct zkr__guardian;
struct zkr__guardian_record;

/* The guardian of the process, which is started if none lives; *ward is a number for the client. Drop it. */
int zkr__guardian_take(struct zkr__guardian **out, uint64_t *ward);
/* The last one lets the guardian end, and waits for that. */
void zkr__guardian_drop(struct zkr__guardian *g);

/* Does the guardian watch this process? Waits at most @ms. The guardian answers once, and its answer stays readable. */
int zkr__guardian_verdict(const struct zkr__guardian *g, int ms);
/* It has said so. */
bool zkr__guardian_has_spoken(const struct zkr__guardian *g);
/* Set the thread's last error: why there is no guardian. Returns the code. */
int zkr__guardian_refuse(int code, const char *why);
int zkr__guardian_refuse_errno(int error);

/* Send. 0 or errno; EPIPE: it has ended. Never wait; with the client's lock or not. */
int zkr__guardian_message(const struct zkr__guardian *g, const struct msghdr *message);
int zkr__guardian_tell(const struct zkr__guardian *g,
                       struct zkr__guardian_record *record);
/* Sessions and process groups matter more: directories leave them a part of the socket's buffer. */
bool zkr__guardian_is_full(const struct zkr__guardian *g);

#endif
