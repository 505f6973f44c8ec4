/* SPDX-License-Identifier: Apache-2.0 */
/* The thread-local detail behind zkr_last_error(). */
#ifndef ZKR_BASE_ERROR_H
#define ZKR_BASE_ERROR_H

#include <zkr/error.h>

/*
 * ZooKeeper result codes. ZooKeeper never returns ZKR__NO_REASON, but zetcd returns it for every failed transaction.
 * ZKR__LOCAL_SESSION: a local session cannot own an ephemeral node.
 */
enum {
    ZKR__UNIMPLEMENTED = -6,
    ZKR__NO_REASON = -100,
    ZKR__EPHEMERAL_PARENT = -108,
    ZKR__LOCAL_SESSION = -120,
    ZKR__THROTTLED = -127
};

/* Record the calling thread's last error and return @code. @path may be NULL. */
int zkr__fail(int code, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Like zkr__fail(), with ZooKeeper's own code @zk_rc. The message consists of @what, @path and the codes. */
int zkr__fail_zk(int code, int zk_rc, const char *path, const char *what);

/* Like zkr__fail(), with an errno value. Returns ZKR_ENOMEM for ENOMEM, else ZKR_ESYS. */
int zkr__fail_sys(int sys_errno, const char *what);

#endif
