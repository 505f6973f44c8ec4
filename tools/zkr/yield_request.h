/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request is a candidate that does not mean to lead. Its id has a field: the token of the leader that gets the request, or the id
 * of the one to let pass.
 */
#ifndef ZKR_CLI_YIELD_REQUEST_H
#define ZKR_CLI_YIELD_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include <zkr/contenders.h>

/** The id of a request, allocated. @to: the one to let pass; NULL: the request is for the leader with this token. Returns NULL: out of memory. */
char *yield_request_text(const char *to, int64_t token);
bool yield_request_is(const zkr_contender *c);
/** A candidate that is no request, with this token, or else with this id; NULL: there is none. */
const zkr_contender *
yield_request_find(const zkr_contenders *list, int64_t token, const char *id);
/** Does a request ask the leader with this token to step down? One for a candidate that is not there asks nobody. */
bool yield_request_asks(const zkr_contenders *list, int64_t token);

#endif
