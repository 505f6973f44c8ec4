/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of libzookeeper's own log. Each client receives the lines of its handles, up to its log level, without most
 * of the repetitions.
 *
 * libzookeeper has one log level for the process, and its lines do not name the handle. But each handle has its own log
 * callback, without a context. So each of the ZKR__LOG_SLOTS slots has its own callback, and serves one client. One
 * more callback serves the clients that found no free slot. Its lines go to the client that joined first.
 */
#ifndef ZKR_SESSION_ZK_LOG_H
#define ZKR_SESSION_ZK_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include <zkr/client.h>

enum { ZKR__LOG_SLOTS = 16, ZKR__LOG_NO_SLOT = -1 };

/* Start to receive lines, until zkr__log_leave(). Without options.log, only prepare for forks. */
void zkr__log_join(zkr_client *c);
void zkr__log_leave(zkr_client *c);

/* Returns the log callback for a handle with @slot. The callback for ZKR__LOG_NO_SLOT drops the lines. */
void (*zkr__log_callback(int slot))(const char *line);
/* Pass on a line that a handle with @slot has logged. May be called on any thread. */
void zkr__log_foreign(int slot, int level, const char *line);

/*
 * Add @more, which may be negative, to the number of handles that are given up but not closed yet. The session timeout
 * granted to such a handle may make each of its connection attempts fail at once. So while such a handle exists, each
 * error that libzookeeper logs delays the logging thread by 50 ms.
 */
void zkr__log_slow(int more);

/*
 * Between zkr__log_hold() and zkr__log_let_go(), any other thread of libzookeeper that logs a line blocks, for at most
 * a second. A handle logs the loss of its connection, and later the new connection, before a server can report the end
 * of the session. So a session whose handle is still connected after zkr__log_hold() does not end before
 * zkr__log_let_go(), unless that second passes, or lines of level INFO are off, as within zkr__log_hush().
 */
void zkr__log_hold(void);
void zkr__log_let_go(void);

/*
 * Between the two calls, libzookeeper logs nothing, and no other thread can be between them. A fork needs this, because
 * the child inherits the state of the lock in localtime_r(), which libzookeeper calls to stamp the lines. zk_real.c
 * needs it, too.
 */
void zkr__log_hush(void);
void zkr__log_speak(void);

/* --- repeated lines: without a server, libzookeeper logs the same line some twenty times a second; pure --- */

enum { ZKR__ECHOES = 16 };

/* The distinct lines logged since the client last connected. Initially zeroed. */
struct zkr__echo {
    uint64_t said[ZKR__ECHOES];
    unsigned count;
    unsigned connected; /* the argument @connected at the last line */
    int64_t passed_at;
};

/*
 * Returns whether to pass on @line. The first ZKR__ECHOES distinct lines pass. Lines that differ only in time, process,
 * thread and durations are not distinct. Of the other lines, one per minute passes. @connected is how often the client
 * has connected.
 */
bool zkr__echo_passes(struct zkr__echo *e,
                      unsigned connected,
                      const char *line,
                      int64_t now);

#endif
