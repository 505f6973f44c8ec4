/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_DOOR_H
#define ZKT_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/open.h"

/*
 * The real client of ZooKeeper, wrapped so that it counts the requests of one client and can interfere at the n-th
 * request. For clients that are opened with zkr__client_open() and {.door = &zkt_door}.
 */
extern struct zkr__door zkt_door;

/** The transport for messages of clients with options.nearby that are opened from now on. NULL = sockets. */
extern const struct zkr__nearby_door *zkt_nearby_door;

/** From now on, count from zero and interfere for this client. NULL = for no client. */
void zkt_door_focus(const zkr_client *c);

/** Write the counts in a form such as "create, 2 get". */
void zkt_door_write(char *text, size_t size);
int zkt_door_total(void);
int zkt_door_count(enum zkr__op_kind kind);

/** Fail unless the requests so far are @wanted, for example "create, 2 get", in the order of enum zkr__op_kind. */
#define ZKT_ASKED(wanted) zkt_door_check((wanted), 0, __FILE__, __LINE__)
/** Like ZKT_ASKED(), but first wait until that many requests were sent. */
#define ZKT_ASKS(wanted) zkt_door_check((wanted), 20000, __FILE__, __LINE__)
void zkt_door_check(const char *wanted, int64_t within_ms, const char *file, int line);

/**
 * Returns the number of nudges, which do not count as requests. With server 3.8.0 a lone write may need a nudge
 * (ZOOKEEPER-4537).
 */
int zkt_door_nudges(void);

/**
 * Call @fn just before the @n-th request from now (1 = the next) is sent. @fn runs with the client's lock held, so it
 * must not call zkr_ functions.
 */
void zkt_door_before(int n, void (*fn)(void *ctx), void *ctx);
bool zkt_door_fired(void);

/** Stop CLOCK_BOOTTIME at @ns for all clients of this door. 0 = let it run again. */
void zkt_door_stop_clock(int64_t ns);

/** Get ID and password of a client's current session. */
void zkt_door_session(zkr_client *c, int64_t *id, unsigned char password[16]);

#endif
