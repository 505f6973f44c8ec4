/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_STAGE_H
#define ZKC_STAGE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bad_host.h"
#include "control.h"
#include "plan.h"
#include "proxy.h"
#include "record.h"
#include "server.h"

/*
 * The processes that the coordinator runs: three servers with proxies between them, the store, and six clients. The
 * last three clients reach the servers through proxies. Clients that end are restarted. Used from one thread.
 */

/* The credentials of the super user of the servers, for scheme "digest". */
#define ZKC_SUPER "super:chaos"

enum { ZKC_SERVERS = 3, ZKC_PROXIED = 3, ZKC_PLACES = 2 };

struct zkc_client {
    pid_t pid; /* 0: not running */
    int life;
    int64_t again_at; /* when to restart it, by zkt_now_ms() */
    bool ended;       /* the client has ended in order, after the calm */
};

typedef struct zkc_stage {
    uint64_t seed;
    uint64_t random; /* for decisions that are not faults */
    char dir[160];
    int history;
    struct zkc_control *control;
    zkt_ensemble *ensemble;
    struct zkt_bad_host *hosts[ZKC_SERVERS]; /* the hosts of the servers */
    /* Indexed by sender and receiver. NULL: no link. */
    zkt_proxy *links[ZKC_SERVERS][ZKC_SERVERS];
    /* At both addresses that the name of a server can have. One of the two resets every connection. */
    zkt_proxy *doors[ZKC_PROXIED][ZKC_SERVERS][ZKC_PLACES];
    /* Connection strings for clients. The last one is without proxies. */
    char servers[ZKC_PROXIED + 1][128];
    pid_t store;
    struct zkc_client clients[ZKC_PROCESSES];
    void (*each_tick)(void *ctx);
    void *each_tick_ctx;
    int crashed; /* processes that ended unexpectedly */
    char crash[120];
} zkc_stage;

/** The signal that asks for the end, or 0. */
extern volatile sig_atomic_t zkc_signaled;

/**
 * Set which session timeouts a server grants from its next start on. Sessions are as long as clients ask for, or half
 * as long, and change between the two as they move. They are never longer, because the checkers measure how soon a loss
 * is noticed.
 */
void zkc_stage_limit(zkt_server *server, int which);

/** Create only the directory and its files. Fails the program if that is impossible. */
void zkc_stage_begin(zkc_stage *s, uint64_t seed);
/** Like zkc_stage_begin(). Also start the store and the servers, ready for these kinds of faults. */
void zkc_stage_open(zkc_stage *s, uint64_t seed, zkc_kinds kinds);
void zkc_stage_start_clients(zkc_stage *s);

/** Look after the processes for @ms. Returns false if a signal asks for the end. */
bool zkc_stage_pass(zkc_stage *s, int64_t ms);

/**
 * Let every thread get every lock once more and end. Processes that end in order are not restarted. Returns false if
 * they have not ended within @ms.
 */
bool zkc_stage_calm(zkc_stage *s, int64_t ms);

/** Run this program again with other arguments: all of argv, with NULL at the end. */
pid_t zkc_stage_spawn(const zkc_stage *s, const char *const *args);
/** Kill and reap the process if *@pid is not 0, and set *@pid to 0. */
void zkc_stage_end_process(pid_t *pid);

/** Kill a server that may have had its own clock. */
void zkc_stage_kill(zkt_server *server);

/** End all processes; keep the directory. */
void zkc_stage_end(zkc_stage *s);
/** Move a file of the run to where it is kept, and print that. */
void zkc_stage_keep(const zkc_stage *s, const char *name);
void zkc_stage_remove_dir(zkc_stage *s);

/** Write a record. Missing times are set to now. */
void zkc_stage_put(const zkc_stage *s, zkc_record r);

/** Build the full path of a file of the run. */
const char *
zkc_stage_file(const zkc_stage *s, const char *name, char *out, size_t size);

/** Returns the proxy between a client and a server, at the server's present address. */
zkt_proxy *zkc_stage_door(const zkc_stage *s, int client, int server);

/** Returns the leader if all servers serve and exactly one leads, else -1. */
int zkc_stage_leader(const zkc_stage *s);
/** Wait for a leader. Returns -1 if there is none within @ms or if a signal asks for the end. */
int zkc_stage_wait_leader(zkc_stage *s, int64_t ms);

#endif
