/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_FOURLW_H
#define ZKT_FOURLW_H

#include <stddef.h>
#include <stdint.h>

#include "testing/net.h"

/*
 * Four-letter-word commands of servers. @host is the first entry of a connection string, and @hosts means that every
 * entry is queried. An answer may take 2 s.
 */

#define ZKT_MODE_NONE ZKR__TEST_NONE
#define ZKT_MODE_STANDALONE ZKR__TEST_STANDALONE
#define ZKT_MODE_LEADER ZKR__TEST_LEADER
#define ZKT_MODE_FOLLOWER ZKR__TEST_FOLLOWER

/** Returns the answer, which the caller frees, or NULL. */
#define zkt_4lw_text zkr__test_ask

/** Writes the answer to @buf, truncated to fit. Returns its full length, or -1. */
int zkt_4lw(const char *host, const char *word, char *buf, size_t size);

/** Returns the value of a line of "mntr", such as "zk_watch_count", or -1. */
int64_t zkt_mntr(const char *host, const char *key);

enum zkr__test_mode zkt_mode(const char *host);
#define zkt_mode_within zkr__test_mode

/**
 * With several servers in @hosts, waits until each server that answers has applied every write that any of them has
 * acknowledged, but for at most 1 s for each.
 */
void zkt_settle(const char *hosts);

/*
 * The next five functions settle first, because a server that lags still has the nodes and watches of a hold that is
 * over.
 */

/** Returns the number of watches at all @hosts that answer, or -1 if none does. */
int64_t zkt_watch_count(const char *hosts);

/** Returns the largest number of ephemeral nodes that any of @hosts has, or -1. */
int64_t zkt_ephemerals(const char *hosts);

/** Like the two functions above, but only at @path (below the chroot) and under it. */
int64_t zkt_watches_under(const char *hosts, const char *path);
int64_t zkt_ephemerals_under(const char *hosts, const char *path);

/** Returns the number of sessions that watch the node at @path, except this one. */
int64_t zkt_watchers_but(const char *hosts, const char *path, int64_t session_id);

/** Returns the number of sessions with a connection, at all @hosts. */
int64_t zkt_connections(const char *hosts);

/**
 * Return the number of packets received from, or sent to, the current connection of a session, including its connect
 * request and pings, or -1 if no server has a connection of the session.
 */
int64_t zkt_cons_received(const char *hosts, int64_t session_id);
int64_t zkt_cons_sent(const char *hosts, int64_t session_id);

#endif
