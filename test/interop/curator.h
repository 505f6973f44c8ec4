/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_CURATOR_H
#define ZKT_CURATOR_H

#include <sys/types.h>

/* Apache Curator in a process of its own, on the path of the test; curator.bsh has the words. */
struct curator {
    const char *script; /* path of curator.bsh */
    pid_t pid;
    int in[2], out[2];
};

/** Set script before; back when it is connected. */
void curator_start(struct curator *j);

/** Tell it a line. */
void curator_say(struct curator *j, const char *text);

/** Its next line must be this. */
void curator_expect(struct curator *j, const char *answer);

/** The two together. */
void curator_ask(struct curator *j, const char *line, const char *answer);

/** Close its input and wait for its end. */
void curator_end(struct curator *j);

#endif
