/* SPDX-License-Identifier: Apache-2.0 */
#include "base/options.h"

#include <string.h>

#include "base/error.h"

enum { LARGEST = 4096 };

int zkr__options_take(void *to, size_t size, const void *from, const char *what)
{
    memset(to, 0, size);
    if (!from) {
        return ZKR_OK;
    }
    size_t theirs;
    memcpy(&theirs, from, sizeof(theirs));
    if (theirs < sizeof(size_t) || theirs > LARGEST || theirs % sizeof(size_t) != 0) {
        return zkr__fail(ZKR_EINVAL, NULL,
                         "options of a %s: size %zu is not that of the struct; start "
                         "from its INIT macro",
                         what, theirs);
    }
    for (size_t i = size; i < theirs; i++) {
        if (((const char *)from)[i] != 0) {
            return zkr__fail(ZKR_EINVAL, NULL,
                             "options of a %s: an option is set that this version of "
                             "the library does not support",
                             what);
        }
    }
    memcpy(to, from, theirs < size ? theirs : size);
    return ZKR_OK;
}
