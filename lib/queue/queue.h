/* SPDX-License-Identifier: Apache-2.0 */
/* A queue: a parent node, and how claims are made in it. */
#ifndef ZKR_QUEUE_QUEUE_H
#define ZKR_QUEUE_QUEUE_H

#include "queue/names.h"
#include "queue/rule.h"
#include "session/client.h"
#include "session/request.h"

struct zkr__directory;
struct zkr__engine;

/* Shared by a recipe and its claims; the last reference frees the queue. */
struct zkr__queue {
    /* --- what the recipe chooses --- */
    const char *dir; /* path of the parent node */
    /* If set, the parent is this child of dir, and its metrics are under dir. NULL = the parent is dir. */
    const char *below;
    enum zkr__name_kind kind; /* kind of the claims' nodes */
    /* The other kinds of node that may be in the directory, as bits 1 << kind. */
    unsigned other_kinds;
    zkr__rule rule;
    int64_t rule_arg;
    /* Owner text for the nodes' data. NULL = the client's owner text, or host/pid/thread. */
    const char *owner;
    /* Append the field max, with rule_arg, to the owner text if there is room. */
    bool tells_arg;
    const void *data; /* replaces the owner text; NULL = owner text */
    size_t data_len;
    bool persistent_parent;
    bool keeps_place; /* when the lease bound passes, a hold is in doubt, not lost */
    bool watch_node;  /* watch our own node right after the grant */
    /* A hold that lasts writes holder metadata into its node, behind the owner text. */
    bool writes_metadata;
    /* Claims exchange news with other processes on this host (news.h). */
    bool hears_news;
    /* A claim calls on_change when it has to wait, and remembers the content of the node ahead. */
    bool tells_queued;
    /* How long a node may stay for the next holds (keep.h); 0 = the node does not stay. */
    int64_t keep_ms;
    /* The owner of a hold is warned when less of the lease is left (warning.h); 0 = no warning. */
    int64_t warn_ms;
    /* A claim fails with ZKR_EBUSY if this many contenders already wait; 0 = no limit. */
    int64_t max_waiters;
    /* Called with the lock held at a revocation request (contenders.h). NULL = owners are not notified. */
    void (*on_revocation)(struct zkr__queue *q);
    void *on_revocation_ctx;

    /* --- zero at the start --- */
    zkr_client *c;
    int64_t refs;
    const char *meter_path;           /* the path for metrics; NULL = dir */
    struct zkr__meter *meter;         /* NULL = not looked up yet */
    struct zkr__directory *directory; /* NULL = no claim was made yet */
    const char *broken; /* a program that our node would break; NULL = none seen */
    bool warned_foreign, warned_ahead, warned_sequence;
};

/*
 * Nodes created in one transaction must fit into one request, which servers limit to 1 MiB (jute.maxbuffer). Each node
 * takes ZKR__NODE_BYTES plus the lengths of its directory and its data.
 */
enum { ZKR__NODE_BYTES = 150, ZKR__REQUEST_BYTES = 900000 };

/*
 * When a session ends, the leader writes the paths of all its ephemeral nodes into one transaction, each with 4 bytes
 * for its length. If the transaction is longer than jute.maxbuffer, by default 1 MiB, no server can read it back: the
 * servers stop, and cannot start again (ZOOKEEPER-4306). So the nodes of one client take at most this many bytes.
 */
enum { ZKR__NODES_BYTES = 1000000 };

/*
 * Make a queue as described by @chosen, and copy its strings and data. Returns ZKR_OK, ZKR_EINVAL for a path or data
 * that servers do not accept, or ZKR_ENOMEM. @what names the recipe in the error text.
 */
int zkr__queue_create(struct zkr__queue **out,
                      zkr_client *c,
                      const char *what,
                      const struct zkr__queue *chosen);
/* Returns how many bytes one node takes in a request. */
size_t zkr__queue_node_bytes(const struct zkr__queue *q);
/*
 * Returns how many bytes of ZKR__NODES_BYTES one node takes: 4, and the length of its path with the chroot and the ten
 * digits of its number.
 */
int64_t zkr__queue_path_bytes(const struct zkr__queue *q) ZKR__LOCKED;
/* Returns the directory of @q, which keeps a reference to it. NULL: out of memory. */
struct zkr__directory *zkr__queue_directory(struct zkr__queue *q,
                                            struct zkr__engine *engine) ZKR__LOCKED;
/* Returns the meter of @q, never NULL. */
struct zkr__meter *zkr__queue_meter(struct zkr__queue *q) ZKR__LOCKED;
/*
 * Record @token, from the answer to a create in @q. Warn if the create before, in any queue, had a higher token,
 * because servers answer creates in the order of their transactions unless they have lost data.
 */
void zkr__queue_note_token(const struct zkr__queue *q,
                           struct zkr__engine *engine,
                           int64_t token) ZKR__LOCKED;
/* Drop a reference. NULL is a no-op. */
void zkr__queue_unref(struct zkr__queue *q) ZKR__LOCKED;
/*
 * Warn, once, about foreign nodes on the path whose makers may not respect our nodes. @list is the answer with the
 * @children; NULL = none. Returns true if our node must not stay beside them.
 */
bool zkr__queue_check(struct zkr__queue *q,
                      const struct zkr__children *children,
                      const struct zkr__answer *list) ZKR__LOCKED;
/* Set and return the error of a claim that zkr__queue_check() has refused. */
int zkr__queue_refuse(const struct zkr__queue *q);
/* Warn, once, if the child @name, which a claim waits for, is not ephemeral. */
void zkr__queue_note_ahead(struct zkr__queue *q,
                           const char *name,
                           const struct zkr__answer *answer) ZKR__LOCKED;

#endif
