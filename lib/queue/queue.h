/* SPDX-License-Identifier: Apache-2.0 */
/* A queue: a parent node, and the properties of the claims in it. */
#ifndef ZKR_QUEUE_QUEUE_H
#define ZKR_QUEUE_QUEUE_H

#include "queue/names.h"
#include "queue/rule.h"
#include "session/client.h"
#include "session/request.h"

struct zkr__directory;
struct zkr__engine;

/* Shared by a recipe and its claims. The last reference frees the queue. */
struct zkr__queue {
    /* --- chosen by the recipe --- */
    const char *dir; /* path of the parent node */
    /* If set, the parent is this child of dir, and the metrics of the queue are under dir. NULL = the parent is dir. */
    const char *below;
    enum zkr__name_kind kind; /* kind of the claims' nodes */
    /* The other kinds of nodes that may be in the directory, as bits 1 << kind. */
    unsigned other_kinds;
    zkr__rule rule;
    int64_t rule_arg;
    /* Owner text for the data of the nodes. NULL = the client's owner text, or host/pid/thread. */
    const char *owner;
    /* If there is room, the field max, with rule_arg, follows the owner text. */
    bool tells_arg;
    const void *data; /* replaces the owner text; NULL = the owner text stays */
    size_t data_len;
    bool persistent_parent;
    bool keeps_place; /* after the lease bound, a hold is in doubt, but not lost */
    bool watch_node;  /* a claim watches its own node right after the grant */
    /* A hold that lasts writes holder metadata into its node, after the owner text. */
    bool writes_metadata;
    /* Claims exchange news with other processes on this host (news.h). */
    bool hears_news;
    /* A claim that must wait calls on_change, and remembers the content of the node ahead. */
    bool tells_queued;
    /* How long a node may stay for later holds (keep.h). 0 = it does not stay. */
    int64_t keep_ms;
    /* The owner of a hold is warned when less than this is left of the lease (warning.h). 0 = no warning. */
    int64_t warn_ms;
    /* A claim fails with ZKR_EBUSY if this many contenders already wait. 0 = no limit. */
    int64_t max_waiters;
    /* Called with the lock held when a revocation request arrives (contenders.h). NULL = owners are not notified. */
    void (*on_revocation)(struct zkr__queue *q);
    void *on_revocation_ctx;

    /* --- initially zero --- */
    zkr_client *c;
    int64_t refs;
    const char *meter_path;           /* the path for metrics; NULL = dir */
    struct zkr__meter *meter;         /* NULL = not looked up yet */
    struct zkr__directory *directory; /* NULL = no claim has been made yet */
    const char *broken; /* a program that our node would break; NULL = none was seen */
    bool warned_foreign, warned_ahead, warned_sequence;
};

/*
 * All nodes of a transaction must fit into one request, which servers limit to 1 MiB (jute.maxbuffer). Each node takes
 * ZKR__NODE_BYTES plus the lengths of its directory and its data.
 */
enum { ZKR__NODE_BYTES = 150, ZKR__REQUEST_BYTES = 900000 };

/*
 * When a session ends, the leader writes the paths of all its ephemeral nodes into one transaction, each path with 4
 * bytes for its length. If the transaction is longer than jute.maxbuffer, by default 1 MiB, no server can read it back.
 * Then the servers stop, and cannot start again (ZOOKEEPER-4306). So the nodes of one client take at most this many
 * bytes.
 */
enum { ZKR__NODES_BYTES = 1000000 };

/*
 * Make a queue as described by @chosen, and copy its strings and data. Returns ZKR_OK, ZKR_EINVAL if servers do not
 * accept the path or the data, or ZKR_ENOMEM. The error text calls the recipe @what.
 */
int zkr__queue_create(struct zkr__queue **out,
                      zkr_client *c,
                      const char *what,
                      const struct zkr__queue *chosen);
/* Returns how many bytes one node takes in a request. */
size_t zkr__queue_node_bytes(const struct zkr__queue *q);
/*
 * Returns how many bytes of ZKR__NODES_BYTES one node takes: 4, plus the length of its path with the chroot and the ten
 * digits of its number.
 */
int64_t zkr__queue_path_bytes(const struct zkr__queue *q) ZKR__LOCKED;
/* Returns the directory of @q, to which @q keeps a reference, or NULL if memory runs out. */
struct zkr__directory *zkr__queue_directory(struct zkr__queue *q,
                                            struct zkr__engine *engine) ZKR__LOCKED;
/* Returns the meter of @q, which is never NULL. */
struct zkr__meter *zkr__queue_meter(struct zkr__queue *q) ZKR__LOCKED;
/*
 * Record @token, from the answer to a create in @q. Logs a warning if the previous create, in any queue, had a higher
 * token. Servers answer creates in the order of their transactions, so they must have lost data.
 */
void zkr__queue_note_token(const struct zkr__queue *q,
                           struct zkr__engine *engine,
                           int64_t token) ZKR__LOCKED;
/* Drop a reference. NULL is a no-op. */
void zkr__queue_unref(struct zkr__queue *q) ZKR__LOCKED;
/*
 * Log a warning, once, about foreign nodes on the path whose makers may not respect our nodes. @list is the answer that
 * has the @children, or NULL. Returns true if our node must not stay beside them.
 */
bool zkr__queue_check(struct zkr__queue *q,
                      const struct zkr__children *children,
                      const struct zkr__answer *list) ZKR__LOCKED;
/* Set and return the error of a claim that zkr__queue_check() has refused. */
int zkr__queue_refuse(const struct zkr__queue *q);
/* If the child @name, for which a claim waits, is not ephemeral, log a warning, once. */
void zkr__queue_note_ahead(struct zkr__queue *q,
                           const char *name,
                           const struct zkr__answer *answer) ZKR__LOCKED;

#endif
