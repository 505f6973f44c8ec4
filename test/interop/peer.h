/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_PEER_H
#define ZKT_PEER_H

#include <stdbool.h>

/*
 * Clients in processes of their own, each under remote control by its stdin and stdout: a line in, a line out. All of
 * them know these words; some have more, see their scripts.
 *
 *     begin N PATH MS   a new session of so many ms; from now on about this path     ready N
 *     lock KIND         from now on it is this kind of lock                          ok
 *     acquire MS        within so many ms; go-zookeeper has no time-out              true, false, error
 *     release                                                                        ok
 *     add FILE          add one to the number in this file, unguarded                ok
 *     soak FILE         acquire, add and release until FILE-end exists               how often it did
 *     end               the end of the session                                       ok
 *
 * Arguments of the program: the scripts and programs of those that it wants, zkr_peer.sh followed by the path of zkr.
 * They are started once and serve all cases. When one lacks what it needs, the program is skipped. With --two before
 * them there are two of each; and then those that can be had take part, and the program counts as skipped at its end.
 */
enum peer_kind { OURS, COMMAND, CURATOR, GO, KAZOO, PEERS };
struct peer;

/** Of --two: whether this kind can be had. */
bool peer_is_there(enum peer_kind kind);

/** One that the present case does not have yet, with a new session on its path. It ends with the case. */
struct peer *peer_start(enum peer_kind kind);

/** The same with a session of so many ms. */
struct peer *peer_start_with(enum peer_kind kind, int session_ms);

/** The same with "lock WORD"; NULL: the lock of its language that is one queue with ours. */
struct peer *peer_with_lock(enum peer_kind kind, const char *word, int session_ms);

/** End its session, and give it back to the case. */
void peer_end(struct peer *p);

/** Tell it a line. */
void peer_say(struct peer *p, const char *text);

/** Its next line must be this. */
void peer_expect(struct peer *p, const char *answer);

/** The two together. */
void peer_ask(struct peer *p, const char *line, const char *answer);

/** Its next line, up to the next call. */
const char *peer_hear(struct peer *p);

/** It has said something that was not heard yet. */
bool peer_has_answered(const struct peer *p);

/** It still waits for what it was told to do. */
bool peer_is_silent(const struct peer *p);

/** SIGKILL, for good. */
void peer_kill(struct peer *p);

/** What the C library does under remote control: ours.c. */
int ours_live(const char *servers);

#endif
