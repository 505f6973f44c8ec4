/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin that contains the static library. */
#include <zkr/zkr.h>

#define PLUGIN_API __attribute__((visibility("default")))

int plugin_lock(const char *servers, const char *path);
zkr_client *plugin_open(const char *servers);
int plugin_close(zkr_client *c);
int plugin_hold(zkr_client *c, const char *path, zkr_mutex **out);
int plugin_destroy(zkr_mutex *m);

/* Open a client, hold the lock once, and close everything. */
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

/* Acquire the lock for the calling thread. */
PLUGIN_API int plugin_hold(zkr_client *c, const char *path, zkr_mutex **out)
{
    int rc = zkr_mutex_create(out, c, path, NULL);
    return rc == ZKR_OK ? zkr_mutex_acquire(*out, 20000) : rc;
}

PLUGIN_API int plugin_destroy(zkr_mutex *m)
{
    return zkr_mutex_destroy(m);
}
