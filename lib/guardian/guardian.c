/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* for stpcpy(), explicit_bzero() */

#include "guardian/guardian.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "guardian/process.h"
#include "guardian/wire.h"
#include "session/log.h"

/* --- joining and leaving --- */

/* Replace the file names of option tls_cert with absolute ones, because the guardian has another working directory. */
static int name_files(zkr_client *c)
{
    enum { FILES = 3, PATH_ROOM = 4096 };
    char cwd[PATH_ROOM];
    if (!c->tls_cert) {
        return ZKR_OK;
    }
    if (!getcwd(cwd, sizeof(cwd))) {
        return zkr__guardian_refuse_errno(errno);
    }
    char *to = zkr__mem_alloc(strlen(c->tls_cert) + FILES * (strlen(cwd) + 1) + 1);
    if (!to) {
        return zkr__guardian_refuse_errno(ENOMEM);
    }
    c->guardian_tls = to;
    const char *from = c->tls_cert;
    for (int i = 0; *from != '\0'; i++) {
        size_t len = strcspn(from, ",");
        len += from[len] == ',';
        if (i < FILES && from[0] != '/') {
            to = stpcpy(stpcpy(to, cwd), "/");
        }
        memcpy(to, from, len);
        to += len;
        from += len;
    }
    return ZKR_OK;
}

static int join(zkr_client *c)
{
    struct zkr__guardian *guardian = NULL;
    uint64_t ward = 0;
    if (c->options.open_handle) {
        return zkr__guardian_refuse(
            ZKR_EINVAL,
            "it cannot use the option open_handle to connect as this client does");
    }
    int rc = name_files(c);
    rc = rc == ZKR_OK ? zkr__guardian_take(&guardian, &ward) : rc;
    if (rc == ZKR_OK) {
        zkr__lock(c);
        c->guardian = guardian;
        c->ward = ward;
        zkr__wake_by(c, zkr__now(c)); /* to check for the guardian's first record */
        zkr__unlock(c);
    }
    return rc;
}

/* Wait for the guardian, which takes some milliseconds to start. With ZKR_GUARDIAN_TRY the client does not wait. */
static int require(zkr_client *c)
{
    enum { START_MS = 10000 };
    int rc = zkr__guardian_verdict(c->guardian, START_MS);
    if (rc != ZKR_OK) {
        const zkr_error why = zkr__thread_self()->error;
        c->unguarded = true; /* the error reports it, so nothing is logged */
        zkr__guardian_leave(c);
        zkr__thread_self()->error = why;
    }
    return rc;
}

int zkr__guardian_join(zkr_client *c)
{
    if (c->options.guardian == 0) {
        return ZKR_OK;
    }
    int rc = join(c);
    if (rc == ZKR_OK && c->options.guardian == ZKR_GUARDIAN_REQUIRED) {
        return require(c);
    }
    if (rc != ZKR_OK && c->options.guardian == ZKR_GUARDIAN_TRY) {
        zkr__lock(c);
        zkr__log(c, ZKR_LOG_WARN,
                 ZKR__EVENT("no_guardian", .reason = zkr_last_error()->message));
        zkr__unlock(c);
        rc = ZKR_OK;
    }
    return rc;
}

static void say_unguarded(zkr_client *c, const char *why) ZKR__LOCKED
{
    if (!c->unguarded) {
        c->unguarded = true;
        zkr__log(c, ZKR_LOG_WARN, ZKR__EVENT("no_guardian", .reason = why));
    }
}

/* Returns whether the guardian has answered. If the guardian does not watch this process, logs that. */
static bool look(zkr_client *c) ZKR__LOCKED
{
    bool said = zkr__guardian_has_spoken(c->guardian);
    if (said && zkr__guardian_verdict(c->guardian, 0) != ZKR_OK) {
        say_unguarded(c, zkr_last_error()->message);
    }
    return said;
}

int64_t zkr__guardian_look(zkr_client *c, int64_t now)
{
    enum { LOOK_MS = 100, LOOKS = 50 };
    if (!c->guardian || c->guardian_looks == LOOKS) {
        return ZKR__NEVER;
    }
    if (now >= c->guardian_look_at) {
        bool known = c->unguarded || look(c);
        c->guardian_looks = known ? LOOKS : c->guardian_looks + 1;
        c->guardian_look_at = now + LOOK_MS * ZKR__MS;
    }
    return c->guardian_looks == LOOKS ? ZKR__NEVER : c->guardian_look_at;
}

void zkr__guardian_leave(zkr_client *c)
{
    struct zkr__guardian *g = c->guardian;
    if (!g) {
        return;
    }
    zkr__lock(c);
    (void)look(c);
    (void)zkr__guardian_directory(c, "", false);
    c->guardian = NULL;
    zkr__unlock(c);
    zkr__guardian_drop(g);
}

/* --- sessions --- */

enum { ADDRESS_ROOM = 128 }; /* for a numeric address */

/*
 * Find the address in @servers to which the handle is connected. Sets *@at to it and returns its length, or returns 0
 * if the handle is not connected.
 */
static size_t
connected_address(const zkr_client *c, void *zh, const char *servers, const char **at)
{
    char address[ADDRESS_ROOM];
    for (const char *p = servers; *p != '\0' && *p != '/';) {
        size_t n = strcspn(p, ",/");
        if (n < sizeof(address)) {
            memcpy(address, p, n);
            address[n] = '\0';
            if (c->door->connected_to(zh, address)) {
                *at = p;
                return n;
            }
        }
        p += n + (p[n] == ',');
    }
    return 0;
}

/* Returns the credentials in the format of wire.h, or NULL if memory runs out. */
static char *pack_credentials(const zkr_client *c, size_t *size)
{
    *size = 0;
    for (size_t i = 0; i < c->auth_count; i++) {
        *size +=
            strlen(c->auths[i].scheme) + 1 + sizeof(uint32_t) + c->auths[i].cert_len;
    }
    char *packed = zkr__mem_alloc(*size + 1), *to = packed;
    for (size_t i = 0; packed && i < c->auth_count; i++) {
        const zkr_auth *auth = &c->auths[i];
        const uint32_t len = (uint32_t)auth->cert_len;
        to = stpcpy(to, auth->scheme) + 1;
        memcpy(to, &len, sizeof(len));
        to += sizeof(len);
        if (len > 0) {
            memcpy(to, auth->cert, len);
        }
        to += len;
    }
    return packed;
}

/* Send the session to the guardian. Returns 0 or errno. */
static int tell_session(const zkr_client *c, void *zh, const char *servers) ZKR__LOCKED
{
    struct zkr__guardian_record record = {.version = ZKR__GUARDIAN_VERSION,
                                          .kind = ZKR__GUARDIAN_SESSION,
                                          .client = c->ward,
                                          .session = c->session_id,
                                          .value = c->granted_ms};
    const char *tls = c->guardian_tls ? c->guardian_tls : "", *first = "";
    size_t size, first_len = connected_address(c, zh, servers, &first);
    char *credentials = pack_credentials(c, &size);
    if (!credentials) {
        return ENOMEM;
    }
    c->door->password(zh, record.password);
    struct iovec parts[] = {
        {.iov_base = &record, .iov_len = sizeof(record)},
        {.iov_base = (void *)(uintptr_t)first, .iov_len = first_len},
        {.iov_base = (void *)(uintptr_t) ",", .iov_len = first_len > 0},
        {.iov_base = (void *)(uintptr_t)servers, .iov_len = strlen(servers) + 1},
        {.iov_base = (void *)(uintptr_t)tls, .iov_len = strlen(tls) + 1},
        {.iov_base = credentials, .iov_len = size}};
    enum { PARTS = sizeof(parts) / sizeof(parts[0]) };
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = PARTS};
    size_t text = 0;
    for (int i = 1; i < PARTS; i++) {
        text += parts[i].iov_len;
    }
    int error = text <= ZKR__GUARDIAN_TEXT_MAX
                    ? zkr__guardian_message(c->guardian, &message)
                    : EMSGSIZE;
    explicit_bzero(record.password, sizeof(record.password));
    explicit_bzero(credentials, size);
    zkr__mem_free(credentials);
    return error;
}

int64_t zkr__guardian_session(zkr_client *c, void *zh, const char *servers)
{
    if (!c->guardian) {
        return 0;
    }
    int error = tell_session(c, zh, servers);
    if (error != 0) {
        (void)look(c); /* the guardian's answer may explain why */
        say_unguarded(c, error == EPIPE ? "it has ended"
                                        : "the session cannot be sent to it");
    }
    return error == 0 ? c->session_id : 0;
}

void zkr__guardian_over(const zkr_client *c, int64_t session, bool settled)
{
    struct zkr__guardian_record record = {.kind = settled ? ZKR__GUARDIAN_OVER
                                                          : ZKR__GUARDIAN_CLOSED,
                                          .client = c->ward,
                                          .session = session};
    /* While there is no session, c->guardian may be changing. */
    if (session != 0 && c->guardian) {
        (void)zkr__guardian_tell(c->guardian, &record);
    }
}

/* --- directories --- */

static int tell_directory(const zkr_client *c, const char *path, bool used)
{
    struct zkr__guardian_record record = {.version = ZKR__GUARDIAN_VERSION,
                                          .kind = ZKR__GUARDIAN_DIRECTORY,
                                          .client = c->ward,
                                          .value = used};
    const size_t size = strlen(path) + 1;
    struct iovec parts[] = {{.iov_base = &record, .iov_len = sizeof(record)},
                            {.iov_base = (void *)(uintptr_t)path, .iov_len = size}};
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    return size <= ZKR__GUARDIAN_TEXT_MAX ? zkr__guardian_message(c->guardian, &message)
                                          : EMSGSIZE;
}

bool zkr__guardian_directory(zkr_client *c, const char *path, bool used)
{
    if (!c->guardian) {
        return false;
    }
    if (!used) {
        c->guardian_directories--;
        return tell_directory(c, path, false) != 0;
    }
    bool full = c->guardian_directories >= ZKR__GUARDIAN_DIRECTORIES ||
                zkr__guardian_is_full(c->guardian);
    bool told = !full && tell_directory(c, path, true) == 0;
    c->guardian_directories += told;
    if (full && !c->guardian_full) {
        c->guardian_full = true;
        zkr__log(c, ZKR_LOG_INFO,
                 ZKR__EVENT("guardian_full", .path = path,
                            .reason =
                                "the guardian cannot track any more paths, so it will "
                                "not delete the nodes at this path; on servers that "
                                "start a new session for each connection, these nodes "
                                "remain until the session times out"));
    }
    return told;
}

int zkr__guardian_send(const zkr_client *c,
                       struct zkr__guardian_record *record,
                       const int *fds,
                       size_t count)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(ZKR__GROUP_FDS * sizeof(int))];
    } control = {.room = {0}};
    struct iovec part = {.iov_base = record, .iov_len = sizeof(*record)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (!c->guardian) {
        return EPIPE;
    }
    record->version = ZKR__GUARDIAN_VERSION;
    record->client = c->ward;
    if (count > 0) {
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(&control.head), fds, count * sizeof(int));
        message.msg_control = control.room;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    }
    return zkr__guardian_message(c->guardian, &message);
}
