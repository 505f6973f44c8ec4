/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <zkr/version.h>

#include "base/thread.h"

static const struct row {
    int code;
    bool retriable;
    const char *name;
    const char *text;
} rows[] = {
#define ZKR_ERROR_ROW_(name, value, retriable, text)                                   \
    {value, retriable, "ZKR_" #name, text},
    ZKR_ERROR_MAP(ZKR_ERROR_ROW_)
#undef ZKR_ERROR_ROW_
};

enum { ZK_RANGE_FIRST = -1999, ZK_RANGE_LAST = -1001, ZK_SESSION_MOVED = -118 };

static const struct row *find(int code)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].code == code) {
            return &rows[i];
        }
    }
    return NULL;
}

const char *zkr_strerror(int code)
{
    const struct row *row = find(code);
    return row ? row->text
           : code == ZKR_EZK(ZKR__LOCAL_SESSION)
               ? "a local session cannot own the node, because "
                 "localSessionsUpgradingEnabled is false"
           : code == ZKR_EZK(ZKR__UNIMPLEMENTED)
               ? "the servers lack an operation that every ZooKeeper since 3.4 has"
           : code == ZKR_EZK(ZKR__NO_REASON)
               ? "the servers refused the request and, unlike ZooKeeper, give no reason"
           : code == ZKR_EZK(ZKR__EPHEMERAL_PARENT)
               ? "the path is an ephemeral node (a lock of another kind) or lies below "
                 "one"
           : zkr_err_zk(code) ? "ZooKeeper refused the request"
                              : "unknown error";
}

const char *zkr_err_name(int code)
{
    const struct row *row = find(code);
    return row ? row->name : zkr_err_zk(code) ? "ZKR_EZK" : "ZKR_E?";
}

bool zkr_err_retriable(int code)
{
    const struct row *row = find(code);
    int rc = zkr_err_zk(code);
    return row ? row->retriable : rc == ZK_SESSION_MOVED || rc == ZKR__THROTTLED;
}

int zkr_err_zk(int code)
{
    return code >= ZK_RANGE_FIRST && code <= ZK_RANGE_LAST ? code + 1000 : 0;
}

const zkr_error *zkr_last_error(void)
{
    return &zkr__thread_self()->error;
}

static zkr_error *begin(int code, const char *path)
{
    zkr_error *last = &zkr__thread_self()->error;
    last->code = code;
    last->zk_rc = zkr_err_zk(code);
    last->sys_errno = 0;
    (void)snprintf(last->path, sizeof(last->path), "%s", path ? path : "");
    return last;
}

int zkr__fail(int code, const char *path, const char *format, ...)
{
    zkr_error *last = begin(code, path);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(last->message, sizeof(last->message), format, args);
    va_end(args);
    return code;
}

int zkr__fail_zk(int code, int zk_rc, const char *path, const char *what)
{
    enum { CONNECTION_LOSS = -4 }; /* like 0, it adds nothing to the text */
    char number[32] = "";
    if (zk_rc != 0 && zk_rc != CONNECTION_LOSS) {
        (void)snprintf(number, sizeof(number), " (ZooKeeper code %d)", zk_rc);
    }
    (void)zkr__fail(code, path, "%s%s%.120s: %s%s", what, path ? " " : "",
                    path ? path : "", zkr_strerror(code), number);
    zkr__thread_self()->error.zk_rc = zk_rc;
    return code;
}

int zkr__fail_sys(int sys_errno, const char *what)
{
    return zkr_error_set(sys_errno == ENOMEM ? ZKR_ENOMEM : ZKR_ESYS, sys_errno, NULL,
                         what);
}

int zkr_error_set(int code, int sys_errno, const char *path, const char *message)
{
    zkr_error *last = begin(code, path);
    char text[96] = "";
    if (sys_errno != 0 && strerror_r(sys_errno, text, sizeof(text)) != 0) {
        (void)snprintf(text, sizeof(text), "errno %d", sys_errno);
    }
    last->sys_errno = sys_errno;
    (void)snprintf(last->message, sizeof(last->message), "%s%s%s",
                   message ? message : zkr_strerror(code), sys_errno ? ": " : "", text);
    return code;
}

const char *zkr_version(void)
{
    return ZKR_VERSION;
}
