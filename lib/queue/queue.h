/* SPDX-License-Identifier: Apache-2.0 */
/* A queue: a parent node in which claims are made, and how. */
#ifndef ZKR_QUEUE_QUEUE_H
#define ZKR_QUEUE_QUEUE_H

#include "queue/names.h"
#include "queue/rule.h"
#include "session/client.h"
#include "session/request.h"

struct zkr__directory;
struct zkr__engine;

/* Shared by its recipe and by the claims made in it; the last reference frees it. */
struct zkr__queue {
    /* --- what the recipe chooses --- */
    const char *dir; /* parent */
    /* The parent is this child of dir, and measured as dir; NULL = it is dir. */
    const char *below;
    enum zkr__name_kind kind; /* of the claims made here */
    /* Bits 1 << kind: the kinds of node that may stand beside nodes of this recipe. */
    unsigned other_kinds;
    zkr__rule rule;
    int64_t rule_arg;
    /* Text for the nodes' data. NULL = the client's, or host/pid/thread. */
    const char *owner;
    /* Behind the owner text stands the field max, with rule_arg, where there is room. */
    bool tells_arg;
    const void *data; /* data instead; NULL = owner text */
    size_t data_len;
    bool persistent_parent;
    bool keeps_place; /* past the lease bound a hold is in doubt, not lost */
    bool watch_node;  /* watch our own node from the grant on, not a while later */
    /* A hold that lasts writes behind the owner text since when it is held. */
    bool writes_metadata;
    /* A claim hears, and tells, news of other processes of this host (news.h). */
    bool hears_news;
    /* A claim tells, with on_change, that it waits behind others, and keeps what the node ahead says. */
    bool tells_queued;
    /* For so long a node may stay for the next hold (keep.h); 0 = it does not. */
    int64_t keep_ms;
    /* A claim that would wait behind so many that wait fails with ZKR_EBUSY; 0 = there is no limit. */
    int64_t max_waiters;
    /* With the lock held: the owner of a hold is asked to let go (contenders.h). NULL = no owner is told. */
    void (*on_revocation)(struct zkr__queue *q);
    void *on_revocation_ctx;

    /* --- the rest is zero at first --- */
    zkr_client *c;
    int64_t refs;
    const char *meter_path;           /* under which it is measured; NULL = dir */
    struct zkr__meter *meter;         /* NULL = not asked for yet */
    struct zkr__directory *directory; /* NULL = no claim was made yet */
    const char
        *broken; /* the maker whose recipe our node would break; NULL = none was seen */
    bool warned_foreign, warned_ahead, warned_sequence;
};

/*
 * Nodes that are made in one transaction must fit into a request, which servers limit to a MiB (jute.maxbuffer). A node
 * takes NODE_BYTES besides its directory and its data.
 */
enum { ZKR__NODE_BYTES = 150, ZKR__REQUEST_BYTES = 900000 };

/*
 * When a session ends, the leader writes the paths of all its ephemeral nodes into one transaction, each with 4 bytes for
 * its length. No server can read a transaction again that is longer than jute.maxbuffer, by default 1 MiB: the servers go
 * down, and cannot start again (ZOOKEEPER-4306). So a client has and makes nodes of at most this many bytes.
 */
enum { ZKR__NODES_BYTES = 1000000 };

/*
 * A queue of a @what, like @chosen, with copies of what that points to. ZKR_OK; or ZKR_EINVAL, for a path or data that
 * servers do not take, or ZKR_ENOMEM, with a text that names @what.
 */
int zkr__queue_create(struct zkr__queue **out,
                      zkr_client *c,
                      const char *what,
                      const struct zkr__queue *chosen);
/* What one node takes of a request. */
size_t zkr__queue_node_bytes(const struct zkr__queue *q);
/*
 * The bytes that one node takes of those of a session (ZKR__NODES_BYTES): 4, and its path with the chroot and the ten digits of
 * its number.
 */
int64_t zkr__queue_path_bytes(const struct zkr__queue *q) ZKR__LOCKED;
/* Its directory, which it keeps. NULL: no memory. */
struct zkr__directory *zkr__queue_directory(struct zkr__queue *q,
                                            struct zkr__engine *engine) ZKR__LOCKED;
/* Where it is measured; never NULL. */
struct zkr__meter *zkr__queue_meter(struct zkr__queue *q) ZKR__LOCKED;
/*
 * A server has answered a create in @q with @token. Warn if the create before it, in any queue, had a higher one: servers
 * answer creates in the order of their transactions, so data were lost.
 */
void zkr__queue_note_token(const struct zkr__queue *q,
                           struct zkr__engine *engine,
                           int64_t token) ZKR__LOCKED;
/* NULL is a no-op. */
void zkr__queue_unref(struct zkr__queue *q) ZKR__LOCKED;
/*
 * Warn, once, of foreign nodes on the path, whose makers may not respect our nodes. @list: the answer that has @children;
 * NULL = there is none. True: no node of ours may stay beside them.
 */
bool zkr__queue_check(struct zkr__queue *q,
                      const struct zkr__children *children,
                      const struct zkr__answer *list) ZKR__LOCKED;
/* The error of a claim that zkr__queue_check() has ended. */
int zkr__queue_refuse(const struct zkr__queue *q);
/* A claim waits for the child @name. Warn, once, if it is not ephemeral. */
void zkr__queue_note_ahead(struct zkr__queue *q,
                           const char *name,
                           const struct zkr__answer *answer) ZKR__LOCKED;

#endif
