/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file metrics.h
 * Counters of a client in a struct, and its metrics as text for Prometheus and other readers of OpenMetrics.
 *
 * All metrics are always counted; there is nothing to turn on. All names begin with `zkr_`, and times are in seconds.
 * The following metrics have the label `path`, with one series for each path that the client has used:
 *
 * | name | type | what |
 * |---|---|---|
 * | `zkr_waiting` | gauge | contenders in the queue now: threads, tickets, candidates |
 * | `zkr_held` | gauge | current holds: locks, tickets for permits, leaderships |
 * | `zkr_acquired_total` | counter | grants, except re-entries |
 * | `zkr_contended_total` | counter | grants after waiting behind another contender |
 * | `zkr_timed_out_total` | counter | waits that ended at the timeout; also tries that found the lock held |
 * | `zkr_canceled_total` | counter | waits that ended by cancel, release, stop or shutdown |
 * | `zkr_failed_total` | counter | waits that ended with another error |
 * | `zkr_lost_total` | counter | lost holds, by label `reason`: `session` (ended), `node` (deleted), `lease` (no answer from a quorum in time for the lease), `stopped` (the same, because this process did not run) |
 * | `zkr_reentries_total` | counter | acquires by a thread that already held |
 * | `zkr_hand_overs_total` | counter | grants after a wait, by label `kind`: `local` (from a contender of this client, no server involved), `nearby` (from another process of this host, by zkr_client_options.nearby), `event` (the event about the node ahead was enough), `prepared` (the same, after the client had looked ahead), `list` (the children were listed again) |
 * | `zkr_wait_seconds` | histogram | time from the request to the grant |
 * | `zkr_hold_seconds` | histogram | time from the grant to the release or the loss |
 *
 * At most 1000 paths have a label of their own; later paths count as `path="other"`. A label stays until the client is
 * closed. The `locks` and `leases` of a semaphore count as its path. A multi-lock counts at each of its paths. Both
 * sides of a read-write lock count as one.
 *
 * The following metrics describe the client as a whole:
 *
 * | name | type | what |
 * |---|---|---|
 * | `zkr_connected` | gauge | 1 while a server has the session, else 0 |
 * | `zkr_session_timeout_seconds` | gauge | the shortest that was granted to the session, as zkr_client_session_timeout_ms() returns it |
 * | `zkr_lease_bound_seconds` | gauge | the remaining lease; 0 = not sure, also while nothing is held; missing if probes are turned off |
 * | `zkr_sessions_total` | counter | sessions established |
 * | `zkr_expirations_total` | counter | sessions that ended without zkr_client_close() |
 * | `zkr_reconnects_total` | counter | connections made again within a session |
 * | `zkr_requests_total` | counter | requests sent to ZooKeeper, except pings |
 * | `zkr_probes_total` | counter | lease probes among the requests |
 * | `zkr_probe_round_trip_seconds` | histogram | round trips of answered probes |
 * | `zkr_pending_deletes` | gauge | nodes released or given up and not yet confirmed gone, and kept nodes |
 * | `zkr_news_ignored_total` | counter | messages of other processes (zkr_client_options.nearby) that came too late or failed the client's checks |
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
    int64_t reconnects; /**< connections made again within a session */
    int64_t requests;   /**< requests sent to ZooKeeper, except pings */
    int64_t probes;     /**< lease probes among them */
    int64_t grants;     /**< grants (leaderships too), except re-entries */
    int64_t losses;     /**< holds lost before they were released */
    int64_t held;       /**< current holds */
    int64_t waiting;    /**< current waiters */
    /** Nodes released or given up and not yet confirmed gone, and kept nodes. */
    int64_t pending_deletes;
    int64_t dropped_log; /**< log lines dropped because the callback was too slow */
    /** Grants after a wait for another contender. */
    int64_t contended;
    /** Sessions that ended without zkr_client_close(). */
    int64_t expirations;
    /** How long ago the last write that a quorum answered was sent; -1 = none in this session. */
    int64_t last_answer_ms;
    /**
     * How long the servers took to answer the last write, if that was a twelfth of the session
     * timeout or more; 0 = less, no connection, or no answer for half of the session timeout.
     * Holds are kept while no write takes more than an eighth of the session timeout (lease.h).
     */
    int64_t slow_answer_ms;
} zkr_stats;

/**
 * Read the counters.
 *
 * @c     borrowed.
 * @out   filled.
 * @size  sizeof(zkr_stats) of the caller. A smaller (older) struct gets its first fields only; the rest of a larger one
 *        is zeroed.
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
 * The text is complete: each family has its TYPE, UNIT and HELP, and `# EOF` is at the end. Serve it as
 * `application/openmetrics-text; version=1.0.0; charset=utf-8`. Or write it to a file for node_exporter's
 * textfile collector: under another name first, then rename it. Each client of a process has a text of its own.
 *
 * @c       borrowed.
 * @buf     filled on success, always terminated; may be NULL when @size is 0.
 * @size    bytes at @buf.
 * @needed  NULL, or set to the bytes that the text needs, with its terminator, even if that is more than
 *          @size. The text grows: a moment later it may need about 100 bytes more, plus 7 KiB and 60 times the length
 *          of the path for each new path.
 *
 * Returns ZKR_OK, ZKR_EINVAL (also if @buf is too small: give it @needed bytes and a few more),
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
