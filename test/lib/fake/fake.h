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
    int creates, children; /* ever made below, at most 2147483647; below it now */
    int next_unapplied;    /* after what was made at this very time */
    int64_t counted_at;
    bool container;
    unsigned forbidden; /* enum zkf_perm */
    int version;
    const void *data;
    size_t data_len;
    int label; /* what on_submit() said; 0 = nobody's */
};

struct zkf_actor;

/* All may be NULL. None but the first may call the library. */
struct zkf_hooks {
    /* Let one act that calls the library, as one of its own threads would: it is busy, and does not
     * act again, until the test says otherwise. */
    void (*act)(struct zkf_actor *actor);
    /* Client @client sends a request. Returns the label of the node, if it makes one. Of several made
     * together it is asked for each, as for a CREATE, after the whole. */
    int (*on_submit)(int client, const struct zkr__op *op);
    /* The leader has made, or is about to delete, @node. */
    void (*on_created)(const struct zkf_node *node);
    void (*on_deleting)(const struct zkf_node *node);
    /* A server has taken client @client's session on with this time-out, shorter than before. */
    void (*on_shortened)(int client, int64_t session, int64_t timeout);
    /* The leader has refused, for want of permission, to make a node with this label; or to delete
     * @deleted, else NULL. */
    void (*on_refused)(int label, const char *deleted);
    /* A list for this client may lack nodes of its own now: it does not look for one that may not have been made. */
    bool (*may_hide)(int client);
    /* A call of the library at the door of client @client takes this long: let time pass. */
    void (*wait)(int client, int64_t span);
};

struct zkf_config {
    uint64_t seed;
    int servers;      /* 1 or 3 */
    int64_t tick;     /* ns */
    int64_t patience; /* ns until a server without its quorum gives up (syncLimit) */
    int64_t slow;     /* ns, the longest usual delay of a message */
    int64_t
        epoch; /* of the first leader: the upper half of zxids; each election adds one */
    bool calm;        /* no delays: for scripts */
    bool stalls;      /* followers forget a write at times, as before 3.8.1 */
    bool exists_asks; /* exists() wants READ, as since 3.8.4 and 3.9.2 */
    bool hushes;      /* who may not read a node is not told of it, as since then */
    bool trace;       /* to stdout */
    struct zkf_hooks hooks;
};

void zkf_begin(const struct zkf_config *config);
/* Every handle must be closed. */
void zkf_end(void);
/* Unless none will be used any more. */
void zkf_forget(void);

extern const struct zkr__door zkf_door;

/* --- time and chance --- */

struct zkf_actor {
    int64_t due; /* ZKR__NEVER = not now */
    void (*act)(void *ctx);
    void *ctx;
    const bool *stopped; /* NULL, or it does not act while this is true */
    int library;         /* of client .library - 1 it calls the library; 0 = of none */
    bool busy;           /* it acts */
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
/* Has what comes from handle @zh not returned yet? */
bool zkf_calls(const void *zh);
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
/* Kill a server and start it again; its connections break. Several may be down at once, and none
 * serves then but those that a quorum is left to. */
void zkf_crash(int server);
/* All of them at once. */
void zkf_restart_all(void);
/* The same, and all data and sessions are gone; at times the epochs, too. */
void zkf_wipe(void);
/* What session time-outs it grants to connections from now on; at first 2 to 20 ticks. */
void zkf_limits(int server, int64_t least, int64_t most);
int zkf_leader(void); /* -1 during an election */
bool zkf_serves(int server);
/* From now on the client connects to this server only; -1 = to any. */
void zkf_direct(int client, int server);
/* What the leader tells this server waits, while it goes on telling the leader. */
void zkf_lag(int server, bool on);
/* End a session now, as if by an administrator. */
void zkf_expire(int64_t session);
/* The leader deletes containers without children. */
void zkf_reap(void);
/* A server breaks a connection that begins with watches of more bytes than this, as real ones do with any request above
 * jute.maxbuffer; 0 = none does. */
void zkf_most_watches(int64_t bytes);
enum zkf_perm { ZKF_READ = 1, ZKF_WRITE = 2, ZKF_CREATE = 4, ZKF_DELETE = 8 };
/* No data may be written to children of it, nor may any be made: -125, as with a quota that is enforced. */
enum { ZKF_QUOTA = 16 };
/* From now on nobody may do this to the node, or to children of it; 0 = all may. */
bool zkf_forbid(const char *path, unsigned perms);
void zkf_permit_all(void);
/* From now on nobody may read this node, or a child of it, just when something happens to it; NULL: no node is like that. */
void zkf_lapse(const char *path);
/* The next number that is given out below @path, as if so many children had been there. Past
 * 2147483647 they are as real servers give them out: equal, or negative. */
void zkf_count_from(const char *path, int number);

/* What goes wrong at the door itself, once in so many calls; 0 = never. */
struct zkf_door_faults {
    int open;     /* fails, with errno */
    int submit;   /* fails for want of memory */
    int add_auth; /* fails for want of memory */
    int refuse_auth; /* the server refuses the credentials, then or at a later connection */
    int throttle; /* a server is too busy for the request, and says so */
    int slow;     /* open and close take up to @span */
    int64_t span;
    int lie; /* it answers what cannot be */
};
void zkf_door_faults(const struct zkf_door_faults *faults); /* NULL: none */
/* As a stranger, through the leader; false when refused. */
bool zkf_stranger_create(const char *path, bool sequential);
/* Under this very name: for a session that is alive, or persistent with 0. */
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
/* Those for the data, or the end, of one node. */
size_t zkf_watches_on(const char *path);
size_t zkf_log_length(void);

/* How many credentials libzookeeper has taken for this handle. */
int zkf_credentials(const void *zh);

/* How often what happened, since the process began. */
struct zkf_counts {
    long elections, late_writes, cut_off_writes, restarts, wipes;
    long too_new; /* clients refused that know more than the server */
    long clamped, shortened,
        lengthened; /* session time-outs: at first, and at re-connects */
    long stuck_numbers, negative_numbers, refused;
    long opens_failed, submits_failed, auths_failed, auths_refused, slow_calls;
    long throttled, over_quota;
    long lies;
    long too_many_watches; /* connections broken for that */
    long hushed;           /* events that were not told, for want of READ */
    long
        hasty; /* transactions sent before the credentials were taken, which libzookeeper may not survive */
};
const struct zkf_counts *zkf_counts(void);

void zkf_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
