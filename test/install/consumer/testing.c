/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the version of the library. Fails if zkr_last_error() does not report an error of the testing library. */
#include <stdio.h>

#include <zkr/testing.h>
#include <zkr/version.h>

int main(void)
{
    zkr_test_ensemble *e = NULL;
    (void)puts(zkr_version());
    return zkr_test_ensemble_start(&e, 0, NULL) != ZKR_EINVAL ||
           zkr_last_error()->code != ZKR_EINVAL;
}
