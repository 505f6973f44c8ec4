/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A deterministic ZooKeeper in one thread and in virtual time, behind the library's only door: one or three servers
 * with a leader, sessions and watches, and libzookeeper's part of each handle.
 *
 * A world is a set of actors: the heads of message channels, timers, and the test's own actors. Each actor is due at
 * some time. A step picks one of the due actors at random, and lets it act. If none is due, time advances to the next
 * one. All randomness comes from one seed, so a seed determines a schedule.
 *
 * Each process has only one world at a time, because the door's clocks take no argument.
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
    int64_t sequence;           /* -1 = none */
    int64_t czxid, mzxid, pzxid;
    int64_t owner; /* session that owns an ephemeral node, else 0 */
    int64_t created_ms;
    /* Number of children created so far, at most 2147483647, and number of existing children. */
    int creates, children;
    int child_writes; /* how often the data of its children were written */
    /* Number of the next child, counting creates that are not applied yet. */
    int next_unapplied;
    int64_t counted_at;
    bool container;
    unsigned forbidden; /* bits of enum zkf_perm */
    int version;
    const void *data;
    size_t data_len;
    int label; /* from on_submit(); 0 = none */
};

struct zkf_actor;

/* How the parent's Stat in a list gives the number of the next child. The numbers of new nodes are always right. */
enum zkf_counting {
    ZKF_COUNTS_CHILDREN,
    ZKF_COUNTS_WRITES, /* too high: counts writes to children, too, as ClickHouse Keeper */
    ZKF_COUNTS_LIVING, /* too low: does not count deleted nodes, as in zetcd */
    ZKF_COUNTS_APART,  /* right, or up to three too high */
};

/* What the servers lack, and whether they send an answer before they close the connection. */
enum { ZKF_LACKS_CREATE2 = 1, ZKF_LACKS_CONTAINERS = 2, ZKF_REFUSES = 4 };

/* Each hook may be NULL. Only act() may call the library. */
struct zkf_hooks {
    /*
     * Run an actor that calls the library, as a thread would. The actor does not act again until the test clears its
     * busy flag.
     */
    void (*act)(struct zkf_actor *actor);
    /*
     * Client @client sends a request. Returns a label for the node that the request creates. For a CREATES it is called
     * for each node, as for a CREATE.
     */
    int (*on_submit)(int client, const struct zkr__op *op);
    /* The leader is about to delete @node. */
    void (*on_deleting)(const struct zkf_node *node);
    /* A server has accepted the session of client @client with this timeout, which is shorter than before. */
    void (*on_shortened)(int client, int64_t session, int64_t timeout);
    /* The leader ends a session that it has not heard from for the session's timeout. */
    void (*on_expired)(int64_t session);
    /* Returns whether a list for this client may now lack some of its own nodes. */
    bool (*may_hide)(int client);
    /* Let time pass, because a call of client @client through the door takes @span. */
    void (*wait)(int client, int64_t span);
};

struct zkf_config {
    uint64_t seed;
    int servers;  /* 1 or 3 */
    int64_t tick; /* ns */
    /* Time in ns after which a server without a quorum gives up (syncLimit). */
    int64_t patience;
    int64_t slow;     /* ns, the longest usual delay of a message */
    int64_t epoch;    /* epoch of the first leader, the upper half of zxids */
    bool calm;        /* no delays, for scripted tests */
    bool stalls;      /* followers sometimes forget a write, as before 3.8.1 */
    bool exists_asks; /* exists() needs READ, as since 3.8.4 and 3.9.2 */
    bool hushes;      /* events of a node need READ, as since these releases */
    /* A delete finds its node before it checks permissions, as up to 3.5. */
    bool finds_first;
    enum zkf_counting counting;
    unsigned lacks; /* bits ZKF_LACKS_CREATE2 and so on */
    /* A client that reconnects gets the event that its session has expired, although it has not. */
    bool renews;
    bool trace; /* writes a trace to stdout */
    struct zkf_hooks hooks;
};

void zkf_begin(const struct zkf_config *config);
/* End the world. Every handle must be closed. */
void zkf_end(void);
/* End the world, even if unused handles are still open. */
void zkf_forget(void);

extern const struct zkr__door zkf_door;

/* --- time and chance --- */

struct zkf_actor {
    int64_t due; /* ZKR__NEVER = not due */
    void (*act)(void *ctx);
    void *ctx;
    /* The actor does not act while this is true; NULL = it always acts. */
    const bool *stopped;
    /* The actor calls the library for client .library - 1; 0 = it does not. */
    int library;
    bool busy; /* the actor is acting */
    int at;
};

void zkf_actor_add(struct zkf_actor *actor);
void zkf_actor_remove(struct zkf_actor *actor);
/* Let one actor act. If none is due, time advances first. Returns false if none is due until @end. */
bool zkf_step(int64_t end);
/* Returns true time, in ns. The clock of each client has an offset and a rate. */
int64_t zkf_now(void);

uint64_t zkf_random(void);
int64_t zkf_below(int64_t n); /* returns 0 to n - 1, or 0 for n < 1 */
bool zkf_chance(int percent);

/* --- clients --- */

/* From here on, the library is called for this client: the door uses its clock, and opens its handle. */
void zkf_enter(int client);
/* The client's clock is ahead by @offset, and runs fast by @skew millionths. */
void zkf_client_clock(int client, int64_t offset, int64_t skew);
/* Stop or continue the client's process. The network and the servers go on. */
void zkf_client_stop(int client, bool stopped);
const bool *zkf_client_stopped(int client);
/* Returns a span of the client's clock in true time, rounded down. */
int64_t zkf_client_span(int client, int64_t span);
/* Returns whether handle @zh is calling the library. */
bool zkf_calls(const void *zh);
/* From now on, handles that the client closes just vanish, as in a killed process. */
void zkf_client_killed(int client, bool killed);
/* The clocks of the current client stay at the beginning of time, so that waits of the library end at once. */
void zkf_hurry(bool hurry);

/* --- faults --- */

enum zkf_cut {
    ZKF_CUT_REQUESTS, /* messages on their way to the server are lost */
    ZKF_CUT_ANSWERS,  /* requests arrive; messages on the way back are lost */
    ZKF_CUT_SOME      /* some messages in both directions are lost */
};
/* Break the client's connection. Returns false if there is none. */
bool zkf_cut(int client, enum zkf_cut cut);
/* Hold up all messages between the client and the servers, without losing any. */
void zkf_blackhole(int client, bool on);
/* Cut the links of one server to the others, and later restore them. */
void zkf_isolate(int server);
void zkf_heal(void);
bool zkf_isolated(void); /* returns whether a server is cut off */
/* Set the longest usual delay of a message. */
void zkf_slow(int64_t slow);
/*
 * Kill a server and start it again. Its connections break. Several servers may be down at once, and servers without a
 * quorum do not serve.
 */
void zkf_crash(int server);
/* Crash all servers at once. */
void zkf_restart_all(void);
/* Crash all servers, and delete all data and sessions, and sometimes also the epochs. */
void zkf_wipe(void);
/* Set the session timeouts that a server grants from now on. Initially these are 2 to 20 ticks. */
void zkf_limits(int server, int64_t least, int64_t most);
int zkf_leader(void); /* -1 during an election */
bool zkf_serves(int server);
/* From now on, the client connects only to this server. -1 = to any server. */
void zkf_direct(int client, int server);
/* Hold up what the leader sends to this server, but not what the server sends to the leader. */
void zkf_lag(int server, bool on);
/* End a session now, as an administrator would. */
void zkf_expire(int64_t session);
/*
 * From now on, sessions are local and are not upgraded. A create of an ephemeral node is answered with -120 or, in a
 * transaction, with @refusal, which is -112 from a follower and -120 from the leader. 0 = sessions are not local.
 */
void zkf_local_sessions(int refusal);
/* From now on, use this value of zkf_config.lacks. */
void zkf_lack(unsigned lacks);
/* From now on, if @on, a client that reconnects gets a new session, and its old session stays until its timeout. */
void zkf_renew(bool on);
/* Let the leader delete containers without children. Returns how many it deleted. */
long zkf_reap(void);
/*
 * Servers break a connection that begins with watches of more bytes than this, as they do for any request above
 * jute.maxbuffer. 0 = no limit.
 */
void zkf_most_watches(int64_t bytes);
enum zkf_perm { ZKF_READ = 1, ZKF_WRITE = 2, ZKF_CREATE = 4, ZKF_DELETE = 8 };
/* A quota that is enforced: creating children and setting data are refused with -125. */
enum { ZKF_QUOTA = 16 };
/* Forbid @perms for the node and its children to everybody. 0 = forbid nothing. */
bool zkf_forbid(const char *path, unsigned perms);
void zkf_permit_all(void);
/* Reading this node and its children is forbidden just when something happens to them. NULL = no node. */
void zkf_lapse(const char *path);
/* Set the number of the next child of @path. Above 2147483647, numbers are equal or negative, as with real servers. */
void zkf_count_from(const char *path, int number);

/* Faults at the door. Each happens once in so many calls; 0 = never. */
struct zkf_door_faults {
    int open;     /* fails with errno */
    int submit;   /* fails for lack of memory */
    int add_auth; /* fails for lack of memory */
    /* A server refuses the credentials, at once or at a later connection. */
    int refuse_auth;
    int throttle; /* a server is too busy for the request */
    int slow;     /* the duration of an open or a close is up to @span */
    int64_t span;
    int lie; /* an answer contains something impossible */
};
void zkf_door_faults(const struct zkf_door_faults *faults); /* NULL: none */
/* Make a change as another client, through the leader. Return false if the change is refused. */
bool zkf_stranger_create(const char *path, bool sequential);
/*
 * Like zkf_stranger_create(), with exactly this name. The node is ephemeral for the living session @owner, or
 * persistent if @owner is 0.
 */
bool zkf_stranger_create_for(const char *path, int64_t owner);
bool zkf_stranger_delete(const char *path);
bool zkf_stranger_touch(const char *path); /* sets its data */
bool zkf_stranger_set(const char *path, const void *data, size_t len);

/* --- the leader's view --- */

const struct zkf_node *zkf_nodes(void);
const struct zkf_node *zkf_find(const char *path);
uint32_t zkf_hash(const char *path);
bool zkf_session_alive(int64_t session);
size_t zkf_session_count(void);
size_t zkf_watch_count(void); /* number of watches at all servers */
size_t zkf_log_length(void);

/* Returns how many credentials libzookeeper has accepted for this handle. */
int zkf_credentials(const void *zh);

/* Number of times that each of these events has happened since the process began. */
struct zkf_counts {
    /* Connections that were cut with a transaction or its answer on the way. */
    long cut_transactions;
    long elections, late_writes, cut_off_writes, restarts, wipes;
    long too_new; /* clients refused because they know more than the server */
    /* Session timeouts, at first and at re-connections. */
    long clamped, shortened, lengthened;
    long stuck_numbers, negative_numbers, refused;
    long opens_failed, submits_failed, auths_failed, auths_refused, slow_calls;
    long throttled, over_quota;
    /* Answers to requests of a session that a standalone server has removed. */
    long unknown_session;
    long lies;
    long too_many_watches; /* connections broken because of their watches */
    long lacked;           /* operations refused as unknown */
    long miscounted;       /* lists with a wrong number */
    long hushed;           /* events withheld for lack of READ */
    long renewed;          /* sessions replaced although they were alive */
    long hasty;            /* transactions sent before the credentials were accepted */
};
const struct zkf_counts *zkf_counts(void);

void zkf_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
