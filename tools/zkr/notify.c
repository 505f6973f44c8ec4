/* SPDX-License-Identifier: Apache-2.0 */
#include "notify.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"
#include "parse.h"

static struct {
    struct sockaddr_un to;
    socklen_t length; /* length of the address; 0: no service manager listens */
    int64_t every_ms; /* time between two keep-alive messages; 0: no watchdog */
    int64_t next;     /* when the next one is due */
    bool mute;        /* keep-alive messages are stopped */
} manager;

/* Reads the address, which is a path, or @ and the name of an abstract socket. */
static void read_socket(void)
{
    const char *name = parse_variable("NOTIFY_SOCKET");
    size_t length = name ? strlen(name) : 0;
    if (length < 2 || length >= sizeof(manager.to.sun_path) || !strchr("/@", name[0])) {
        return;
    }
    manager.to.sun_family = AF_UNIX;
    memcpy(manager.to.sun_path, name, length);
    if (name[0] == '@') {
        manager.to.sun_path[0] = '\0';
    }
    manager.length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

/* Halves the interval, so that messages are twice as frequent as necessary. */
static void read_watchdog(void)
{
    const char *usec = parse_variable("WATCHDOG_USEC"),
               *pid = parse_variable("WATCHDOG_PID");
    int64_t every, whose = getpid();
    if (usec && parse_int(usec, 1, INT64_MAX, &every) &&
        (!pid || parse_int(pid, 1, INT64_MAX, &whose)) && whose == getpid()) {
        manager.every_ms = every / 2000 > 0 ? every / 2000 : 1;
    }
}

void notify_begin(void)
{
    read_socket();
    if (manager.length > 0) {
        read_watchdog();
    }
}

void notify_send(const char *format, ...)
{
    enum { LINES = 2048, PATIENCE_US = 200000 };
    const struct timeval patience = {.tv_usec = PATIENCE_US};
    char text[LINES];
    va_list args;
    int fd = manager.length > 0 ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    if (fd < 0) {
        return;
    }
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start() is right above */
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    (void)!sendto(fd, text, strlen(text), MSG_NOSIGNAL,
                  (const struct sockaddr *)&manager.to, manager.length);
    (void)close(fd);
}

void notify_alive(void)
{
    if (manager.every_ms > 0 && !manager.mute && clock_left_ms(manager.next) == 0) {
        manager.next = clock_now_ms() + manager.every_ms;
        notify_send("WATCHDOG=1");
    }
}

int64_t notify_alive_rest(int64_t ms)
{
    return manager.every_ms > 0 && !manager.mute
               ? lesser(clock_left_ms(manager.next), ms)
               : ms;
}

void notify_alive_mute(bool mute)
{
    manager.mute = mute;
}
