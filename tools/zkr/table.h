/* SPDX-License-Identifier: Apache-2.0 */
/* Contenders, for people and for programs. */
#ifndef ZKR_CLI_TABLE_H
#define ZKR_CLI_TABLE_H

#include <stdio.h>

#include <zkr/contenders.h>

/** "nobody" when the list is empty. */
void table_print(FILE *out, const zkr_contenders *list);

/** One line; its format is part of the interface, see zkr.1. */
void table_json(FILE *out, const char *path, const zkr_contenders *list);

/** The first of the list alone, as a line of text or of JSON. */
void table_leader_print(FILE *out, const zkr_contenders *list);
void table_leader_json(FILE *out, const char *path, const zkr_contenders *list);

#endif
