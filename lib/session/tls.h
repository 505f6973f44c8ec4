/* SPDX-License-Identifier: Apache-2.0 */
/* The option tls_cert, before it is used. */
#ifndef ZKR_SESSION_TLS_H
#define ZKR_SESSION_TLS_H

/*
 * "CA,CERTIFICATE,KEY[,PASSWORD]": ZKR_OK when the three files can be read and libzookeeper can do
 * TLS, else ZKR_EINVAL and the reason. libzookeeper itself would only fail at each connection.
 */
int zkr__tls_check(const char *cert);

#endif
