/* SPDX-License-Identifier: Apache-2.0 */
#include "store.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "record.h"

enum { CONNECTIONS_MAX = 256, RAISES = 64, ANSWER_S = 10 };

struct raise {
    int64_t token;
    int64_t at;
};

struct item {
    int64_t high; /* highest token of fenced reads and writes */
    zkc_store_reply now;
    struct raise
        raised[RAISES]; /* the last new maxima of the token, by any operation */
    uint64_t raises;
};

static struct item items[ZKC_PATHS];

/* Remembers when a new highest token was first seen. */
static void see(struct item *item, int64_t token)
{
    const struct raise *last = &item->raised[(item->raises + RAISES - 1) % RAISES];
    if (token > last->token) {
        item->raised[item->raises++ % RAISES] = (struct raise){token, zkc_now()};
    }
}

/* Returns for how long a token higher than @token has been known. */
static int64_t late_by(const struct item *item, int64_t token)
{
    int64_t first = 0;
    for (int i = 0; i < RAISES; i++) {
        const struct raise *r = &item->raised[i];
        if (r->token > token && (first == 0 || r->at < first)) {
            first = r->at;
        }
    }
    return first > 0 ? zkc_now() - first : 0;
}

static bool fenced(struct item *item, int64_t token)
{
    if (token < item->high) {
        item->now.refused++;
        return false;
    }
    item->high = token;
    return true;
}

static zkc_store_reply plain_write(struct item *item, const zkc_store_request *ask)
{
    const int64_t late = late_by(item, ask->token);
    item->now.plain_value = ask->value;
    item->now.plain_writes++;
    item->now.plain_late += late > 0;
    if (late > item->now.plain_late_ns) {
        item->now.plain_late_ns = late;
    }
    return (zkc_store_reply){.accepted = 1};
}

static zkc_store_reply serve(const zkc_store_request *ask)
{
    const zkc_store_reply no = {0};
    if (ask->path < 0 || ask->path >= ZKC_PATHS) {
        return no;
    }
    struct item *item = &items[ask->path];
    if (ask->op != ZKC_STATUS) {
        see(item, ask->token);
    }
    switch ((enum zkc_store_op)ask->op) {
    case ZKC_READ:
        return fenced(item, ask->token)
                   ? (zkc_store_reply){.accepted = 1, .value = item->now.value}
                   : no;
    case ZKC_WRITE:
        if (!fenced(item, ask->token)) {
            return no;
        }
        item->now.value = ask->value;
        item->now.writes++;
        return (zkc_store_reply){.accepted = 1};
    case ZKC_PLAIN_READ:
        return (zkc_store_reply){.accepted = 1, .value = item->now.plain_value};
    case ZKC_PLAIN_WRITE:
        return plain_write(item, ask);
    case ZKC_STATUS:
        return item->now;
    }
    return no;
}

static bool address_of(const char *socket, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(socket) >= sizeof address->sun_path) {
        return false;
    }
    memcpy(address->sun_path, socket, strlen(socket) + 1);
    return true;
}

/* Returns whether the connection stays open. */
static bool answer(int fd)
{
    zkc_store_request ask;
    ssize_t n = recv(fd, &ask, sizeof ask, MSG_DONTWAIT);
    if (n != (ssize_t)sizeof ask) {
        return n < 0 && errno == EAGAIN;
    }
    const zkc_store_reply reply = serve(&ask);
    return send(fd, &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT) > 0 ||
           errno == EAGAIN;
}

int zkc_store_serve(const char *path)
{
    struct pollfd fds[CONNECTIONS_MAX];
    struct sockaddr_un address;
    nfds_t count = 1;
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (listener < 0 || !address_of(path, &address) ||
        bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, CONNECTIONS_MAX) != 0) {
        return 1;
    }
    fds[0] = (struct pollfd){.fd = listener, .events = POLLIN};
    for (;;) {
        if (poll(fds, count, -1) < 0 && errno != EINTR) {
            return 1;
        }
        for (nfds_t i = count; i-- > 1;) {
            if (fds[i].revents != 0 && !answer(fds[i].fd)) {
                (void)close(fds[i].fd);
                fds[i] = fds[--count];
            }
        }
        if (fds[0].revents != 0 && count < CONNECTIONS_MAX) {
            int fd = accept(listener, NULL, NULL);
            if (fd >= 0) {
                fds[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
            }
        }
    }
}

int zkc_store_connect(const char *path)
{
    const struct timeval wait = {.tv_sec = ANSWER_S};
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    if (!address_of(path, &address) ||
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) != 0 ||
        connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

bool zkc_store_ask(int fd, const zkc_store_request *ask, zkc_store_reply *reply)
{
    return send(fd, ask, sizeof *ask, MSG_NOSIGNAL) == (ssize_t)sizeof *ask &&
           recv(fd, reply, sizeof *reply, 0) == (ssize_t)sizeof *reply;
}
