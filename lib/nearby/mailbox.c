/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A datagram socket in Linux's abstract namespace, and the thread that reads from it. Any process can look up the name
 * of the socket in /proc/net/unix. So receivers trust only the credentials that the kernel adds to a letter.
 */
#define _GNU_SOURCE /* for struct ucred */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/thread.h"
#include "nearby/door.h"

#define PREFIX "zkrecipes-"
enum { PREFIX_LEN = sizeof(PREFIX) - 1, NAME_AT = ZKR__NEAR_HOST + ZKR__NEAR_WHO };

struct mailbox {
    struct zkr__mailbox_owner *owner;
    struct zkr__near_address self;
    pthread_t thread;
    int closing; /* atomic */
    int fd;
    struct stat was; /* identifies fd if the application has closed it */
};

static bool is_ours(const struct mailbox *box)
{
    struct stat st;
    return fstat(box->fd, &st) == 0 && st.st_dev == box->was.st_dev &&
           st.st_ino == box->was.st_ino;
}

/* --- addresses --- */

static socklen_t socket_name(struct sockaddr_un *to, const char *name)
{
    *to = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(to->sun_path + 1, PREFIX, PREFIX_LEN);
    memcpy(to->sun_path + 1 + PREFIX_LEN, name, ZKR__NEAR_NAME);
    return (socklen_t)(sizeof(to->sun_family) + 1 + PREFIX_LEN + ZKR__NEAR_NAME);
}

/*
 * Write uid and pid. The parts of an address must be written in order, because each write adds a zero after its part.
 */
static void put_who(char *text, uid_t uid, pid_t pid)
{
    (void)snprintf(text + ZKR__NEAR_HOST, ZKR__NEAR_WHO + 1, "%08x%08x", (unsigned)uid,
                   (unsigned)pid);
}

/*
 * Write eight digits each for the boot, its network namespace and its process namespace. Returns false if one of them
 * is unknown.
 */
static bool put_host(char *text)
{
    char boot[ZKR__NEAR_HOST / 3 + 1] = "";
    struct stat net, pid;
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    bool known =
        fd >= 0 && read(fd, boot, sizeof(boot) - 1) == (ssize_t)sizeof(boot) - 1 &&
        stat("/proc/self/ns/net", &net) == 0 && stat("/proc/self/ns/pid", &pid) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    if (known) {
        (void)snprintf(text, ZKR__NEAR_HOST + 1, "%s%08x%08x", boot,
                       (unsigned)net.st_ino, (unsigned)pid.st_ino);
    }
    return known;
}

static bool put_self(char *text)
{
    unsigned long long raw[2];
    if (!put_host(text) || getrandom(raw, sizeof(raw), 0) != (ssize_t)sizeof(raw)) {
        return false;
    }
    put_who(text, getuid(), getpid());
    (void)snprintf(text + NAME_AT, ZKR__NEAR_NAME + 1, "%016llx%016llx", raw[0],
                   raw[1]);
    return true;
}

/* --- receiving --- */

/*
 * Returns false if the name of the sender's socket is not one of this library's names, or the kernel does not identify
 * the sender. A pid of 0 means another process namespace.
 */
static bool read_sender(struct zkr__near_address *from, struct msghdr *message)
{
    struct ucred who;
    struct sockaddr_un like;
    const char *path = ((const struct sockaddr_un *)message->msg_name)->sun_path;
    const struct cmsghdr *part = CMSG_FIRSTHDR(message);
    socklen_t len = socket_name(&like, path + 1 + PREFIX_LEN);
    if (!part || part->cmsg_type != SCM_CREDENTIALS ||
        part->cmsg_len != CMSG_LEN(sizeof(who)) || message->msg_namelen != len ||
        memcmp(&like, message->msg_name, len) != 0) {
        return false;
    }
    memcpy(&who, CMSG_DATA(part), sizeof(who));
    put_who(from->text, who.uid, who.pid);
    memcpy(from->text + NAME_AT, path + 1 + PREFIX_LEN, ZKR__NEAR_NAME);
    return who.pid > 0;
}

static void take_letter(const struct mailbox *box)
{
    enum { LETTER_MAX = 4096 };
    char letter[LETTER_MAX];
    /* There is no room for descriptors that are sent along, so the kernel closes them. */
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
    struct sockaddr_un sender = {.sun_family = AF_UNIX};
    struct iovec part = {.iov_base = letter, .iov_len = sizeof(letter)};
    struct msghdr message = {.msg_name = &sender,
                             .msg_namelen = sizeof(sender),
                             .msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    struct zkr__near_address from = box->self;
    ssize_t len = recvmsg(box->fd, &message, MSG_CMSG_CLOEXEC);
    if (len < 0 && errno != EINTR) {
        zkr__thread_rest();
    }
    if (len > 0 && (message.msg_flags & MSG_TRUNC) == 0 &&
        read_sender(&from, &message)) {
        box->owner->take(box->owner, &from, letter, (size_t)len);
    }
}

static void *receive(void *arg)
{
    const struct mailbox *box = arg;
    while (!__atomic_load_n(&box->closing, __ATOMIC_ACQUIRE) && is_ours(box)) {
        take_letter(box);
    }
    return NULL;
}

/* --- the door --- */

static int start(struct mailbox *box)
{
    struct sockaddr_un self;
    socklen_t len = socket_name(&self, box->self.text + NAME_AT);
    int on = 1;
    if (box->fd < 0 ||
        setsockopt(box->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) != 0 ||
        bind(box->fd, (struct sockaddr *)&self, len) != 0 ||
        fstat(box->fd, &box->was) != 0) {
        return errno;
    }
    return zkr__thread_start(&box->thread, "zkr-nearby", receive, box);
}

static void *open_box(struct zkr__mailbox_owner *owner, struct zkr__near_address *self)
{
    struct mailbox *box = zkr__mem_alloc(sizeof(*box));
    if (!box || !put_self(box->self.text)) {
        zkr__mem_free(box);
        return NULL;
    }
    box->owner = owner;
    box->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    *self = box->self;
    int error = start(box);
    if (error == 0) {
        return box;
    }
    if (box->fd >= 0) {
        (void)close(box->fd);
    }
    zkr__mem_free(box);
    errno = error;
    return NULL;
}

static void
put_letter(void *of, const struct zkr__near_address *to, const void *letter, size_t len)
{
    const struct mailbox *box = of;
    struct sockaddr_un name;
    socklen_t name_len = socket_name(&name, to->text + NAME_AT);
    if (is_ours(box)) {
        (void)sendto(box->fd, letter, len, MSG_DONTWAIT | MSG_NOSIGNAL,
                     (const struct sockaddr *)&name, name_len);
    }
}

/*
 * Wake the thread with a letter, because it may still be reading the socket even if the application has closed the
 * descriptor.
 */
static void wake(const struct mailbox *box)
{
    struct sockaddr_un self;
    socklen_t len = socket_name(&self, box->self.text + NAME_AT);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        (void)sendto(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL,
                     (const struct sockaddr *)&self, len);
        (void)close(fd);
    }
}

static void close_box(void *of)
{
    struct mailbox *box = of;
    bool ours = is_ours(box);
    __atomic_store_n(&box->closing, 1, __ATOMIC_RELEASE);
    if (ours) {
        (void)shutdown(box->fd, SHUT_RD); /* this wakes the thread */
    } else {
        wake(box);
    }
    zkr__thread_join(box->thread);
    if (ours) {
        (void)close(box->fd);
    }
    zkr__mem_free(box);
}

const struct zkr__nearby_door zkr__mailbox = {.open = open_box,
                                              .send = put_letter,
                                              .close = close_box};
