/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule of a read-write lock, as one would write it for the engine: readers hold together, a writer holds alone.
 * A node of any other recipe counts as a writer. With @watch_all readers watch the directory, as those must who count
 * the children.
 */
#ifndef ZKT_READ_WRITE_RULE_H
#define ZKT_READ_WRITE_RULE_H

#include "engine/rule.h"

struct zkr__verdict
read_write_rule(const struct zkr__children *children, size_t self, int64_t watch_all);

#endif
