/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state machine of a claim, which is one node of ours in a queue: phases, events, and the actions that follow.
 * zkr__claim_step() makes each transition. All of this is pure: no I/O, no lock, no clock, no allocation.
 *
 *             create and list                 not first
 *   CREATING ------------------> LISTING ------------------> PARKED <--+
 *     ^  |                        ^  |  |                      |       | others ahead,
 *     |  | reply lost             |  |  | first           end  |       | or not sure
 *     |  v                        |  |  +--------> HELD <------+       |
 *     | FINDING -----> ADOPTING --+  |    lease |  ^ | end of the node |
 *     |  | no node     is it ours?   |     over v  | | ahead           |
 *     |  |                           |     DOUBTED  | +--> LISTING -----+
 *     |  |                           |  a write is  |
 *     +--+-- our node gone -- any    |    answered  |
 *            that waits              +--> PROVING --+
 *                                                       release, any time: REMOVING --> GONE
 *
 * If a list lacks our node, the claim is ADOPTING again, because only a get proves that the node is gone. The number of
 * the node ahead must fall from one list to the next. If that number does not fall, the servers contradict themselves,
 * and the claim pauses before the next list.
 *
 * A writer's hold may continue as a reader's (a downgrade): see enum zkr__downgrade.
 *
 * On entering a phase from CREATING to DOUBTED, except PARKED and HELD, the claim sends requests and waits for an
 * answer. If the claim cannot send them now, it is PAUSED until there is a connection, a pause ends, or the claim is
 * admitted (admission.h). It then enters the phase `next`.
 *
 * "Leaving" is not a phase. A claim whose owner has left first learns whether its node was created, and then deletes
 * the node.
 *
 * A *try* is a claim that fails instead of waiting. A try that would probably fail is *wary*: it is LOOKING before it
 * is CREATING, because the node of a try that fails would delay other claims.
 *
 * A *member* is created and granted together with the other claims of its group (group.c). When nothing blocks a member
 * it is READY, and all members of the group continue from there. A member whose node is gone does not enter again. It
 * is then *place_lost* and GONE.
 *
 * A transition that abandons the requests in flight begins a new *round*. An answer carries the number of its request's
 * round, and answers of earlier rounds are dropped before zkr__claim_step().
 *
 * --- Ownership of a node. A list or a check shows that a node has our name, but not that our session created that
 * node, because another session may have deleted our node and created one with that name. So neither a list nor a check
 * grants by itself. A get of our own node goes out ahead of each list and each check, unless a watch on the node is
 * set, and the grant waits for the answer. Only the list sent with the create, or on its answer, needs no such get,
 * because the node was created just before. The list after the end of the node ahead will probably grant, and a short
 * hold needs no watch on its node. For that list, the count of all children ever created proves the ownership, if every
 * child created after our node is in the list (zkr__children_prove()), because then nobody has created a node with our
 * name. If the count does not prove it, a get without a watch follows the list. If that get finds our node, the node
 * was ours when the list was sent. An older list grants a READY member, so the member watches its node as soon as
 * another member is PARKED.
 *
 * --- Without room for a watch (session/watches.h) no claim polls. A claim that waits for a node or for the directory
 * fails, and a READY member fails, too. Any other claim goes without the watch on its own node. That watch is OWN_SEEN,
 * and the claim gets its node again when a grant depends on the node.
 *
 * --- Looking ahead. A claim PARKED behind node C, with other nodes before C, would need a list after the end of C. So
 * the claim also watches B, the node before C, and lists while C holds:
 *
 *                   B gone                    only C is ahead                 C gone
 *   BEHIND_MORE ------------> LOOK_ASKED ----------------------> PREPARED ------------> HELD
 *        ^                      |     | C gone first: LISTING, by the same list   ^
 *        +--- others before C --+     +---------------------------------------    |
 *   BEHIND_TWO ------------------------------ B gone -----------------------------+
 *
 * Why this is sound: a claim may hold once every node that a list showed ahead of its own node is deleted, if its own
 * node existed when the list was sent. Numbers only grow, so any such list, however old, shows all nodes that will ever
 * be ahead. So neither the order of the events and the list matters, nor whether B ever held. If the list showed only B
 * and C ahead, no other list is needed. This argument rests on six conditions:
 * - Only a deletion counts: the event, or "no node" as the answer to the get that would set the watch. A change of the
 *   data uses up the watch, so the claim gets the node again, unless a list is in flight (see leave_to_list()).
 * - Our own node and its parent have existed all the time (a new parent numbers its children from 0). Events arrive in
 *   order, so this is true if the watch on our own node, set by a get that found the node ours, has not fired when the
 *   event of C arrives. If the answer to that get is outstanding, the grant waits for the answer.
 * - There was no re-connection. The events that a re-connection brings arrive in no order, so a re-connection ends the
 *   look-ahead, and a list follows the end of C.
 * - Numbers do not restart while the claim waits, because a claim with a high number does not look ahead (claim_io.c).
 * - An event proves nothing about the lease, so this grant needs a sure lease, as each grant does. From the request for
 *   the list on, the client probes as for a hold, so the lease is sure when C ends, however long C held.
 * - The rule allows looking ahead (rule.h): the first child holds, and C holds alone. Where a writer may have become a
 *   reader, two events are not enough. Readers, permits and members of groups do not look ahead.
 *
 * If B leaves early, the look-ahead costs one more list. If an event is missed, or there is no room for the watch on B,
 * a list follows the end of C.
 */
#ifndef ZKR_QUEUE_CLAIM_STATE_H
#define ZKR_QUEUE_CLAIM_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <zkr/error.h>

#include "queue/rule.h"

enum zkr__phase {
    ZKR__PAUSED,     /* awaits no answer; the phase `next` follows */
    ZKR__LOOKING,    /* a wary try lists to find out whether it would be granted */
    ZKR__CREATING,   /* create and list are sent together */
    ZKR__FINDING,    /* the create's reply is lost: write, list, search for our GUID */
    ZKR__ADOPTING,   /* our name was found by its GUID: get the node, and list */
    ZKR__LISTING,    /* our node exists; a list will show its place */
    ZKR__PARKED,     /* behind another node */
    ZKR__READY,      /* a member that nothing blocks waits until all are READY */
    ZKR__CONFIRMING, /* nothing blocks us; the get of our own node must find it */
    ZKR__PROVING,    /* nothing blocks us; a write must prove the session alive */
    ZKR__HELD,
    ZKR__DOUBTED,  /* the lease bound passed; a write may prove the hold again */
    ZKR__REMOVING, /* deleting our node, until a delete succeeds */
    ZKR__GONE      /* our node does not exist, and nothing is left to do */
};

/* Events. The fields of struct zkr__claim_event that are set are listed after the colon. */
enum zkr__event_kind {
    ZKR__EV_START,        /* start */
    ZKR__EV_CONNECTED,    /* connected, for the first time or again */
    ZKR__EV_PAUSE_OVER,   /* the pause of DO_RETRY, DO_PACE or DO_LINE_UP has ended */
    ZKR__EV_SESSION_OVER, /* the session has ended, and our node is gone with it */
    ZKR__EV_CREATED,      /* answer to the create: code, exhausted */
    ZKR__EV_LISTED,       /* answer to a list: code, found, verdict */
    ZKR__EV_GOT_AHEAD,    /* answer to the get, with a watch, of the node ahead: code */
    ZKR__EV_GOT_OWN,   /* answer to a get of our node: code, ours, exhausted, checked */
    ZKR__EV_GOT_OWNER, /* answer to DO_ASK_OWNER: code, ours */
    ZKR__EV_AHEAD_GONE, /* the node ahead was deleted, or no longer blocks */
    /* The node ahead belongs to a claim of this client, which has just released its hold. */
    ZKR__EV_AHEAD_RELEASED,
    /* Like AHEAD_RELEASED, but a write of that claim's owner may still arrive. */
    ZKR__EV_AHEAD_WRITES,
    /*
     * The node ahead belongs to another process of this host, which reports that it released its hold. The node still
     * exists (news.h).
     */
    ZKR__EV_AHEAD_TOLD,
    /* The watched node or directory changed; the watch is used up. */
    ZKR__EV_AHEAD_CHANGED,
    ZKR__EV_GOT_BEFORE,  /* answer to the get, with a watch, of the node before: code */
    ZKR__EV_BEFORE_GONE, /* the node before the node ahead was deleted */
    ZKR__EV_BEFORE_CHANGED, /* that node changed; the watch is used up */
    ZKR__EV_OWN_GONE,       /* our node was deleted */
    ZKR__EV_OWN_CHANGED,    /* the data of our node changed; the watch is used up */
    ZKR__EV_OWN_UNCHECKED,  /* a server refused to check whether our node exists */
    ZKR__EV_ALL_READY,      /* no member of the group is blocked */
    ZKR__EV_PROVED,         /* answer to the write of PROVING or DOUBTED: code */
    ZKR__EV_REMOVED,        /* answer to the delete: code */
    ZKR__EV_RESTORED,       /* answer to the write over a revocation request: code */
    ZKR__EV_QUIET,          /* parked or held for a while, so watch our own node */
    /* A watch has not fired for so long that it is doubted (zkr__engine_doubts_at()). */
    ZKR__EV_UNHEARD,
    ZKR__EV_LEASE_EXPIRED, /* the lease bound has passed */
    ZKR__EV_GIVE_UP,       /* the claim must not wait any longer: code */
    ZKR__EV_WRITING,       /* a transaction of the owner was sent: deletes */
    ZKR__EV_WRITTEN,       /* answer to that transaction: code, deletes */
    /* A write of holder metadata to our node was sent. It fails if another client has changed the data. */
    ZKR__EV_METADATA_SENT,
    ZKR__EV_NOTED,      /* answer to the write of METADATA_SENT: code, refused */
    ZKR__EV_DOWNGRADE,  /* the owner continues as a reader */
    ZKR__EV_DOWNGRADED, /* answer to DO_DOWNGRADE: code, refused */
    ZKR__EV_KEPT,       /* the owner releases, but the node stays for the next hold */
    ZKR__EV_TAKEN,      /* a kept claim has a new owner: passed */
    ZKR__EV_LEAVE,      /* the owner leaves: released, timed out, canceled */
    ZKR__EV_KINDS
};

/*
 * For PARKED: what the claim knows of the nodes before the node ahead. "The nearest" is the one directly before the
 * node ahead.
 */
enum zkr__look_ahead {
    ZKR__LOOKS_NOT,   /* nothing: the claim does not look ahead */
    ZKR__BEHIND_MORE, /* the nearest is watched; others may be before it */
    ZKR__BEHIND_TWO,  /* the nearest is watched, and no other is before it */
    /* The nearest is gone, and a list in flight will show the others. */
    ZKR__LOOK_ASKED,
    ZKR__PREPARED,     /* all nodes before the node ahead are gone */
    ZKR__BEHIND_FIRST, /* the list showed no node before the node ahead */
};

/*
 * What a claim waits for after a list: a node of another client, the node of a claim of this client, or any change of
 * the directory.
 */
enum zkr__wait { ZKR__WAIT_NODE, ZKR__WAIT_NEIGHBOUR, ZKR__WAIT_CHILDREN };

struct zkr__claim_event {
    enum zkr__event_kind kind;

    /* State of the client and the claim, set for every event. */
    bool connected; /* requests can be sent */
    bool sure;      /* the lease bound is in the future */
    bool ample;     /* the bound is so far away that a probe can be answered first */
    bool patient;   /* another retry is allowed */
    /* So many nodes of ours are being created that the claim must wait in line (admission.h). */
    bool crowded;
    bool wary;      /* the claim is a try that might have to wait */
    bool announces; /* the owner is notified when the claim has to wait */

    int code;       /* code of an answer, or reason for GIVE_UP */
    bool unwatched; /* answers: there was no room for the watch */
    /*
     * GOT_AHEAD: the process that owns the node can send news. LISTED, or CREATED and placed: a guess from the last
     * GOT_AHEAD.
     */
    bool near;
    bool hopeless;  /* CREATED, ZKR_ENONODE: creating the parents fails, too */
    bool bare;      /* CREATED: no list was sent along with the create */
    bool placed;    /* CREATED: our node's number decides; the verdict fields are set */
    bool exhausted; /* CREATED, GOT_OWN: the sequence number is at its limit */
    /* GOT_OWN, GOT_OWNER: the node belongs to our session. LISTED: the list proves that. */
    bool ours;
    bool checked;       /* GOT_OWN: the get was DO_CHECK_OWN, which leaves no watch */
    bool with_metadata; /* GOT_OWN: the data include holder metadata */
    int version;        /* GOT_OWN: version of the data */
    int revocation;     /* GOT_OWN: version of a revocation request; 0 = no request */
    bool deletes;       /* WRITING, WRITTEN: the transaction deletes our node */
    bool passed;        /* TAKEN: the new owner waited for the node */
    /* DOWNGRADED: the WRIT node remains. NOTED: the refusal is about our node, not about another node in the write. */
    bool refused;

    /* LISTED sets the following fields, and so does CREATED if placed. */
    bool found;   /* LISTED: the list has our node */
    bool once;    /* the claim must not wait */
    bool full;    /* too many contenders already wait */
    bool foreign; /* a recipe of another program in the queue is not compatible */
    bool granted; /* verdict of the rule, as are `wait` and `then` */
    enum zkr__wait wait;
    enum zkr__then then;
    int64_t ahead; /* WAIT_NODE: the number of the node ahead */
    /* WAIT_NODE: the claim already waits for that node; otherwise false. */
    bool same;
    enum zkr__look_ahead look; /* WAIT_NODE: how far the claim looks ahead */
};

/* What the caller of the step must do, in the order of claim_plan.h. */
enum zkr__action {
    ZKR__DO_PARENTS = 1 << 0, /* create the parents, before DO_CREATE */
    /* Create our node under a new GUID, and list, unless the node's number will probably be enough. */
    ZKR__DO_CREATE = 1 << 1,
    ZKR__DO_FIND = 1 << 2,      /* write and list */
    ZKR__DO_GET_OWN = 1 << 3,   /* get our node, with a watch */
    ZKR__DO_LIST = 1 << 4,      /* list, and set a watch if watch_children */
    ZKR__DO_GET_AHEAD = 1 << 5, /* get the node ahead, with a watch */
    ZKR__DO_PROVE = 1 << 6,     /* check our node */
    /* Notify the claims of this client behind us that our hold is released. */
    ZKR__DO_HAND_OVER = 1 << 7,
    ZKR__DO_REMOVE = 1 << 8, /* delete our node */
    /* Notify the claims of this client behind us that our node no longer blocks them. */
    ZKR__DO_STEP_ASIDE = 1 << 9,
    /* Like DO_STEP_ASIDE, but a write of ours may still arrive. */
    ZKR__DO_LET_LOOK = 1 << 10,
    ZKR__DO_RETRY = 1 << 11, /* deliver PAUSE_OVER after a pause */
    ZKR__DO_PACE = 1 << 12,  /* deliver PAUSE_OVER at the next probe time */
    ZKR__DO_QUIET = 1 << 13, /* deliver QUIET after a while */
    ZKR__DO_COUNT_LOSS = 1 << 14,
    ZKR__DO_NOTIFY = 1 << 15,  /* the outcome changed: notify the owner */
    ZKR__DO_RESTORE = 1 << 16, /* overwrite the last reported request with our text */
    ZKR__DO_TELL_REVOCATION = 1 << 17, /* notify the owner of a revocation request */
    /* Replace our node, if it exists, with a reader's node. */
    ZKR__DO_DOWNGRADE = 1 << 18,
    ZKR__DO_LINE_UP = 1 << 19,    /* deliver PAUSE_OVER on admission */
    ZKR__DO_ASK_OWNER = 1 << 20,  /* ask which session owns the node at our path */
    ZKR__DO_LOOK_LATER = 1 << 21, /* deliver QUIET; the delay grows with `refusals` */
    ZKR__DO_GET_BEFORE = 1 << 22, /* get the node before the node ahead, with a watch */
    ZKR__DO_CHECK_OWN = 1 << 23   /* get our node without a watch */
};

/*
 * Whether a transaction of the owner that deletes our node is in flight. While it is, the end of the node is not a
 * loss.
 */
enum zkr__departure { ZKR__STAYS, ZKR__DEPARTS, ZKR__DEPARTS_AND_GONE };

/*
 * For HELD: a transaction deletes our WRIT node and creates a READ node with its number. From the owner's request until
 * the answer, our node is at one of two paths. So a missing node at one path is not a loss. An owner that releases in
 * between must first find out which node exists.
 */
enum zkr__downgrade {
    ZKR__SETTLED,
    ZKR__DOWNGRADING,     /* the transaction is in flight */
    ZKR__DOWNGRADE_READS, /* the data of the WRIT node changed; a get is in flight */
    ZKR__DOWNGRADE_OWED   /* the transaction must be sent, or sent again */
};

/* Error code of a request that was refused because the data have another version. */
enum { ZKR__OTHER_VERSION = ZKR_EZK(-103) };

/* A hold that lasts writes the time at which it began into its node, once (node_data.h). */
enum zkr__metadata { ZKR__METADATA_DUE, ZKR__METADATA_ASKED, ZKR__METADATA_WRITTEN };

/*
 * The watch on our own node. OWN_SEEN: the node existed, but there was no room for a watch. OWN_UNPROVED: there is no
 * watch, so the list in flight must prove that the node is ours, or else a get after the list.
 */
enum zkr__own_watch {
    ZKR__OWN_NONE,
    ZKR__OWN_ASKED,
    ZKR__OWN_SET,
    ZKR__OWN_SEEN,
    ZKR__OWN_UNPROVED
};

/* There may be thousands of waiting claims, so small fields share bytes. */
struct zkr__claim_state {
    enum zkr__phase phase : 8;
    enum zkr__phase next : 8; /* PAUSED: the phase to enter afterwards */
    enum zkr__own_watch own : 8;
    enum zkr__then then : 8; /* PARKED: what follows, according to the verdict */
    enum zkr__departure departure : 4;
    enum zkr__downgrade downgrade : 4;
    enum zkr__metadata metadata : 8;
    bool has_metadata : 1; /* a hold of this claim writes holder metadata */
    bool leaving : 1;      /* the owner has left */
    /* Servers currently refuse to delete our node (REMOVING) or to list its directory (FINDING). */
    bool refused : 1;
    bool unchecked : 1; /* HELD: servers refuse to check our node, so probes omit it */
    bool keeps_place : 1; /* past the lease bound, a hold is DOUBTED instead of lost */
    /* The claim waits for changes of the directory, so its lists leave a watch there. */
    bool watch_children : 1;
    bool waited : 1; /* the claim has been PARKED */
    bool made_parents : 1;
    bool member : 1; /* belongs to a group */
    /* Outcome of a member: its node was gone before the group was granted. */
    bool place_lost : 1;
    bool pauses : 1;    /* the member starts after a pause */
    bool saw_ahead : 1; /* PARKED: the node ahead was readable */
    bool kept : 1;      /* HELD without an owner, until the next owner takes the node */
    enum zkr__look_ahead look : 3;
    unsigned round;
    unsigned holds;   /* how often the claim became HELD, or was taken while HELD */
    unsigned writing; /* how many of the owner's transactions are not answered yet */
    int failure;      /* outcome: ZKR_E…, if nothing is held */
    int lost;         /* outcome: ZKR_LOST_…, after a hold */
    int refusals;     /* consecutive refused checks or gets of our node */
    int64_t failures; /* consecutive failures */
    int64_t ahead;    /* PARKED: the number of the node ahead */
    int standstill;   /* how many consecutive lists did not lower `ahead` */
    int version;      /* version of our node's data, for the metadata; -1 = not known */
    /* Version of a revocation request that is not handled yet; 0 = none. */
    int revocation;
    /* Version of the revocation request that was reported to the owner last. */
    int told;
};

/* Returns true if the same request may succeed when it is sent again. */
static inline bool zkr__worth_retrying(int code)
{
    return code == ZKR_ECONNLOSS || code == ZKR_ESESSION || zkr_err_retriable(code);
}

/* Returns the phase of the claim or, when PAUSED, the phase that follows. */
static inline enum zkr__phase zkr__claim_stage(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__PAUSED ? k->next : k->phase;
}

static inline bool zkr__claim_decided(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__HELD || k->failure != 0 || k->lost != 0 || k->place_lost;
}

/* Returns true if the claim is held, and its metadata can and must still be written. */
static inline bool zkr__claim_wants_metadata(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__HELD && k->has_metadata &&
           k->metadata == ZKR__METADATA_DUE && k->version >= 0 &&
           k->downgrade == ZKR__SETTLED && k->departure == ZKR__STAYS;
}

/* Returns true if the claim waits for a list that was requested or is about to be requested. */
static inline bool zkr__claim_awaits_list(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__LOOKING || k->phase == ZKR__CREATING ||
           k->phase == ZKR__FINDING || k->phase == ZKR__ADOPTING ||
           k->phase == ZKR__LISTING ||
           (k->phase == ZKR__PARKED && k->look == ZKR__LOOK_ASKED);
}

/* Returns true if the claim watches the node before the node ahead. */
static inline bool zkr__claim_watches_before(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__PARKED &&
           (k->look == ZKR__BEHIND_MORE || k->look == ZKR__BEHIND_TWO);
}

/*
 * Returns true if the client must keep the lease sure, because the next event may grant the claim, or the next owner
 * may take it.
 */
static inline bool zkr__claim_keeps_lease(const struct zkr__claim_state *k)
{
    bool next = k->look == ZKR__LOOK_ASKED || k->look == ZKR__PREPARED ||
                k->look == ZKR__BEHIND_FIRST;
    return k->phase == ZKR__PARKED ? next : k->phase == ZKR__HELD && k->kept;
}

/* Returns true if no request was sent that could create the claim's node. */
static inline bool zkr__claim_has_none(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__LOOKING ||
           (k->phase == ZKR__PAUSED && k->next == ZKR__CREATING);
}

/* Returns true if the claim has a node but does not hold: it waits, or must prove that it may hold. */
static inline bool zkr__claim_waits_with_node(const struct zkr__claim_state *k)
{
    enum zkr__phase stage = zkr__claim_stage(k);
    return (stage >= ZKR__ADOPTING && stage <= ZKR__PROVING) || stage == ZKR__DOUBTED;
}

/* --- the step, which is pure, and returns the set of zkr__action to carry out --- */

typedef unsigned zkr__step(struct zkr__claim_state *k,
                           const struct zkr__claim_event *e);

/* Advance @k by the event. */
zkr__step zkr__claim_step;

/* --- transitions.c, for claim_step.c alone --- */

/*
 * The number of retries without a pause. A lost create has more of them, because most connections are lost for other
 * reasons. After that many, the create itself may be the reason.
 */
enum { ZKR__QUICK_RETRIES = 3, ZKR__QUICK_CREATES = 8 };

/*
 * Enter a phase, and return its requests. Without a connection, or if too many of our nodes are being created, pause
 * until the requests can be sent.
 */
unsigned zkr__enter(struct zkr__claim_state *k,
                    const struct zkr__claim_event *e,
                    enum zkr__phase phase);
/* Enter a phase after a pause. If no more retries are allowed, fail with ZKR_ECONNLOSS. */
unsigned zkr__retry_in(struct zkr__claim_state *k,
                       const struct zkr__claim_event *e,
                       enum zkr__phase phase);
/* Enter a phase after a pause or, if a retry cannot help, fail. */
unsigned zkr__retry_or_fail(struct zkr__claim_state *k,
                            const struct zkr__claim_event *e,
                            enum zkr__phase phase);

/* Delete our node after a release or a loss. */
zkr__step zkr__remove;
/* Fail with @code and, if the claim has a node, delete the node. In CREATING, no node was created. */
unsigned
zkr__fail_claim(struct zkr__claim_state *k, const struct zkr__claim_event *e, int code);
/*
 * Our node is gone. If the claim still waits, it enters again at the tail. In DOUBTED the hold is lost instead, and a
 * member is place_lost.
 */
zkr__step zkr__requeue;
/*
 * Nothing blocks the claim, so it holds, or first proves that the session is alive. A member first waits for the other
 * members.
 */
zkr__step zkr__grant;
/* End a lost hold. @reason is one of ZKR_LOST_…. With ZKR_LOST_NODE, there is no node to delete. */
unsigned
zkr__lose(struct zkr__claim_state *k, const struct zkr__claim_event *e, int reason);

/* Get our node with a watch, unless the watch is set or there is no connection. */
zkr__step zkr__watch_own;
/* Schedule the get that sets the watch on our own node, unless that get was already tried. */
unsigned zkr__look_later(const struct zkr__claim_state *k);

/* Like zkr__worth_retrying(), but for requests of a hold. A hold repeats a request even after memory ran out. */
bool zkr__worth_repeating(int code);
/* During a hold, notify the owner of a revocation request, once, and overwrite the request with our text. */
zkr__step zkr__heed;
/* Let the claims behind us list, because a node of another session that has our node's name may block them. */
unsigned zkr__not_past(unsigned todo);

/* Handlers of ZKR__EV_OWN_GONE and so on. */
zkr__step zkr__on_own_gone, zkr__on_own_changed, zkr__on_own_unchecked;
zkr__step zkr__on_got_own, zkr__on_got_owner, zkr__on_restored;
zkr__step zkr__on_metadata_sent, zkr__on_noted;
zkr__step zkr__on_writing, zkr__on_written;

/* --- downgrade.c, for claim_step.c alone --- */

zkr__step zkr__on_downgrade, zkr__on_downgraded;
/* If there is a connection, send the downgrade again. */
zkr__step zkr__downgrade_again;
/* Handles ZKR__EV_GOT_OWN during a downgrade. */
zkr__step zkr__on_got_downgrading;

#endif
