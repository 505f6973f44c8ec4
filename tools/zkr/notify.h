/* SPDX-License-Identifier: Apache-2.0 */
/* Notifications to systemd or another service manager that sets $NOTIFY_SOCKET: sd_notify(3) without its library. */
#ifndef ZKR_CLI_NOTIFY_H
#define ZKR_CLI_NOTIFY_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct notify {
    struct sockaddr_un to;
    socklen_t length; /* of that address; 0: no service manager listens */
    int64_t every_ms; /* between two keep-alive messages; 0: no watchdog */
    int64_t next;     /* when the next message is due */
};

/** Reads $NOTIFY_SOCKET and $WATCHDOG_USEC. */
void notify_begin(struct notify *n);

/** Sends one datagram, or drops it when the socket is full. From one thread at a time, like notify_alive(). */
void notify_send(const struct notify *n, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Sends a keep-alive message if one is due. */
void notify_alive(struct notify *n);

/** How long until the next keep-alive message is due, or @ms if that is less. */
int64_t notify_rest(const struct notify *n, int64_t ms);

#endif
