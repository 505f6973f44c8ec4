/* SPDX-License-Identifier: Apache-2.0 */
#include "session/zk_tls.h"

#include <zookeeper/zookeeper.h>

#include "session/log_foreign.h"

/* ZooKeeper's header declares it beside headers of OpenSSL only. Weak: most libraries have none. */
zhandle_t *zookeeper_init_ssl(const char *host,
                              const char *cert,
                              watcher_fn watcher,
                              int recv_timeout,
                              const clientid_t *clientid,
                              void *context,
                              int flags) __attribute__((weak));

bool zkr__zk_has_tls(void)
{
    return zookeeper_init_ssl != NULL;
}

/*
 * It takes its argument apart with strtok(), so one thread at a time. It takes no log callback
 * either: its lines would go to stderr until it has one.
 */
struct _zhandle *zkr__zk_open_tls(const struct zkr__open_args *args,
                                  zkr_watcher_fn watcher,
                                  void (*log)(const char *line))
{
    zkr__log_hush();
    zhandle_t *zh =
        zookeeper_init_ssl(args->servers, args->tls_cert, watcher, args->timeout_ms,
                           NULL, args->owner, ZOO_NO_LOG_CLIENTENV);
    if (zh) {
        zoo_set_log_callback(zh, log);
    }
    zkr__log_speak();
    return zh;
}
