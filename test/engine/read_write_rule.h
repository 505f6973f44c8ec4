/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of the search: a read-write lock's by the kind of the node, the library's; and for readers one that watches
 * the directory, as those must who count the children.
 */
#ifndef ZKT_READ_WRITE_RULE_H
#define ZKT_READ_WRITE_RULE_H

#include "engine/rule.h"

struct zkr__verdict
counting_reader_rule(const struct zkr__children *children, size_t self, int64_t unused);

#endif
