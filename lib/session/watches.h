/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watches that a handle has, and their bytes. At each re-connection libzookeeper names all of them to the server,
 * in one request (send_set_watches() in its zookeeper.c); a server drops the connection for a request of more than
 * jute.maxbuffer, which is 1,048,575 bytes unless somebody sets it, and with the next connection it all begins again.
 * So there are only so many: what finds no room is asked without a watch, and has to be asked again.
 *
 * libzookeeper keeps each path once for its data (or that it is made) and once for its children, until it is told of
 * a change. An event comes behind the answer to what set the watch.
 */
#ifndef ZKR_SESSION_WATCHES_H
#define ZKR_SESSION_WATCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/zk.h"

/*
 * Room for all of a handle but the vital ones, which are few: for these there is what is left up to jute.maxbuffer. A
 * third of it is for those that can be done without.
 */
enum { ZKR__WATCH_BYTES = 900000 };

struct zkr__watch_cell;

/* Zeroed but for .most and .prefix: none, and takes no memory. */
struct zkr__watches {
    struct zkr__watch_cell *cells;
    size_t room, count;
    int64_t bytes, most; /* of all */
    int64_t spare_bytes; /* of those that can be done without */
    size_t prefix; /* length of the chroot, which libzookeeper puts before each path */
};

/* Is there room for the watch that @op is to leave? */
bool zkr__watches_fit(const struct zkr__watches *w, const struct zkr__op *op);
/* Take that room. Returns what its answer is told by; 0: there is none, or no memory. */
uint32_t zkr__watches_take(struct zkr__watches *w, const struct zkr__op *op);
/* The answer to one for which room was taken: is it @set? */
void zkr__watches_answered(struct zkr__watches *w, uint32_t key, bool set);
/* It has fired. */
void zkr__watches_event(struct zkr__watches *w,
                        const char *path,
                        enum zkr__node_event event);
void zkr__watches_free(struct zkr__watches *w);

#endif
