/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <zkr/zkr.h>

int main(int argc, char **argv)
{
    const char *servers = argc > 1 ? argv[1] : "127.0.0.1:2181";
    zkr_client *client = NULL;
    zkr_mutex *mutex = NULL;
    if (zkr_client_open(&client, servers, NULL) != ZKR_OK ||
        zkr_mutex_create(&mutex, client, "/demo/first", NULL) != ZKR_OK ||
        zkr_mutex_acquire(mutex, 10000) != ZKR_OK) { /* ms; or ZKR_FOREVER */
        fprintf(stderr, "%s\n", zkr_last_error()->message);
        return 1;
    }
    if (zkr_mutex_valid_for_ms(mutex) > 100) /* before a step that cannot be undone */
        puts("held by this thread, and by nobody else anywhere");
    int rc = zkr_mutex_release(mutex); /* ZKR_ESESSION: the lock was lost */
    zkr_mutex_destroy(mutex);
    zkr_client_close(client);
    return rc == ZKR_OK ? 0 : 1;
}
