/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Up to four claims of up to three sessions, and a model of ZooKeeper, all in one state.
 *
 * What the model has of ZooKeeper: nodes in the order in which they were made, watches, sessions that end and take their
 * nodes along, one queue of answers and events for each session, connections that break. A request is carried out when
 * it is sent, or, on a connection that has broken unseen, later or never; answers and events take as long as they like.
 * When a client connects again, it hears of what it had watched in no order, and before the claims are told of the
 * connection or behind that.
 *
 * What it has of time: each session has a lease. While that is there, no server ends the session. Time may pass at any
 * moment so that it is short or over; a write that is answered brings it back. That this is so is what the proof of the
 * lease is about.
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

/* Of nodes: an index and 1; 0 = none. */
typedef uint8_t zkp_id;

/* Requests are deeds (queue/claim_plan.h). The list behind a create is a request of its own. */
enum zkp_asked {
    ZKP_CREATE = ZKR__DEED_CREATE,
    ZKP_FIND = ZKR__DEED_FIND, /* a write, and a list behind it */
    ZKP_OWN = ZKR__DEED_GET_OWN,
    ZKP_LIST = ZKR__DEED_LIST,
    ZKP_CHECK = ZKR__DEED_CHECK_OWN, /* as OWN, without a watch */
    ZKP_AHEAD = ZKR__DEED_GET_AHEAD,
    ZKP_BEFORE = ZKR__DEED_GET_BEFORE,
    ZKP_PROVE = ZKR__DEED_PROVE,
    ZKP_DOWNGRADE = ZKR__DEED_DOWNGRADE,
    ZKP_REMOVE = ZKR__DEED_REMOVE,
    /* News. */
    ZKP_GONE = ZKR__DEEDS,
    ZKP_CHANGED,
    ZKP_CHILDREN
};

/* A request, then the answer to it; or news. */
struct zkp_message {
    uint8_t asked; /* enum zkp_asked */
    uint8_t claim;
    zkp_id node;
    bool past : 1;     /* of an earlier round: its answer is dropped */
    bool missing : 1;  /* the answer is ZKR_ENONODE */
    bool watching : 1; /* a list, with a watch */
    uint16_t list;     /* set of nodes */
};

struct zkp_node {
    uint8_t claim;
    uint8_t kind; /* enum zkr__name_kind */
    uint8_t dir;
    bool alive : 1;
    bool released : 1; /* its owner held, has let go, and tells so */
};

enum zkp_link { ZKP_UNLINKED, ZKP_PATH, ZKP_NEIGHBOUR, ZKP_DIRECTORY };

struct zkp_claim {
    struct zkr__claim_state k;
    bool begun, retry, quiet;
    bool excused;  /* its node was deleted by hand */
    uint8_t kind;  /* of its name */
    zkp_id node;   /* made by its present name */
    uint8_t link;  /* what it waits for */
    uint8_t ahead; /* PATH: the node; NEIGHBOUR: the claim */
    zkp_id before; /* the node before */
    zkp_id last;   /* the node whose number is k.ahead */
    bool unsent;   /* a member: its create goes out with those of the others */
    uint8_t spare[5];
};

enum zkp_lease { ZKP_AMPLE, ZKP_SHORT, ZKP_OVER };

struct zkp_session {
    bool alive;     /* at the servers */
    bool connected; /* as the client knows */
    bool told;      /* and its claims have been told */
    bool broken;    /* which the client does not know yet */
    uint8_t lease;
    uint8_t count, unsent, lates;
    uint16_t watches;           /* at the server: nodes */
    uint16_t watched;           /* that the client knows of */
    uint16_t changed;           /* of these, changed while there was no connection */
    uint8_t dirs, watched_dirs; /* the same, of the children of directories */
    uint16_t gone_news, change_news; /* of a re-connection: in no order */
    uint8_t dir_news;
    uint8_t spare[3];
    struct zkp_message queue[ZKP_QUEUE];
    struct zkp_message broken_off[ZKP_UNSENT]; /* sent by a connection that is broken */
    struct zkp_message late[ZKP_LATE];         /* writes of that which may still come */
};

struct zkp_zoo {
    struct zkp_claim claims[ZKP_CLAIMS];
    struct zkp_node nodes[ZKP_NODES];
    bool dirs[ZKP_DIRS];
    uint8_t count;  /* of nodes */
    uint8_t faults; /* left */
    bool group_held, group_over;
    uint8_t spare[2];
    struct zkp_session sessions[ZKP_SESSIONS];
};

/* What is fixed. */
struct zkp_cast {
    uint8_t session;
    uint8_t kind; /* enum zkr__name_kind */
    uint8_t dir;
    zkr__rule rule;
    int64_t rule_arg;
    bool impatient; /* it may let go before it holds */
    bool downgrades;
    bool member; /* of the one group, whose members have a directory each */
};

enum {
    ZKP_CUTS = 1 << 0,      /* the connection breaks, and replies are lost */
    ZKP_LAPSES = 1 << 1,    /* time passes, the lease is over, and the session may be */
    ZKP_DELETIONS = 1 << 2, /* of a node, by hand */
    ZKP_SWEEPS = 1 << 3,    /* of an empty directory */
    ZKP_CHANGES = 1 << 4    /* of the data of a node, by hand */
};

struct zkp_story {
    const char *name;
    unsigned sessions, claims;
    struct zkp_cast cast[ZKP_CLAIMS];
    unsigned faults, kinds;
    bool ahead;  /* they look ahead */
    bool alike;  /* the sessions are cast alike */
    bool nearby; /* they are on one host, and tell each other of releases */
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

/* The claim of @session asks. */
void zkp_send(unsigned session, struct zkp_message m);
void zkp_carry_out_late(unsigned session);
void zkp_delete(unsigned node);
void zkp_change(unsigned node);
void zkp_end_session(unsigned session);
/* The client knows: what was on its way gets no answer. */
void zkp_connect(unsigned session);
/* The node of the claim, by its present name, that is there; 0 = none. */
zkp_id zkp_own(unsigned claim);
void zkp_normalise(void *zoo);

/* --- the clients: cast.c --- */

/* An event of the claim. Of @e: what is not of the client. */
void zkp_happens(unsigned claim, struct zkr__claim_event e);
void zkp_tell(unsigned claim, enum zkr__event_kind kind);
/* News of a node, of the children of a directory. */
void zkp_on_news(unsigned session, enum zkp_asked news, zkp_id node);
void zkp_on_children(unsigned session, unsigned dir);
/* An answer, or news. */
void zkp_deliver(unsigned session, struct zkp_message m);
/* The group looks at its members, as after each move. */
void zkp_step_group(void);
void zkp_start_members(int64_t failures, bool pauses);
void zkp_let_members_go(void);
/* What must be true of each state; and when nothing is on its way and nobody lets go. */
void zkp_check(void);
void zkp_check_waits(void);

/* --- what can happen: story.c --- */

const struct zkp_model *zkp_told(const struct zkp_story *story);

#endif
