/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file metrics.h
 * The counters of a client in a struct, and its metrics as text for Prometheus and other readers of OpenMetrics.
 *
 * The client always collects all metrics. All names begin with `zkr_`, and times are in seconds. The following metrics
 * have the label `path`, with one series for each path that the client has used:
 *
 * | name | type | meaning |
 * |---|---|---|
 * | `zkr_waiting` | gauge | contenders in the queue now: threads, tickets, candidates |
 * | `zkr_held` | gauge | current holds: locks, tickets for permits, leaderships |
 * | `zkr_acquired_total` | counter | grants, except re-entries |
 * | `zkr_contended_total` | counter | grants after waiting behind another contender |
 * | `zkr_timed_out_total` | counter | waits that ended at the timeout, and tries that found the lock held |
 * | `zkr_canceled_total` | counter | waits that ended with a cancel, release, stop or shutdown |
 * | `zkr_failed_total` | counter | waits that ended with another error |
 * | `zkr_lost_total` | counter | lost holds, by label `reason`: `session` (ended), `node` (deleted), `lease` (no answer from a quorum before the end of the lease), `stopped` (as `lease`, but because this process did not run) |
 * | `zkr_reentries_total` | counter | acquires by a thread that already held |
 * | `zkr_hand_overs_total` | counter | grants after a wait, by label `kind`: `local` (from a contender of this client, no server involved), `nearby` (from another process of this host, by zkr_client_options.nearby), `event` (the event about the node ahead was enough), `prepared` (the same, after the client had looked ahead), `list` (the children were listed again) |
 * | `zkr_wait_seconds` | histogram | time from the request to the grant |
 * | `zkr_hold_seconds` | histogram | time from the grant to the release or the loss |
 *
 * At most 1000 paths have their own label; later paths count as `path="other"`. A label remains until the client is
 * closed. The `locks` and `leases` of a semaphore count as its path. A multi-lock counts at each of its paths. Both
 * sides of a read-write lock count as one.
 *
 * The following metrics describe the client as a whole:
 *
 * | name | type | meaning |
 * |---|---|---|
 * | `zkr_connected` | gauge | 1 while a server serves the session, otherwise 0 |
 * | `zkr_session_timeout_seconds` | gauge | the shortest timeout that was granted to the session, as returned by zkr_client_session_timeout_ms() |
 * | `zkr_lease_bound_seconds` | gauge | the remaining lease; 0 = not sure, or nothing is held; missing if probes are turned off |
 * | `zkr_sessions_total` | counter | sessions established |
 * | `zkr_expirations_total` | counter | sessions that ended without zkr_client_close() |
 * | `zkr_reconnects_total` | counter | reconnections within a session |
 * | `zkr_requests_total` | counter | requests sent to ZooKeeper, except pings |
 * | `zkr_probes_total` | counter | lease probes among the requests |
 * | `zkr_probe_round_trip_seconds` | histogram | round trips of answered probes |
 * | `zkr_pending_deletes` | gauge | released or abandoned nodes whose deletion is not yet confirmed, and kept nodes |
 * | `zkr_news_ignored_total` | counter | messages from other processes (zkr_client_options.nearby) that arrived too late or failed the client's checks |
 * | `zkr_dropped_log_lines_total` | counter | log lines dropped because the log callback was too slow |
 */
#ifndef ZKR_METRICS_H
#define ZKR_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include <zkr/client_options.h>
#include <zkr/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Counters of a client since it was opened, for monitoring. New fields are only appended. */
typedef struct zkr_stats {
    int64_t sessions;   /**< sessions established */
    int64_t reconnects; /**< reconnections within a session */
    int64_t requests;   /**< requests sent to ZooKeeper, except pings */
    int64_t probes;     /**< lease probes among them */
    int64_t grants;     /**< grants, including leaderships, except re-entries */
    int64_t losses;     /**< holds lost before they were released */
    int64_t held;       /**< current holds */
    int64_t waiting;    /**< current waiters */
    /** Released or abandoned nodes whose deletion is not yet confirmed, and kept nodes. */
    int64_t pending_deletes;
    int64_t dropped_log; /**< log lines dropped because the callback was too slow */
    /** Grants after a wait for another contender. */
    int64_t contended;
    /** Sessions that ended without zkr_client_close(). */
    int64_t expirations;
    /** Time since the last write that a quorum answered was sent; -1 = none in this session. */
    int64_t last_answer_ms;
    /**
     * Time that the servers took to answer the last write, if it was at least a twelfth of the session timeout; 0 =
     * shorter, no connection, or no answer for half of the session timeout. Holds are kept while no write takes more
     * than an eighth of the session timeout (lease.h).
     */
    int64_t slow_answer_ms;
} zkr_stats;

/**
 * Read the counters.
 *
 * @c     borrowed.
 * @out   filled.
 * @size  sizeof(zkr_stats) of the caller. A smaller (older) struct gets only the first fields; the rest of a larger
 *        struct is zeroed.
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  TracerDriver, in part.   Since: 0.1.
 */
ZKR_API int zkr_client_stats(zkr_client *c, zkr_stats *out, size_t size);

/**
 * Write all metrics of a client as OpenMetrics text (version 1.0.0).
 *
 * The text is complete: each family has its TYPE, UNIT and HELP, and `# EOF` is at the end. Serve the text as
 * `application/openmetrics-text; version=1.0.0; charset=utf-8`. Alternatively, write it to a file for the textfile
 * collector of node_exporter: write the file under another name first, and then rename it. Each client of a process has
 * a separate text.
 *
 * @c       borrowed.
 * @buf     filled on success, always terminated; may be NULL if @size is 0.
 * @size    bytes at @buf.
 * @needed  NULL, or set to the number of bytes that the text needs, including its terminator, even if it exceeds @size.
 *          The text grows: a moment later, it may need about 100 bytes more, plus 7 KiB and 60 times the length of the
 *          path for each new path.
 *
 * Returns ZKR_OK, ZKR_EINVAL (also if @buf is too small; use @needed bytes and a few more), ZKR_ENOMEM, ZKR_ESTATE (in
 * a forked child).
 *
 * Blocks:   no. The client's lock is held only while the numbers are copied.
 * Threads:  any, including callbacks.
 * Session:  the numbers start with the client, and continue across sessions.
 * Cost:     no request. Memory for a copy of the numbers during the call.
 * Curator:  TracerDriver, in part.   Since: 0.1.
 */
ZKR_API int zkr_client_metrics(zkr_client *c, char *buf, size_t size, size_t *needed);

#ifdef __cplusplus
}
#endif

#endif
