/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_PEER_H
#define ZKT_PEER_H

#include <stdbool.h>

/*
 * Another client library in a process of its own, on the path of the case: Apache Curator by curator.bsh, kazoo by
 * kazoo_peer.py, which are arguments of the program. Each script has its words.
 */
struct peer;
enum peer_kind { CURATOR, KAZOO, PEERS };

/** Back when it is connected. It ends with the case, and must end well. */
struct peer *peer_start(enum peer_kind kind);

/** Tell it a line. */
void peer_say(struct peer *j, const char *text);

/** Its next line must be this. */
void peer_expect(struct peer *j, const char *answer);

/** The two together. */
void peer_ask(struct peer *j, const char *line, const char *answer);

/** It still waits for what it was told to do. */
bool peer_is_silent(const struct peer *j);

#endif
