/* SPDX-License-Identifier: Apache-2.0 */
/* What systemd, or another that sets $NOTIFY_SOCKET, is told: sd_notify(3) without its library. */
#ifndef ZKR_CLI_NOTIFY_H
#define ZKR_CLI_NOTIFY_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct notify {
    struct sockaddr_un to;
    socklen_t length; /* of that; 0: nobody wants to hear */
    int64_t every_ms; /* between two signs of life; 0: none is wanted */
    int64_t next;     /* when one is due */
};

/** Reads $NOTIFY_SOCKET and $WATCHDOG_USEC. */
void notify_begin(struct notify *n);

/** One datagram; what cannot be sent within a moment is not. From one thread at a time, as the next. */
void notify_send(const struct notify *n, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** A sign of life, if one is due. */
void notify_alive(struct notify *n);

/** The same, and in how many ms to call again. @notify: struct notify. */
int64_t notify_pulse(void *notify);

/** How long until one is due, or @ms if that is less. */
int64_t notify_rest(const struct notify *n, int64_t ms);

#endif
