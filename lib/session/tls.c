/* SPDX-License-Identifier: Apache-2.0 */
#include "session/tls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <zkr/error.h>

#include "base/error.h"
#include "base/mem.h"
#include "session/zk_tls.h"

enum { FILES = 3, FIELDS = 4 };

static int refuse_form(void)
{
    return zkr__fail(ZKR_EINVAL, NULL,
                     "option tls_cert is not \"CA,CERTIFICATE,KEY\" or "
                     "\"CA,CERTIFICATE,KEY,PASSWORD\"");
}

static int refuse_alone(void)
{
    return zkr__fail(
        ZKR_EINVAL, NULL,
        "option tls_cert: a CA alone works from libzookeeper 3.10 on; name "
        "a certificate and a key, too");
}

static int check_file(const char *name, size_t len)
{
    char *path = zkr__mem_copy(name, len);
    if (!path) {
        return zkr__fail(ZKR_ENOMEM, NULL, "option tls_cert: out of memory");
    }
    int rc = ZKR_OK;
    if (access(path, R_OK) != 0) {
        char why[80];
        if (strerror_r(errno, why, sizeof(why)) != 0) {
            (void)snprintf(why, sizeof(why), "unreadable");
        }
        rc = zkr__fail(ZKR_EINVAL, NULL, "option tls_cert: %.120s: %s", path, why);
    }
    zkr__mem_free(path);
    return rc;
}

int zkr__tls_check(const char *cert)
{
    if (!zkr__zk_has_tls()) {
        return zkr__fail(
            ZKR_EINVAL, NULL,
            "option tls_cert: this libzookeeper was built without TLS; use one "
            "that was built with OpenSSL, or stunnel");
    }
    int rc = ZKR_OK;
    for (int i = 0; rc == ZKR_OK; i++) {
        size_t len = strcspn(cert, ",");
        if (len == 0 || i == FIELDS) {
            return refuse_form();
        }
        rc = i < FILES ? check_file(cert, len) : ZKR_OK;
        if (cert[len] == '\0') {
            return rc != ZKR_OK || i >= FILES - 1 ? rc
                   : i == 0                       ? refuse_alone()
                                                  : refuse_form();
        }
        cert += len + 1;
    }
    return rc;
}
