/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watches of a handle, and their size in bytes. At each re-connection libzookeeper sends all watches to the server
 * in one request (send_set_watches() in its zookeeper.c). If that request is longer than jute.maxbuffer, by default
 * 1,048,575 bytes, the server drops the connection, and the next connection fails in the same way. So the library
 * limits the bytes, separately for needed and for spare watches. If there is no room for the watch of a request, the
 * request is sent without the watch. The waiter for a needed watch then fails, because the library does not poll.
 *
 * The room of a RESERVED watch counts from zkr__watch_reserve() (request.h) on, whether the watch is set or not. A
 * VITAL watch counts as needed, but may exceed the limit. A watch counts until its event, even if nothing waits for the
 * event any more.
 *
 * libzookeeper keeps each path once for data and existence, and once for children, until an event. The event arrives
 * after the answer to the request that set the watch.
 */
#ifndef ZKR_SESSION_WATCHES_H
#define ZKR_SESSION_WATCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/zk.h"

/* Limits for needed watches and for spare watches. */
enum { ZKR__WATCH_NEEDED_BYTES = 850000, ZKR__WATCH_SPARE_BYTES = 150000 };

struct zkr__watch_cell;

/* Bytes of needed watches and of spare watches. */
struct zkr__watch_bytes {
    int64_t needed, spare;
};

/* If all fields but .most and .prefix are zero, there are no watches, and no memory is used. */
struct zkr__watches {
    struct zkr__watch_cell *cells;
    size_t room, count;
    struct zkr__watch_bytes bytes, most;
    size_t prefix; /* length of the chroot, which precedes each path */
};

/* Returns whether there is room for the watch that @op sets. */
bool zkr__watches_fit(const struct zkr__watches *w, const struct zkr__op *op);
/*
 * Reserve room for the watch of @op. Returns a key for zkr__watches_answered(), or 0 if there is no room or no memory.
 */
uint32_t zkr__watches_take(struct zkr__watches *w, const struct zkr__op *op);
/* Record that the request with @key was answered. @set is true if its watch is set. */
void zkr__watches_answered(struct zkr__watches *w, uint32_t key, bool set);
/* Record that @event has fired the watches of @path. */
void zkr__watches_event(struct zkr__watches *w,
                        const char *path,
                        enum zkr__node_event event);
void zkr__watches_free(struct zkr__watches *w);

#endif
