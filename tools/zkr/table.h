/* SPDX-License-Identifier: Apache-2.0 */
/* Contenders, for people and for programs. */
#ifndef ZKR_CLI_TABLE_H
#define ZKR_CLI_TABLE_H

#include <stdio.h>

#include "json.h"
#include "peers.h"
#include "sight.h"

/** Somebody is there. */
void table_print(FILE *out, const struct sight *s);

/** One line; its format is part of the interface, see zkr.1. */
void table_json(FILE *out,
                const char *path,
                const struct sight *s,
                bool exists,
                const struct peers *peers);

/** Members that tell of the first holder; @c NULL: there is none. @owner: NULL: its own. */
void table_holder_json(struct json *j, const zkr_contender *c, const char *owner);

/** The first of the list alone, as a line of text or of JSON. */
void table_leader_print(FILE *out, const zkr_contenders *list);
void table_leader_json(FILE *out, const char *path, const zkr_contenders *list);

#endif
