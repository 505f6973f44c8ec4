/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues and claims: what a recipe uses. A queue is a parent node with a prefix and a rule; a
 * claim is one node of ours in it. Nothing else creates, orders, watches, waits or retries.
 *
 * All functions on claims need the client's lock, c->mu.
 */
#ifndef ZKR_ENGINE_QUEUE_H
#define ZKR_ENGINE_QUEUE_H

#include "base/guid.h"
#include "engine/claim.h"
#include "engine/rule.h"
#include "session/request.h"

struct zkr__queue_spec {
    const char *dir; /* parent; valid */
    const char *prefix;
    zkr__rule rule;
    int64_t rule_arg;
    const char
        *owner; /* text for the nodes' data; NULL = the client's, or host/pid/thread */
    const void *data; /* data instead; NULL = owner text */
    size_t data_len;
    bool persistent_parent;
    bool keeps_place; /* see keeps in claim.h */
    bool watch_node;  /* from the grant on */
};

/* Shared by its recipe and by the claims made in it; freed with the last. */
struct zkr__queue {
    zkr_client *c;
    int64_t refs;
    char *dir;
    char *prefix;
    zkr__rule rule;
    int64_t rule_arg;
    char *owner;
    void *data;
    size_t data_len;
    bool persistent_parent;
    bool keeps_place;
    bool watch_node;
    bool warned_foreign, warned_sequence;
};

struct zkr__engine;

struct zkr__claim {
    struct zkr__claim_state k;
    struct zkr__queue *q;
    /* What the recipe reads. */
    int64_t sequence;
    int64_t czxid;
    unsigned epoch;
    int detail; /* ZooKeeper's code of a failure */
    bool canceled;
    struct zkr__claim *owner_prev, *owner_next; /* for a list of the recipe's own */
    /* The engine's. */
    void (*on_change)(struct zkr__claim *claim, void *ctx);
    void *on_change_ctx;
    struct zkr__cv decided;
    struct zkr__engine *engine;
    struct zkr__claim *prev, *next;                 /* engine: all claims */
    struct zkr__claim *quiet_prev, *quiet_next;     /* engine: by quiet_at */
    struct zkr__claim *foreign_prev, *foreign_next; /* engine: those with ahead_path */
    struct zkr__claim *ahead, *behind;              /* neighbours of this client */
    char *ahead_path;                               /* parked behind a stranger */
    UT_hash_handle hh;                              /* engine: by node */
    int64_t retry_at, quiet_at;                     /* 0 = off */
    bool written; /* FINDING: the write ahead of the list was answered */
    unsigned in_flight, busy;
    uint64_t seen; /* last node event it was told */
    int counted_as;
    bool detached; /* the owner has let go; freed when nothing needs it any more */
    int parent_code;
    long thread;
    char guid[ZKR__GUID_LEN + 1];
    char node[]; /* full path, "" = none known */
};

int zkr__queue_create(struct zkr__queue **out,
                      zkr_client *c,
                      const struct zkr__queue_spec *spec);
void zkr__queue_unref(struct zkr__queue *q) ZKR__LOCKED;

/*
 * Join the queue. @once: fail with ZKR_ETIMEDOUT instead of waiting behind others. @on_change,
 * which may be NULL, is called with the lock held at each change of the outcome (granted, failed,
 * lost); it must not block, and may leave the claim. A client whose credentials are refused calls
 * it before this returns, with *out set. Returns ZKR_OK, ZKR_ENOMEM or ZKR_ESYS.
 */
int zkr__claim_enter(struct zkr__claim **out,
                     struct zkr__queue *q,
                     bool once,
                     void (*on_change)(struct zkr__claim *claim, void *ctx),
                     void *ctx) ZKR__LOCKED;

/* Sleep until it is decided, canceled, or the deadline has passed. The only place where a caller
 * sleeps for a lock. */
void zkr__claim_wait(struct zkr__claim *claim, int64_t deadline) ZKR__LOCKED;
/* Wake the sleeper. */
void zkr__claim_cancel(struct zkr__claim *claim) ZKR__LOCKED;

/* Let go, from any phase. The claim is the engine's from here: its node is deleted, if it takes
 * till the end of the session. */
void zkr__claim_leave(struct zkr__claim *claim) ZKR__LOCKED;
/* The same, and wait until nothing of it is left on the server, or the session is over. */
void zkr__claim_leave_wait(struct zkr__claim *claim) ZKR__LOCKED;

/* Declare a hold lost whose lease bound has passed, if nobody has yet. */
void zkr__claim_check(struct zkr__claim *claim) ZKR__LOCKED;

/* Keep the memory (and the text of its node) of a claim beyond its leave, until let. */
void zkr__claim_keep(struct zkr__claim *claim) ZKR__LOCKED;
void zkr__claim_let(struct zkr__claim *claim) ZKR__LOCKED;

/* Granted, not lost, and surely still alive. */
bool zkr__claim_sure(struct zkr__claim *claim) ZKR__LOCKED;

#endif
