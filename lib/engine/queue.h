/* SPDX-License-Identifier: Apache-2.0 */
/* A queue: a parent node in which claims are made, and how. */
#ifndef ZKR_ENGINE_QUEUE_H
#define ZKR_ENGINE_QUEUE_H

#include "engine/names.h"
#include "engine/rule.h"
#include "session/client.h"

struct zkr__queue_spec {
    const char *dir;          /* parent; valid */
    const char *meter;        /* path under which it is measured; NULL = dir */
    enum zkr__name_kind kind; /* of the claims made here */
    unsigned
        other_kinds; /* bits 1 << kind: recipes that this one expects beside itself */
    zkr__rule rule;
    int64_t rule_arg;
    const char
        *owner; /* text for the nodes' data; NULL = the client's, or host/pid/thread */
    bool
        tells_arg; /* behind the owner text stands the field max, with rule_arg, where there is room */
    const void *data; /* data instead; NULL = owner text */
    size_t data_len;
    bool persistent_parent;
    bool keeps_place; /* past the lease bound a hold is in doubt, not lost */
    bool watch_node;  /* watch our own node from the grant on, not from a while later */
    bool
        notes_hold; /* since when it is held, a hold that lasts writes behind the owner text */
};

struct zkr__directory;
struct zkr__engine;

/* Shared by its recipe and by the claims made in it; freed with the last. */
struct zkr__queue {
    zkr_client *c;
    int64_t refs;
    char *dir;
    char *meter_path;                 /* NULL = dir */
    struct zkr__meter *meter;         /* NULL = not asked for yet */
    struct zkr__directory *directory; /* NULL = no claim was made yet */
    enum zkr__name_kind kind;
    unsigned other_kinds;
    zkr__rule rule;
    int64_t rule_arg;
    char *owner;
    void *data;
    size_t data_len;
    bool tells_arg;
    bool persistent_parent;
    bool keeps_place;
    bool watch_node;
    bool notes_hold;
    bool warned_foreign, warned_sequence;
    /* The owner of a hold is asked to let go: revoke.h. With the lock held. NULL = nobody is told. */
    void (*on_wish)(struct zkr__queue *q);
    void *on_wish_ctx;
};

/* Nodes that are made in one transaction must fit into a request, which servers limit to a MiB (jute.maxbuffer). One
 * takes so much besides its directory and its data. */
enum { ZKR__NODE_BYTES = 150, ZKR__REQUEST_BYTES = 900000 };

/* What the application says about the data of its nodes: ZKR_OK, or ZKR_EINVAL with its text. @recipe: for that. */
int zkr__queue_check_data(const char *recipe,
                          const char *owner,
                          const void *data,
                          size_t data_len);
/* Copies what @spec points to. Returns ZKR_OK or ZKR_ENOMEM. */
int zkr__queue_create(struct zkr__queue **out,
                      zkr_client *c,
                      const struct zkr__queue_spec *spec);
/* Its directory, which it keeps. NULL: no memory. */
struct zkr__directory *zkr__queue_directory(struct zkr__queue *q,
                                            struct zkr__engine *engine) ZKR__LOCKED;
/* Where it is measured; never NULL. */
struct zkr__meter *zkr__queue_meter(struct zkr__queue *q) ZKR__LOCKED;
void zkr__queue_unref(struct zkr__queue *q) ZKR__LOCKED;

#endif
