/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All claims of one client: what the session floor tells, brought to those concerned. Attached to
 * the client by its first queue. Internal to this floor.
 */
#ifndef ZKR_ENGINE_ENGINE_H
#define ZKR_ENGINE_ENGINE_H

#include "engine/lookout.h"
#include "engine/queue.h"

/* A held claim is checked by a lease probe at least every few probes. */
enum { ZKR__PROBE_MAX = 128 };
/* Parked or held for so long: the own node gets a watch, too. */
enum { ZKR__QUIET_MS = 100 };

struct zkr__engine {
    zkr_client *c;
    struct zkr__claim *claims;     /* list: prev, next */
    struct zkr__claim *by_node;    /* table */
    struct zkr__claim *quiet;      /* list */
    struct zkr__claim *foreign;    /* list */
    struct zkr__lookout *lookouts; /* list */
    uint64_t events;
    size_t probed_count;
    struct zkr__claim *probed[ZKR__PROBE_MAX];
    char host[64];
};

/* The client's engine, made when there is none; NULL: no memory. */
struct zkr__engine *zkr__engine_of(zkr_client *c) ZKR__LOCKED;

/* A request's tag: what was asked, and above these bits in which round. */
enum zkr__asked {
    ZKR__ASKED_CREATE,
    ZKR__ASKED_LIST,
    ZKR__ASKED_OWN,
    ZKR__ASKED_AHEAD,
    ZKR__ASKED_PROVE,
    ZKR__ASKED_REMOVE
};
enum { ZKR__ASKED_BITS = 3 };

/* The answer to what was asked by @tag (answer.c); a zkr__answer_fn. */
void zkr__claim_answer(void *ctx,
                       unsigned tag,
                       const struct zkr__answer *answer) ZKR__LOCKED;
/* Bytes for the longest path a node of the queue can have, and its end. */
size_t zkr__claim_node_room(const struct zkr__queue *q);
/* Out of the engine's table; the text stays. */
void zkr__claim_forget_node(struct zkr__claim *claim) ZKR__LOCKED;
/* Watch nobody any more. */
void zkr__claim_forget_ahead(struct zkr__claim *claim) ZKR__LOCKED;

/* Feed an event to a claim and carry out what follows. May free it. (act.c) */
void zkr__claim_run(struct zkr__claim *claim, struct zkr__claim_event e) ZKR__LOCKED;
/* Free it if nobody needs it any more. (queue.c) */
void zkr__claim_settle(struct zkr__claim *claim) ZKR__LOCKED;

/* Timers of a claim. */
void zkr__engine_retry(struct zkr__claim *claim) ZKR__LOCKED;
void zkr__engine_pace(struct zkr__claim *claim) ZKR__LOCKED;
void zkr__engine_quiet(struct zkr__claim *claim, bool at_once) ZKR__LOCKED;
void zkr__engine_forget_timers(struct zkr__claim *claim) ZKR__LOCKED;

#endif
