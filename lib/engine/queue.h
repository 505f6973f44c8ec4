/* SPDX-License-Identifier: Apache-2.0 */
/* A queue: a parent node in which claims are made, and how. */
#ifndef ZKR_ENGINE_QUEUE_H
#define ZKR_ENGINE_QUEUE_H

#include "engine/names.h"
#include "engine/rule.h"
#include "session/client.h"

struct zkr__queue_spec {
    const char *dir;          /* parent; valid */
    enum zkr__name_kind kind; /* of the claims made here */
    unsigned
        other_kinds; /* bits 1 << kind: recipes that this one expects beside itself */
    zkr__rule rule;
    int64_t rule_arg;
    const char
        *owner; /* text for the nodes' data; NULL = the client's, or host/pid/thread */
    const void *data; /* data instead; NULL = owner text */
    size_t data_len;
    bool persistent_parent;
    bool keeps_place; /* past the lease bound a hold is in doubt, not lost */
    bool watch_node;  /* watch our own node from the grant on, not from a while later */
};

/* Shared by its recipe and by the claims made in it; freed with the last. */
struct zkr__queue {
    zkr_client *c;
    int64_t refs;
    char *dir;
    enum zkr__name_kind kind;
    unsigned other_kinds;
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

/* Copies what @spec points to. Returns ZKR_OK or ZKR_ENOMEM. */
int zkr__queue_create(struct zkr__queue **out,
                      zkr_client *c,
                      const struct zkr__queue_spec *spec);
void zkr__queue_unref(struct zkr__queue *q) ZKR__LOCKED;

#endif
