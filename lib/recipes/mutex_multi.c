/* SPDX-License-Identifier: Apache-2.0 */
/* Writes of the application that happen only while the mutex is held. */
#include <zkr/guard.h>

#include "base/error.h"
#include "recipes/mutex.h"
#include "session/zk_multi.h"

static int write(zkr_mutex *m, const struct zkr__writes *writes)
{
    int rc = zkr__mutex_enter_blocking(m);
    if (rc == ZKR_OK) {
        rc = zkr__writes_check(writes, m->lock.queue->dir);
    }
    return rc == ZKR_OK ? zkr__reentrant_multi(&m->lock, writes) : rc;
}

int zkr_mutex_multi(zkr_mutex *m,
                    int count,
                    const zoo_op_t *ops,
                    zoo_op_result_t *results,
                    int64_t timeout_ms)
{
    return write(m, &(struct zkr__writes){.count = (size_t)count,
                                          .ops = ops,
                                          .results = results,
                                          .timeout_ms = timeout_ms});
}

int zkr_mutex_release_multi(zkr_mutex *m,
                            int count,
                            const zoo_op_t *ops,
                            zoo_op_result_t *results,
                            int64_t timeout_ms)
{
    return write(m, &(struct zkr__writes){.count = (size_t)count,
                                          .ops = ops,
                                          .results = results,
                                          .timeout_ms = timeout_ms,
                                          .release = true});
}
