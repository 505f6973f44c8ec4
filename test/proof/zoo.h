/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Up to four claims of up to three sessions, and a model of ZooKeeper, all in one state.
 *
 * The model of ZooKeeper has nodes in the order of their creation, watches, sessions whose end deletes their nodes, one
 * queue of answers and events for each session, and connections that break. A request is executed when it is sent. On a
 * connection whose break the client has not noticed, it is executed later or never. Answers and events may be late by
 * any time. After a re-connection, the news about watched nodes arrives in any order, before or after the claims learn
 * of the connection.
 *
 * The model of time is that each session has a lease. While the lease lasts, no server ends the session. At any moment,
 * time may pass, so that the lease is short or over. An answered write restores the lease. The proof of the lease shows
 * that this model is right.
 */
#ifndef ZKP_ZOO_H
#define ZKP_ZOO_H

#include "explore.h"
#include "queue/claim_plan.h"

enum {
    ZKP_SESSIONS = 3,
    ZKP_CLAIMS = 4,
    ZKP_NODES = 12,
    ZKP_QUEUE = 14,
    ZKP_UNSENT = 7,
    ZKP_LATE = 3,
    ZKP_DIRS = 2
};

/* Identifies a node: its index + 1; 0 = none. */
typedef uint8_t zkp_id;

/* Requests are deeds (queue/claim_plan.h). The list behind a create is a separate request. */
enum zkp_asked {
    ZKP_CREATE = ZKR__DEED_CREATE,
    ZKP_FIND = ZKR__DEED_FIND, /* a write, and a list behind it */
    ZKP_OWN = ZKR__DEED_GET_OWN,
    ZKP_LIST = ZKR__DEED_LIST,
    ZKP_CHECK = ZKR__DEED_CHECK_OWN, /* like OWN, without a watch */
    ZKP_AHEAD = ZKR__DEED_GET_AHEAD,
    ZKP_BEFORE = ZKR__DEED_GET_BEFORE,
    ZKP_PROVE = ZKR__DEED_PROVE,
    ZKP_DOWNGRADE = ZKR__DEED_DOWNGRADE,
    ZKP_REMOVE = ZKR__DEED_REMOVE,
    /* News of watches. */
    ZKP_GONE = ZKR__DEEDS,
    ZKP_CHANGED,
    ZKP_CHILDREN
};

/* A request, later its answer, or news. */
struct zkp_message {
    uint8_t asked; /* enum zkp_asked */
    uint8_t claim;
    zkp_id node;
    bool past : 1;     /* of an earlier round: the answer is dropped */
    bool missing : 1;  /* the answer is ZKR_ENONODE */
    bool watching : 1; /* of a list, with a watch */
    uint16_t list;     /* a set of nodes */
};

struct zkp_node {
    uint8_t claim;
    uint8_t kind; /* enum zkr__name_kind */
    uint8_t dir;
    bool alive : 1;
    bool released : 1; /* its owner held, has released it, and sends news of that */
};

enum zkp_link { ZKP_UNLINKED, ZKP_PATH, ZKP_NEIGHBOUR, ZKP_DIRECTORY };

struct zkp_claim {
    struct zkr__claim_state k;
    bool begun, retry, quiet;
    bool excused;  /* another client deleted its node */
    uint8_t kind;  /* the kind of its name */
    zkp_id node;   /* the node with its current name */
    uint8_t link;  /* the kind of object it waits for */
    uint8_t ahead; /* PATH: the node; NEIGHBOUR: the claim */
    zkp_id before; /* the node before the node ahead */
    zkp_id last;   /* the node whose number is k.ahead */
    bool unsent;   /* a member whose create is sent with those of the other members */
    uint8_t spare[5];
};

enum zkp_lease { ZKP_AMPLE, ZKP_SHORT, ZKP_OVER };

struct zkp_session {
    bool alive;     /* at the servers */
    bool connected; /* as far as the client knows */
    bool told;      /* the claims know of the connection */
    bool broken;    /* the client has not noticed the break yet */
    uint8_t lease;
    uint8_t count, unsent, lates;
    uint16_t watches; /* nodes, as the server knows */
    uint16_t watched; /* nodes, as the client knows */
    /* The watched nodes that changed without a connection. */
    uint16_t changed;
    uint8_t dirs, watched_dirs;      /* the same for the children of directories */
    uint16_t gone_news, change_news; /* after a re-connection, in any order */
    uint8_t dir_news;
    uint8_t spare[3];
    struct zkp_message queue[ZKP_QUEUE];
    struct zkp_message broken_off[ZKP_UNSENT]; /* requests on a broken connection */
    /* Writes among those that may still arrive. */
    struct zkp_message late[ZKP_LATE];
};

struct zkp_zoo {
    struct zkp_claim claims[ZKP_CLAIMS];
    struct zkp_node nodes[ZKP_NODES];
    bool dirs[ZKP_DIRS];
    uint8_t count;  /* of nodes */
    uint8_t faults; /* the number left */
    bool group_held, group_over;
    uint8_t spare[2];
    struct zkp_session sessions[ZKP_SESSIONS];
};

/* The fixed properties of a claim. */
struct zkp_cast {
    uint8_t session;
    uint8_t kind; /* enum zkr__name_kind */
    uint8_t dir;
    zkr__rule rule;
    int64_t rule_arg;
    bool impatient; /* it may leave before it holds */
    bool downgrades;
    bool member; /* of the only group, each of whose members has its own directory */
};

enum {
    ZKP_CUTS = 1 << 0,      /* connections break, and replies are lost */
    ZKP_LAPSES = 1 << 1,    /* time passes; the lease ends, and the session may end */
    ZKP_DELETIONS = 1 << 2, /* nodes, by another client */
    ZKP_SWEEPS = 1 << 3,    /* empty directories */
    ZKP_CHANGES = 1 << 4    /* the data of nodes, by another client */
};

struct zkp_story {
    const char *name;
    unsigned sessions, claims;
    struct zkp_cast cast[ZKP_CLAIMS];
    unsigned faults, kinds;
    bool ahead;  /* the claims look ahead */
    bool alike;  /* the sessions are cast alike */
    bool nearby; /* the clients are on one host, and send each other news of releases */
};

extern const struct zkp_story *zkp_story;
extern struct zkp_zoo *Z;

static inline struct zkp_claim *zkp_claim_of(unsigned claim)
{
    return &Z->claims[claim];
}

static inline const struct zkp_cast *zkp_cast_of(unsigned claim)
{
    return &zkp_story->cast[claim];
}

static inline struct zkp_session *zkp_session_of(unsigned claim)
{
    return &Z->sessions[zkp_cast_of(claim)->session];
}

/* --- the server: zoo.c --- */

/* A claim of @session sends a request. */
void zkp_send(unsigned session, struct zkp_message m);
void zkp_carry_out_late(unsigned session);
void zkp_delete(unsigned node);
void zkp_change(unsigned node);
void zkp_end_session(unsigned session);
/* The client has a new connection. Requests of the old one get no answer. */
void zkp_connect(unsigned session);
/* Returns the existing node with the claim's current name, or 0. */
zkp_id zkp_own(unsigned claim);
void zkp_normalise(void *zoo);

/* --- the clients: cast.c --- */

/* Let the event @e happen to the claim. The caller sets only the fields that do not depend on the client. */
void zkp_happens(unsigned claim, struct zkr__claim_event e);
void zkp_tell(unsigned claim, enum zkr__event_kind kind);
/* Process the news of a node, or of the children of a directory. */
void zkp_on_news(unsigned session, enum zkp_asked news, zkp_id node);
void zkp_on_children(unsigned session, unsigned dir);
/* Deliver an answer or news. */
void zkp_deliver(unsigned session, struct zkp_message m);
/* Let the group react to the states of its members. This is done after each move. */
void zkp_step_group(void);
void zkp_start_members(int64_t failures, bool pauses);
void zkp_let_members_go(void);
/* Check what must be true in each state; and what must be true when nothing is in flight and no claim leaves. */
void zkp_check(void);
void zkp_check_waits(void);

/* --- what can happen: story.c --- */

const struct zkp_model *zkp_told(const struct zkp_story *story);

#endif
