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
 * What the coordinator runs: three servers with proxies between them, the store, six clients,
 * of which the last three reach the servers through proxies. Clients that end are started
 * again. Used from one thread.
 */

/* The credentials of the super user of the servers, for scheme "digest". */
#define ZKC_SUPER "super:chaos"

enum { ZKC_SERVERS = 3, ZKC_PROXIED = 3, ZKC_PLACES = 2 };

struct zkc_client {
    pid_t pid; /* 0: not running */
    int life;
    int64_t again_at; /* when to start it again, by zkt_now_ms() */
    bool ended;       /* in order, after the calm */
};

typedef struct zkc_stage {
    uint64_t seed;
    uint64_t random; /* for what is no fault */
    char dir[160];
    int history;
    struct zkc_control *control;
    zkt_ensemble *ensemble;
    struct zkt_bad_host *hosts[ZKC_SERVERS];    /* that the servers run on */
    zkt_proxy *links[ZKC_SERVERS][ZKC_SERVERS]; /* from, to; NULL: there is none */
    /* At both addresses that the name of a server can have; one of them resets whoever comes. */
    zkt_proxy *doors[ZKC_PROXIED][ZKC_SERVERS][ZKC_PLACES];
    char servers[ZKC_PROXIED + 1]
                [128]; /* what clients are told; last: without proxies */
    pid_t store;
    struct zkc_client clients[ZKC_PROCESSES];
    void (*each_tick)(void *ctx);
    void *each_tick_ctx;
    int crashed; /* processes that ended as they should not */
    char crash[120];
} zkc_stage;

/** Signal that asks for the end, or 0. */
extern volatile sig_atomic_t zkc_signaled;

/**
 * Which session time-outs a server grants from its next start on. Sessions are half as long as clients ask for, or as
 * long, and go from one to the other as they move; never longer, by which the judge measures how soon a loss is noticed.
 */
void zkc_stage_limit(zkt_server *server, int which);

/** Make the directory and its files, and no more; fails the program when it cannot. */
void zkc_stage_begin(zkc_stage *s, uint64_t seed);
/** The same, and start store and servers, which are ready for these kinds of faults. */
void zkc_stage_open(zkc_stage *s, uint64_t seed, zkc_kinds kinds);
void zkc_stage_start_clients(zkc_stage *s);

/** Look after the processes for @ms. False: a signal asks for the end. */
bool zkc_stage_pass(zkc_stage *s, int64_t ms);

/** No more restarts; every thread gets every lock once more and ends. False: not by @ms. */
bool zkc_stage_calm(zkc_stage *s, int64_t ms);

/** Run this program again, with other arguments: argv from its first on, and NULL at the end. */
pid_t zkc_stage_spawn(const zkc_stage *s, const char *const *args);
/** Kill and reap it, if it is not 0, and set it to 0. */
void zkc_stage_end_process(pid_t *pid);

/** Kill a server that may have had a clock of its own. */
void zkc_stage_kill(zkt_server *server);

/** End all processes; keep the directory. */
void zkc_stage_end(zkc_stage *s);
/** Move a file of the run to where it stays, and say so. */
void zkc_stage_keep(const zkc_stage *s, const char *name);
void zkc_stage_remove_dir(zkc_stage *s);

/** Write a record with the times of now in it. */
void zkc_stage_put(const zkc_stage *s, zkc_record r);

/** Full path of a file of the run. */
const char *
zkc_stage_file(const zkc_stage *s, const char *name, char *out, size_t size);

/** The way of one client to a server, where that is now. */
zkt_proxy *zkc_stage_door(const zkc_stage *s, int client, int server);

/** The one leader while all servers serve, or -1. */
int zkc_stage_leader(const zkc_stage *s);
/** Wait for one. Returns -1 when there is none by @ms or a signal asks for the end. */
int zkc_stage_wait_leader(zkc_stage *s, int64_t ms);

#endif
