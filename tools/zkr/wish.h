/* SPDX-License-Identifier: Apache-2.0 */
/* Somebody wants us to let go: heard on a thread of the library, read on ours. */
#ifndef ZKR_CLI_WISH_H
#define ZKR_CLI_WISH_H

#include <stdbool.h>

struct wish {
    int fd; /* readable while one waits to be taken; -1: nobody is heard */
};

/** False: out of descriptors. wish_end() may follow all the same. */
bool wish_begin(struct wish *w);

/** From any thread. */
void wish_tell(struct wish *w);

/** One, or several at once, is taken. False: there was none. */
bool wish_take(struct wish *w);

void wish_end(struct wish *w);

#endif
