/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_CLUSTER_H
#define ZKT_CLUSTER_H

#include <stdint.h>

/*
 * The three servers of ./run cluster, by index from 0, in the order of $ZKR_SERVERS. Each
 * call returns when what it says has happened, or fails the test.
 */
enum { CLUSTER_SIZE = 3 };

/** "127.0.0.1:port" */
const char *cluster_host(int index);

/** Wait until another server than @old (-1: any) leads a quorum. Returns its index. */
int cluster_leader(int old);

/** SIGKILL, and a new start that does not wait for the server to serve. */
void cluster_kill(int index);
void cluster_start(int index);

/** All processes of the container stand still, and go on. */
void cluster_pause(int index);
void cluster_unpause(int index);

/** Start what does not run, and wait until every server serves. */
void cluster_heal(void);

#endif
