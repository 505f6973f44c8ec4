/* SPDX-License-Identifier: Apache-2.0 */
/* sd_notify(3) without its library: messages to the service manager at $NOTIFY_SOCKET, from one thread at a time. */
#ifndef ZKR_CLI_NOTIFY_H
#define ZKR_CLI_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

/** Reads $NOTIFY_SOCKET and $WATCHDOG_USEC. */
void notify_begin(void);
/** Sends one datagram, or drops it if the socket stays full. */
void notify_send(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Sends a keep-alive message if one is due. */
void notify_alive(void);
/** How long until the next keep-alive message is due, at most @ms. */
int64_t notify_alive_rest(int64_t ms);
/** Stops the keep-alive messages, or resumes them if @mute is false. */
void notify_alive_mute(bool mute);

#endif
