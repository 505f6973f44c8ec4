/* SPDX-License-Identifier: Apache-2.0 */
#include <zkr/version.h>

const char *zkr_version(void)
{
    return ZKR_VERSION;
}
