/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces sd_notify(3) without its library: sends messages to the service manager at $NOTIFY_SOCKET. Only one thread
 * at a time may use it.
 */
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
/** Returns how long until the next keep-alive message is due, but at most @ms. */
int64_t notify_alive_rest(int64_t ms);
/** Stops the keep-alive messages or, if @mute is false, resumes them. */
void notify_alive_mute(bool mute);

#endif
