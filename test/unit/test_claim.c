/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a claim does, by example, where the promises of claim_promises.h do not say it. A row says what happens, and behind
 * each ">" what must follow: the phase and the actions, in the words of claim_state.h.
 *
 *     "CREATING: created > LISTING; listed found first > HELD quiet notify"
 *
 * It begins where a way of that name leads, "A, B: ..." at each of these; without one, before the start. Codes
 * and events may be several, "EAUTH|EINVAL", of which each is tried; CODE is the one tried. "same" is the phase as
 * it was, and no action.
 * PAUSED-X is a pause, after which X is entered; "anew" is a new round, so that answers to what is in flight count
 * no more; "failed=", "lost=" and "place_lost", "pauses" are outcomes; "wants-note" is a hold that is to write since when,
 * into data of this version; -1 is not known.
 *
 * An event comes with a connection, a lease that is sure for long, and a retry left, but for: "down", without a
 * connection; "unsure", past the bound of the lease; "last", without a retry.
 */
#include <stdlib.h>

#include <zkr/client.h>

#include "queue/claim.h"
#include "queue/claim_io.h"
#include "unit.h"

// clang-format off
static const struct {
    const char *name;
    const char *row;
} ways[] = {
    {"CREATING", "start > CREATING create anew"},
    {"LISTING", "CREATING: created > LISTING"},
    {"HELD", "LISTING: listed found first > HELD quiet notify"},
    {"WATCHED", "HELD: quiet > HELD get-own; got-own ours > HELD"},
    {"SECOND", "LISTING: listed found then-ours > PARKED get-own get-ahead"},
    {"PARKED", "SECOND: got-own ours > PARKED"},
    {"CONFIRMING", "SECOND: ahead-gone > CONFIRMING"},
    {"BEHIND-OURS", "LISTING: listed found neighbour then-ours > PARKED get-own"},
    {"BEHIND-UNKNOWN", "LISTING: listed found neighbour > PARKED get-own"},
    {"DEEPER", "LISTING: listed found then-ours-if-held > PARKED get-ahead quiet"},
    {"DEEPER-BEHIND-OURS", "LISTING: listed found neighbour then-ours-if-held > PARKED get-own"},
    {"MORE", "LISTING: listed found then-ours-if-held more > PARKED get-ahead quiet get-before"},
    {"TWO", "LISTING: listed found then-ours-if-held two > PARKED get-own get-ahead get-before"},
    {"LOOKING", "MORE: before-gone > PARKED get-own list"},
    {"PREPARED", "LOOKING: got-own ours > PARKED; listed found still-ahead then-ours only > PARKED"},
    {"GIVEN-UP", "CREATING: give-up ETIMEDOUT > CREATING notify failed=ETIMEDOUT"},
    {"LOST-REPLY", "CREATING: created down ECONNLOSS > PAUSED-FINDING retry anew"},
    {"FINDING", "LOST-REPLY: pause-over > FINDING find"},
    {"ADOPTING", "FINDING: listed found > ADOPTING get-own list"},
    {"PROVING", "LISTING: listed unsure found first > PROVING get-own prove"},
    {"DOUBTED", "keeps-place HELD: lease-over unsure > DOUBTED get-own prove count-loss notify"},
    {"REMOVING", "LISTING: leave > REMOVING remove step-aside anew"},
    {"GONE", "REMOVING: removed > GONE"},
    {"READY", "member LISTING: listed found first > READY quiet notify"},
    {"PAUSED-CREATING", "start down > PAUSED-CREATING"},
    {"PAUSED-ADOPTING", "ADOPTING: got-own ECONNLOSS > PAUSED-ADOPTING retry anew"},
    {"PAUSED-LISTING", "LISTING: listed ECONNLOSS > PAUSED-LISTING retry anew"},
    {"PAUSED-PROVING", "PROVING: proved ECONNLOSS > PAUSED-PROVING retry anew"},
    {"DOWNGRADING", "WATCHED: downgrade > HELD step-aside downgrade anew"},
};

static const char *const examples[] = {
    /* Its number may tell where it stands: then nothing else is asked. */
    "CREATING: created placed once > REMOVING remove step-aside notify anew failed=ETIMEDOUT",
    /* Deeper in the queue the own node gets its watch a while after the one ahead. */
    "DEEPER: quiet > PARKED get-own; quiet > same; got-own ours > same; quiet > same",
    /* Inside one client a release passes the lock on: no watch on the one ahead, no event. */
    "BEHIND-OURS: got-own ours > same; ahead-released > HELD notify; "
        "leave > REMOVING hand-over remove anew; removed > GONE",
    /* A neighbour may pass it on to one who joined deeper, too: nobody can be in between. */
    "DEEPER-BEHIND-OURS: got-own ours > same; ahead-released > HELD notify",
    "DEEPER: ahead-released > LISTING list",
    /* News of another process grants as well, at any depth. The node ahead is still there. */
    "PARKED: ahead-told > HELD notify",
    "LISTING: listed found then-ours-if-held near > PARKED get-own get-ahead; got-own ours > same; "
        "ahead-told > HELD notify",
    "DEEPER: got-ahead near > PARKED get-own; got-own ours > same; ahead-told > HELD notify; ahead-told > same",
    "LOOKING: got-own ours > same; ahead-told > HELD notify; listed found then-ours > same",
    /* But it proves nothing about the node of the claim, and nothing about the lease. */
    "SECOND: ahead-told > CONFIRMING; got-own ours > HELD notify",
    "DEEPER: ahead-told > CONFIRMING get-own; ahead-gone > same; got-own ENONODE > CREATING create step-aside anew",
    "PARKED: ahead-told unsure > PROVING prove; ahead-gone > same; proved > HELD notify",
    /* The node of a release is kept, with a watch, for the next hold. A hold that was not kept is not taken. */
    "HELD: kept > HELD get-own; got-own ours > same; taken > same",
    "WATCHED: taken > same; kept > same; taken > same; leave > REMOVING hand-over remove anew; kept > same",
    "LISTING: kept > same",
    /* A create whose answer says where the node stands grants at once. */
    "CREATING: created placed first > HELD quiet notify",
    "CREATING: created bare down > PAUSED-LISTING",
    /* An event or an answer that comes late meets another phase, and changes nothing. */
    "PARKED: created > same; proved > same; removed > same; listed found first > same",
    "HELD: noted > same; own-unchecked down > same",
    "REMOVING: got-own ours > same; noting > same",
    "DOWNGRADING: own-changed > same",
    "LISTING: ahead-changed > same; ahead-writes > same; before-changed > same; lease-over > same",
    /* A write of the one ahead may still come: the list goes out behind it. */
    "PARKED: ahead-writes > LISTING list",
    /* What cannot be used is dropped. */
    "PARKED: ahead-told down > same; ahead-gone > HELD notify",
    "BEHIND-UNKNOWN: got-own ours > same; ahead-told > same",
    "LISTING: ahead-told > same",
    "REMOVING: ahead-told > same",
    /* What happens to the node while it is asked for, the answer tells. */
    "BEHIND-OURS: own-changed > same; ahead-released > CONFIRMING; "
        "got-own ENONODE > CREATING create step-aside anew",
    /* When not the first was watched, its end means: look again, and then at our own node. */
    "DEEPER: ahead-gone > LISTING list; listed found then-ours-if-held > PARKED get-ahead quiet; "
        "ahead-gone > LISTING list; listed found first > CONFIRMING check-own; got-own ours checked > HELD quiet notify",
    "DEEPER: ahead-gone > LISTING list; listed found then-ours > PARKED get-own get-ahead; "
        "ahead-gone > CONFIRMING; got-own ours > HELD notify",
    /* A list that proves the owner needs no look. */
    "DEEPER: ahead-gone > LISTING list; listed found ours first > HELD quiet notify",
    "DEEPER: ahead-gone > LISTING list; listed found first down > PAUSED-LISTING; connected > LISTING get-own list",
    "DEEPER: ahead-gone > LISTING list; listed found ours first down > HELD quiet notify",
    "DEEPER: ahead-gone > LISTING list; listed unsure found ours first > PROVING get-own prove; proved > CONFIRMING; "
        "got-own ours > HELD notify",
    "DEEPER: ahead-gone > LISTING list; listed unsure found first > CONFIRMING check-own; "
        "got-own unsure ours checked > PROVING get-own prove; proved > CONFIRMING; got-own ours > HELD notify",
    "DEEPER: ahead-gone > LISTING list; listed ECONNLOSS > PAUSED-LISTING retry anew; pause-over > LISTING get-own list; "
        "listed found ours first > CONFIRMING; got-own ours > HELD notify",
    "DEEPER: quiet > PARKED get-own; got-own ours > same; ahead-gone > LISTING list; listed found first > HELD notify",
    /* A list shows a name, not an owner: by it alone none is granted but right behind the create. */
    "DEEPER: ahead-gone > LISTING list; own-changed > LISTING get-own; listed found ours first > CONFIRMING; "
        "got-own ours > HELD notify",
    "DEEPER: ahead-gone > LISTING list; listed found first > CONFIRMING check-own; "
        "got-own checked > CREATING create let-look anew",
    "DEEPER: ahead-gone > LISTING list; listed found first > CONFIRMING check-own; "
        "got-own ENONODE > CREATING create step-aside anew",
    "CREATING: created bare > LISTING list; listed found first > HELD quiet notify",
    "PROVING: got-own > CREATING create let-look anew",
    /* An answer on the next connection, of which the claim has not heard: the node may be another one by then. */
    "PROVING: got-own ours > same; own-changed down > same; proved down > PAUSED-PROVING; "
        "connected > PROVING get-own prove",
    "PAUSED-LISTING: pause-over > LISTING get-own list; got-own ours > same; own-changed down > same; "
        "listed found first down > PAUSED-LISTING",
    "READY: quiet > READY get-own; got-own ours > same; own-changed down > same; all-ready down > PAUSED-LISTING",
    "PROVING: got-own ours > same; proved down > HELD notify",
    "PROVING: proved > CONFIRMING; got-own ours > HELD notify",
    "keeps-place HELD: lease-over unsure > DOUBTED get-own prove count-loss notify; "
        "got-own EZK-127 > PAUSED-DOUBTED retry anew; pause-over > DOUBTED get-own prove",
    /* When there were but two, no list is needed, whichever way it hears that one is gone. */
    "TWO: got-own ours > same; before-gone > same; ahead-gone > HELD notify",
    "TWO: before-gone > same; ahead-gone > CONFIRMING; got-own ENONODE > CREATING create step-aside anew",
    /* There are others still: it watches the next one of them. */
    "LOOKING: got-own ours > same; listed found still-ahead then-ours-if-held more > PARKED get-before; "
        "before-gone > PARKED list; listed found still-ahead then-ours-if-held two > PARKED get-before; "
        "before-gone > same; ahead-gone > HELD notify",
    /* The list is on its way when the one ahead goes: it is waited for, and decides. */
    "LOOKING: ahead-gone > LISTING; got-own ours > same; listed found first > HELD notify",
    /* It shows another one ahead, whose end is awaited then. */
    "LOOKING: got-own ours > same; listed found then-ours only > PARKED get-ahead; got-ahead > same; ahead-gone > HELD notify",
    /* However prepared it is, it holds only by a lease that is sure. */
    "PREPARED: ahead-gone unsure > PROVING prove; proved > HELD notify",
    /* Nor is the one ahead asked for beside that list: another may be ahead when it is answered. */
    "LOOKING: got-own ours > same; ahead-changed|unheard > LISTING; "
        "listed found then-ours only > PARKED get-ahead; got-ahead > same; ahead-gone > HELD notify",
    /* It fails: the end of the one ahead is followed by another. */
    "LOOKING: got-own ours > same; listed ECONNLOSS|EAUTH|ENONODE > same; ahead-gone > LISTING list",
    "LOOKING: got-own ours > same; listed ENOMEM > PAUSED-LISTING retry anew; pause-over > LISTING list",
    /* Our node is not in it. */
    "LOOKING: got-own ours > same; listed > ADOPTING get-own list",
    /* A change of the data is no end, of either. */
    "PREPARED: ahead-changed > PARKED get-ahead; got-ahead > same; ahead-gone > HELD notify",
    /* Without room for a watch on its own node, it is asked for when the one ahead has gone. */
    "LOOKING: got-own ours unwatched > same; listed found still-ahead then-ours only > same; "
        "ahead-gone > CONFIRMING get-own; got-own ours unwatched > HELD notify",
    "SECOND: got-own ours unwatched > same; quiet|unheard down > same; ahead-gone > CONFIRMING get-own; "
        "got-own ENONODE > CREATING create step-aside anew",
    "DEEPER: quiet > PARKED get-own; got-own ours unwatched > same; ahead-gone > LISTING list; listed found first > "
        "CONFIRMING check-own; got-own ours checked > HELD quiet notify",
    "DEEPER: quiet > PARKED get-own; got-own ours unwatched > same; connected > PARKED get-own",
    /* Without room for the watch on what it waits for, it does not wait. Granted, it needs no such watch. */
    "PARKED: got-ahead unwatched > REMOVING remove step-aside notify anew failed=ELIMIT",
    "LISTING: listed found children > LISTING get-own list; got-own ours > same; "
        "listed found children unwatched > REMOVING remove step-aside notify anew failed=ELIMIT",
    "LISTING: listed found children > LISTING get-own list; got-own ours > same; "
        "listed found first unwatched > HELD notify",
    /* A member that nothing blocks waits for others, and has to hear of the end of its node. */
    "READY: quiet > READY get-own; got-own ours unwatched > REMOVING remove step-aside notify anew failed=ELIMIT",
    "READY: quiet > READY get-own; all-ready > CONFIRMING; got-own ours unwatched > READY notify; "
        "all-ready > HELD notify",
    /* A re-connection ends it: look again then. */
    "PREPARED: connected > PARKED get-own; got-own ours > same; ahead-gone > LISTING list",
    "PREPARED: connected > PARKED get-own; ahead-gone > LISTING list",
    "TWO: got-own ours > same; connected > PARKED get-own; before-gone > same; ahead-gone > LISTING list",
    /* Who leaves or loses its place looks no further. */
    "LOOKING: leave > REMOVING remove step-aside anew; listed found still-ahead then-ours only > same",
    /* A try for which there may be no room looks first, and makes a node only if there is. */
    "start wary > LOOKING list anew; listed once ENONODE > CREATING create anew",
    "start wary > LOOKING list anew; listed wary ECONNLOSS > PAUSED-CREATING retry anew; "
        "pause-over wary > LOOKING list anew; leave > GONE anew",
    "start wary > LOOKING list anew; listed foreign > GONE notify anew failed=EFOREIGN",
    /* The verdict, how the one ahead ended, and what is known of the own node, together say what to do. */
    "BEHIND-UNKNOWN: ahead-gone|ahead-released > LISTING list",
    "BEHIND-UNKNOWN: got-own ours > same; ahead-gone|ahead-released > LISTING list",
    /* A rule that waits for the directory: one more list leaves a watch there, and each change is a reason
       to look. */
    "LISTING: listed found children > LISTING get-own list; got-own ours > same; listed found children > PARKED; "
        "ahead-changed > LISTING list; listed found children > PARKED; "
        "ahead-changed down > PAUSED-LISTING; connected > LISTING get-own list; got-own ours > same; "
        "listed found children > PARKED; ahead-gone > LISTING list; "
        "listed found first > HELD notify",
    /* A watch may be spent in silence: then a look tells what the event would have told. */
    "PARKED: unheard > PARKED get-ahead; got-ahead > same; unheard > PARKED get-ahead; "
        "got-ahead ENONODE > HELD notify",
    "DEEPER: unheard > PARKED get-ahead; got-ahead ENONODE > LISTING list",
    "LISTING: listed found children > LISTING get-own list; got-own ours > same; listed found children > PARKED; "
        "unheard > LISTING list; listed found first > HELD notify",
    "HELD: quiet > HELD get-own; unheard > same; got-own ours > same; unheard > HELD get-own; "
        "got-own ours wish=1 > HELD restore tell-wish",
    "CREATING, FINDING, ADOPTING, LISTING, CONFIRMING, PROVING, DOUBTED, REMOVING, GONE: unheard > same",
    /* One ahead that may not be read any more is there. One that never could be is no one to wait for. */
    "SECOND: got-ahead > same; ahead-changed > PARKED get-ahead; got-ahead EAUTH > same; "
        "unheard > PARKED get-ahead; got-ahead ENONODE > CONFIRMING",
    "SECOND: got-ahead EAUTH > REMOVING remove step-aside notify anew failed=EAUTH",
    /* A missing parent is made; when it goes again and again, with pauses. */
    "CREATING: created ENONODE > CREATING parents create anew; created ENONODE > CREATING parents create anew; "
        "created ENONODE > CREATING parents create anew; created ENONODE > CREATING parents create anew; "
        "created ENONODE > PAUSED-CREATING retry anew; pause-over > CREATING create anew; "
        "created ENONODE > CREATING parents create anew; created ENONODE > PAUSED-CREATING retry anew; "
        "pause-over > CREATING create anew; created ENONODE > CREATING parents create anew; created > LISTING; "
        "listed found first > HELD quiet notify",
    /* Answers to the create that end the claim, each with its own code; no node, nothing to remove. */
    "CREATING: created EAUTH|EINVAL|ENOMEM|ESYS|EEXIST|EZK-108 > GONE notify anew failed=CODE",
    "CREATING: created ENONODE hopeless > GONE notify anew failed=ENONODE",
    /* Found, but the get was not sent, for want of memory: a list alone does not tell whose node it is. */
    "ADOPTING: listed found > PAUSED-ADOPTING retry anew",
    /* When none is found none will come: a new create, under a new name. */
    "FINDING: listed ENONODE > CREATING create step-aside anew; created > LISTING; "
        "listed found first > HELD quiet notify",
    /* A release passes the lock on, sends the delete, and is over with its answer. */
    "HELD: leave > REMOVING hand-over remove anew; leave > same; removed > GONE",
    /* A delete that finds no node is done; one whose answer is lost is sent again. */
    "HELD: leave down > PAUSED-REMOVING hand-over anew; connected > REMOVING remove; "
        "removed down ECONNLOSS > PAUSED-REMOVING retry anew; pause-over down > same; "
        "connected > REMOVING remove; removed last ENOMEM > PAUSED-REMOVING retry anew; "
        "pause-over > REMOVING remove; removed ENONODE > GONE",
    /* The owner lets go: who has a node removes it, who cannot know yet waits for the answer. */
    "PAUSED-CREATING: leave > GONE; leave > same",
    /* It is not to wait any more: the owner is told once, and nothing stays. A hold is left alone, also one
       in doubt. */
    "PAUSED-ADOPTING, ADOPTING, PAUSED-LISTING, LISTING, PARKED, CONFIRMING, PAUSED-PROVING, PROVING: "
        "give-up ETIMEDOUT > REMOVING remove step-aside notify anew failed=ETIMEDOUT; "
        "give-up ECANCELED > same",
    /* Left while the create is under way: each answer to it leads out, without a word to the owner. */
    "GIVEN-UP: created last ENONODE|EAUTH|ENOMEM|EZK-127 > GONE anew",
    /* Left while searching: what is found is removed, what is not found needs nothing. */
    "FINDING: give-up ETIMEDOUT > FINDING notify failed=ETIMEDOUT; listed last OK|ENONODE > GONE anew",
    "FINDING: give-up ETIMEDOUT > FINDING notify failed=ETIMEDOUT; "
        "listed last ECONNLOSS|EAUTH|ENOMEM|EZK-127 > PAUSED-FINDING retry anew; "
        "pause-over > FINDING find; listed found > REMOVING remove anew",
    /* Our node goes while we wait: back to the tail of the queue, and whoever is behind must look. */
    "PARKED: own-gone > CREATING create step-aside anew; created > LISTING; "
        "listed OK|ENONODE > ADOPTING get-own list; got-own ENONODE > CREATING create step-aside anew; "
        "created > LISTING; listed found then-ours-if-held > PARKED get-ahead quiet",
    /* It is there, and lists lack it: it stays the only one, and is asked for with pauses. */
    "LISTING: listed > ADOPTING get-own list; got-own ours > LISTING; "
        "listed > ADOPTING get-own list; got-own ours > LISTING; "
        "listed ENONODE > ADOPTING get-own list; got-own ours > LISTING; "
        "listed > PAUSED-ADOPTING retry anew; pause-over > ADOPTING get-own list; got-own ours > LISTING; "
        "listed > PAUSED-ADOPTING retry anew; pause-over > ADOPTING get-own list; got-own ours > LISTING; "
        "listed found first > HELD notify",
    /* Lists name one ahead who is not there when it is read: asked for again, with pauses. Each who is further
       ahead is news. */
    "DEEPER: quiet > PARKED get-own; got-own ours > same; got-ahead ENONODE > LISTING list; listed found ahead=-1 then-ours-if-held > PARKED get-ahead; "
        "got-ahead ENONODE > LISTING list; listed found ahead=-1 then-ours-if-held > PARKED get-ahead; "
        "got-ahead ENONODE > LISTING list; listed found ahead=-1 then-ours-if-held > PARKED get-ahead; "
        "got-ahead ENONODE > LISTING list; listed found ahead=1 then-ours-if-held > PARKED get-ahead; "
        "got-ahead ENONODE > LISTING list; listed found ahead=1 then-ours-if-held > PARKED get-ahead; "
        "ahead-gone > PAUSED-LISTING retry anew; pause-over > LISTING list; "
        "listed found ahead=1 then-ours-if-held > PARKED get-ahead; "
        "got-ahead ENONODE > PAUSED-LISTING retry anew; pause-over > LISTING list; "
        "listed found ahead=-2 then-ours-if-held > PARKED get-ahead; "
        "ahead-gone > LISTING list; listed found first > HELD notify",
    "DEEPER: quiet > PARKED get-own; got-own ours > same; got-ahead ENONODE > LISTING list; listed found then-ours-if-held > PARKED get-ahead; "
        "got-ahead ENONODE > LISTING list; listed found then-ours-if-held > PARKED get-ahead; "
        "got-ahead ENONODE > LISTING list; listed found then-ours-if-held > PARKED get-ahead; "
        "connected > PARKED get-own; "
        "got-ahead ENONODE > LISTING list; listed found then-ours-if-held > PARKED get-ahead; "
        "got-ahead ENONODE > LISTING list",
    /* When that happens again and again there are pauses, and without retries an end. */
    "LISTING: own-gone > CREATING create step-aside anew; created > LISTING; "
        "own-gone > CREATING create step-aside anew; created > LISTING; "
        "own-gone > CREATING create step-aside anew; created > LISTING; "
        "own-gone > PAUSED-CREATING step-aside retry anew; pause-over > CREATING create anew; "
        "created > LISTING; own-gone last > GONE step-aside notify anew failed=ECONNLOSS",
    /* The same wish, seen again after a break, is told once; another is told, too. */
    "HELD: quiet > HELD get-own; got-own ours wish=1 > HELD restore tell-wish; "
        "restored down ECONNLOSS > HELD quiet; connected > HELD get-own; "
        "got-own ours wish=1 > HELD restore; restored EZK-103 > same; own-changed > HELD get-own; "
        "got-own ours wish=2 > HELD restore tell-wish",
    /* A server too busy for the write is asked again; one that forbids it is not. */
    "HELD: quiet > HELD get-own; got-own ours wish=1 > HELD restore tell-wish; "
        "restored EZK-127 > HELD quiet; quiet > HELD get-own; got-own ours wish=1 > HELD restore; "
        "restored EAUTH > same",
    /* A holder that had no memory for a moment looks after its node again. */
    "HELD: quiet > HELD get-own; got-own ENOMEM|ESYS > HELD quiet; quiet > HELD get-own; "
        "got-own ours wish=1 > HELD restore tell-wish; restored ENOMEM|ESYS > HELD quiet; "
        "quiet > HELD get-own; got-own EAUTH > HELD ask-owner look-later",
    /* Withdrawn before the grant, or written to a node that is no more, it is no wish. */
    "PARKED: own-changed > PARKED get-own; got-own ours wish=1 > same; "
        "own-gone > CREATING create step-aside anew; created > LISTING; "
        "listed found first > HELD quiet notify; quiet > HELD get-own; "
        "got-own ours wish=1 > HELD restore tell-wish",
    /* The answer to the write gets lost in a doubt: held again, it looks whether its text is there. */
    "keeps-place HELD: quiet > HELD get-own; got-own ours wish=1 > HELD restore tell-wish; "
        "lease-over unsure > DOUBTED get-own prove count-loss notify; restored EZK-127 > same; "
        "got-own ours wish=1 > same; proved > HELD notify restore",
    /* One that finds no node of ours is how we learn that the hold is lost. */
    "WATCHED: writing > same; written ENONODE > GONE step-aside count-loss notify anew lost=node",
    /* So it is in a doubt. */
    "DOUBTED: proved ENONODE > GONE step-aside notify anew lost=node",
    "DOUBTED: own-gone > GONE step-aside notify anew lost=node",
    /* The node goes with the transaction: the event that it is gone is no loss, and nothing is left to
       delete. */
    "WATCHED: writing deletes > same; written deletes > GONE hand-over anew; leave > same",
    "WATCHED: writing deletes > same; own-gone > same; written deletes > GONE hand-over anew; "
        "leave > same",
    "WATCHED: writing deletes > same; own-changed > HELD get-own; got-own > same; written deletes > GONE hand-over anew",
    /* Refused, and the node gone meanwhile: by somebody else, then. */
    "WATCHED: writing deletes > same; own-gone > same; "
        "written ECONNLOSS deletes > GONE step-aside count-loss notify anew lost=node",
    /* After the answer, a node that goes is a loss again. */
    "WATCHED: writing deletes > same; written ECONNLOSS deletes > same; "
        "own-gone > GONE step-aside count-loss notify anew lost=node",
    /* Left with a write on its way: the one behind has to look, and is not handed the lock at once. */
    "WATCHED: writing > same; leave > REMOVING remove let-look anew; written ECONNLOSS > same",
    "WATCHED: writing > same; writing deletes > same; leave > REMOVING remove let-look anew; "
        "written ECONNLOSS > same; written deletes > same",
    /* Done, or refused: the hold goes on, and its node gets a watch in a while. Which wish was told counts
       for the node that had it. */
    "WATCHED: own-changed > HELD get-own; got-own ours wish=3 > HELD restore tell-wish; "
        "downgrade > HELD step-aside downgrade anew; downgraded > HELD quiet anew; "
        "quiet > HELD get-own; got-own ours wish=3 > HELD restore tell-wish",
    "WATCHED: own-changed > HELD get-own; got-own ours wish=3 > HELD restore tell-wish; "
        "downgrade > HELD step-aside downgrade anew; downgraded ECONNLOSS refused > HELD quiet anew; "
        "quiet > HELD get-own; got-own ours wish=3 > HELD restore",
    /* Until then that a node is missing is no loss, nor is it looked at. */
    "DOWNGRADING: own-gone > same; quiet > same; writing > same; written ENONODE > same; "
        "downgraded > HELD quiet anew; own-gone > GONE step-aside count-loss notify anew lost=node",
    /* The answer is lost: asked again on the next connection, and then the writer's node may be gone
       already. */
    "DOWNGRADING: downgraded down ECONNLOSS > same; connected > HELD downgrade anew; "
        "downgraded ENONODE > HELD get-own; "
        "got-own ENONODE ours > GONE step-aside count-loss notify anew lost=node",
    /* The data of the writer's node have changed: they are read first, and at the next connection if there is none. */
    "DOWNGRADING: downgraded EZK-103 refused > HELD get-own anew; got-own ours > HELD downgrade anew; "
        "downgraded > HELD quiet anew",
    "DOWNGRADING: downgraded down EZK-103 refused > HELD anew; connected > HELD get-own anew; "
        "got-own ours > HELD downgrade anew; downgraded > HELD quiet anew",
    /* Only a holder becomes a reader, and once. */
    "PARKED, DOWNGRADING: downgrade > same",
    "WATCHED: downgraded > same",
    /* Without a connection it waits for one. */
    "WATCHED: downgrade down > HELD step-aside anew; connected > HELD downgrade anew",
    "DOWNGRADING: downgraded down ENONODE > same; connected > HELD downgrade anew",
    "DOWNGRADING: downgraded ENONODE > HELD get-own; got-own ECONNLOSS > HELD retry; pause-over > HELD downgrade anew",
    /* Data that may not be read do not hold it up. Those that were not read for another reason are read again. */
    "WATCHED: own-changed > HELD get-own; own-unchecked > same; downgrade > HELD step-aside downgrade anew",
    "DOWNGRADING: downgraded EZK-103 refused > HELD get-own anew; got-own EAUTH > HELD retry; "
        "pause-over > HELD downgrade anew",
    "DOWNGRADING: downgraded EZK-103 refused > HELD get-own anew; got-own ECONNLOSS > HELD retry; "
        "pause-over > HELD get-own anew; got-own ours > HELD downgrade anew",
    /* The writer's node is gone, or another's. */
    "DOWNGRADING: downgraded EZK-103 refused > HELD get-own anew; "
        "got-own ENONODE > GONE step-aside count-loss notify anew lost=node",
    "DOWNGRADING: downgraded EZK-103 refused > HELD get-own anew; "
        "got-own > GONE let-look count-loss notify anew lost=node",
    /* Those behind do not go past the node of another that stands there. */
    "DOWNGRADING: downgraded ENONODE > HELD get-own; got-own > GONE let-look count-loss notify anew lost=node",
    /* It was not sent, for want of memory: after a pause. */
    "DOWNGRADING: downgraded ECONNLOSS > HELD retry; pause-over > HELD downgrade anew; "
        "pause-over > same; downgraded > HELD quiet anew",
    /* Left meanwhile: neither path is deleted blindly; those behind look. */
    "DOWNGRADING: leave > FINDING find let-look anew; listed found > REMOVING remove anew; removed > GONE",
    /* A node that is gone too often is made again after a pause. */
    "LISTING: own-gone > CREATING create step-aside anew; created > LISTING; "
        "own-gone > CREATING create step-aside anew; created > LISTING; "
        "own-gone > CREATING create step-aside anew; created > LISTING; "
        "own-gone > PAUSED-CREATING step-aside retry anew",
    /* A group that begins again does so after a pause, when one of its members has failed too often. */
    "READY: own-gone > GONE step-aside notify anew place_lost; start > CREATING create anew; created > LISTING; "
        "own-gone > GONE step-aside notify anew; start > CREATING create anew; created > LISTING; "
        "own-gone > GONE step-aside notify anew; start > CREATING create anew; created > LISTING; "
        "own-gone > GONE step-aside notify anew pauses; start > PAUSED-CREATING retry anew",
    /* The loss of a create has been counted, and had its pause, when a list shows that there is no node. */
    "CREATING: created ECONNLOSS > PAUSED-FINDING retry anew; pause-over > FINDING find; listed > CREATING create step-aside anew; "
        "created ECONNLOSS > PAUSED-FINDING retry anew; pause-over > FINDING find; listed > CREATING create step-aside anew; "
        "created ECONNLOSS > PAUSED-FINDING retry anew; pause-over > FINDING find; listed > CREATING create step-aside anew; "
        "created ECONNLOSS > PAUSED-FINDING retry anew; pause-over > FINDING find; listed > CREATING create step-aside anew",
    /* Once it stands in the queue, failures before that count no more. */
    "LISTING: own-gone > CREATING create step-aside anew; created > LISTING; "
        "own-gone > CREATING create step-aside anew; created > LISTING; "
        "own-gone > CREATING create step-aside anew; created > LISTING; "
        "listed found then-ours > PARKED get-own get-ahead; own-gone > CREATING create step-aside anew",
    /* In the next session the parents may be gone again, and nothing has failed yet. */
    "CREATING: created ENONODE > CREATING parents create anew; created ENONODE > CREATING parents create anew; "
        "session-over down > PAUSED-CREATING anew; connected > CREATING create anew; "
        "created ENONODE > CREATING parents create anew; created ENONODE > CREATING parents create anew; "
        "created ENONODE > CREATING parents create anew; created ENONODE > CREATING parents create anew; "
        "created ENONODE > PAUSED-CREATING retry anew",
    /* A member that nothing blocks says so, and holds with the others; its own watch first, if that is asked. */
    "READY: quiet > READY get-own; got-own ours > same; all-ready > HELD notify",
    "READY: quiet > READY get-own; all-ready > CONFIRMING; got-own ours > READY notify; all-ready > HELD notify",
    /* One whose node is gone, or whose session, is made again with the others, not alone. */
    "READY: own-gone > GONE step-aside notify anew place_lost; session-over down > GONE anew",
    "PARKED: session-over down > PAUSED-CREATING anew; connected > CREATING create anew",
    "READY: session-over down > GONE notify anew place_lost",
    "member CREATING: session-over down > PAUSED-CREATING anew",
    /* A node of another under our name is the end of ours, wherever that is seen; those behind look for themselves. */
    "PARKED: own-changed > PARKED get-own; got-own > CREATING create let-look anew",
    /* What may not be read is held all the same; whose it is, is asked, and then it is tried again. */
    "WATCHED: own-unchecked > HELD ask-owner look-later; got-owner > GONE let-look count-loss notify anew lost=node",
    "WATCHED: own-unchecked > HELD ask-owner look-later; "
        "got-owner ENONODE > GONE step-aside count-loss notify anew lost=node",
    "HELD: quiet > HELD get-own; own-unchecked > same; got-own EAUTH > HELD ask-owner look-later",
    "PARKED, DOUBTED, REMOVING, GONE, DOWNGRADING: own-unchecked > same; got-owner > same",
    /* A hold that lasts is noted once; behind the write it looks at its node, which leaves the watch. */
    "HELD with-text: pause-over > HELD wants-note; noting > HELD get-own; noted > same; "
        "got-own ours version=1 with-note > HELD version=1",
    "PARKED with-text: pause-over > same",
    /* A watch that was there is used up by our own write, and set again. */
    "WATCHED with-text: noting > HELD; own-changed > HELD get-own version=-1; noted > same; "
        "got-own ours version=1 with-note > HELD version=1; quiet > same",
    /* Asked to let go meanwhile: no loss, and nothing is written until the version is known; the wish is told, and the
       note is written with the text; or was not. */
    "HELD with-text: noting > HELD get-own; noted EZK-103 refused > HELD version=-1; "
        "got-own ours version=1 wish=1 > HELD restore tell-wish version=1; own-changed > HELD get-own version=-1; "
        "got-own ours version=2 > HELD wants-note version=2",
    /* Whoever else changed the data: with the version that is there it is tried again. */
    "WATCHED with-text: own-changed > HELD get-own version=-1; got-own ours version=5 > HELD wants-note version=5",
    /* Refused behind a downgrade, it says nothing about the reader's node. */
    "WATCHED with-text: noting > HELD; downgrade > HELD step-aside downgrade anew; noted EZK-103 refused > same",
    /* Refused for another's sake, or not answered: again. Forbidden: never again, for each probe would fail with it. */
    "HELD with-text: noting > HELD get-own; noted ENONODE|EZK-103|ECONNLOSS|ESESSION > HELD wants-note",
    "HELD with-text: noting > HELD get-own; noted EAUTH|EINVAL|EZK-110 refused > HELD",
    /* A node made anew has none. */
    "SECOND with-text: got-own ours version=4 with-note > PARKED version=4; "
        "own-gone > CREATING create step-aside anew version=0; created > LISTING; "
        "listed found first > HELD quiet notify wants-note",
};
// clang-format on

/* ---- the words --------------------------------------------------------------------- */

static const char *const events[ZKR__EV_KINDS] = {
    [ZKR__EV_START] = "start",
    [ZKR__EV_CONNECTED] = "connected",
    [ZKR__EV_PAUSE_OVER] = "pause-over",
    [ZKR__EV_SESSION_OVER] = "session-over",
    [ZKR__EV_CREATED] = "created",
    [ZKR__EV_LISTED] = "listed",
    [ZKR__EV_GOT_AHEAD] = "got-ahead",
    [ZKR__EV_GOT_OWN] = "got-own",
    [ZKR__EV_AHEAD_GONE] = "ahead-gone",
    [ZKR__EV_AHEAD_RELEASED] = "ahead-released",
    [ZKR__EV_AHEAD_WRITES] = "ahead-writes",
    [ZKR__EV_AHEAD_TOLD] = "ahead-told",
    [ZKR__EV_AHEAD_CHANGED] = "ahead-changed",
    [ZKR__EV_GOT_BEFORE] = "got-before",
    [ZKR__EV_BEFORE_GONE] = "before-gone",
    [ZKR__EV_BEFORE_CHANGED] = "before-changed",
    [ZKR__EV_GOT_OWNER] = "got-owner",
    [ZKR__EV_OWN_UNCHECKED] = "own-unchecked",
    [ZKR__EV_OWN_GONE] = "own-gone",
    [ZKR__EV_OWN_CHANGED] = "own-changed",
    [ZKR__EV_ALL_READY] = "all-ready",
    [ZKR__EV_PROVED] = "proved",
    [ZKR__EV_REMOVED] = "removed",
    [ZKR__EV_RESTORED] = "restored",
    [ZKR__EV_QUIET] = "quiet",
    [ZKR__EV_UNHEARD] = "unheard",
    [ZKR__EV_LEASE_EXPIRED] = "lease-over",
    [ZKR__EV_GIVE_UP] = "give-up",
    [ZKR__EV_WRITING] = "writing",
    [ZKR__EV_WRITTEN] = "written",
    [ZKR__EV_METADATA_SENT] = "noting",
    [ZKR__EV_NOTED] = "noted",
    [ZKR__EV_DOWNGRADE] = "downgrade",
    [ZKR__EV_DOWNGRADED] = "downgraded",
    [ZKR__EV_LEAVE] = "leave",
    [ZKR__EV_KEPT] = "kept",
    [ZKR__EV_TAKEN] = "taken",
};

static const char *const phases[] = {
    "PAUSED", "LOOKING",    "CREATING", "FINDING", "ADOPTING", "LISTING",  "PARKED",
    "READY",  "CONFIRMING", "PROVING",  "HELD",    "DOUBTED",  "REMOVING", "GONE"};

static const char *const actions[] = {
    "parents",   "create",    "find",       "get-own",    "list",       "get-ahead",
    "prove",     "hand-over", "remove",     "step-aside", "let-look",   "retry",
    "pace",      "quiet",     "count-loss", "notify",     "restore",    "tell-wish",
    "downgrade", "line-up",   "ask-owner",  "look-later", "get-before", "check-own"};

static const char *const reasons[] = {"", "session", "lease", "node"};

#define WORD(field)                                                                    \
    {                                                                                  \
#field, offsetof(struct zkr__claim_event, field)                               \
    }

static const struct {
    const char *word;
    size_t field; /* is set to true */
} details[] = {
    WORD(hopeless),
    WORD(ours),
    WORD(checked),
    WORD(refused),
    WORD(deletes),
    WORD(found),
    WORD(once),
    WORD(placed),
    WORD(bare),
    WORD(foreign),
    WORD(wary),
    WORD(near),
    {"with-note", offsetof(struct zkr__claim_event, with_metadata)},
    {"still-ahead", offsetof(struct zkr__claim_event, same)},
    {"first", offsetof(struct zkr__claim_event, granted)},
};

static int index_of(const char *word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] != NULL && strcmp(list[i], word) == 0) {
            return (int)i;
        }
    }
    fail_msg("what is '%s'?", word);
    return 0;
}

static int code_of(const char *word)
{
    if (strncmp(word, "EZK-", 4) == 0) {
        return ZKR_EZK((int)strtol(word + 3, NULL, 10));
    }
    for (int code = 0; code > -100; code--) {
        if (strcmp(zkr_err_name(code) + strlen("ZKR_"), word) == 0) {
            return code;
        }
    }
    fail_msg("what is '%s'?", word);
    return 0;
}

static void code_name(int code, char *out, size_t size)
{
    if (zkr_err_zk(code) != 0) {
        (void)snprintf(out, size, "EZK%d", zkr_err_zk(code));
    } else {
        (void)snprintf(out, size, "%s", zkr_err_name(code) + strlen("ZKR_"));
    }
}

static void add_detail(struct zkr__claim_event *e, const char *word)
{
    for (size_t i = 0; i < ZKT_COUNT(details); i++) {
        if (strcmp(details[i].word, word) == 0) {
            *((bool *)e + details[i].field) = true;
            return;
        }
    }
    if (strcmp(word, "down") == 0) {
        e->connected = false;
    } else if (strcmp(word, "unsure") == 0) {
        e->sure = e->ample = false;
    } else if (strcmp(word, "last") == 0) {
        e->patient = false;
    } else if (strcmp(word, "neighbour") == 0) {
        e->wait = ZKR__WAIT_NEIGHBOUR;
    } else if (strcmp(word, "children") == 0) {
        e->wait = ZKR__WAIT_CHILDREN;
    } else if (strcmp(word, "then-ours") == 0) {
        e->then = ZKR__THEN_OURS;
    } else if (strcmp(word, "then-ours-if-held") == 0) {
        e->then = ZKR__THEN_OURS_IF_HELD;
    } else if (strcmp(word, "unwatched") == 0) {
        e->unwatched = true;
    } else if (strcmp(word, "more") == 0) {
        e->look = ZKR__BEHIND_MORE;
    } else if (strcmp(word, "two") == 0) {
        e->look = ZKR__BEHIND_TWO;
    } else if (strcmp(word, "only") == 0) {
        e->look = ZKR__BEHIND_FIRST;
    } else if (strncmp(word, "ahead=", 6) == 0) {
        e->ahead = (int)strtol(word + 6, NULL, 10);
    } else if (strncmp(word, "version=", 8) == 0) {
        e->version = (int)strtol(word + 8, NULL, 10);
    } else if (strncmp(word, "wish=", 5) == 0) {
        e->revocation = (int)strtol(word + 5, NULL, 10);
    } else {
        e->code = code_of(word);
    }
}

static struct zkr__claim_event event_of(char *text)
{
    struct zkr__claim_event e = {
        .connected = true, .sure = true, .ample = true, .patient = true};
    char *at = NULL;
    char *word = strtok_r(text, " ", &at);
    e.kind = (enum zkr__event_kind)index_of(word, events, ZKT_COUNT(events));
    while ((word = strtok_r(NULL, " ", &at)) != NULL) {
        add_detail(&e, word);
    }
    return e;
}

/* What came of a step, in the words of a row. */
static void tell(const struct zkr__claim_state *before,
                 const struct zkr__claim_state *k,
                 unsigned todo,
                 char *out,
                 size_t size)
{
    char code[32];
    FILE *f = fmemopen(out, size, "w");
    assert_non_null(f);
    (void)fprintf(f, "%s", phases[k->phase]);
    if (k->phase == ZKR__PAUSED) {
        (void)fprintf(f, "-%s", phases[k->next]);
    }
    for (size_t i = 0; i < ZKT_COUNT(actions); i++) {
        (void)fprintf(f, "%s%s", todo & 1U << i ? " " : "",
                      todo & 1U << i ? actions[i] : "");
    }
    (void)fprintf(f, "%s%s", k->round != before->round ? " anew" : "",
                  zkr__claim_wants_metadata(k) ? " wants-note" : "");
    if (k->has_metadata && k->version != before->version) {
        (void)fprintf(f, " version=%d", (int)k->version);
    }
    if (k->failure != before->failure) {
        code_name(k->failure, code, sizeof(code));
        (void)fprintf(f, " failed=%s", code);
    }
    if (k->lost != before->lost) {
        (void)fprintf(f, " lost=%s", reasons[k->lost]);
    }
    (void)fprintf(f, "%s", k->place_lost != before->place_lost ? " place_lost" : "");
    (void)fprintf(f, "%s", k->pauses && !before->pauses ? " pauses" : "");
    (void)fclose(f);
}

/* ---- the rows ---------------------------------------------------------------------- */

enum { ROW_MAX = 2048 };

static int wrong;
static int steps;

static bool play_step(struct zkr__claim_state *k, char *text, const char *row)
{
    char same[64];
    char came[256];
    char *result = strstr(text, " > ");
    assert_non_null(result);
    *result = '\0';
    result += strlen(" > ");
    const struct zkr__claim_state before = *k;
    const struct zkr__claim_event e = event_of(text);
    tell(k, k, 0, same, sizeof(same));
    const unsigned todo = zkr__claim_step(k, &e);
    tell(&before, k, todo, came, sizeof(came));
    if (strcmp(came, strcmp(result, "same") == 0 ? same : result) != 0) {
        print_error("%s\n    after %s: %s, not %s\n", row, events[e.kind], came,
                    result);
        wrong++;
        return false;
    }
    steps++;
    return true;
}

/* "[keeps-place] [member] [WAY] [with-text]: steps" or "steps". With a text, the hold may be noted in it. */
static void play(struct zkr__claim_state *k, const char *row)
{
    char text[ROW_MAX];
    char *at = NULL;
    (void)snprintf(text, sizeof(text), "%s", row);
    char *body = strstr(text, ": ");
    if (body != NULL) {
        *body = '\0';
        body += strlen(": ");
        for (char *word = strtok_r(text, " ", &at); word != NULL;
             word = strtok_r(NULL, " ", &at)) {
            size_t i = 0;
            if (strcmp(word, "keeps-place") == 0) {
                k->keeps_place = true;
                continue;
            }
            if (strcmp(word, "member") == 0) {
                k->member = true;
                continue;
            }
            if (strcmp(word, "with-text") == 0) {
                k->has_metadata = true;
                continue;
            }
            while (strcmp(ways[i].name, word) != 0) {
                assert_true(++i < ZKT_COUNT(ways));
            }
            play(k, ways[i].row);
        }
    }
    for (char *step = body != NULL ? body : text; step != NULL; step = at) {
        at = strstr(step, "; ");
        if (at != NULL) {
            *at = '\0';
            at += strlen("; ");
        }
        if (!play_step(k, step, row)) {
            return;
        }
    }
}

/* @row with @length characters at @from replaced by the first @size of @by, and CODE likewise behind it. */
static void replace(char out[ROW_MAX],
                    const char *row,
                    const char *from,
                    size_t length,
                    const char *by,
                    size_t size)
{
    const char *code = strstr(from, "CODE");
    const char *end = code != NULL ? code : from + strlen(from);
    (void)snprintf(out, ROW_MAX, "%.*s%.*s%.*s%.*s%s", (int)(from - row), row,
                   (int)size, by, (int)(end - from - (ptrdiff_t)length), from + length,
                   code != NULL ? (int)size : 0, by,
                   code != NULL ? code + strlen("CODE") : "");
}

/* Each of the rows that @row stands for. */
static void play_each(const char *row)
{
    char one[ROW_MAX];
    const size_t head = strcspn(row, ":");
    const char *comma = memchr(row, ',', head);
    const char *bar = strchr(row, '|');
    struct zkr__claim_state k = {.phase = ZKR__PAUSED};
    if (comma != NULL && row[head] != '\0') {
        (void)snprintf(one, sizeof(one), "%.*s%s", (int)(comma - row), row, row + head);
        play_each(one);
        play_each(comma + 2);
        return;
    }
    if (bar == NULL) {
        play(&k, row);
        return;
    }
    const char *from = bar;
    while (from[-1] != ' ') {
        from--;
    }
    const size_t length = strcspn(from, " ");
    for (const char *by = from; by < from + length; by += strcspn(by, "| ") + 1) {
        replace(one, row, from, length, by, strcspn(by, "| "));
        play_each(one);
    }
}

ZKT_UNIT_CASE(a_claim_does_what_the_examples_say)
{
    for (size_t i = 0; i < ZKT_COUNT(examples); i++) {
        play_each(examples[i]);
    }
    assert_int_equal(wrong, 0);
    assert_true(steps > 600);
}

/* While it waits for a decision it is not decided; then it is. */
ZKT_UNIT_CASE(a_claim_is_decided_once_it_is_held_or_over)
{
    static const struct {
        const char *row;
        bool decided;
    } rows[] = {
        {"PARKED: quiet > same", false},
        {"HELD: pause-over > same", true},
        {"DOUBTED: pause-over > same", false},
        {"HELD: own-gone > GONE step-aside count-loss notify anew lost=node", true},
        {"GIVEN-UP: pause-over > same", true},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        struct zkr__claim_state k = {.phase = ZKR__PAUSED};
        play(&k, rows[i].row);
        assert_int_equal(zkr__claim_decided(&k), rows[i].decided);
    }
    assert_int_equal(wrong, 0);
}

/* Without a client there is no lock. */
ZKR__TSA(no_thread_safety_analysis)
static bool takes(struct zkr__claim *claim,
                  unsigned round,
                  const struct zkr__answer *answer,
                  struct zkr__claim_event *e)
{
    return zkr__claim_take_answer(claim, zkr__asked_tag(ZKR__ASKED_PROVE, round),
                                  answer, e);
}

/* A round that was given up has no answers: what they tell was true of another node, or another session. */
ZKT_UNIT_CASE(an_answer_of_an_earlier_round_is_dropped)
{
    enum { ROUNDS = 5 };
    const struct zkr__answer answer = {.code = ZKR_ECONNLOSS, .zk_rc = -4};
    for (unsigned asked = 0; asked < ROUNDS; asked++) {
        for (unsigned now = 0; now < ROUNDS; now++) {
            struct zkr__claim claim = {.k = {.phase = ZKR__PARKED, .round = now}};
            struct zkr__claim_event e = {.kind = ZKR__EV_KINDS};
            bool heard = takes(&claim, asked, &answer, &e);
            assert_int_equal(heard, asked == now);
            assert_int_equal(e.kind, heard ? ZKR__EV_PROVED : ZKR__EV_KINDS);
            assert_int_equal(claim.detail, heard ? answer.zk_rc : 0);
        }
    }
}
