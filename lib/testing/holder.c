/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include <zkr/client.h>
#include <zkr/contenders.h>
#include <zkr/mutex.h>
#include <zkr/testing.h>

#include "testing/net.h"

enum { ANSWER_MS = 10000 };

/* Returns the first contender if it holds, or NULL. */
static const zkr_contender *holder(const zkr_contenders *list)
{
    const zkr_contender *first = zkr_contenders_get(list, 0);
    return first != NULL && first->holds ? first : NULL;
}

/* Ends the hold of @who on @m. */
typedef int (*end_fn)(zkr_mutex *m, const zkr_contender *who, const char *servers);

static int end_holder(zkr_mutex *m, const char *servers, const char *path, end_fn end)
{
    zkr_contenders *list = NULL;
    int rc = zkr_mutex_contenders(m, &list);

    const zkr_contender *who = rc == ZKR_OK ? holder(list) : NULL;
    if (who != NULL) {
        rc = end(m, who, servers);
    } else if (rc == ZKR_OK) {
        rc = zkr_error_set(ZKR_ENONODE, 0, path, "nobody holds");
    }
    zkr_contenders_free(list);
    return rc;
}

static int with_mutex(const char *servers, const char *path, end_fn end)
{
    zkr_client_options options = ZKR_CLIENT_OPTIONS_INIT;
    zkr_client *client = NULL;
    zkr_mutex *m = NULL;

    options.connect_timeout_ms = ANSWER_MS;
    int rc = zkr_client_open(&client, servers, &options);
    if (rc == ZKR_OK) {
        rc = zkr_mutex_create(&m, client, path, NULL);
    }
    if (rc == ZKR_OK) {
        rc = end_holder(m, servers, path, end);
    }
    (void)zkr_mutex_destroy(m);
    (void)zkr_client_close(client);
    return rc;
}

static int expire(zkr_mutex *m, const zkr_contender *who, const char *servers)
{
    (void)m;
    return zkr_test_expire_session(servers, who->session_id);
}

static int evict(zkr_mutex *m, const zkr_contender *who, const char *servers)
{
    (void)servers;
    return zkr_mutex_evict(m, who->node);
}

int zkr_test_expire_holder(const char *servers, const char *path)
{
    return with_mutex(servers, path, expire);
}

int zkr_test_delete_holder(const char *servers, const char *path)
{
    return with_mutex(servers, path, evict);
}
