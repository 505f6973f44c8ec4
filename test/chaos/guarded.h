/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_GUARDED_H
#define ZKC_GUARDED_H

#include <stdint.h>

/* A counter in ZooKeeper. Reads and writes each check the guard of a lock, on the process's own handle. */

typedef struct zkc_handle zkc_handle;
struct zkc_grip;

enum zkc_outcome {
    ZKC_DONE,
    ZKC_NOT_DONE, /* refused by the guard, or not sent */
    ZKC_UNSURE    /* no answer */
};

/** Open a handle on @servers. It opens a new session after the end of the old one. */
zkc_handle *zkc_handle_open(const char *servers);
void zkc_handle_close(zkc_handle *h);

/**
 * Read the counter at @path as of a moment within the hold of @g: a check of the guard was answered before, on the
 * same session. Returns ZKC_DONE if it succeeds. *@code is ZooKeeper's code.
 */
enum zkc_outcome zkc_counter_read(zkc_handle *h,
                                  const struct zkc_grip *g,
                                  const char *path,
                                  int64_t *value,
                                  int *code);

/** Set the counter, under the guard. *@zxid is that of the write. */
enum zkc_outcome zkc_counter_write(zkc_handle *h,
                                   const struct zkc_grip *g,
                                   const char *path,
                                   int64_t value,
                                   int64_t *zxid,
                                   int *code);

#endif
