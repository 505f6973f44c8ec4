/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_FOURLW_H
#define ZKT_FOURLW_H

#include <stddef.h>
#include <stdint.h>

/*
 * Four-letter words. "host" is the first entry of a connection string; where "hosts" is
 * named, every entry is asked. An answer takes at most 2 s, else it counts as none.
 */

enum zkt_mode {
    ZKT_MODE_NONE, /* down, frozen, or not serving */
    ZKT_MODE_STANDALONE,
    ZKT_MODE_LEADER,
    ZKT_MODE_FOLLOWER,
    ZKT_MODE_OBSERVER
};

/** The answer, to be freed, or NULL. */
char *zkt_4lw_text(const char *host, const char *word, int64_t timeout_ms);

/** The answer in @buf, cut to fit. Returns its full length or -1. */
int zkt_4lw(const char *host, const char *word, char *buf, size_t size);

/** Value of a line of "mntr", such as "zk_watch_count", or -1. */
int64_t zkt_mntr(const char *host, const char *key);

enum zkt_mode zkt_mode(const char *host);
enum zkt_mode zkt_mode_within(const char *host, int64_t timeout_ms);

/** Watches set at all @hosts that answer, or -1 when none does. */
int64_t zkt_watch_count(const char *hosts);

/** Ephemeral nodes: the most that any of @hosts knows, or -1. */
int64_t zkt_ephemerals(const char *hosts);

/** The same, only those at @path (below the chroot) and under it. */
int64_t zkt_watches_under(const char *hosts, const char *path);
int64_t zkt_ephemerals_under(const char *hosts, const char *path);

/** Sessions with a connection, at all @hosts. */
int64_t zkt_connections(const char *hosts);

/**
 * Packets received from / sent to the connection of one session, counted from its connect
 * request on, pings included; -1 when no server has a connection for it. A reconnect
 * starts at zero again.
 */
int64_t zkt_cons_received(const char *hosts, int64_t session_id);
int64_t zkt_cons_sent(const char *hosts, int64_t session_id);

#endif
