/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request is a candidate that does not want to lead. A field of its ID names either the leader that should step down,
 * by its token, or the candidate that all others should let pass, by its ID. These functions only read a list of
 * candidates. A leader finds out whether a request is meant for it. elect --yield finds out what to send, and whether
 * the request has had its effect. @to is the ID of the candidate that should lead, or NULL for any candidate except the
 * leader.
 */
#ifndef ZKR_CLI_YIELD_REQUEST_H
#define ZKR_CLI_YIELD_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include <zkr/contenders.h>

/**
 * Returns the ID of a request, in new memory, or NULL if memory runs out. If @to is NULL, the request names the leader
 * with this token.
 */
char *yield_request_text(const char *to, int64_t token);
/**
 * Returns whether a request asks the leader with this token to step down. A request for a candidate that is not in the
 * queue asks nobody.
 */
bool yield_request_asks(const zkr_contenders *list, int64_t token);

/** Returns the leader, or NULL if there is no candidate or a request is the first. */
const zkr_contender *yield_request_leader(const zkr_contenders *list);

/** Whether a request can be sent, and if not, why. */
enum yield_check {
    YIELD_MAY_ASK,
    YIELD_NOBODY_LEADS,
    YIELD_UNKNOWN, /* @to is not a candidate */
    YIELD_LEADS,   /* @to already leads */
    YIELD_ALONE    /* there is no other candidate */
};
enum yield_check yield_request_check(const zkr_contenders *list, const char *to);

/** The effect of a request so far. */
struct yield_progress {
    bool done;  /* @to leads, or if @to is NULL, another candidate leads */
    bool stays; /* the leader that received the request has not stepped down */
    bool vain;  /* nobody is left to wait for */
};
/** @asked is the session of the leader that received the request. */
struct yield_progress
yield_request_progress(const zkr_contenders *list, const char *to, int64_t asked);

#endif
