/* SPDX-License-Identifier: Apache-2.0 */
/* The servers of scripts that run on three servers, and faults of these servers. */
#ifndef ZKT_FAKE_SCRIPT_CLUSTER_H
#define ZKT_FAKE_SCRIPT_CLUSTER_H

#include <stdbool.h>

#include "proxy.h"

/* The roles are those at the beginning of the script. */
enum { SCRIPT_LEADER, SCRIPT_FOLLOWER, SCRIPT_OTHER, SCRIPT_SERVERS };

/* Start a real ensemble. Scripts run on three servers from now on. */
void script_cluster_start(int session_ms);
int script_cluster_session_ms(void);
void script_cluster_stop(void);
bool script_cluster(void);

/* Begin a script on this side, whose servers all work. */
void script_cluster_begin(bool real);
int script_role(const char *word);
const char *script_cluster_host(int role);

/*
 * Let the next connection of session @client go to this server. The session has no connection, or is about to lose it.
 */
void script_cluster_lead(bool real, int client, zkt_proxy *proxy, int role);

/*
 * Run a command for the servers:
 * - "cut leader": the leader no longer hears its followers, and does not notice. They elect another leader.
 * - "heal": all servers work again.
 * - "lag ROLE" holds up what the leader sends to this server, and "catch-up ROLE" delivers it.
 * - "limits ROLE LEAST MOST" restarts the server, which then grants session timeouts in this range, in ms.
 */
void script_cluster_do(bool real, char *const words[]);
/* Returns whether the last command has taken effect. */
bool script_cluster_done(bool real);
/* Returns whether the server lags behind the others, or may lag. A sync there would wait, or prove nothing. */
bool script_cluster_apart(int role);

#endif
