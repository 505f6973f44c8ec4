/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the version of the library. Fails if the headers are of another version, or if the library does not find the
 * program of the guardian.
 */
#include <stdio.h>
#include <string.h>

#include <zkr/guard.h>
#include <zkr/zkr.h>

int main(void)
{
    zkr_client_options options = ZKR_CLIENT_OPTIONS_INIT;
    zkr_client *client = NULL;

    options.guardian = ZKR_GUARDIAN_REQUIRED;
    if (zkr_client_open(&client, "127.0.0.1:1", &options) != ZKR_OK) {
        (void)fprintf(stderr, "%s\n", zkr_last_error()->message);
        return 1;
    }
    zoo_op_t operation;
    zoo_delete_op_init(&operation, "/test", -1); /* links libzookeeper */
    (void)puts(zkr_version());
    return zkr_client_close(client) != ZKR_OK ||
           strcmp(zkr_version(), ZKR_VERSION) != 0;
}
