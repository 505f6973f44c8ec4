/* SPDX-License-Identifier: Apache-2.0 */
#include "notify.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* A path, or @ and the name of an abstract socket. */
static void read_socket(struct notify *n)
{
    const char *name = cli_variable("NOTIFY_SOCKET");
    size_t length = name ? strlen(name) : 0;
    if (length < 2 || length >= sizeof(n->to.sun_path) || !strchr("/@", name[0])) {
        return;
    }
    n->to.sun_family = AF_UNIX;
    memcpy(n->to.sun_path, name, length);
    if (name[0] == '@') {
        n->to.sun_path[0] = '\0';
    }
    n->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

/* Twice as often as necessary. */
static void read_watchdog(struct notify *n)
{
    const char *usec = cli_variable("WATCHDOG_USEC"),
               *pid = cli_variable("WATCHDOG_PID");
    int64_t every, whose = getpid();
    if (usec && cli_parse_int(usec, 1, INT64_MAX, &every) &&
        (!pid || cli_parse_int(pid, 1, INT64_MAX, &whose)) && whose == getpid()) {
        n->every_ms = every / 2000 > 0 ? every / 2000 : 1;
    }
}

void notify_begin(struct notify *n)
{
    *n = (struct notify){.length = 0};
    read_socket(n);
    if (n->length > 0) {
        read_watchdog(n);
    }
}

void notify_send(const struct notify *n, const char *format, ...)
{
    enum { LINES = 2048, PATIENCE_US = 200000 };
    const struct timeval patience = {.tv_usec = PATIENCE_US};
    char text[LINES];
    va_list args;
    int fd = n->length > 0 ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    if (fd < 0) {
        return;
    }
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it was started right above */
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    (void)!sendto(fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&n->to,
                  n->length);
    (void)close(fd);
}

void notify_alive(struct notify *n)
{
    if (n->every_ms > 0 && cli_until(n->next) == 0) {
        n->next = cli_now_ms() + n->every_ms;
        notify_send(n, "WATCHDOG=1");
    }
}

int64_t notify_rest(const struct notify *n, int64_t ms)
{
    int64_t left = n->every_ms > 0 ? cli_until(n->next) : ms;
    return left < ms ? left : ms;
}
