/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file dispatch.h
 * Callbacks on a thread of the application, for event loops and for programs without a dispatch thread.
 */
#ifndef ZKR_DISPATCH_H
#define ZKR_DISPATCH_H

#include <zkr/client_options.h>
#include <zkr/error.h>
#include <zkr/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Run the pending callbacks, in the calling thread.
 *
 * This function is for a client with options.dispatch_by_application. Call it whenever the descriptor of
 * zkr_client_event_fd() is readable. A callback that is posted during the call runs in the next call, so the call ends
 * even if callbacks cause other callbacks. Without these calls, the client still renews leases, and grants and loses
 * locks, but the application is not notified, and a latch whose on_loss is pending reports no leadership. No blocking
 * function depends on these calls. zkr_leader_latch_stop() runs the callbacks of its latch in the calling thread,
 * because it reports the loss before it returns.
 *
 * @c    borrowed.
 * @max  run at most this many; 0 = all that are pending now.
 *
 * Returns the number of callbacks that have run, without obsolete callbacks such as those of a released ticket; or
 * ZKR_EINVAL (@max below 0), ZKR_ESTATE (without the option, in a callback of the same client, or in a forked child),
 * ZKR_EBUSY (another thread is running callbacks of the client; the descriptor becomes readable if that thread leaves
 * callbacks pending).
 *
 * Blocks:   while the callbacks run.
 * Threads:  any, one at a time. Functions that say "Blocks: yes" return ZKR_ESTATE in its callbacks.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_client_dispatch(zkr_client *c, int max);

/**
 * A descriptor that is readable while callbacks are pending for zkr_client_dispatch().
 *
 * The descriptor becomes readable again with each new callback, and at the end of each zkr_client_dispatch() that
 * leaves callbacks pending, so it also works with EPOLLET.
 *
 * @c  borrowed. The descriptor belongs to the client, and is closed with the client. Only wait for it: do not read
 *     from it, write to it or close it. It does not block, and is closed on exec.
 *
 * Returns the descriptor, or ZKR_EINVAL, ZKR_ESTATE (without options.dispatch_by_application, or in a
 * forked child).
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_client_event_fd(zkr_client *c);

#ifdef __cplusplus
}
#endif

#endif
