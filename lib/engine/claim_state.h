/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a claim, which is one node of ours in a queue: its phases, what happens to it, what it asks
 * for. claim_step.h moves it. All of it is pure: no I/O, no lock, no clock, no memory.
 *
 *             create and list                 not first
 *   CREATING ------------------> LISTING ------------------> PARKED <--+
 *     ^  |                        ^  |  |                      |       | others ahead,
 *     |  | reply lost             |  |  | first           end  |       | or not sure
 *     |  v                        |  |  +--------> HELD <------+       |
 *     | FINDING -----> ADOPTING --+  |    lease |  ^ | end of the one  |
 *     |  | no node     is it ours?   |     over v  | | ahead           |
 *     |  |                           |     DOUBTED  | +--> LISTING -----+
 *     |  |                           |  a write is  |
 *     +--+-- our node gone -- any    |    answered  |
 *            that waits              +--> PROVING --+
 *
 * A node of ours that a list lacks is ADOPTED again: only a get tells that it is gone. And from one list to the next the
 * one ahead is further ahead, or the servers contradict themselves: then the lists pause.
 *                                                       release, any time: REMOVING --> GONE
 *
 * A hold by a writer's node may go on by a reader's (a downgrade): see enum zkr__downgrade.
 *
 * Each phase from CREATING to DOUBTED, but for PARKED and HELD, waits for an answer to what it asked when it was
 * entered. What cannot be asked now waits in PAUSED for the connection, for the end of a pause, or for its turn
 * in a crowd (claim_run.h); `next` is the phase to enter then.
 *
 * "Leaving" is not a phase. A claim whose owner has let go still has to learn whether its node was made, and
 * then removes it.
 *
 * A try that would probably make its node in vain is *wary*: it is LOOKING before it is CREATING. While the node of a
 * try is there, others who would be granted are not, so one that fails had better make none.
 *
 * A *member* is made and granted together with others, its group (group.h). What would grant it makes it
 * READY, and all members of the group go on from there. One whose node is gone does not enter anew: it is
 * *displaced*, and GONE.
 *
 * An answer carries the round in which it was asked, and answers of an earlier round are dropped before they
 * get here. Whoever gives up what is in flight begins a new round.
 */
#ifndef ZKR_ENGINE_CLAIM_STATE_H
#define ZKR_ENGINE_CLAIM_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/rule.h"

enum zkr__phase {
    ZKR__PAUSED,   /* nothing is asked; `next` follows */
    ZKR__LOOKING,  /* a try that is wary: is there room for its node? */
    ZKR__CREATING, /* create and list are sent together */
    ZKR__FINDING,  /* the create's reply is lost: write, list, look for our GUID */
    ZKR__ADOPTING, /* found that way: get it, with a watch, and list */
    ZKR__LISTING,  /* our node exists; where does it stand? */
    ZKR__PARKED,   /* behind another */
    ZKR__READY,    /* a member that nothing blocks; the others are not all there yet */
    ZKR__CONFIRMING, /* nothing blocks us any more, once the get of our own node says that it is there */
    ZKR__PROVING, /* first, but the session may end at any moment: a write must be answered */
    ZKR__HELD,
    ZKR__DOUBTED, /* held until the lease bound passed, and held again when a write is answered */
    ZKR__REMOVING, /* deleting our node, as often as it takes */
    ZKR__GONE      /* nothing of us is on the server, and nothing is to be done */
};

enum zkr__event_kind {
    ZKR__EV_START,          /* begin */
    ZKR__EV_CONNECTED,      /* connected, or connected again */
    ZKR__EV_PAUSE_OVER,     /* of ZKR__DO_RETRY or ZKR__DO_PACE */
    ZKR__EV_SESSION_OVER,   /* the session ended, our node with it */
    ZKR__EV_CREATED,        /* answer to the create: code, spent */
    ZKR__EV_LISTED,         /* answer to a list: code, found, verdict */
    ZKR__EV_GOT_AHEAD,      /* answer to get and watch of the one ahead: code */
    ZKR__EV_GOT_OWN,        /* answer to get and watch of our node: code, ours, spent */
    ZKR__EV_GOT_OWNER,      /* answer to the question whose node it is: code, ours */
    ZKR__EV_AHEAD_GONE,     /* what we watch was deleted, or stopped waiting */
    ZKR__EV_AHEAD_RELEASED, /* a claim of this client; it held until now */
    /* A claim of this client; it held until now, and a write of it may still come. */
    ZKR__EV_AHEAD_WRITES,
    ZKR__EV_AHEAD_CHANGED, /* what we watch changed, which used up the watch */
    ZKR__EV_OWN_GONE,      /* our node was deleted */
    ZKR__EV_OWN_CHANGED,   /* its data changed, which used up the watch */
    ZKR__EV_OWN_UNCHECKED, /* a server has refused to look whether it is there */
    ZKR__EV_ALL_READY,     /* no member of the group is blocked */
    ZKR__EV_PROVED,        /* answer to the write of PROVING or DOUBTED: code */
    ZKR__EV_REMOVED,       /* answer to the delete: code */
    ZKR__EV_RESTORED,      /* answer to the write of our text over a wish: code */
    ZKR__EV_QUIET, /* parked or held for a while: time to watch our own node, or to look at what has no watch */
    ZKR__EV_UNHEARD, /* nothing came of its watch for long: zkr__engine_doubts_at() */
    ZKR__EV_LEASE_EXPIRED, /* the lease bound has passed */
    ZKR__EV_GIVE_UP,       /* it is not to wait any more: code */
    ZKR__EV_WRITING,       /* a transaction of the owner's is sent: deletes */
    ZKR__EV_WRITTEN,       /* answer to one: code, deletes */
    ZKR__EV_NOTING, /* our data with the note are written, if nobody has changed them */
    ZKR__EV_NOTED,  /* answer to that: code, refused */
    ZKR__EV_DOWNGRADE,  /* the owner goes on as a reader */
    ZKR__EV_DOWNGRADED, /* answer to that: code, refused */
    ZKR__EV_LEAVE,      /* the owner lets go: released, timed out, canceled */
    ZKR__EV_KINDS
};

/* What a list says to wait for. */
enum zkr__wait { ZKR__WAIT_NODE, ZKR__WAIT_NEIGHBOUR, ZKR__WAIT_CHILDREN };

struct zkr__claim_event {
    enum zkr__event_kind kind;
    int code;       /* of answers, and of GIVE_UP */
    bool unwatched; /* of answers: there was no room for the watch */
    bool connected; /* requests can be sent */
    bool sure;      /* the lease bound lies ahead */
    bool ample;     /* and far enough for a probe to be answered before it */
    bool patient;   /* another retry is allowed */
    bool crowded;   /* so many nodes of ours are being made that another one lines up */
    bool wary;      /* a try, for which there may be no room */
    bool hopeless;  /* CREATED, ZKR_ENONODE: the parents cannot be made either */
    bool bare;      /* CREATED: no list was asked along with it */
    bool placed; /* CREATED: its number tells where it stands, as LISTED with `found` */
    bool ours;   /* GOT_OWN, GOT_OWNER: the node's owner is our session */
    bool spent;  /* CREATED, GOT_OWN: the sequence number is at its limit */
    bool
        refused; /* DOWNGRADED: the node stays what it was; NOTED: for its data, not for another node */
    int version;  /* GOT_OWN: of its data */
    int wish;     /* GOT_OWN: that version, if they ask us to let go; 0 = they do not */
    bool noted;   /* GOT_OWN: they say since when it is held */
    bool deletes; /* WRITING, WRITTEN: our node, too */
    bool found;   /* LISTED: our node is among them */
    bool once;    /* LISTED, placed: it is not to wait */
    bool granted; /* LISTED, placed: the rule's verdict, as are the next */
    enum zkr__wait wait;
    enum zkr__then then;
    int64_t ahead; /* WAIT_NODE: the number of that node */
};

/* What is to be done, in this order. */
enum zkr__action {
    ZKR__DO_PARENTS = 1 << 0, /* create the parents; ahead of DO_CREATE */
    ZKR__DO_CREATE =
        1 << 1, /* create, under a new GUID, and list, if the number will not do */
    ZKR__DO_FIND = 1 << 2,      /* write and list */
    ZKR__DO_GET_OWN = 1 << 3,   /* get our node, with a watch */
    ZKR__DO_LIST = 1 << 4,      /* with a watch when watch_children */
    ZKR__DO_GET_AHEAD = 1 << 5, /* get the one ahead, with a watch */
    ZKR__DO_PROVE = 1 << 6,     /* check our node */
    /* Tell the claims of this client behind us that we held until now. */
    ZKR__DO_HAND_OVER = 1 << 7,
    ZKR__DO_REMOVE = 1 << 8, /* delete our node */
    /* Tell the claims of this client behind us that we are out of their way. */
    ZKR__DO_STEP_ASIDE = 1 << 9,
    /* The same, but for a write of ours that may still come. */
    ZKR__DO_LET_LOOK = 1 << 10,
    ZKR__DO_RETRY = 1 << 11, /* PAUSE_OVER after a pause */
    ZKR__DO_PACE = 1 << 12,  /* PAUSE_OVER when another write can prove more */
    ZKR__DO_QUIET = 1 << 13, /* QUIET after a while */
    ZKR__DO_COUNT_LOSS = 1 << 14,
    ZKR__DO_NOTIFY = 1 << 15,     /* the outcome changed: notify the owner */
    ZKR__DO_RESTORE = 1 << 16,    /* write our text over the wish told last */
    ZKR__DO_TELL_WISH = 1 << 17,  /* the owner is asked to let go */
    ZKR__DO_DOWNGRADE = 1 << 18,  /* replace our node by a reader's, if it is there */
    ZKR__DO_LINE_UP = 1 << 19,    /* PAUSE_OVER when there is room to create */
    ZKR__DO_ASK_OWNER = 1 << 20,  /* whose node it is */
    ZKR__DO_LOOK_LATER = 1 << 21, /* QUIET after a while that grows with `refusals` */
    ZKR__DO_LOOK =
        1 << 22 /* QUIET after a longer while: there is no room for a watch */
};

/* A transaction that deletes our node: that the node is gone is no loss before it is answered. */
enum zkr__departure { ZKR__STAYS, ZKR__DEPARTS, ZKR__DEPARTS_AND_GONE };

/*
 * HELD: a transaction deletes our WRIT node and makes a READ node with its number. From the moment that the owner
 * wants it until it is answered, our node is at one of two paths. So that one of them is missing is no loss, and who
 * lets go has to find out first which is there.
 */
enum zkr__downgrade {
    ZKR__SETTLED,
    ZKR__DOWNGRADING,   /* asked */
    ZKR__DOWNGRADE_OWED /* to be asked, or asked again */
};

/* Since when it is held, a hold that lasts writes into its node, once (claim_data.h). */
enum zkr__note { ZKR__UNNOTED, ZKR__NOTING, ZKR__NOTED };

/* SEEN: it was there, and there was no room for a watch. */
enum zkr__own_watch { ZKR__OWN_NONE, ZKR__OWN_ASKED, ZKR__OWN_SET, ZKR__OWN_SEEN };

struct zkr__claim_state {
    enum zkr__phase phase : 8; /* thousands may wait: small fields stand together */
    enum zkr__phase next : 8;  /* PAUSED: the phase to enter */
    enum zkr__own_watch own : 8;
    enum zkr__then then : 8; /* PARKED: from the verdict */
    enum zkr__departure departure : 8;
    enum zkr__downgrade downgrade : 8;
    enum zkr__note note : 8;
    bool notes;     /* it is to have a note when it is held */
    bool leaving;   /* the owner has let go */
    bool refused;   /* REMOVING: we may not delete it, at present */
    bool unchecked; /* HELD: servers refuse to look at our node; probes leave it out */
    bool keeps_place; /* past the lease bound it is DOUBTED, else it is lost */
    bool
        watch_children; /* its rule waits for the directory: lists leave a watch there */
    bool waited;        /* it has been PARKED */
    bool made_parents;
    bool member : 1; /* of a group */
    bool
        displaced : 1; /* outcome of a member: its node is gone before all were granted */
    bool blind : 1; /* PARKED: there was no room for the watch on what it waits for */
    bool saw_ahead : 1; /* PARKED: the node ahead could be read */
    unsigned round;
    unsigned holds;   /* how often it became HELD */
    unsigned writing; /* transactions of the owner's without an answer */
    int failure;      /* outcome: ZKR_E…, and nothing is held */
    int lost;         /* outcome: ZKR_LOST_…, after it was held */
    int refusals;     /* of @unchecked, in a row */
    int64_t failures; /* in a row */
    int64_t ahead;    /* PARKED: the number of the node ahead */
    int standstill;   /* so often in a row it was no lower than the last one */
    int version;      /* of our data, for the note; -1 = not known */
    int wish;         /* as last seen, and not heeded yet */
    int told;         /* the last wish that the owner was told of */
};

/* The phase it is in, or will be in when a pause is over. */
static inline enum zkr__phase zkr__claim_stage(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__PAUSED ? k->next : k->phase;
}

static inline bool zkr__claim_decided(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__HELD || k->failure != 0 || k->lost != 0 || k->displaced;
}

/* It is held, and its node does not say since when. */
static inline bool zkr__claim_wants_note(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__HELD && k->notes && k->note == ZKR__UNNOTED &&
           k->version >= 0 && k->downgrade == ZKR__SETTLED &&
           k->departure == ZKR__STAYS;
}

/* The answer to a list is still to come, or was asked for by now. */
static inline bool zkr__claim_awaits_list(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__LOOKING || k->phase == ZKR__CREATING ||
           k->phase == ZKR__FINDING || k->phase == ZKR__ADOPTING ||
           k->phase == ZKR__LISTING;
}

/* Nothing of it was sent that could make its node. */
static inline bool zkr__claim_has_none(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__LOOKING ||
           (k->phase == ZKR__PAUSED && k->next == ZKR__CREATING);
}

/* It has to look again now and then, for want of a watch. */
static inline bool zkr__claim_looks(const struct zkr__claim_state *k)
{
    bool settled =
        k->phase == ZKR__PARKED || k->phase == ZKR__READY || k->phase == ZKR__HELD;
    return settled &&
           (k->own == ZKR__OWN_SEEN || (k->phase == ZKR__PARKED && k->blind));
}

/* It has a node, and does not hold: it waits, or must prove that it may hold. */
static inline bool zkr__claim_waits_with_node(const struct zkr__claim_state *k)
{
    switch (zkr__claim_stage(k)) {
    case ZKR__ADOPTING:
    case ZKR__LISTING:
    case ZKR__PARKED:
    case ZKR__READY:
    case ZKR__CONFIRMING:
    case ZKR__PROVING:
    case ZKR__DOUBTED:
        return true;
    case ZKR__PAUSED:
    case ZKR__LOOKING:
    case ZKR__CREATING:
    case ZKR__FINDING:
    case ZKR__HELD:
    case ZKR__REMOVING:
    case ZKR__GONE:
        break;
    }
    return false;
}

#endif
