/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A deterministic ZooKeeper in one thread and virtual time, behind the library's one door: one to
 * three servers with a leader, sessions and watches, and libzookeeper's side of each handle.
 *
 * What goes on is a set of actors: heads of message channels, timers, and those of the test. Each
 * is due at some time. One step picks one of those that are due, at random, and lets it act; with
 * none due, time goes on to the next. All chance comes from one seed, so a seed is a schedule.
 *
 * There is one world per process at a time, as the door's clocks take no argument.
 */
#ifndef ZKT_FAKE_H
#define ZKT_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/zk.h"

enum { ZKF_CLIENTS = 8, ZKF_SERVERS = 3 };

struct zkf_node {
    struct zkf_node *next;
    const char *path;
    uint32_t hash, parent_hash; /* zkf_hash() of the paths */
    int64_t sequence;           /* -1 = it has none */
    int64_t czxid, mzxid, pzxid;
    int64_t owner; /* session of an ephemeral node, else 0 */
    int64_t created_ms;
    int creates, children; /* ever made below; below it now */
    bool container;
    int version;
    const void *data;
    size_t data_len;
    int label; /* what on_submit() said; 0 = nobody's */
};

/* All may be NULL. None may call the library. */
struct zkf_hooks {
    /* Client @client sends a request. Returns the label of the node, if it makes one. Of several made
     * together it is asked for each, as for a CREATE, after the whole. */
    int (*on_submit)(int client, const struct zkr__op *op);
    /* The leader has made, or is about to delete, @node. */
    void (*on_created)(const struct zkf_node *node);
    void (*on_deleting)(const struct zkf_node *node);
    /* A server has taken client @client's session on with this time-out, shorter than before. */
    void (*on_shortened)(int client, int64_t session, int64_t timeout);
};

struct zkf_config {
    uint64_t seed;
    int servers;      /* 1 or 3 */
    int64_t tick;     /* ns */
    int64_t patience; /* ns until a server without its quorum gives up (syncLimit) */
    int64_t slow;     /* ns, the longest usual delay of a message */
    bool calm;        /* no delays: for scripts */
    bool stalls;      /* followers forget a write at times, as before 3.8.1 */
    bool trace;       /* to stdout */
    struct zkf_hooks hooks;
};

void zkf_begin(const struct zkf_config *config);
/* Every handle must be closed. */
void zkf_end(void);

extern const struct zkr__door zkf_door;

/* --- time and chance --- */

struct zkf_actor {
    int64_t due; /* ZKR__NEVER = not now */
    void (*act)(void *ctx);
    void *ctx;
    const bool *stopped; /* NULL, or it does not act while this is true */
    int at;
};

void zkf_actor_add(struct zkf_actor *actor);
void zkf_actor_remove(struct zkf_actor *actor);
/* Let one act, going on in time if need be; false: nothing is due until @end. */
bool zkf_step(int64_t end);
int64_t zkf_now(
    void); /* true time, ns; each client's clock has an offset and a rate of its own */

uint64_t zkf_random(void);
int64_t zkf_below(int64_t n); /* 0 to n - 1; 0 for n < 1 */
bool zkf_chance(int percent);

/* --- clients --- */

/* The library is called for client @client from here on: whose clock the door shows, whose handle
 * it opens. */
void zkf_enter(int client);
/* @skew: its clock runs faster by this part of a million. */
void zkf_client_clock(int client, int64_t offset, int64_t skew);
/* While stopped nothing of it runs; the network and the servers go on. */
void zkf_client_stop(int client, bool stopped);
const bool *zkf_client_stopped(int client);
/* A span of the client's clock, in true time; rounded down. */
int64_t zkf_client_span(int client, int64_t span);
/* What is closed by the client from now on just vanishes, as with a process killed. */
void zkf_client_killed(int client, bool killed);
/* Its clocks stand at the beginning of time: a wait of the library then ends at once. */
void zkf_hurry(bool hurry);

/* --- faults --- */

enum zkf_cut {
    ZKF_CUT_REQUESTS, /* what is on the way to the server is lost */
    ZKF_CUT_ANSWERS,  /* it arrives; what is on the way back is lost */
    ZKF_CUT_SOME      /* of each, some */
};
/* Break the client's connection; false when there is none. */
bool zkf_cut(int client, enum zkf_cut cut);
/* Nothing passes between the client and any server, nor is anything lost, until undone. */
void zkf_blackhole(int client, bool on);
/* The links of one server to the others: cut, and later healed. */
void zkf_isolate(int server);
void zkf_heal(void);
bool zkf_isolated(void); /* is one cut off? */
/* From here on, the longest usual delay of a message. */
void zkf_slow(int64_t slow);
/* Kill a server and start it again; its connections break. */
void zkf_crash(int server);
/* What session time-outs it grants to connections from now on; at first 2 to 20 ticks. */
void zkf_limits(int server, int64_t least, int64_t most);
int zkf_leader(void); /* -1 during an election */
/* End a session now, as if by an administrator. */
void zkf_expire(int64_t session);
/* The leader deletes containers without children. */
void zkf_reap(void);
/* As a stranger, through the leader; false when refused. */
bool zkf_stranger_create(const char *path, bool sequential);
bool zkf_stranger_delete(const char *path);
bool zkf_stranger_touch(const char *path); /* sets its data */
bool zkf_stranger_set(const char *path, const void *data, size_t len);

/* --- the leader's view --- */

const struct zkf_node *zkf_nodes(void);
const struct zkf_node *zkf_find(const char *path);
uint32_t zkf_hash(const char *path);
bool zkf_session_alive(int64_t session);
size_t zkf_session_count(void);
size_t zkf_watch_count(void); /* at all servers */
size_t zkf_log_length(void);

void zkf_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
