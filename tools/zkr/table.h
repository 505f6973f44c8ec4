/* SPDX-License-Identifier: Apache-2.0 */
/* Contenders, for people and for programs. */
#ifndef ZKR_CLI_TABLE_H
#define ZKR_CLI_TABLE_H

#include <stdio.h>

#include "sight.h"

/** "nobody" when there is none. */
void table_print(FILE *out, const struct sight *s);

/** One line; its format is part of the interface, see zkr.1. */
void table_json(FILE *out, const char *path, const struct sight *s);

/** The first of the list alone, as a line of text or of JSON. */
void table_leader_print(FILE *out, const zkr_contenders *list);
void table_leader_json(FILE *out, const char *path, const zkr_contenders *list);

#endif
