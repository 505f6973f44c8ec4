/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_PEER_H
#define ZKT_PEER_H

#include <stdbool.h>

/*
 * Clients in separate processes. Each is under remote control through its stdin and stdout: it reads a line, and
 * answers with a line. All of them know these words, and some know more; see their scripts.
 *
 *     begin N PATH MS   start a session with this timeout, for this path             ready N
 *     lock KIND         use this kind of lock from now on                            ok
 *     acquire MS        with this timeout; go-zookeeper has none                     true, false, error
 *     release                                                                        ok
 *     add FILE          add 1 to the number in this file, not atomically             ok
 *     soak FILE         acquire, add and release until FILE-end exists               number of cycles
 *     end               end the session                                              ok
 *
 * The arguments of the program are the scripts and programs of the required kinds, with zkr_peer.sh followed by the
 * path of zkr. Each process is started once, and serves all cases. If a requirement of one of them is missing, the
 * program is skipped. With --two before them, there are two processes of each kind. Then kinds with missing
 * requirements are left out, and the program counts as skipped at its end.
 */
enum peer_kind { OURS, COMMAND, CURATOR, GO, KAZOO, PEERS };
struct peer;

/** Returns whether this kind is available. For programs with --two. */
bool peer_is_there(enum peer_kind kind);

/**
 * Returns a peer that the current case does not use yet, with a new session on the path of the case. It ends
 * with the case.
 */
struct peer *peer_start(enum peer_kind kind);

/** Like peer_start(), with this session timeout. */
struct peer *peer_start_with(enum peer_kind kind, int session_ms);

/**
 * Like peer_start_with(), followed by "lock WORD". NULL = the kind of lock in its language that shares a queue
 * with ours.
 */
struct peer *peer_with_lock(enum peer_kind kind, const char *word, int session_ms);

/** End the session of the peer. The case can start it again. */
void peer_end(struct peer *p);

/** Send a line to the peer. */
void peer_say(struct peer *p, const char *text);

/** Check that its next line is @answer. */
void peer_expect(struct peer *p, const char *answer);

/** Call peer_say() and peer_expect(). */
void peer_ask(struct peer *p, const char *line, const char *answer);

/** Returns its next line, which is valid until the next call. */
const char *peer_hear(struct peer *p);

/** Returns whether a line was received that was not read yet. */
bool peer_has_answered(const struct peer *p);

/** Returns whether the peer gives no answer for a while. */
bool peer_is_silent(const struct peer *p);

/** Kill the peer with SIGKILL. It is not started again. */
void peer_kill(struct peer *p);

/** Obey lines as OURS, in the peer's process: ours.c. */
int ours_live(const char *servers);

#endif
