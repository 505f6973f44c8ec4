/* SPDX-License-Identifier: Apache-2.0 */
/* Fake scripts on three servers: who they are, and what becomes of them. */
#ifndef ZKT_FAKE_SCRIPT_CLUSTER_H
#define ZKT_FAKE_SCRIPT_CLUSTER_H

#include <stdbool.h>

#include "proxy.h"

/* By what they are when a script begins. */
enum { SCRIPT_LEADER, SCRIPT_FOLLOWER, SCRIPT_OTHER, SCRIPT_SERVERS };

/* Start a real ensemble: from now on scripts are for three servers. */
void script_cluster_start(int session_ms);
int script_cluster_session_ms(void);
void script_cluster_stop(void);
bool script_cluster(void);

/* A script begins on this side, whose servers are all well. */
void script_cluster_begin(bool real);
int script_role(const char *word);
const char *script_cluster_host(int role);

/* Session @client is led to this server; it has no connection, or is about to lose it. */
void script_cluster_lead(bool real, int client, zkt_proxy *proxy, int role);

/*
 * "cut leader": it hears its followers no more, and they find another; it does not know. "heal": all are well.
 * "lag ROLE", "catch-up ROLE": what the leader tells it waits, and then comes. "limits ROLE LEAST MOST": it
 * starts again, and grants these session time-outs, in ms.
 */
void script_cluster_do(bool real, char *const words[]);
/* Is what was done in force? */
bool script_cluster_done(bool real);
/* The server knows less than the others, or may: a sync there would wait, or say nothing. */
bool script_cluster_apart(int role);

#endif
