/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the version of the library it runs with; fails if the header's is another one. */
#include <stdio.h>
#include <string.h>

#include <zkr/version.h>

int main(void)
{
    (void)puts(zkr_version());
    return strcmp(zkr_version(), ZKR_VERSION) != 0;
}
