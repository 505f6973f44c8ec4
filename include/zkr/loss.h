/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file loss.h
 * The argument of a lost callback: the lost hold, the reason, and the observations of the client.
 */
#ifndef ZKR_LOSS_H
#define ZKR_LOSS_H

#include <stdint.h>

#include <zkr/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Why a hold was lost. */
enum zkr_lost_reason {
    ZKR_LOST_SESSION = 1, /**< the session ended */
    ZKR_LOST_LEASE,       /**< the lease ended without an answer from a quorum */
    /**
     * The lock node was deleted: by a person or program, or by the server at the end of the session, if the client
     * noticed the deletion first.
     */
    ZKR_LOST_NODE,
    ZKR_LOST_STOPPED = 101, /**< leader latches: stopped with ZKR_LATCH_NOTIFY */
    /** Leader latches: disconnected, with step_down_when_suspended. */
    ZKR_LOST_SUSPENDED
};

/**
 * The argument of the lost callback. Times are in milliseconds. Pointers are valid during the callback. New fields are
 * only appended.
 */
typedef struct zkr_lost {
    int64_t reason;        /**< ZKR_LOST_… */
    int64_t fencing_token; /**< of the hold that was lost */
    const char *node;      /**< the node of the hold */
    int64_t session_id;    /**< of the node's session */
    int64_t held_ms;       /**< from the grant to the loss */
    /**
     * Time between the sending of the last write that a quorum answered and the loss; -1 = no write was answered in
     * this session.
     */
    int64_t last_write_ms;
    /**
     * Time between the sending of the oldest unanswered request and the loss; 0 = every request was answered. While the
     * client is connected, a value far above the usual round trip means that the quorum is lost or the server hangs.
     */
    int64_t silent_ms;
    /** Time from the disconnection to the loss of the hold; 0 = connected. */
    int64_t disconnected_ms;
    /**
     * Time for which this process did not run although its service thread was due: a signal or a debugger stopped it,
     * or the machine was asleep or overloaded. 0 = it ran. A stop is not reported if it was shorter than a quarter of
     * the session timeout, or if it ended more than one session timeout ago.
     */
    int64_t stopped_ms;
    /**
     * A summary in one line for people, such as "lease bound passed: this process did not run for 12.3 s".
     */
    const char *text;
} zkr_lost;

/**
 * The name of a reason, such as "session expired".
 *
 * @reason  any int.
 *
 * Returns a constant, "?" for unknown values; never NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API const char *zkr_lost_reason_name(int reason);

#ifdef __cplusplus
}
#endif

#endif
