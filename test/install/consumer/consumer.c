/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the version of the library. Fails if the headers have another version. */
#include <stdio.h>
#include <string.h>

#include <zkr/zkr.h>

int main(void)
{
    zkr_client *client = NULL;
    if (zkr_client_open(&client, "127.0.0.1:1", NULL) != ZKR_OK ||
        zkr_client_close(client) != ZKR_OK)
        return 1;
    (void)puts(zkr_version());
    return strcmp(zkr_version(), ZKR_VERSION) != 0;
}
