/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file metrics.h
 * What a client has measured, as text for Prometheus and for whatever else reads OpenMetrics.
 *
 * Everything is counted always; there is nothing to turn on. All names begin with `zkr_`, times are
 * seconds. With label `path`, for each path that the client has locked or campaigned on:
 *
 * | name | type | what |
 * |---|---|---|
 * | `zkr_waiting` | gauge | waiting in the queue now: threads, tickets, candidates |
 * | `zkr_held` | gauge | held now: locks, permits' tickets, leaderships |
 * | `zkr_acquired_total` | counter | granted, re-entries excepted |
 * | `zkr_contended_total` | counter | of these, granted after waiting behind another |
 * | `zkr_timed_out_total` | counter | given up at the time-out; a try that finds it held too |
 * | `zkr_canceled_total` | counter | given up by cancel, release, stop, shutdown |
 * | `zkr_failed_total` | counter | given up because of an error |
 * | `zkr_lost_total` | counter | lost while held, by label `reason`: `session` (ended), `node` (deleted), `lease` (no answer from a quorum until the bound), `stopped` (the same, since this process did not run) |
 * | `zkr_reentries_total` | counter | acquired again by a thread that held already, or joined by one that reads |
 * | `zkr_hand_overs_total` | counter | grants after a wait, by label `kind`: `local` (from a claim of this client, no server involved), `event` (the event that the one ahead has gone was enough), `list` (the children were listed again) |
 * | `zkr_wait_seconds` | histogram | from asking to the grant, of those granted |
 * | `zkr_hold_seconds` | histogram | from the grant to the release or the loss |
 *
 * At most 1000 paths have a label of their own; what comes later counts as `path="other"`. A path
 * once seen stays until the client is closed. The `locks` and `leases` of a semaphore count as its
 * path, a multi-lock counts at each of its paths, both sides of a read-write lock as one.
 *
 * Of the client as a whole:
 *
 * | name | type | what |
 * |---|---|---|
 * | `zkr_connected` | gauge | 1 while a server has the session, else 0 |
 * | `zkr_session_timeout_seconds` | gauge | in force |
 * | `zkr_lease_bound_seconds` | gauge | for how long the session is surely alive; 0 = not sure, and while nothing is held it is not kept up; missing when probes are turned off |
 * | `zkr_sessions_total` | counter | established |
 * | `zkr_expirations_total` | counter | sessions that ended, but for the close |
 * | `zkr_reconnects_total` | counter | connections made again within a session |
 * | `zkr_requests_total` | counter | sent to ZooKeeper, pings excepted |
 * | `zkr_probes_total` | counter | of these, lease probes |
 * | `zkr_probe_round_trip_seconds` | histogram | of the probes that were answered |
 * | `zkr_pending_deletes` | gauge | nodes released or given up, and not yet confirmed gone |
 * | `zkr_dropped_log_lines_total` | counter | dropped because the log callback was too slow |
 */
#ifndef ZKR_METRICS_H
#define ZKR_METRICS_H

#include <stddef.h>

#include <zkr/client.h>
#include <zkr/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Write all metrics of a client as OpenMetrics text (version 1.0.0).
 *
 * The text is complete: each family with its TYPE, UNIT and HELP, `# EOF` at the end. Serve it as
 * `application/openmetrics-text; version=1.0.0; charset=utf-8`, or write it to a file for
 * node_exporter's textfile collector, under another name first, then rename. A process with
 * several clients has a text for each.
 *
 * @c       borrowed.
 * @buf     filled on success, always terminated; may be NULL when @size is 0.
 * @size    bytes at @buf.
 * @needed  NULL, or the bytes that the text needs, its terminator too, also when they are more than
 *          @size. It may need more a moment later: about 100 bytes, and for each path 7 KiB and 60
 *          times its length.
 *
 * Returns ZKR_OK, ZKR_EINVAL (also when @buf is too small: make it of @needed bytes and a few more),
 * ZKR_ENOMEM, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no. The numbers are copied under the client's lock, the text is made without it.
 * Threads:  any, callbacks too.
 * Session:  the numbers go on across sessions; they start with the client.
 * Cost:     no request. Memory for a copy of the numbers during the call.
 * Curator:  TracerDriver, in part.   Since: 0.1.
 */
ZKR_API int zkr_client_metrics(zkr_client *c, char *buf, size_t size, size_t *needed);

#ifdef __cplusplus
}
#endif

#endif
