/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of libzookeeper that say the same again: without a server they come some twenty times a second. Pure.
 */
#ifndef ZKR_SESSION_LOG_ECHO_H
#define ZKR_SESSION_LOG_ECHO_H

#include <stdbool.h>
#include <stdint.h>

enum { ZKR__ECHOES = 16 };

/* What has been said since the client was connected last; {0} to begin with. */
struct zkr__echo {
    uint64_t said[ZKR__ECHOES];
    unsigned count;
    unsigned connected; /* as @connected was at the last line */
    int64_t passed_at;
};

/*
 * Is @line, said now, to be passed on? One that is new since then is; else one a minute. Of more than ZKR__ECHOES no
 * further is new. Time, process and thread make no difference, nor does how long something took. @connected: how often
 * the client has been connected.
 */
bool zkr__echo_passes(struct zkr__echo *e,
                      unsigned connected,
                      const char *line,
                      int64_t now);

#endif
