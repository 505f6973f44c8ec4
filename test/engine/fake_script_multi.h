/* SPDX-License-Identifier: Apache-2.0 */
/* The transactions of fake scripts. */
#ifndef ZKT_FAKE_SCRIPT_MULTI_H
#define ZKT_FAKE_SCRIPT_MULTI_H

#include <zookeeper/zookeeper.h>

#include "session/zk.h"

enum { SCRIPT_OPS = 3, SCRIPT_NAME = 200 };

/* One of a session at a time. */
struct script_multi {
    zoo_op_t ops[SCRIPT_OPS];
    zoo_op_result_t results[SCRIPT_OPS];
    char names[SCRIPT_OPS][SCRIPT_NAME];
    struct Stat stat;
    const char *deleted;
    int count;
};

/*
 * "build P Q": P exists; make Q, set it, make a numbered node below it. "finish P Q": set Q, check P,
 * delete P. False: neither. @op is valid while @m and @paths are.
 */
bool script_multi(struct script_multi *m,
                  const char *verb,
                  const char *const paths[2],
                  struct zkr__op *op);

/* What came of it, in words, without the @skip first bytes of names. Returns @text. */
char *script_multi_words(struct script_multi *m,
                         const struct zkr__answer *a,
                         size_t skip,
                         char *text,
                         size_t size);

#endif
