/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_GUARDED_H
#define ZKC_GUARDED_H

#include <stdint.h>

/*
 * A counter in ZooKeeper, changed by read and write, each behind the guard of a lock, on a
 * handle of the process's own.
 */

typedef struct zkc_handle zkc_handle;
struct zkc_grip;

enum zkc_outcome {
    ZKC_DONE,
    ZKC_NOT_DONE, /* refused by the guard, or not sent */
    ZKC_UNSURE    /* no answer */
};

/** A handle on @servers that opens itself again after the end of its session. */
zkc_handle *zkc_handle_open(const char *servers);
void zkc_handle_close(zkc_handle *h);

/**
 * The value of the counter at @path as of a moment within the hold of @g: a write behind the
 * guard has been answered before on the same session. Returns ZKC_DONE or not; *@code is
 * ZooKeeper's.
 */
enum zkc_outcome zkc_counter_read(zkc_handle *h,
                                  const struct zkc_grip *g,
                                  const char *path,
                                  int64_t *value,
                                  int *code);

/** Set it, behind the guard; *@zxid is that of the write. */
enum zkc_outcome zkc_counter_write(zkc_handle *h,
                                   const struct zkc_grip *g,
                                   const char *path,
                                   int64_t value,
                                   int64_t *zxid,
                                   int *code);

#endif
