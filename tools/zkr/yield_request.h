/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request is a candidate that does not want to lead. A field of its id names the leader that shall step down, by its
 * token, or the candidate that all others shall let pass, by its id. These functions only look at a list of candidates:
 * for a leader, whether a request means it; for elect --yield, what to send and whether that has had its effect. @to:
 * the id of the candidate that shall lead; NULL: any other than the leader.
 */
#ifndef ZKR_CLI_YIELD_REQUEST_H
#define ZKR_CLI_YIELD_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include <zkr/contenders.h>

/** Returns the id of a request, allocated; NULL: out of memory. Without @to it names the leader with this token. */
char *yield_request_text(const char *to, int64_t token);
/** Does a request ask the leader with this token to step down? A request for a candidate that is not there asks nobody.
 */
bool yield_request_asks(const zkr_contenders *list, int64_t token);

/** The leader; NULL: there is no candidate, or a request is the first. */
const zkr_contender *yield_request_leader(const zkr_contenders *list);

/** Can a request be sent, or why not? */
enum yield_check {
    YIELD_MAY_ASK,
    YIELD_NOBODY_LEADS,
    YIELD_UNKNOWN, /* @to is no candidate */
    YIELD_LEADS,   /* @to leads already */
    YIELD_ALONE    /* there is no other candidate */
};
enum yield_check yield_request_check(const zkr_contenders *list, const char *to);

/** What has become of a request. */
struct yield_progress {
    bool done;  /* @to leads; NULL: another leads */
    bool stays; /* the leader that got the request has not stepped down */
    bool vain;  /* nobody is left to wait for */
};
/** @asked: the session of the leader that got the request. */
struct yield_progress
yield_request_progress(const zkr_contenders *list, const char *to, int64_t asked);

#endif
