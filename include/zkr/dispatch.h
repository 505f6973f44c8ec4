/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file dispatch.h
 * Callbacks on a thread of the application: for event loops, and for programs that want no thread of ours.
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
 * For a client with options.dispatch_by_application. Call it whenever zkr_client_event_fd() is
 * readable. Callbacks that are posted while it runs are left for the next call, so it ends even if
 * callbacks cause others. While it is not called, everything else goes on: leases are renewed, locks are
 * granted and lost. Only the application is not notified, and a latch whose on_loss is pending does not report
 * leadership. No wait depends on it. One function runs
 * callbacks itself: zkr_leader_latch_stop() runs those of its latch in the calling thread, because the
 * loss is reported before it returns.
 *
 * @c    borrowed.
 * @max  run at most this many; 0 = all that are pending now.
 *
 * Returns how many have run, not counting those that had nothing to say any more, for instance of a ticket that was
 * released; or ZKR_EINVAL (@max below 0), ZKR_ESTATE (without the option, in a
 * callback of the same client, or in a forked child), ZKR_EBUSY (another thread is running callbacks
 * of the client; if some are left when it is done, the descriptor becomes readable).
 *
 * Blocks:   for as long as the callbacks take.
 * Threads:  any, one at a time. Functions that say "Blocks: yes" return ZKR_ESTATE in its callbacks.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_client_dispatch(zkr_client *c, int max);

/**
 * A descriptor that is readable while callbacks are pending for zkr_client_dispatch().
 *
 * Each new callback makes it readable again, and so do those that a call of zkr_client_dispatch() has
 * left. So it works with EPOLLET, too.
 *
 * @c  borrowed. The descriptor belongs to the client, and is closed with it. Only wait on it: do not read
 *     from it, write to it or close it. It does not block and is closed on exec.
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
