/* SPDX-License-Identifier: Apache-2.0 */
/* Handles of libzookeeper that talk TLS. */
#ifndef ZKR_SESSION_ZK_TLS_H
#define ZKR_SESSION_ZK_TLS_H

#include "session/zk.h"

/* Was the libzookeeper that this process has loaded built with TLS? */
bool zkr__zk_has_tls(void);

/* As zookeeper_init2(), with args->tls_cert. NULL and errno. */
struct _zhandle *zkr__zk_open_tls(const struct zkr__open_args *args,
                                  zkr_watcher_fn watcher,
                                  void (*log)(const char *line));

#endif
