/* SPDX-License-Identifier: Apache-2.0 */
/* The world of alone.h, for the files of that alone. */
#ifndef ZKP_ALONE_WORLD_H
#define ZKP_ALONE_WORLD_H

#include <zkr/client.h>

#include "alone.h"
#include "queue/claim_plan.h"
#include "record.h"

enum { FLIGHT_MAX = 12, LATE_MAX = 4, BLOCKERS = 4, CAP = ZKR__QUICK_CREATES + 1 };

/* Requests of deeds (queue/claim_plan.h), the list behind a create, and what else is sent. */
enum asked {
    CREATE = ZKR__DEED_CREATE,
    FIND = ZKR__DEED_FIND, /* a write, and a list behind it */
    OWN = ZKR__DEED_GET_OWN,
    OWNER = ZKR__DEED_ASK_OWNER,
    LIST = ZKR__DEED_LIST,
    CHECK = ZKR__DEED_CHECK_OWN, /* our node, without a watch */
    AHEAD = ZKR__DEED_GET_AHEAD,
    BEFORE = ZKR__DEED_GET_BEFORE,
    PROVE = ZKR__DEED_PROVE,
    DOWNGRADE = ZKR__DEED_DOWNGRADE,
    RESTORE = ZKR__DEED_RESTORE,
    REMOVE = ZKR__DEED_REMOVE,
    NOTE = ZKR__DEEDS, /* a probe that writes metadata */
    WRITE,             /* a transaction of the owner's */
    WRITE_DELETE       /* the same, which deletes the node */
};

struct sent {
    uint8_t asked;
    uint8_t at;        /* AHEAD, BEFORE: of the blocker */
    bool past;         /* of an earlier round: its answer is dropped */
    bool watching : 1; /* LIST: with a watch */
    bool next : 1;     /* without a connection: it goes out on the next one */
    bool again : 1;    /* it has gone out on this connection, the next one */
};

/* What stands under the name of our node, or under the other name that it has in a downgrade. */
enum node { NO_NODE, WRITER, READER, STRANGER };

enum news { NO_NEWS, IS_GONE, HAS_CHANGED };

/* How the claim hears of the end of the node ahead. */
enum link { UNLINKED, LINK_ASKED, WATCHED, NEIGHBOUR, UNREADABLE, DIRECTORY };

/* Blocker 0 is the nearest. */
struct alone {
    struct zkr__claim_state k;
    struct sent flight[FLIGHT_MAX];
    uint8_t late[LATE_MAX]; /* writes of an earlier connection that may still come */
    uint8_t count, lates;
    bool begun, connected, directory;
    bool retry, quiet; /* timers */
    bool bare;         /* no list went out with the create */
    bool unsent;       /* a member: its create waits for those of the others */
    uint8_t node;
    bool reads; /* the claim knows its node by the name of a reader's */
    bool own_watch;
    uint8_t own_news, ahead_news, before_news;
    uint8_t alive; /* set of blockers */
    uint8_t spent; /* set of nodes ahead that are there, and whose owners have let go */
    uint8_t
        told; /* such a node, of which news is on its way, counted from 1; 0 = none */
    uint8_t
        near; /* the blocker that is a claim of this client, counted from 1; 0 = none */
    uint8_t ahead, before; /* blockers */
    uint8_t last;          /* the blocker whose number is k.ahead */
    uint8_t link;
    bool before_watch;
    bool listed_later; /* a list went out later than with the create or its answer */
    uint8_t
        wish; /* in the data: 1 = the one that the owner was told of, 2 = a new one */
};

extern const struct zkp_use *alone_use;
extern struct alone *A;
/* A server answers, although the client has no CONNECTED. */
extern bool alone_up;

/* --- alone_step.c --- */

/* Make equal what behaves equally. */
void alone_cap(struct zkr__claim_state *k);
/* The event happens to the claim, and is checked. Of @e: what is not of the client. */
void alone_happens(struct zkr__claim_event e);
void alone_tell(enum zkr__event_kind kind);
void alone_ask(enum asked asked);
/* Send the create, and a list after it. */
void alone_create(void);
int alone_count(enum asked asked);
bool alone_is_asked(enum asked asked);
bool alone_is_write(enum asked asked);
/* The client heeds what happens to its node. */
bool alone_knows_node(void);
/* Under the name that the claim knows stands a node. */
bool alone_is_there(void);
/* There is a node of ours, under whichever name. */
bool alone_is_ours(void);

/* --- alone_server.c --- */

/* The write is carried out, whoever hears of it. */
void alone_carry_out(enum asked asked);
/* A write of this connection: none of an earlier one comes any more. */
void alone_fence(void);
void alone_change_own(enum news news);
bool alone_news_is_on_its_way(void);
int alone_first_of(unsigned set);
/* The nodes ahead that are there. */
static inline unsigned alone_nodes(void)
{
    return (unsigned)(A->alive | A->spent);
}
/* The server answers, or the connection was lost. */
void alone_answer(struct sent sent);
void alone_on_lost(struct sent sent);

#endif
