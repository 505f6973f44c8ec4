/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request is a candidate that does not want to lead. A field of its id names the leader that shall step down, by its
 * token, or the candidate that all others shall let pass, by its id.
 */
#ifndef ZKR_CLI_YIELD_REQUEST_H
#define ZKR_CLI_YIELD_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include <zkr/contenders.h>

/** Returns the id of a request, allocated; NULL: out of memory. @to: the candidate to let pass; NULL: the leader with
 * this token shall step down. */
char *yield_request_text(const char *to, int64_t token);
bool yield_request_is(const zkr_contender *c);
/** Finds a candidate that is no request by @id, or by @token if @id is NULL. NULL: none. */
const zkr_contender *
yield_request_find(const zkr_contenders *list, int64_t token, const char *id);
/** Does a request ask the leader with this token to step down? A request for a candidate that is not there asks nobody.
 */
bool yield_request_asks(const zkr_contenders *list, int64_t token);

#endif
