/* SPDX-License-Identifier: Apache-2.0 */
/* Which descriptors are the caller's, and which ones only ours. */
#ifndef ZKR_CLI_FDS_H
#define ZKR_CLI_FDS_H

#include <stdbool.h>
#include <stddef.h>

struct fds {
    int *inherited; /* from 3 on, ascending */
    size_t count;
};

/**
 * First thing in main(): notes what is open, and fills a closed stdin, stdout or stderr with
 * a placeholder, so that no socket of ours gets its number. The child finds it closed. False: out of memory.
 */
bool fds_begin(struct fds *f);

/** In the child, just before exec: whatever was not open at our start closes at the exec. */
void fds_hide(const struct fds *f);

void fds_end(struct fds *f);

#endif
