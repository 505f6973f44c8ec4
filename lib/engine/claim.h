/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a claim: one node of ours in a queue. A pure state machine: no I/O, no lock, no
 * clock, no memory. queue.c feeds it events and carries out the actions it returns.
 *
 *            create and list                 not first
 *   IDLE ------------------> CREATING ------------------> PARKED <--+
 *     ^  next session         |    | first                  |       | deeper, or
 *     |                reply  |    +---------> HELD         | ahead | unsure
 *     |                lost   v        ^        |           | gone  |
 *     +---- not found ---- FINDING     |        | release   +--> LISTING
 *     |                       | found  |        v           |
 *     |                       +-> LISTING    REMOVING       +--> PROVING --> HELD
 *     +---- our node gone --- any waiting       | confirmed         a write answered
 *                                               v
 *                                             GONE
 *
 * Every phase but HELD and GONE has at most one thing to do next; if it cannot be sent the claim is
 * `stalled` until the connection is up or a timer fires, and then does it. "Leaving" is not a phase: a claim whose
 * owner has let go finishes what it must know (was the node made?) and then removes it.
 *
 * Answers of an earlier `round` are dropped by queue.c: whoever gives up what is in flight
 * begins a new round.
 */
#ifndef ZKR_ENGINE_CLAIM_H
#define ZKR_ENGINE_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

enum zkr__phase {
    ZKR__IDLE,     /* no node */
    ZKR__CREATING, /* create sent, with the list right behind it */
    ZKR__FINDING,  /* the create's reply is lost: write, list, look for our GUID */
    ZKR__LISTING,  /* our node exists; where does it stand? */
    ZKR__PARKED,   /* behind another */
    ZKR__PROVING, /* first, but the session may end at any moment: one write must be answered */
    ZKR__HELD,
    ZKR__REMOVING, /* deleting our node, as often as it takes */
    ZKR__GONE      /* nothing of us on the server, nothing to do */
};

enum zkr__event_kind {
    ZKR__EV_START,         /* begin */
    ZKR__EV_UP,            /* connected, or a retry is due */
    ZKR__EV_OVER,          /* the session ended, our node with it */
    ZKR__EV_CREATED,       /* answer to the create: code, ours, spent */
    ZKR__EV_LISTED,        /* answer to a list: code, found, granted, sole, local */
    ZKR__EV_AHEAD,         /* answer to get+watch of the one ahead */
    ZKR__EV_OWN,           /* answer to get+watch of our node: code, ours */
    ZKR__EV_AHEAD_GONE,    /* it was deleted */
    ZKR__EV_AHEAD_PASSED,  /* it is of this client, held, and let go */
    ZKR__EV_AHEAD_CHANGED, /* its data changed, which used up the watch */
    ZKR__EV_OWN_GONE,
    ZKR__EV_OWN_CHANGED,
    ZKR__EV_PROVED,     /* answer to the write of PROVING */
    ZKR__EV_REMOVED,    /* answer to the delete */
    ZKR__EV_QUIET,      /* parked or held for a while: time to watch our own node */
    ZKR__EV_LEASE_OVER, /* the lease bound has passed */
    ZKR__EV_REFUSED,    /* no session will ever come: code */
    ZKR__EV_LEAVE,      /* the owner lets go: released, timed out, canceled */
    ZKR__EV_KINDS
};

struct zkr__claim_event {
    enum zkr__event_kind kind;
    int code;       /* of answers */
    bool connected; /* requests can be sent */
    bool sure;      /* the lease bound lies ahead */
    bool ample;     /* and far enough for a probe to be answered before it */
    bool hopeless;  /* CREATED, ZKR_ENONODE: parents cannot be made either */
    bool patient;   /* another retry is allowed */
    bool ours;      /* CREATED, OWN: the node's owner is our session */
    bool spent;     /* CREATED, OWN: the sequence number is at its limit */
    bool found;     /* LISTED: our node is among them */
    bool granted, sole,
        local; /* LISTED: the rule's verdict; the one ahead is of this client */
};

/* What is to be done, in this order. */
enum zkr__action {
    ZKR__DO_PARENTS = 1 << 0, /* create the parents; ahead of DO_CREATE */
    ZKR__DO_CREATE = 1 << 1,  /* create and list, under a new GUID */
    ZKR__DO_FIND = 1 << 2,    /* write and list */
    ZKR__DO_OWN = 1 << 3,     /* get our node, with a watch */
    ZKR__DO_LIST = 1 << 4,
    ZKR__DO_AHEAD = 1 << 5,  /* get the one ahead, with a watch */
    ZKR__DO_PROVE = 1 << 6,  /* check our node */
    ZKR__DO_PASS = 1 << 7,   /* the next of this client behind us is granted */
    ZKR__DO_REMOVE = 1 << 8, /* delete our node */
    ZKR__DO_YIELD = 1 << 9, /* the next of this client behind us must look for itself */
    ZKR__DO_RETRY = 1 << 10, /* ZKR__EV_UP after a pause */
    ZKR__DO_PACE = 1 << 11,  /* ZKR__EV_UP when another write can prove more */
    ZKR__DO_QUIET = 1 << 12, /* ZKR__EV_QUIET after a while */
    ZKR__DO_TELL = 1 << 13   /* the outcome changed: tell the owner */
};

enum zkr__own_watch { ZKR__OWN_NONE, ZKR__OWN_ASKED, ZKR__OWN_SET };

struct zkr__claim_state {
    enum zkr__phase phase;
    enum zkr__own_watch own;
    unsigned round;
    int64_t failures; /* in a row */
    bool stalled;
    bool leaving;
    bool once; /* a try: fail instead of parking */
    bool
        keeps; /* past the lease bound the node stays: held again once that is proved */
    bool doubted;    /* PROVING: was held until the bound passed */
    unsigned holds;  /* how often it became HELD */
    bool has_node;   /* the server may have it */
    bool adopted;    /* found after a lost reply; its stat is still to be read */
    bool ahead_gone; /* PARKED: only the answer about our own node is missing */
    bool sole;       /* PARKED: see zkr__verdict */
    bool waited;     /* it has been PARKED */
    bool made_parents;
    int failure; /* outcome: ZKR_E…, and nothing is held */
    int lost;    /* outcome: ZKR_LOST_…, after it was held */
};

static inline bool zkr__claim_decided(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__HELD || k->failure != 0 || k->lost != 0;
}

/* Move on. Returns the actions as a set of zkr__action. */
unsigned zkr__claim_step(struct zkr__claim_state *k, const struct zkr__claim_event *e);

#endif
