/* SPDX-License-Identifier: Apache-2.0 */
/* Shows one contender as text, as a line, or as JSON. */
#ifndef ZKR_CLI_CONTENDER_H
#define ZKR_CLI_CONTENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <zkr/contenders.h>

#include "json.h"

/** Returns contender_name(), or "(asked to release)" if somebody has asked the contender to release. */
const char *contender_owner(const zkr_contender *c);
/** Returns the owner, or the node if the owner is not known. */
const char *contender_name(const zkr_contender *c);
/** Returns the maker of the contender's recipe, or the word for its kind if the maker is not known. */
const char *contender_recipe(const zkr_contender *c);
/** Returns the word for a ZKR_KIND_… value. */
const char *contender_kind(int kind);
/** Returns the milliseconds since @since_ms (in milliseconds since 1970), or 0 if @since_ms is in the future. */
int64_t contender_ms_since(int64_t since_ms);
/** Writes how long a contender has held the lock, for example "2m05s", or "<3m10s" if only an upper limit is known. */
void contender_held_for(char *buf, size_t size, const zkr_contender *c);
/** Writes the time since @since_ms, in milliseconds since 1970, for example "2m05s". */
void contender_age(char *buf, size_t size, int64_t since_ms);
/** Returns the number in field @key of the contender's data if it is from 1 to @most, else 0. */
int64_t contender_number(const zkr_contender *c, const char *key, int64_t most);

/** Writes all members of a contender. @i is its index in the displayed order. */
void contender_json(struct json *j, const zkr_contender *c, size_t i, bool holds);
/** Writes the members about the first holder. @c NULL: nobody holds. */
void contender_holder_json(struct json *j, const zkr_contender *c);
/** These print the leader, which is the first contender in the list, as text or as JSON. */
void contender_leader_print(FILE *out, const zkr_contenders *list);
void contender_leader_json(FILE *out, const char *path, const zkr_contenders *list);
/** Prints a line to stdout with @what, contender_name() and the token. Returns 0 or a reported exit code. */
int contender_say(const char *what, const zkr_contender *c);

#endif
