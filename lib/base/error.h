/* SPDX-License-Identifier: Apache-2.0 */
/* The thread-local detail behind zkr_last_error(). */
#ifndef ZKR_BASE_ERROR_H
#define ZKR_BASE_ERROR_H

#include <zkr/error.h>

/*
 * Codes of ZooKeeper. ZooKeeper never answers with ZKR__NO_REASON; zetcd answers each failed transaction with it.
 * ZKR__LOCAL_SESSION is of an ephemeral node of a local session.
 */
enum {
    ZKR__UNIMPLEMENTED = -6,
    ZKR__NO_REASON = -100,
    ZKR__EPHEMERAL_PARENT = -108,
    ZKR__LOCAL_SESSION = -120,
    ZKR__THROTTLED = -127
};

/* Record the failure of the calling thread and return @code. @path may be NULL. */
int zkr__fail(int code, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with ZooKeeper's own code, and a text made of @what, @path and the codes. */
int zkr__fail_zk(int code, int zk_rc, const char *path, const char *what);

/* The same with errno: ZKR_ENOMEM for ENOMEM, else ZKR_ESYS. */
int zkr__fail_sys(int sys_errno, const char *what);

#endif
