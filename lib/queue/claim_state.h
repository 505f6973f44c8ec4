/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a claim, which is one node of ours in a queue: phases, events, and what the claim asks for.
 * zkr__claim_step() moves it. All of it is pure: no I/O, no lock, no clock, no memory.
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
 *                                                       release, any time: REMOVING --> GONE
 *
 * When a list lacks our node, the claim is ADOPTING again: only a get tells that the node is gone. From one list to the
 * next the node ahead has a lower number, or the servers contradict themselves: then the lists pause.
 *
 * A writer's hold may go on as a reader's (a downgrade): see enum zkr__downgrade.
 *
 * Each phase from CREATING to DOUBTED, but for PARKED and HELD, waits for an answer to what the claim asked when it
 * entered the phase. What cannot be asked now waits in PAUSED for the connection, for the end of a pause, or for its
 * turn in a crowd (admission.h); `next` is the phase to enter then.
 *
 * "Leaving" is not a phase. A claim whose owner has let go still has to learn whether its node was made, and then
 * removes the node.
 *
 * A try that would probably make its node in vain is *wary*: it is LOOKING before it is CREATING. The node of a try
 * keeps other claims from being granted while it is there, so a try that is going to fail had better make none.
 *
 * A *member* is made and granted together with the other claims of its group (group.c). What would grant it makes
 * it READY, and all members of the group go on from there. A member whose node is gone does not enter anew: it is
 * *place_lost*, and GONE.
 *
 * An answer carries the round in which it was asked, and answers of an earlier round are dropped before they get here.
 * A transition that gives up what is in flight begins a new round.
 *
 * --- Whose node it is. Lists and checks show that a node has our name. They do not show that it is ours: another session
 * may have deleted our node, and made a node of that name. So neither of them grants by itself. A get of our own node goes
 * out ahead of each list and each check, unless a silent watch on the node exists, and the grant waits for the answer. Only
 * the list that goes out with the create, or with its answer, needs no such get: the node was made just before. The list
 * that follows the end of the node ahead will probably grant: the get goes out behind it, without a watch, as a short hold
 * needs none. A node that is ours then was there when the list was sent. If that list has to wait for another list to be
 * answered, the get is ahead of it, and is sent again. A member that is READY is granted by an older
 * list, so it watches its node as soon as another member is PARKED.
 *
 * --- Without room for a watch (session/watches.h) nobody polls. A claim fails that waits for a node or for the directory,
 * and so does a READY member. Any other claim does without the watch on its own node: it is SEEN, and gets the node again
 * when that decides.
 *
 * --- Looking ahead. A claim that is PARKED behind the node C, with other nodes before C, would have to list when C is
 * gone. So the claim also watches B, the node before C, and does what there is to do while C holds:
 *
 *                   B gone                    only C is ahead                 C gone
 *   BEHIND_MORE ------------> LOOK_ASKED ----------------------> PREPARED ------------> HELD
 *        ^                      |     | C gone first: LISTING, by the same list   ^
 *        +--- others before C --+     +---------------------------------------    |
 *   BEHIND_TWO ------------------------------ B gone -----------------------------+
 *
 * Why that is sound: a claim may hold when each node is deleted that a list showed ahead of its own node, if its own node
 * was there when the list was sent. Numbers only grow, so any such list, however old, shows all nodes that will ever be
 * ahead; later nodes are behind. So neither the order of the events and the list matters, nor whether B ever held. When B
 * and C are all that the list showed, no other list is needed. It rests on six conditions:
 * 1. Only a deletion counts: the event, or "no node" as the answer to the get that was to set the watch. A change of the
 *    data uses the watch up, and the node is asked for anew; but not while a list is on its way: see leave_to_list().
 * 2. Our own node has been there all the time, and so has its parent, whose numbers would begin anew otherwise. Events
 *    come in order: when that of C comes, our own node is watched, by a get that found it ours, and the watch is silent.
 *    While the answer to that get is still to come, the grant waits for it.
 * 3. There was no re-connection meanwhile. The events that a re-connection brings come in no order, so it ends the
 *    look-ahead: the end of C is followed by a list then.
 * 4. Numbers do not begin anew while the claim waits: a claim with a high number does not look ahead (claim_io.c).
 * 5. An event proves nothing about the lease. So the grant needs the lease that each grant needs. From the moment the
 *    list is asked for, the client probes as if it held, and the lease is there when C goes, however long C held.
 * 6. The rule allows it (rule.h): the first holds, and C holds alone. Where a writer may have become a reader, no two
 *    events are enough; readers, permits and members of groups do not look ahead.
 *
 * When B leaves early, that costs one list more. When an event is missed, or there is no room for the watch on B, the end
 * of C is followed by a list.
 */
#ifndef ZKR_QUEUE_CLAIM_STATE_H
#define ZKR_QUEUE_CLAIM_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <zkr/error.h>

#include "queue/rule.h"

enum zkr__phase {
    ZKR__PAUSED,     /* nothing is asked; `next` follows */
    ZKR__LOOKING,    /* a wary try: is there room for its node? */
    ZKR__CREATING,   /* create and list are sent together */
    ZKR__FINDING,    /* the create's reply is lost: write, list, look for our GUID */
    ZKR__ADOPTING,   /* found that way: get our node, with a watch, and list */
    ZKR__LISTING,    /* our node exists; where does it stand? */
    ZKR__PARKED,     /* behind another node */
    ZKR__READY,      /* a member that nothing blocks; not all other members are READY */
    ZKR__CONFIRMING, /* nothing blocks us, once the get of our own node finds it */
    ZKR__PROVING,    /* first, but the session may end: a write must be answered */
    ZKR__HELD,
    ZKR__DOUBTED, /* held until the lease bound passed; again when a write is answered */
    ZKR__REMOVING, /* deleting our node, as often as it takes */
    ZKR__GONE      /* no node of ours is on the server, and nothing is to be done */
};

enum zkr__event_kind {
    ZKR__EV_START,        /* begin */
    ZKR__EV_CONNECTED,    /* connected, or connected again */
    ZKR__EV_PAUSE_OVER,   /* of ZKR__DO_RETRY, ZKR__DO_PACE or ZKR__DO_LINE_UP */
    ZKR__EV_SESSION_OVER, /* the session ended, our node with it */
    ZKR__EV_CREATED,      /* answer to the create: code, exhausted */
    ZKR__EV_LISTED,       /* answer to a list: code, found, verdict */
    ZKR__EV_GOT_AHEAD,    /* answer to get and watch of the node ahead: code */
    ZKR__EV_GOT_OWN,   /* answer to a get of our node: code, ours, exhausted, checked */
    ZKR__EV_GOT_OWNER, /* answer to the question whose node it is: code, ours */
    ZKR__EV_AHEAD_GONE, /* the node ahead was deleted, or stopped waiting */
    /* The node ahead is of a claim of this client, which held until now. */
    ZKR__EV_AHEAD_RELEASED,
    /* The same, but a write of that claim's owner may still come. */
    ZKR__EV_AHEAD_WRITES,
    /*
     * The node ahead is of another process of this host, which held by it until now, and says so. The node is still there
     * (news.h).
     */
    ZKR__EV_AHEAD_TOLD,
    ZKR__EV_AHEAD_CHANGED,  /* what we watch changed, which used up the watch */
    ZKR__EV_GOT_BEFORE,     /* answer to get and watch of the node before: code */
    ZKR__EV_BEFORE_GONE,    /* the node before the node ahead was deleted */
    ZKR__EV_BEFORE_CHANGED, /* it changed, which used up the watch */
    ZKR__EV_OWN_GONE,       /* our node was deleted */
    ZKR__EV_OWN_CHANGED,    /* its data changed, which used up the watch */
    ZKR__EV_OWN_UNCHECKED,  /* a server refused to look whether our node is there */
    ZKR__EV_ALL_READY,      /* no member of the group is blocked */
    ZKR__EV_PROVED,         /* answer to the write of PROVING or DOUBTED: code */
    ZKR__EV_REMOVED,        /* answer to the delete: code */
    ZKR__EV_RESTORED,       /* answer to the write over a revocation request: code */
    ZKR__EV_QUIET,          /* parked or held for a while: watch our own node */
    /* A watch has been silent for long: zkr__engine_doubts_at(). */
    ZKR__EV_UNHEARD,
    ZKR__EV_LEASE_EXPIRED, /* the lease bound has passed */
    ZKR__EV_GIVE_UP,       /* the claim is not to wait any more: code */
    ZKR__EV_WRITING,       /* a transaction of the owner's is sent: deletes */
    ZKR__EV_WRITTEN,       /* answer to that: code, deletes */
    /* Our data are written with holder metadata, if no other client has changed them. */
    ZKR__EV_METADATA_SENT,
    ZKR__EV_NOTED,      /* answer to that: code, refused */
    ZKR__EV_DOWNGRADE,  /* the owner goes on as a reader */
    ZKR__EV_DOWNGRADED, /* answer to that: code, refused */
    ZKR__EV_KEPT, /* the owner lets go of a hold, and the node stays for the next hold */
    ZKR__EV_TAKEN, /* there is a next owner: passed */
    ZKR__EV_LEAVE, /* the owner lets go: released, timed out, canceled */
    ZKR__EV_KINDS
};

/* PARKED: what is known of the nodes before the node ahead. */
enum zkr__look_ahead {
    ZKR__LOOKS_NOT,   /* nothing, and the claim does not look ahead */
    ZKR__BEHIND_MORE, /* the nearest is watched; others may be before it */
    ZKR__BEHIND_TWO,  /* the nearest is watched; there is none before it */
    ZKR__LOOK_ASKED, /* the nearest is gone; a list is to tell which others are there */
    ZKR__PREPARED,   /* they are all gone */
    ZKR__BEHIND_FIRST, /* there never were any */
};

/* What a list says to wait for: a node, the node of a claim of this client, any change of the directory. */
enum zkr__wait { ZKR__WAIT_NODE, ZKR__WAIT_NEIGHBOUR, ZKR__WAIT_CHILDREN };

struct zkr__claim_event {
    enum zkr__event_kind kind;

    /* Of the client, at any event. */
    bool connected; /* requests can be sent */
    bool sure;      /* the lease bound lies ahead */
    bool ample;     /* and far enough for a probe to be answered before it */
    bool patient;   /* another retry is allowed */
    bool crowded;   /* so many nodes of ours are being made that the claim lines up */
    bool wary;      /* a try for whose node there may be no room */
    bool announces; /* the owner is told when the claim has to wait */

    int code;       /* of answers, and of GIVE_UP */
    bool unwatched; /* of answers: there was no room for the watch */
    /* GOT_AHEAD: the maker of the node may tell news. LISTED, or CREATED and placed: that is likely. */
    bool near;
    bool hopeless;      /* CREATED, ZKR_ENONODE: the parents cannot be made either */
    bool bare;          /* CREATED: no list was asked along with it */
    bool placed;        /* CREATED: its number tells where it stands, as a list */
    bool exhausted;     /* CREATED, GOT_OWN: the sequence number is at its limit */
    bool ours;          /* GOT_OWN, GOT_OWNER: the node is of our session */
    bool checked;       /* GOT_OWN: of ZKR__DO_CHECK_OWN, so there is no watch */
    bool with_metadata; /* GOT_OWN: the data have holder metadata */
    int version;        /* GOT_OWN: of the data */
    int revocation; /* GOT_OWN: that version, if the data are a revocation request; 0 = no */
    bool deletes; /* WRITING, WRITTEN: the transaction deletes our node */
    bool passed;  /* TAKEN: by an owner that waited for it */
    /* DOWNGRADED: the node stays what it was. NOTED: it was for its data, not for another node. */
    bool refused;

    /* LISTED, or CREATED and placed. */
    bool found;   /* LISTED: our node is among them */
    bool once;    /* the claim is not to wait */
    bool full;    /* so many wait that the claim is not to wait behind them */
    bool foreign; /* the queue is that of a recipe which our node breaks */
    bool granted; /* the rule's verdict, as are the next */
    enum zkr__wait wait;
    enum zkr__then then;
    int64_t ahead;             /* WAIT_NODE: the number of that node */
    bool same;                 /* WAIT_NODE: the claim waits for that node already */
    enum zkr__look_ahead look; /* WAIT_NODE: how far the claim is to look ahead */
};

/* What is to be done, in this order. */
enum zkr__action {
    ZKR__DO_PARENTS = 1 << 0, /* create the parents; ahead of DO_CREATE */
    /* Create our node, under a new GUID, and list, if its number will not do. */
    ZKR__DO_CREATE = 1 << 1,
    ZKR__DO_FIND = 1 << 2,      /* write and list */
    ZKR__DO_GET_OWN = 1 << 3,   /* get our node, with a watch */
    ZKR__DO_LIST = 1 << 4,      /* with a watch when watch_children */
    ZKR__DO_GET_AHEAD = 1 << 5, /* get the node ahead, with a watch */
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
    ZKR__DO_NOTIFY = 1 << 15,          /* the outcome changed: notify the owner */
    ZKR__DO_RESTORE = 1 << 16,         /* write our text over the request told last */
    ZKR__DO_TELL_REVOCATION = 1 << 17, /* the owner is asked to let go */
    ZKR__DO_DOWNGRADE = 1 << 18,  /* replace our node by a reader's, if it is there */
    ZKR__DO_LINE_UP = 1 << 19,    /* PAUSE_OVER when there is room to create */
    ZKR__DO_ASK_OWNER = 1 << 20,  /* whose node is at our path? */
    ZKR__DO_LOOK_LATER = 1 << 21, /* QUIET after a while that grows with `refusals` */
    ZKR__DO_GET_BEFORE = 1 << 22, /* get the node before the node ahead, with a watch */
    ZKR__DO_CHECK_OWN = 1 << 23   /* get our node, behind the list, without a watch */
};

/* A transaction that deletes our node is on its way: until its answer it is no loss that the node is gone. */
enum zkr__departure { ZKR__STAYS, ZKR__DEPARTS, ZKR__DEPARTS_AND_GONE };

/*
 * HELD: a transaction deletes our WRIT node and makes a READ node with its number. From the moment that the owner
 * wants the downgrade until the answer, our node is at one of two paths. So it is no loss that one of the paths has no
 * node, and an owner that lets go meanwhile has to find out first which of them has one.
 */
enum zkr__downgrade {
    ZKR__SETTLED,
    ZKR__DOWNGRADING, /* asked */
    ZKR__DOWNGRADE_READS, /* the data of the WRIT node had changed: they are read, then it is asked again */
    ZKR__DOWNGRADE_OWED /* to be asked, or asked again */
};

/* The code of a refusal, as the data have another version. */
enum { ZKR__OTHER_VERSION = ZKR_EZK(-103) };

/* A hold that lasts writes into its node, once, since when it is held (contender.h). */
enum zkr__metadata { ZKR__METADATA_DUE, ZKR__METADATA_ASKED, ZKR__METADATA_WRITTEN };

/* SEEN: our node was there, and there was no room for a watch. */
enum zkr__own_watch { ZKR__OWN_NONE, ZKR__OWN_ASKED, ZKR__OWN_SET, ZKR__OWN_SEEN };

/* Thousands of claims may wait: small fields stand together. */
struct zkr__claim_state {
    enum zkr__phase phase : 8;
    enum zkr__phase next : 8; /* PAUSED: the phase to enter */
    enum zkr__own_watch own : 8;
    enum zkr__then then : 8; /* PARKED: from the verdict */
    enum zkr__departure departure : 4;
    enum zkr__downgrade downgrade : 4;
    enum zkr__metadata metadata : 8;
    bool has_metadata : 1; /* a hold is to have holder metadata */
    bool leaving : 1;      /* the owner has let go */
    /* At present servers refuse to delete our node (REMOVING), or to list its directory (FINDING). */
    bool refused : 1;
    bool
        unchecked : 1; /* HELD: servers refuse to look at our node; probes leave it out */
    bool keeps_place : 1; /* past the lease bound a hold is DOUBTED, else it is lost */
    /* The rule waits for the directory: lists leave a watch there. */
    bool watch_children : 1;
    bool waited : 1; /* the claim has been PARKED */
    bool made_parents : 1;
    bool member : 1; /* of a group */
    /* Outcome of a member: its node was gone before all members were granted. */
    bool place_lost : 1;
    bool pauses : 1;    /* a member begins after a pause, or its successor does */
    bool saw_ahead : 1; /* PARKED: the node ahead could be read */
    bool kept : 1;      /* HELD: without an owner, until the next one */
    enum zkr__look_ahead look : 3;
    unsigned round;
    unsigned holds;   /* how often the claim became HELD, or was taken over then */
    unsigned writing; /* transactions of the owner's without an answer */
    int failure;      /* outcome: ZKR_E…, and nothing is held */
    int lost;         /* outcome: ZKR_LOST_…, after it was held */
    int refusals;     /* of @unchecked, in a row */
    int64_t failures; /* in a row */
    int64_t ahead;    /* PARKED: the number of the node ahead */
    int standstill;   /* how often in a row that number was no lower than before */
    int version;      /* of our data, for the metadata; -1 = not known */
    int revocation;   /* the last request that was seen, and not heeded yet */
    int told;         /* the last request that the owner was told of */
};

/* The same request may get another answer next time. */
static inline bool zkr__worth_retrying(int code)
{
    return code == ZKR_ECONNLOSS || code == ZKR_ESESSION || zkr_err_retriable(code);
}

/* The phase of the claim; when PAUSED, the phase that follows. */
static inline enum zkr__phase zkr__claim_stage(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__PAUSED ? k->next : k->phase;
}

static inline bool zkr__claim_decided(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__HELD || k->failure != 0 || k->lost != 0 || k->place_lost;
}

/* The claim is held, and its node does not say since when. */
static inline bool zkr__claim_wants_metadata(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__HELD && k->has_metadata &&
           k->metadata == ZKR__METADATA_DUE && k->version >= 0 &&
           k->downgrade == ZKR__SETTLED && k->departure == ZKR__STAYS;
}

/* The answer to a list is still to come, or was asked for by now. */
static inline bool zkr__claim_awaits_list(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__LOOKING || k->phase == ZKR__CREATING ||
           k->phase == ZKR__FINDING || k->phase == ZKR__ADOPTING ||
           k->phase == ZKR__LISTING ||
           (k->phase == ZKR__PARKED && k->look == ZKR__LOOK_ASKED);
}

/* The node before the node ahead is watched. */
static inline bool zkr__claim_watches_before(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__PARKED &&
           (k->look == ZKR__BEHIND_MORE || k->look == ZKR__BEHIND_TWO);
}

/* The claim may be granted, or taken, by the next event, for which the lease must be there. */
static inline bool zkr__claim_keeps_lease(const struct zkr__claim_state *k)
{
    bool next = k->look == ZKR__LOOK_ASKED || k->look == ZKR__PREPARED ||
                k->look == ZKR__BEHIND_FIRST;
    return k->phase == ZKR__PARKED ? next : k->phase == ZKR__HELD && k->kept;
}

/* Nothing was sent that could make a node of the claim. */
static inline bool zkr__claim_has_none(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__LOOKING ||
           (k->phase == ZKR__PAUSED && k->next == ZKR__CREATING);
}

/* The claim has a node, and does not hold: it waits, or must prove that it may hold. */
static inline bool zkr__claim_waits_with_node(const struct zkr__claim_state *k)
{
    enum zkr__phase stage = zkr__claim_stage(k);
    return (stage >= ZKR__ADOPTING && stage <= ZKR__PROVING) || stage == ZKR__DOUBTED;
}

/* --- the step: pure; it returns what is to be done, as a set of zkr__action --- */

typedef unsigned zkr__step(struct zkr__claim_state *k,
                           const struct zkr__claim_event *e);

/* Move @k on. */
zkr__step zkr__claim_step;

/* --- transitions.c, for claim_step.c alone --- */

/*
 * More of the same in a row are paused in between. Connections that break are no fault of the claim's, so lost creates are
 * paused later: by then the servers may be closing each connection because of the create.
 */
enum { ZKR__QUICK_RETRIES = 3, ZKR__QUICK_CREATES = 8 };

/* Enter a phase and ask what is to be asked there; without a connection, or in a crowd, pause until that can be. */
unsigned zkr__enter(struct zkr__claim_state *k,
                    const struct zkr__claim_event *e,
                    enum zkr__phase phase);
/* Enter a phase after a pause. Fail with ZKR_ECONNLOSS when no more retries are allowed. */
unsigned zkr__retry_in(struct zkr__claim_state *k,
                       const struct zkr__claim_event *e,
                       enum zkr__phase phase);
/* Enter a phase after a pause, or fail if that cannot help. */
unsigned zkr__retry_or_fail(struct zkr__claim_state *k,
                            const struct zkr__claim_event *e,
                            enum zkr__phase phase);

/* Delete our node; the owner has let go, or lost it. */
zkr__step zkr__remove;
/* The owner gets @code; nothing of the claim stays. In CREATING no node has been made. */
unsigned
zkr__fail_claim(struct zkr__claim_state *k, const struct zkr__claim_event *e, int code);
/* Our node is gone but we still want one, at the tail of the queue. In DOUBTED it is lost; a member is place_lost. */
zkr__step zkr__requeue;
/* Nothing blocks us: hold, or first prove that the session lives. A member waits for the others before. */
zkr__step zkr__grant;
/* The hold is over; @reason is a ZKR_LOST_…. With ZKR_LOST_NODE there is nothing to delete. */
unsigned
zkr__lose(struct zkr__claim_state *k, const struct zkr__claim_event *e, int reason);

/* Get our node with a watch, if there is no watch and there is a connection. */
zkr__step zkr__watch_own;
/* When to watch our own node, if that was not tried yet. */
unsigned zkr__look_later(const struct zkr__claim_state *k);

/* The same request may get another answer next time; or it is refused for good. */
bool zkr__worth_repeating(int code);
/* While we hold: tell the owner of a revocation request, once, and write our text over the request. */
zkr__step zkr__heed;
/* Our node is gone, but for the claims behind us the node under its name, of another session, may be in the way. */
unsigned zkr__not_past(unsigned todo);

/* At ZKR__EV_OWN_GONE and so on. */
zkr__step zkr__on_own_gone, zkr__on_own_changed, zkr__on_own_unchecked;
zkr__step zkr__on_got_own, zkr__on_got_owner, zkr__on_restored;
zkr__step zkr__on_metadata_sent, zkr__on_noted;
zkr__step zkr__on_writing, zkr__on_written;

/* --- downgrade.c, for claim_step.c alone --- */

zkr__step zkr__on_downgrade, zkr__on_downgraded;
/* Ask for the downgrade again, if there is a connection. */
zkr__step zkr__downgrade_again;
/* At ZKR__EV_GOT_OWN during a downgrade. */
zkr__step zkr__on_got_downgrading;

#endif
