/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which server serves which session: asked of each server of the list, by its command "cons" or, where that is not allowed, by
 * its AdminServer. No session of ours is needed for that.
 */
#ifndef ZKR_CLI_PEERS_H
#define ZKR_CLI_PEERS_H

#include <stddef.h>
#include <stdint.h>

struct peer {
    char *name; /* host:port */
    char *text; /* its sessions, as it told; NULL: it did not */
};

struct peers {
    struct peer *list;
    size_t count;
    const char *mute; /* the first that did not tell; NULL: all did */
};

/** Takes a second for a server that does not answer. What there is no memory for has not told. */
void peers_ask(struct peers *p, const char *servers);

/** NULL: nobody has told. */
const char *peers_find(const struct peers *p, int64_t session_id);

void peers_end(struct peers *p);

#endif
