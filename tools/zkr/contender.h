/* SPDX-License-Identifier: Apache-2.0 */
/* One contender, shown in words, as a line, or as JSON. */
#ifndef ZKR_CLI_CONTENDER_H
#define ZKR_CLI_CONTENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <zkr/contenders.h>

#include "json.h"

/** The same for people: whether it was asked to release comes first. */
const char *contender_owner(const zkr_contender *c);
/** The owner, or else the node. */
const char *contender_name(const zkr_contender *c);
/** The maker of its recipe, or the word for its kind. */
const char *contender_recipe(const zkr_contender *c);
/** The word for a ZKR_KIND_. */
const char *contender_kind(int kind);
/** The milliseconds since @since_ms, in milliseconds since 1970; 0 if that is in the future. */
int64_t contender_ms_since(int64_t since_ms);
/** For how long it has been held, such as "2m05s", or "<3m10s" when only a limit of it is known. */
void contender_held_for(char *buf, size_t size, const zkr_contender *c);
/** The time since @since_ms, in milliseconds since 1970, such as "2m05s". */
void contender_age(char *buf, size_t size, int64_t since_ms);
/** The number in a field of its data, from 1 to @most; else 0. */
int64_t contender_number(const zkr_contender *c, const char *key, int64_t most);

/** All its members. @i: its index in the order shown. */
void contender_json(struct json *j, const zkr_contender *c, size_t i, bool holds);
/** The members about the first holder; @c NULL: nobody holds. */
void contender_holder_json(struct json *j, const zkr_contender *c);
/** The first of the list, as a line of text or of JSON. */
void contender_leader_print(FILE *out, const zkr_contenders *list);
void contender_leader_json(FILE *out, const char *path, const zkr_contenders *list);
/** Prints a line on stdout: @what, then owner, or else node, and token. Returns 0 or an exit code, reported. */
int contender_say(const char *what, const zkr_contender *c);

#endif
