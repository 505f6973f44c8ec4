/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file error.h
 * Error codes and their detail.
 *
 * Every function that can fail returns ZKR_OK (0) or one of the negative codes below. A function that takes an `out`
 * pointer writes it only on success. zkr_last_error() returns the details of the calling thread's last failure.
 */
#ifndef ZKR_ERROR_H
#define ZKR_ERROR_H

#include <stdbool.h>

#include <zkr/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * All codes: name, value, whether a repeated call may succeed, text. New codes are only appended.
 *
 * At its deadline, an acquire returns ZKR_ETIMEDOUT if another contender holds the lock, and ZKR_ENOANSWER if no server
 * has reported the holder, because there is no connection or no answer. Every other wait returns ZKR_ETIMEDOUT at its
 * deadline.
 */
#define ZKR_ERROR_MAP(X)                                                               \
    X(OK, 0, false, "success")                                                         \
    X(EINVAL, -1, false, "invalid argument")                                           \
    X(ENOMEM, -2, false, "out of memory")                                              \
    X(ETIMEDOUT, -3, true, "deadline passed")                                          \
    X(ECANCELED, -4, false, "canceled")                                                \
    X(ENOTOWNER, -5, false, "not held by the calling thread")                          \
    X(EDEADLK, -6, false, "would never succeed")                                       \
    X(ECONNLOSS, -7, true, "connection lost, outcome unknown")                         \
    X(ESESSION, -8, true, "hold or session lost")                                      \
    X(EAUTH, -9, false, "not authorised")                                              \
    X(ECLOSED, -10, false, "client closed")                                            \
    X(EBUSY, -11, true, "still in use")                                                \
    X(ESTATE, -12, false, "not possible in this state or thread")                      \
    X(ESYS, -13, false, "system call failed")                                          \
    X(ENONODE, -14, false, "node does not exist")                                      \
    X(EEXIST, -15, false, "node already exists")                                       \
    X(ESEQUENCE, -16, false, "sequence numbers of the path are used up")               \
    X(ENOANSWER, -17, true, "no server answered in time")                              \
    X(EOWNERDEAD, -18, false, "held, but the last holder ended without a release")     \
    X(ELIMIT, -19, false, "too many nodes or watches for one client")                  \
    X(EFOREIGN, -20, false,                                                            \
      "another program uses the path, and a lock node would break it")

enum zkr_code {
#define ZKR_ERROR_ENUM_(name, value, retriable, text) ZKR_##name = (value),
    ZKR_ERROR_MAP(ZKR_ERROR_ENUM_)
#undef ZKR_ERROR_ENUM_
};

/**
 * Any other error code of ZooKeeper: ZKR_EZK(ZNOTEMPTY) == -1111. zkr_err_zk() returns the original code. An acquire
 * returns ZKR_EZK(ZEPHEMERALONLOCALSESSION) if the servers grant local sessions and do not upgrade them
 * (localSessionsUpgradingEnabled=false).
 */
#define ZKR_EZK(rc) ((rc)-1000)

/** The details of a thread's last failure. The size is fixed, so long strings are cut. */
typedef struct zkr_error {
    int code;          /**< a ZKR_E… code; 0 = nothing has failed yet */
    int zk_rc;         /**< ZooKeeper's own code; 0 = none was involved */
    int sys_errno;     /**< errno; 0 = no system call was involved */
    char path[256];    /**< the ZooKeeper path concerned, or "" */
    char message[256]; /**< one line for people: what happened and what to do */
} zkr_error;

/**
 * The text of a code.
 *
 * @code  any int; codes of ZKR_EZK() and unknown codes also have a text.
 *
 * Returns a constant, never NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  KeeperException.Code.   Since: 0.1.
 */
ZKR_API const char *zkr_strerror(int code);

/**
 * The name of a code, such as "ZKR_ETIMEDOUT".
 *
 * @code  any int. The name is "ZKR_EZK" for codes of ZKR_EZK(), and "ZKR_E?" for unknown codes.
 *
 * Returns a constant, never NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  KeeperException.Code.   Since: 0.1.
 */
ZKR_API const char *zkr_err_name(int code);

/**
 * May the same call succeed if the caller repeats it without any change?
 *
 * @code  a code as returned by this library.
 *
 * Returns true for ZKR_ETIMEDOUT, ZKR_ENOANSWER, ZKR_ECONNLOSS, ZKR_ESESSION, ZKR_EBUSY and for transient errors of
 * ZooKeeper (throttled, session moved).
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  RetryPolicy.allowRetry.   Since: 0.1.
 */
ZKR_API bool zkr_err_retriable(int code);

/**
 * ZooKeeper's own code inside a ZKR_EZK() code.
 *
 * @code  a code as returned by this library.
 *
 * Returns the ZOO_ERRORS value, or 0 if @code is not a ZKR_EZK() code.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  KeeperException.code().   Since: 0.1.
 */
ZKR_API int zkr_err_zk(int code);

/**
 * The detail of the last failed call of the calling thread.
 *
 * Returns a pointer to memory of the calling thread, never NULL. It is valid until the thread's next failing
 * call, or its end. A successful call does not change it.
 *
 * Blocks:   no.
 * Threads:  each thread sees its own.
 * Cost:     no request.
 * Curator:  Throwable.getMessage.   Since: 0.1.
 */
ZKR_API const zkr_error *zkr_last_error(void);

/**
 * Record a failure of the calling thread for zkr_last_error(). This function is for libraries that are based on this
 * one, such as that of zkr/testing.h.
 *
 * @code       a ZKR_E… code.
 * @sys_errno  errno; its text is appended to the message; 0 = none.
 * @path       the ZooKeeper path concerned; copied; NULL = none.
 * @message    one line for people; copied, and cut to fit; NULL = zkr_strerror() of @code.
 *
 * Returns @code.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_error_set(int code,
                          int sys_errno,
                          const char *path,
                          const char *message);

#ifdef __cplusplus
}
#endif

#endif
