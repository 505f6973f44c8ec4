/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes that must be gone before the guardian ends sessions. They are process groups, and processes whose end a
 * pipe reports.
 */
#define _GNU_SOURCE /* for pipe2(), F_SETSIG */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "guardian/guardian.h"
#include "guardian/wire.h"

/* Make a pipe that kills @group (see wire.h). Returns 0 or errno. */
static int bind_to_group(int64_t group, int fds[ZKR__GROUP_FDS])
{
    if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0) {
        return errno;
    }
    int reader = fds[ZKR__GROUP_READER];
    bool bound = fcntl(reader, F_SETOWN, (int)-group) == 0 &&
                 fcntl(reader, F_SETSIG, SIGKILL) == 0 &&
                 fcntl(reader, F_SETFL, O_NONBLOCK | O_ASYNC) == 0;
    int error = bound ? 0 : errno;
    if (!bound) {
        (void)close(fds[0]);
        (void)close(fds[1]);
    }
    return error;
}

static int tell_group(const zkr_client *c, int64_t group)
{
    struct zkr__guardian_record record = {.kind = ZKR__GUARDIAN_GROUP, .value = group};
    int fds[ZKR__GROUP_FDS];
    if (group == 0) {
        return zkr__guardian_send(c, &record, NULL, 0);
    }
    int error = bind_to_group(group, fds);
    if (error != 0) {
        return error;
    }
    error = zkr__guardian_send(c, &record, fds, ZKR__GROUP_FDS);
    (void)close(fds[0]);
    (void)close(fds[1]);
    return error;
}

int zkr_client_guard_group(zkr_client *c, int64_t group)
{
    int rc = zkr__client_enter(c);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (group < 0 || group > INT32_MAX || group == 1 || group == getpgrp()) {
        return zkr__fail(ZKR_EINVAL, NULL,
                         "zkr_client_guard_group: %lld is not a process group that can "
                         "be killed",
                         (long long)group);
    }
    int error = tell_group(c, group);
    return error == 0       ? ZKR_OK
           : error == ESRCH ? zkr__fail(ZKR_EINVAL, NULL,
                                        "zkr_client_guard_group: no process group %lld",
                                        (long long)group)
           : error == EPIPE
               ? zkr__fail(ZKR_ESTATE, NULL,
                           "zkr_client_guard_group: the client has no guardian")
               : zkr__fail_sys(error, "zkr_client_guard_group");
}

int zkr_client_guard_pipe(zkr_client *c, int fd)
{
    struct zkr__guardian_record record = {.kind = ZKR__GUARDIAN_PIPE};
    struct stat st;
    int rc = zkr__client_enter(c);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (fstat(fd, &st) != 0 || !S_ISFIFO(st.st_mode)) {
        return zkr__fail(ZKR_EINVAL, NULL, "zkr_client_guard_pipe: %d is not a pipe",
                         fd);
    }
    int error = zkr__guardian_send(c, &record, &fd, 1);
    return error == 0       ? ZKR_OK
           : error == EPIPE ? zkr__fail(ZKR_ESTATE, NULL,
                                        "zkr_client_guard_pipe: the client has no "
                                        "guardian")
                            : zkr__fail_sys(error, "zkr_client_guard_pipe");
}
