/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_PEER_H
#define ZKT_PEER_H

#include <sys/types.h>

/*
 * Another client library in a process of its own, on the path of the test: Apache Curator by curator.bsh, kazoo by
 * kazoo_peer.py. Each script has its words.
 */
struct peer {
    const char *script; /* its path */
    pid_t pid;
    int in[2], out[2];
};

/** Set script before; back when it is connected. */
void peer_start(struct peer *j);

/** Tell it a line. */
void peer_say(struct peer *j, const char *text);

/** Its next line must be this. */
void peer_expect(struct peer *j, const char *answer);

/** The two together. */
void peer_ask(struct peer *j, const char *line, const char *answer);

/** Close its input and wait for its end. */
void peer_end(struct peer *j);

#endif
