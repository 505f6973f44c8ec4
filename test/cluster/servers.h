/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_CLUSTER_H
#define ZKT_CLUSTER_H

#include <stdint.h>

/*
 * The three servers of ./run cluster, by index from 0, in the order of $ZKR_SERVERS. Each call returns when it has taken
 * effect, or fails the test.
 */
enum { CLUSTER_SIZE = 3 };

/** Returns "127.0.0.1:PORT". */
const char *cluster_host(int index);

/** Waits until a server other than @old leads a quorum, and returns its index. -1 = any server. */
int cluster_leader(int old);

/** Kills the server with SIGKILL, or starts it again. The start does not wait until the server serves. */
void cluster_kill(int index);
void cluster_start(int index);

/** Stops all processes of the container, or continues them. */
void cluster_pause(int index);
void cluster_unpause(int index);

/** Starts the stopped servers, continues the paused ones, and waits until every server serves. */
void cluster_heal(void);

#endif
