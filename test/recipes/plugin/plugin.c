/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin with the static library in it. */
#include <zkr/zkr.h>

#define PLUGIN_API __attribute__((visibility("default")))

int plugin_lock(const char *servers, const char *path);
zkr_client *plugin_open(const char *servers);
int plugin_close(zkr_client *c);

/* Opens a client, holds the lock once, and closes all of it. */
PLUGIN_API int plugin_lock(const char *servers, const char *path)
{
    zkr_client *c = NULL;
    zkr_mutex *m = NULL;
    int rc = zkr_client_open(&c, servers, NULL);
    if (rc == ZKR_OK) {
        rc = zkr_mutex_create(&m, c, path, NULL);
    }
    if (rc == ZKR_OK) {
        rc = zkr_mutex_acquire(m, 20000);
    }
    if (rc == ZKR_OK) {
        rc = zkr_mutex_release(m);
    }
    (void)zkr_mutex_destroy(m);
    (void)zkr_client_close(c);
    return rc;
}

PLUGIN_API zkr_client *plugin_open(const char *servers)
{
    zkr_client *c = NULL;
    return zkr_client_open(&c, servers, NULL) == ZKR_OK ? c : NULL;
}

PLUGIN_API int plugin_close(zkr_client *c)
{
    return zkr_client_close(c);
}
