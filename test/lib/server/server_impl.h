/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_SERVER_IMPL_H
#define ZKT_SERVER_IMPL_H

#include "server.h"

/* What server.c (one process) and ensemble.c (who starts which) share. */

enum { ZKT_START_MS = 30000, ZKT_START_TRIES = 4 };

struct zkt_server {
    zkt_server *next;
    pid_t pid;
    int index; /* in its ensemble, or -1 */
    bool frozen;
    int port;
    int quorum_port;
    int election_port;
    zkt_server_options options; /* defaults filled in */
    char host[32];
    char dir[200];
};

/**
 * A server not launched yet, with its directory and its ports. @fds receives the sockets
 * that keep the ports taken, or -1; the caller closes them right before the launch.
 */
zkt_server *zkt_server_create(const zkt_server_options *o, int index, int fds[3]);

/** Kill it, remove its directory, free it. */
void zkt_server_destroy(zkt_server *s);

/** Append to a file of its directory. */
void zkt_server_write(const zkt_server *s, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void zkt_server_show_log(const zkt_server *s);

#endif
