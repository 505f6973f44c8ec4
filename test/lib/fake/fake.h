/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A deterministic ZooKeeper in one thread and virtual time, behind the library's one door: one to three servers with a
 * leader, sessions and watches, and libzookeeper's side of each handle.
 *
 * A world is a set of actors: heads of message channels, timers, and the test's own. Each actor is due at some time. A
 * step picks one of the due actors at random and lets it act; when none is due, time goes on to the next. All chance
 * comes from one seed, so a seed is a schedule.
 *
 * There is one world in a process at a time, as the door's clocks take no argument.
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
    int64_t owner; /* session of an ephemeral node, else 0 */
    int64_t created_ms;
    int creates, children; /* ever made below it, at most 2147483647; below it now */
    int child_writes;      /* of data, to its children */
    int next_unapplied;    /* after what was made at this very time */
    int64_t counted_at;
    bool container;
    unsigned forbidden; /* enum zkf_perm */
    int version;
    const void *data;
    size_t data_len;
    int label; /* from on_submit(); 0 = none */
};

struct zkf_actor;

/* How a list's Stat of the parent gives the number of the next child. The numbers of new nodes are always right. */
enum zkf_counting {
    ZKF_COUNTS_CHILDREN,
    ZKF_COUNTS_WRITES, /* too high: a write to a child counts, too, as in ClickHouse Keeper */
    ZKF_COUNTS_LIVING, /* too low: nodes that are gone do not count, as in zetcd */
    ZKF_COUNTS_APART,  /* up to three too high, or right */
};

/* What the servers lack, and whether they answer that before they close the connection. */
enum { ZKF_LACKS_CREATE2 = 1, ZKF_LACKS_CONTAINERS = 2, ZKF_REFUSES = 4 };

/* Each may be NULL. Only act() may call the library. */
struct zkf_hooks {
    /* Run an actor that calls the library, as a thread would. The actor does not act again until the test says that it
     * is not busy any more. */
    void (*act)(struct zkf_actor *actor);
    /* Client @client sends a request. Returns a label for the node that it makes. After a CREATES it is called for
     * each node, as for a CREATE. */
    int (*on_submit)(int client, const struct zkr__op *op);
    /* The leader is about to delete @node. */
    void (*on_deleting)(const struct zkf_node *node);
    /* A server has taken on client @client's session with this timeout, which is shorter than before. */
    void (*on_shortened)(int client, int64_t session, int64_t timeout);
    /* The leader ends a session that it has not heard of for its timeout. */
    void (*on_expired)(int64_t session);
    /* May a list for this client lack nodes of its own now? */
    bool (*may_hide)(int client);
    /* A call at the door by client @client takes this long: let time pass. */
    void (*wait)(int client, int64_t span);
};

struct zkf_config {
    uint64_t seed;
    int servers;      /* 1 or 3 */
    int64_t tick;     /* ns */
    int64_t patience; /* ns until a server without its quorum gives up (syncLimit) */
    int64_t slow;     /* ns, the longest usual delay of a message */
    int64_t epoch;    /* of the first leader, the upper half of zxids */
    bool calm;        /* no delays: for scripts */
    bool stalls;      /* followers forget a write at times, as before 3.8.1 */
    bool exists_asks; /* exists() wants READ, as since 3.8.4 and 3.9.2 */
    bool hushes;      /* events of a node need READ, as since then */
    bool finds_first; /* a delete finds its node before it asks, as up to 3.5 */
    enum zkf_counting counting;
    unsigned lacks; /* ZKF_LACKS_CREATE2 and so on */
    bool
        renews; /* who connects again is told that its session has expired, and it lives on */
    bool trace; /* to stdout */
    struct zkf_hooks hooks;
};

void zkf_begin(const struct zkf_config *config);
/* End the world. Every handle is closed. */
void zkf_end(void);
/* The same, with handles open that are not used any more. */
void zkf_forget(void);

extern const struct zkr__door zkf_door;

/* --- time and chance --- */

struct zkf_actor {
    int64_t due; /* ZKR__NEVER = not now */
    void (*act)(void *ctx);
    void *ctx;
    const bool *stopped; /* does not act while this is true; NULL = always acts */
    int library; /* it calls the library, for client .library - 1; 0 = it does not */
    bool busy;   /* it is acting */
    int at;
};

void zkf_actor_add(struct zkf_actor *actor);
void zkf_actor_remove(struct zkf_actor *actor);
/* Let one actor act, going on in time if need be. False: none is due until @end. */
bool zkf_step(int64_t end);
/* True time, ns. The clock of each client has an offset and a rate. */
int64_t zkf_now(void);

uint64_t zkf_random(void);
int64_t zkf_below(int64_t n); /* 0 to n - 1; 0 for n < 1 */
bool zkf_chance(int percent);

/* --- clients --- */

/* From here on the library is called for this client: the door shows its clock and opens its handle. */
void zkf_enter(int client);
/* @skew: by how many millionths its clock is fast. */
void zkf_client_clock(int client, int64_t offset, int64_t skew);
/* Stop the client's process; the network and the servers go on. */
void zkf_client_stop(int client, bool stopped);
const bool *zkf_client_stopped(int client);
/* A span of the client's clock in true time, rounded down. */
int64_t zkf_client_span(int client, int64_t span);
/* Is a call by handle @zh into the library under way? */
bool zkf_calls(const void *zh);
/* Handles that the client closes from now on just vanish, as in a killed process. */
void zkf_client_killed(int client, bool killed);
/* The clocks of the client that was entered stand at the beginning of time: a wait of the library then ends at once. */
void zkf_hurry(bool hurry);

/* --- faults --- */

enum zkf_cut {
    ZKF_CUT_REQUESTS, /* what is on the way to the server is lost */
    ZKF_CUT_ANSWERS,  /* requests arrive; what is on the way back is lost */
    ZKF_CUT_SOME      /* some of both */
};
/* Break the client's connection. False: there is none. */
bool zkf_cut(int client, enum zkf_cut cut);
/* Hold up all between the client and the servers, and lose nothing. */
void zkf_blackhole(int client, bool on);
/* Cut the links of one server to the others, and later heal them. */
void zkf_isolate(int server);
void zkf_heal(void);
bool zkf_isolated(void); /* is a server cut off? */
/* Set the longest usual delay of a message. */
void zkf_slow(int64_t slow);
/* Kill a server and start it again; its connections break. Several may be down at once; servers without a quorum do not
 * serve then. */
void zkf_crash(int server);
/* All servers at once. */
void zkf_restart_all(void);
/* The same, and all data and sessions are gone; at times the epochs, too. */
void zkf_wipe(void);
/* Which session timeouts a server grants from now on; at first 2 to 20 ticks. */
void zkf_limits(int server, int64_t least, int64_t most);
int zkf_leader(void); /* -1 during an election */
bool zkf_serves(int server);
/* From now on the client connects to this server only; -1 = to any. */
void zkf_direct(int client, int server);
/* Hold up what the leader tells this server, but not what the server tells the leader. */
void zkf_lag(int server, bool on);
/* End a session now, as if by an administrator. */
void zkf_expire(int64_t session);
/*
 * Sessions are local from now on, and are not upgraded: a create of an ephemeral node is answered -120; in a transaction,
 * @refusal, which is -112 from a follower and -120 from the leader. 0: they are not local.
 */
void zkf_local_sessions(int refusal);
/* From now on, as zkf_config.lacks. */
void zkf_lack(unsigned lacks);
/* From now on who connects again gets a new session, and the old one lives on until its timeout, or not any more. */
void zkf_renew(bool on);
/* The leader deletes containers without children. Returns how many. */
long zkf_reap(void);
/* Servers break a connection that begins with watches of more bytes than this, as they do for any request above
 * jute.maxbuffer; 0 = they do not. */
void zkf_most_watches(int64_t bytes);
enum zkf_perm { ZKF_READ = 1, ZKF_WRITE = 2, ZKF_CREATE = 4, ZKF_DELETE = 8 };
/* Children may not be made, nor get data: -125, as with a quota that is enforced. */
enum { ZKF_QUOTA = 16 };
/* Forbid @perms of the node and of its children to all; 0 = forbid nothing. */
bool zkf_forbid(const char *path, unsigned perms);
void zkf_permit_all(void);
/* This node and its children may not be read just when something happens to them. NULL = no node. */
void zkf_lapse(const char *path);
/* Set the next number of a child of @path. Past 2147483647 numbers are equal, or negative, as with real servers. */
void zkf_count_from(const char *path, int number);

/* What goes wrong at the door, once in so many calls; 0 = never. */
struct zkf_door_faults {
    int open;     /* fails, with errno */
    int submit;   /* fails for want of memory */
    int add_auth; /* fails for want of memory */
    int refuse_auth; /* a server refuses the credentials, at once or at a later connection */
    int throttle; /* a server says that it is too busy for the request */
    int slow;     /* open and close take up to @span */
    int64_t span;
    int lie; /* an answer cannot be true */
};
void zkf_door_faults(const struct zkf_door_faults *faults); /* NULL: none */
/* Done by a stranger, through the leader. False: refused. */
bool zkf_stranger_create(const char *path, bool sequential);
/* The same under this very name, ephemeral of the session @owner, which is alive; 0 = persistent. */
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
size_t zkf_watch_count(void); /* at all servers */
size_t zkf_log_length(void);

/* How many credentials libzookeeper has taken for this handle. */
int zkf_credentials(const void *zh);

/* How often each of these has happened since the process began. */
struct zkf_counts {
    long cut_transactions; /* connections cut with one on its way, or its answer */
    long elections, late_writes, cut_off_writes, restarts, wipes;
    long too_new; /* clients refused because they know more than the server */
    /* Session timeouts: at first, and at re-connects. */
    long clamped, shortened, lengthened;
    long stuck_numbers, negative_numbers, refused;
    long opens_failed, submits_failed, auths_failed, auths_refused, slow_calls;
    long throttled, over_quota;
    long
        unknown_session; /* answers to requests of a session that a lone server has removed */
    long lies;
    long too_many_watches; /* connections broken for that */
    long lacked;           /* operations */
    long miscounted;       /* lists that tell a wrong number */
    long hushed;           /* events not told for want of READ */
    long renewed;          /* sessions replaced although they live on */
    long hasty;            /* transactions sent before the credentials were taken */
};
const struct zkf_counts *zkf_counts(void);

void zkf_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
