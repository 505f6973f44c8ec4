/* SPDX-License-Identifier: Apache-2.0 */
/* sd_notify(3) without its library, from one thread at a time, to whatever sets $NOTIFY_SOCKET. */
#ifndef ZKR_CLI_NOTIFY_H
#define ZKR_CLI_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

/** Reads $NOTIFY_SOCKET and $WATCHDOG_USEC. */
void notify_begin(void);
/** Sends one datagram, or drops it when the socket is full. */
void notify_send(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Sends a keep-alive message if one is due. */
void notify_alive(void);
/** How long until the next keep-alive message is due, or @ms if that is less. */
int64_t notify_alive_rest(int64_t ms);
/** @mute: no keep-alive message is sent, or due, until it is lifted. */
void notify_alive_mute(bool mute);

#endif
