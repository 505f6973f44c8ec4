/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Examples of how a claim behaves where the promises of claim_promises.h do not specify it. A row lists events, and
 * behind each ">" the expected phase and actions, in the words of claim_state.h.
 *
 *     "CREATING: created > LISTING; listed found first > HELD quiet notify"
 *
 * A row begins where the way of that name leads; "A, B: ..." begins at each of these ways. A row without a way begins
 * before the start. Codes and events may be alternatives, "EAUTH|EINVAL". Each one is tried, and CODE stands for the
 * current one. "same" means the same phase as before, and no action.
 *
 * PAUSED-X is a pause that the phase X follows. "anew" is a new round, which drops the answers to requests in flight.
 * "failed=", "lost=", "place_lost" and "pauses" are outcomes. "wants-note" means that the hold must still write its
 * time of grant, into data of the version in the row; version -1 is unknown.
 *
 * By default, an event comes with a connection, a lease that is sure for long, and a retry left. "down" means without a
 * connection, "unsure" past the lease bound, and "last" without a retry.
 */
#include <stdlib.h>

#include <zkr/client.h>

#include "queue/claim.h"
#include "queue/claim_io.h"
#include "transition.h"
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
    /* A try may learn its place from its number. Then it sends no other request. */
    "CREATING: created placed once > REMOVING remove step-aside notify anew failed=ETIMEDOUT",
    /* Deeper in the queue, the claim sets the watch on its own node some time after the watch on the node ahead. */
    "DEEPER: quiet > PARKED get-own; quiet > same; got-own ours > same; quiet > same",
    /* Within one client, a release passes the lock on directly: the claim needs no watch on the node ahead, and no
       event. */
    "BEHIND-OURS: got-own ours > same; ahead-released > HELD notify; "
        "leave > REMOVING hand-over remove anew; removed > GONE",
    /* A neighbour may also pass the lock on to a claim that joined deeper in the queue, because no node can be in
       between. */
    "DEEPER-BEHIND-OURS: got-own ours > same; ahead-released > HELD notify",
    "DEEPER: ahead-released > LISTING list",
    /* News from another process also grants, at any depth. The node ahead still exists. */
    "PARKED: ahead-told > HELD notify",
    "LISTING: listed found then-ours-if-held near > PARKED get-own get-ahead; got-own ours > same; "
        "ahead-told > HELD notify",
    "DEEPER: got-ahead near > PARKED get-own; got-own ours > same; ahead-told > HELD notify; ahead-told > same",
    "LOOKING: got-own ours > same; ahead-told > HELD notify; listed found then-ours > same",
    /* News proves nothing about the claim's own node, and nothing about the lease. */
    "SECOND: ahead-told > CONFIRMING; got-own ours > HELD notify",
    "DEEPER: ahead-told > CONFIRMING get-own; ahead-gone > same; got-own ENONODE > CREATING create step-aside anew",
    "PARKED: ahead-told unsure > PROVING prove; ahead-gone > same; proved > HELD notify",
    /* The node of a released hold is kept, with a watch, for the next hold. A hold that was not kept is not taken. */
    "HELD: kept > HELD get-own; got-own ours > same; taken > same",
    "WATCHED: taken > same; kept > same; taken > same; leave > REMOVING hand-over remove anew; kept > same",
    "LISTING: kept > same",
    /* A create grants at once if its answer shows the place of the node. */
    "CREATING: created placed first > HELD quiet notify",
    "CREATING: created bare down > PAUSED-LISTING",
    /* A late event or answer arrives in another phase and changes nothing. */
    "PARKED: created > same; proved > same; removed > same; listed found first > same",
    "HELD: noted > same; own-unchecked down > same",
    "REMOVING: got-own ours > same; noting > same",
    "DOWNGRADING: own-changed > same",
    "LISTING: ahead-changed > same; ahead-writes > same; before-changed > same; lease-over > same",
    /* A write of the claim ahead may still arrive, so the list is sent behind it. */
    "PARKED: ahead-writes > LISTING list",
    /* The claim ignores news that it cannot use. */
    "PARKED: ahead-told down > same; ahead-gone > HELD notify",
    "BEHIND-UNKNOWN: got-own ours > same; ahead-told > same",
    "LISTING: ahead-told > same",
    "REMOVING: ahead-told > same",
    /* If the node changes while a get of it is in flight, the answer shows the change. */
    "BEHIND-OURS: own-changed > same; ahead-released > CONFIRMING; "
        "got-own ENONODE > CREATING create step-aside anew",
    /* If the watched node was not the first, its end leads to another list, and then to a get of our own node. */
    "DEEPER: ahead-gone > LISTING list; listed found then-ours-if-held > PARKED get-ahead quiet; "
        "ahead-gone > LISTING list; listed found first > CONFIRMING check-own; got-own ours checked > HELD quiet notify",
    "DEEPER: ahead-gone > LISTING list; listed found then-ours > PARKED get-own get-ahead; "
        "ahead-gone > CONFIRMING; got-own ours > HELD notify",
    /* A list that proves the owner of our node needs no get. */
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
    /* A list shows a name, not an owner. So a list alone grants only directly behind the create. */
    "DEEPER: ahead-gone > LISTING list; own-changed > LISTING get-own; listed found ours first > CONFIRMING; "
        "got-own ours > HELD notify",
    "DEEPER: ahead-gone > LISTING list; listed found first > CONFIRMING check-own; "
        "got-own checked > CREATING create let-look anew",
    "DEEPER: ahead-gone > LISTING list; listed found first > CONFIRMING check-own; "
        "got-own ENONODE > CREATING create step-aside anew",
    "CREATING: created bare > LISTING list; listed found first > HELD quiet notify",
    "PROVING: got-own > CREATING create let-look anew",
    /* An answer may arrive on the next connection before the claim learns of that connection. By then, another node may
       have our name. */
    "PROVING: got-own ours > same; own-changed down > same; proved down > PAUSED-PROVING; "
        "connected > PROVING get-own prove",
    "PAUSED-LISTING: pause-over > LISTING get-own list; got-own ours > same; own-changed down > same; "
        "listed found first down > PAUSED-LISTING",
    "READY: quiet > READY get-own; got-own ours > same; own-changed down > same; all-ready down > PAUSED-LISTING",
    "PROVING: got-own ours > same; proved down > HELD notify",
    "PROVING: proved > CONFIRMING; got-own ours > HELD notify",
    "keeps-place HELD: lease-over unsure > DOUBTED get-own prove count-loss notify; "
        "got-own EZK-127 > PAUSED-DOUBTED retry anew; pause-over > DOUBTED get-own prove",
    /* If only two nodes were ahead, no list is needed, whichever of the two ends first. */
    "TWO: got-own ours > same; before-gone > same; ahead-gone > HELD notify",
    "TWO: before-gone > same; ahead-gone > CONFIRMING; got-own ENONODE > CREATING create step-aside anew",
    /* Other nodes are still ahead: the claim watches the next one of them. */
    "LOOKING: got-own ours > same; listed found still-ahead then-ours-if-held more > PARKED get-before; "
        "before-gone > PARKED list; listed found still-ahead then-ours-if-held two > PARKED get-before; "
        "before-gone > same; ahead-gone > HELD notify",
    /* The list is in flight when the node ahead ends: the claim waits for the list, which decides. */
    "LOOKING: ahead-gone > LISTING; got-own ours > same; listed found first > HELD notify",
    /* The list shows another node ahead. The claim then waits for the end of that node. */
    "LOOKING: got-own ours > same; listed found then-ours only > PARKED get-ahead; got-ahead > same; ahead-gone > HELD notify",
    /* Even a PREPARED claim holds only with a sure lease. */
    "PREPARED: ahead-gone unsure > PROVING prove; proved > HELD notify",
    /* While that list is in flight, the claim does not get the node ahead again, because another node may be ahead when
       the list is answered. */
    "LOOKING: got-own ours > same; ahead-changed|unheard > LISTING; "
        "listed found then-ours only > PARKED get-ahead; got-ahead > same; ahead-gone > HELD notify",
    /* If that list fails, another list follows, at the end of the node ahead or after a pause. */
    "LOOKING: got-own ours > same; listed ECONNLOSS|EAUTH|ENONODE > same; ahead-gone > LISTING list",
    "LOOKING: got-own ours > same; listed ENOMEM > PAUSED-LISTING retry anew; pause-over > LISTING list",
    /* Our node is missing from the list. */
    "LOOKING: got-own ours > same; listed > ADOPTING get-own list",
    /* A change of the data does not count as the end of a node. */
    "PREPARED: ahead-changed > PARKED get-ahead; got-ahead > same; ahead-gone > HELD notify",
    /* Without room for a watch on its own node, the claim gets the node when the node ahead is gone. */
    "LOOKING: got-own ours unwatched > same; listed found still-ahead then-ours only > same; "
        "ahead-gone > CONFIRMING get-own; got-own ours unwatched > HELD notify",
    "SECOND: got-own ours unwatched > same; quiet|unheard down > same; ahead-gone > CONFIRMING get-own; "
        "got-own ENONODE > CREATING create step-aside anew",
    "DEEPER: quiet > PARKED get-own; got-own ours unwatched > same; ahead-gone > LISTING list; listed found first > "
        "CONFIRMING check-own; got-own ours checked > HELD quiet notify",
    "DEEPER: quiet > PARKED get-own; got-own ours unwatched > same; connected > PARKED get-own",
    /* Without room for the watch that a claim waits for, the claim fails. A granted claim needs no such watch. */
    "PARKED: got-ahead unwatched > REMOVING remove step-aside notify anew failed=ELIMIT",
    "LISTING: listed found children > LISTING get-own list; got-own ours > same; "
        "listed found children unwatched > REMOVING remove step-aside notify anew failed=ELIMIT",
    "LISTING: listed found children > LISTING get-own list; got-own ours > same; "
        "listed found first unwatched > HELD notify",
    /* A member that nothing blocks waits for other members, so it must notice the end of its own node. */
    "READY: quiet > READY get-own; got-own ours unwatched > REMOVING remove step-aside notify anew failed=ELIMIT",
    "READY: quiet > READY get-own; all-ready > CONFIRMING; got-own ours unwatched > READY notify; "
        "all-ready > HELD notify",
    /* A re-connection ends the look-ahead. A list then follows the end of the node ahead. */
    "PREPARED: connected > PARKED get-own; got-own ours > same; ahead-gone > LISTING list",
    "PREPARED: connected > PARKED get-own; ahead-gone > LISTING list",
    "TWO: got-own ours > same; connected > PARKED get-own; before-gone > same; ahead-gone > LISTING list",
    /* A claim that leaves, or loses its place, stops looking ahead. */
    "LOOKING: leave > REMOVING remove step-aside anew; listed found still-ahead then-ours only > same",
    /* A wary try lists first. It creates a node only if it would probably be granted. */
    "start wary > LOOKING list anew; listed once ENONODE > CREATING create anew",
    "start wary > LOOKING list anew; listed wary ECONNLOSS > PAUSED-CREATING retry anew; "
        "pause-over wary > LOOKING list anew; leave > GONE anew",
    "start wary > LOOKING list anew; listed foreign > GONE notify anew failed=EFOREIGN",
    /* The verdict, the way the node ahead ended, and the knowledge about our own node together decide what follows. */
    "BEHIND-UNKNOWN: ahead-gone|ahead-released > LISTING list",
    "BEHIND-UNKNOWN: got-own ours > same; ahead-gone|ahead-released > LISTING list",
    /* A claim whose rule waits for the directory sends one more list, which sets a watch there. Each change of the
       directory leads to another list. */
    "LISTING: listed found children > LISTING get-own list; got-own ours > same; listed found children > PARKED; "
        "ahead-changed > LISTING list; listed found children > PARKED; "
        "ahead-changed down > PAUSED-LISTING; connected > LISTING get-own list; got-own ours > same; "
        "listed found children > PARKED; ahead-gone > LISTING list; "
        "listed found first > HELD notify",
    /* A watch may be used up without an event. Then a get or a list shows what the event would have reported. */
    "PARKED: unheard > PARKED get-ahead; got-ahead > same; unheard > PARKED get-ahead; "
        "got-ahead ENONODE > HELD notify",
    "DEEPER: unheard > PARKED get-ahead; got-ahead ENONODE > LISTING list",
    "LISTING: listed found children > LISTING get-own list; got-own ours > same; listed found children > PARKED; "
        "unheard > LISTING list; listed found first > HELD notify",
    "HELD: quiet > HELD get-own; unheard > same; got-own ours > same; unheard > HELD get-own; "
        "got-own ours wish=1 > HELD restore tell-wish",
    "CREATING, FINDING, ADOPTING, LISTING, CONFIRMING, PROVING, DOUBTED, REMOVING, GONE: unheard > same",
    /* A node ahead that can no longer be read counts as present. If it could never be read, the claim fails instead of
       waiting. */
    "SECOND: got-ahead > same; ahead-changed > PARKED get-ahead; got-ahead EAUTH > same; "
        "unheard > PARKED get-ahead; got-ahead ENONODE > CONFIRMING",
    "SECOND: got-ahead EAUTH > REMOVING remove step-aside notify anew failed=EAUTH",
    /* The claim creates a missing parent. If the parent disappears again and again, the claim pauses in between. */
    "CREATING: created ENONODE > CREATING parents create anew; created ENONODE > CREATING parents create anew; "
        "created ENONODE > CREATING parents create anew; created ENONODE > CREATING parents create anew; "
        "created ENONODE > PAUSED-CREATING retry anew; pause-over > CREATING create anew; "
        "created ENONODE > CREATING parents create anew; created ENONODE > PAUSED-CREATING retry anew; "
        "pause-over > CREATING create anew; created ENONODE > CREATING parents create anew; created > LISTING; "
        "listed found first > HELD quiet notify",
    /* These answers to the create end the claim, each with its own code. No node exists, so nothing is removed. */
    "CREATING: created EAUTH|EINVAL|ENOMEM|ESYS|EEXIST|EZK-108 > GONE notify anew failed=CODE",
    "CREATING: created ENONODE hopeless > GONE notify anew failed=ENONODE",
    /* The list finds the node, but the get was not sent because memory ran out. A list alone does not prove that the
       node belongs to our session. */
    "ADOPTING: listed found > PAUSED-ADOPTING retry anew",
    /* If the search finds no node, none will appear. The claim creates a node under a new name. */
    "FINDING: listed ENONODE > CREATING create step-aside anew; created > LISTING; "
        "listed found first > HELD quiet notify",
    /* A release passes the lock on, sends the delete, and ends with the answer. */
    "HELD: leave > REMOVING hand-over remove anew; leave > same; removed > GONE",
    /* A delete that finds no node has succeeded. A delete whose answer is lost is sent again. */
    "HELD: leave down > PAUSED-REMOVING hand-over anew; connected > REMOVING remove; "
        "removed down ECONNLOSS > PAUSED-REMOVING retry anew; pause-over down > same; "
        "connected > REMOVING remove; removed last ENOMEM > PAUSED-REMOVING retry anew; "
        "pause-over > REMOVING remove; removed ENONODE > GONE",
    /* If the owner leaves before the create was sent, nothing is left to do. */
    "PAUSED-CREATING: leave > GONE; leave > same",
    /* A waiting claim that gives up notifies its owner once, and removes its node. */
    "PAUSED-ADOPTING, ADOPTING, PAUSED-LISTING, LISTING, PARKED, CONFIRMING, PAUSED-PROVING, PROVING: "
        "give-up ETIMEDOUT > REMOVING remove step-aside notify anew failed=ETIMEDOUT; "
        "give-up ECANCELED > same",
    /* The claim has given up while the create is in flight: each answer ends it, without another notification. */
    "GIVEN-UP: created last ENONODE|EAUTH|ENOMEM|EZK-127 > GONE anew",
    /* The claim gives up during the search: it removes the node that it finds. Without a node, it is done. */
    "FINDING: give-up ETIMEDOUT > FINDING notify failed=ETIMEDOUT; listed last OK|ENONODE > GONE anew",
    "FINDING: give-up ETIMEDOUT > FINDING notify failed=ETIMEDOUT; "
        "listed last ECONNLOSS|EAUTH|ENOMEM|EZK-127 > PAUSED-FINDING retry anew; "
        "pause-over > FINDING find; listed found > REMOVING remove anew",
    /* Our node is deleted while the claim waits: the claim joins the queue again at its tail, and the claims behind
       must look. */
    "PARKED: own-gone > CREATING create step-aside anew; created > LISTING; "
        "listed OK|ENONODE > ADOPTING get-own list; got-own ENONODE > CREATING create step-aside anew; "
        "created > LISTING; listed found then-ours-if-held > PARKED get-ahead quiet",
    /* Our node exists, but lists lack it: the claim creates no second node, and asks for the node again, with pauses.
       */
    "LISTING: listed > ADOPTING get-own list; got-own ours > LISTING; "
        "listed > ADOPTING get-own list; got-own ours > LISTING; "
        "listed ENONODE > ADOPTING get-own list; got-own ours > LISTING; "
        "listed > PAUSED-ADOPTING retry anew; pause-over > ADOPTING get-own list; got-own ours > LISTING; "
        "listed > PAUSED-ADOPTING retry anew; pause-over > ADOPTING get-own list; got-own ours > LISTING; "
        "listed found first > HELD notify",
    /* Lists name a node ahead that a get does not find: the claim lists again, with pauses. A node further ahead counts
       as news. */
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
    /* If our node is deleted again and again, the claim pauses in between. Without retries left, it fails. */
    "LISTING: own-gone > CREATING create step-aside anew; created > LISTING; "
        "own-gone > CREATING create step-aside anew; created > LISTING; "
        "own-gone > CREATING create step-aside anew; created > LISTING; "
        "own-gone > PAUSED-CREATING step-aside retry anew; pause-over > CREATING create anew; "
        "created > LISTING; own-gone last > GONE step-aside notify anew failed=ECONNLOSS",
    /* A wish that is read again after a lost connection is reported only once. Another wish is reported, too. */
    "HELD: quiet > HELD get-own; got-own ours wish=1 > HELD restore tell-wish; "
        "restored down ECONNLOSS > HELD quiet; connected > HELD get-own; "
        "got-own ours wish=1 > HELD restore; restored EZK-103 > same; own-changed > HELD get-own; "
        "got-own ours wish=2 > HELD restore tell-wish",
    /* If a server is too busy for the write, the claim repeats the write. If a server forbids it, the claim does not.
       */
    "HELD: quiet > HELD get-own; got-own ours wish=1 > HELD restore tell-wish; "
        "restored EZK-127 > HELD quiet; quiet > HELD get-own; got-own ours wish=1 > HELD restore; "
        "restored EAUTH > same",
    /* A holder that lacked memory for a moment checks its node again. */
    "HELD: quiet > HELD get-own; got-own ENOMEM|ESYS > HELD quiet; quiet > HELD get-own; "
        "got-own ours wish=1 > HELD restore tell-wish; restored ENOMEM|ESYS > HELD quiet; "
        "quiet > HELD get-own; got-own EAUTH > HELD ask-owner look-later",
    /* A wish does not count if it was withdrawn before the grant, or if its node is gone. */
    "PARKED: own-changed > PARKED get-own; got-own ours wish=1 > same; "
        "own-gone > CREATING create step-aside anew; created > LISTING; "
        "listed found first > HELD quiet notify; quiet > HELD get-own; "
        "got-own ours wish=1 > HELD restore tell-wish",
    /* The answer to the write is lost while the hold is doubted. When the claim holds again, it checks whether its text
       is there. */
    "keeps-place HELD: quiet > HELD get-own; got-own ours wish=1 > HELD restore tell-wish; "
        "lease-over unsure > DOUBTED get-own prove count-loss notify; restored EZK-127 > same; "
        "got-own ours wish=1 > same; proved > HELD notify restore",
    /* A write that does not find our node shows that the hold is lost. */
    "WATCHED: writing > same; written ENONODE > GONE step-aside count-loss notify anew lost=node",
    /* A missing node also ends a doubted hold. */
    "DOUBTED: proved ENONODE > GONE step-aside notify anew lost=node",
    "DOUBTED: own-gone > GONE step-aside notify anew lost=node",
    /* The transaction deletes our node. The event of that deletion is not a loss, and no node is left to delete. */
    "WATCHED: writing deletes > same; written deletes > GONE hand-over anew; leave > same",
    "WATCHED: writing deletes > same; own-gone > same; written deletes > GONE hand-over anew; "
        "leave > same",
    "WATCHED: writing deletes > same; own-changed > HELD get-own; got-own > same; written deletes > GONE hand-over anew",
    /* The transaction was refused, but our node is gone: another client has deleted it. */
    "WATCHED: writing deletes > same; own-gone > same; "
        "written ECONNLOSS deletes > GONE step-aside count-loss notify anew lost=node",
    /* After the answer, a deletion of the node is a loss again. */
    "WATCHED: writing deletes > same; written ECONNLOSS deletes > same; "
        "own-gone > GONE step-aside count-loss notify anew lost=node",
    /* The owner leaves while a write is in flight: the claim behind must look, and does not get the lock at once. */
    "WATCHED: writing > same; leave > REMOVING remove let-look anew; written ECONNLOSS > same",
    "WATCHED: writing > same; writing deletes > same; leave > REMOVING remove let-look anew; "
        "written ECONNLOSS > same; written deletes > same",
    /* After a downgrade, done or refused, the hold continues, and its node gets a watch after a while. A reported wish
       counts only for the node that carried it. */
    "WATCHED: own-changed > HELD get-own; got-own ours wish=3 > HELD restore tell-wish; "
        "downgrade > HELD step-aside downgrade anew; downgraded > HELD quiet anew; "
        "quiet > HELD get-own; got-own ours wish=3 > HELD restore tell-wish",
    "WATCHED: own-changed > HELD get-own; got-own ours wish=3 > HELD restore tell-wish; "
        "downgrade > HELD step-aside downgrade anew; downgraded ECONNLOSS refused > HELD quiet anew; "
        "quiet > HELD get-own; got-own ours wish=3 > HELD restore",
    /* During the downgrade, a missing node is not a loss, and the claim does not get its node. */
    "DOWNGRADING: own-gone > same; quiet > same; writing > same; written ENONODE > same; "
        "downgraded > HELD quiet anew; own-gone > GONE step-aside count-loss notify anew lost=node",
    /* The answer to the downgrade is lost. The claim sends the downgrade again on the next connection. By then, the
       writer's node may already be gone. */
    "DOWNGRADING: downgraded down ECONNLOSS > same; connected > HELD downgrade anew; "
        "downgraded ENONODE > HELD get-own; "
        "got-own ENONODE ours > GONE step-aside count-loss notify anew lost=node",
    /* The data of the writer's node have changed: the claim reads them first. Without a connection, it reads them on
       the next one. */
    "DOWNGRADING: downgraded EZK-103 refused > HELD get-own anew; got-own ours > HELD downgrade anew; "
        "downgraded > HELD quiet anew",
    "DOWNGRADING: downgraded down EZK-103 refused > HELD anew; connected > HELD get-own anew; "
        "got-own ours > HELD downgrade anew; downgraded > HELD quiet anew",
    /* Only a holder can become a reader, and only once. */
    "PARKED, DOWNGRADING: downgrade > same",
    "WATCHED: downgraded > same",
    /* Without a connection, the downgrade waits for one. */
    "WATCHED: downgrade down > HELD step-aside anew; connected > HELD downgrade anew",
    "DOWNGRADING: downgraded down ENONODE > same; connected > HELD downgrade anew",
    "DOWNGRADING: downgraded ENONODE > HELD get-own; got-own ECONNLOSS > HELD retry; pause-over > HELD downgrade anew",
    /* Data that the claim has no permission to read do not delay the downgrade. Data that were not read for another
       reason are read again. */
    "WATCHED: own-changed > HELD get-own; own-unchecked > same; downgrade > HELD step-aside downgrade anew",
    "DOWNGRADING: downgraded EZK-103 refused > HELD get-own anew; got-own EAUTH > HELD retry; "
        "pause-over > HELD downgrade anew",
    "DOWNGRADING: downgraded EZK-103 refused > HELD get-own anew; got-own ECONNLOSS > HELD retry; "
        "pause-over > HELD get-own anew; got-own ours > HELD downgrade anew",
    /* The writer's node is gone, or belongs to another session. */
    "DOWNGRADING: downgraded EZK-103 refused > HELD get-own anew; "
        "got-own ENONODE > GONE step-aside count-loss notify anew lost=node",
    "DOWNGRADING: downgraded EZK-103 refused > HELD get-own anew; "
        "got-own > GONE let-look count-loss notify anew lost=node",
    /* The claims behind do not overtake a node of another session at our path. */
    "DOWNGRADING: downgraded ENONODE > HELD get-own; got-own > GONE let-look count-loss notify anew lost=node",
    /* The downgrade was not sent, for want of memory. It is sent after a pause. */
    "DOWNGRADING: downgraded ECONNLOSS > HELD retry; pause-over > HELD downgrade anew; "
        "pause-over > same; downgraded > HELD quiet anew",
    /* The owner leaves during the downgrade: the claim deletes neither path blindly, and the claims behind look. */
    "DOWNGRADING: leave > FINDING find let-look anew; listed found > REMOVING remove anew; removed > GONE",
    /* A node that is deleted too often is created again only after a pause. */
    "LISTING: own-gone > CREATING create step-aside anew; created > LISTING; "
        "own-gone > CREATING create step-aside anew; created > LISTING; "
        "own-gone > CREATING create step-aside anew; created > LISTING; "
        "own-gone > PAUSED-CREATING step-aside retry anew",
    /* If a member of a group has failed too often, the group begins again only after a pause. */
    "READY: own-gone > GONE step-aside notify anew place_lost; start > CREATING create anew; created > LISTING; "
        "own-gone > GONE step-aside notify anew; start > CREATING create anew; created > LISTING; "
        "own-gone > GONE step-aside notify anew; start > CREATING create anew; created > LISTING; "
        "own-gone > GONE step-aside notify anew pauses; start > PAUSED-CREATING retry anew",
    /* When a list shows that there is no node, the claim creates one at once: the failed create has already been
       counted, and the claim has already paused for it. */
    "CREATING: created ECONNLOSS > PAUSED-FINDING retry anew; pause-over > FINDING find; listed > CREATING create step-aside anew; "
        "created ECONNLOSS > PAUSED-FINDING retry anew; pause-over > FINDING find; listed > CREATING create step-aside anew; "
        "created ECONNLOSS > PAUSED-FINDING retry anew; pause-over > FINDING find; listed > CREATING create step-aside anew; "
        "created ECONNLOSS > PAUSED-FINDING retry anew; pause-over > FINDING find; listed > CREATING create step-aside anew",
    /* Once the claim waits in the queue, earlier failures no longer count. */
    "LISTING: own-gone > CREATING create step-aside anew; created > LISTING; "
        "own-gone > CREATING create step-aside anew; created > LISTING; "
        "own-gone > CREATING create step-aside anew; created > LISTING; "
        "listed found then-ours > PARKED get-own get-ahead; own-gone > CREATING create step-aside anew",
    /* In the next session, the parents may be missing again, and no failure counts yet. */
    "CREATING: created ENONODE > CREATING parents create anew; created ENONODE > CREATING parents create anew; "
        "session-over down > PAUSED-CREATING anew; connected > CREATING create anew; "
        "created ENONODE > CREATING parents create anew; created ENONODE > CREATING parents create anew; "
        "created ENONODE > CREATING parents create anew; created ENONODE > CREATING parents create anew; "
        "created ENONODE > PAUSED-CREATING retry anew",
    /* A member that nothing blocks is READY, and holds together with the other members. If a get of its own node is in
       flight, its answer comes first. */
    "READY: quiet > READY get-own; got-own ours > same; all-ready > HELD notify",
    "READY: quiet > READY get-own; all-ready > CONFIRMING; got-own ours > READY notify; all-ready > HELD notify",
    /* A member whose node or session is gone is created again together with the other members, not alone. */
    "READY: own-gone > GONE step-aside notify anew place_lost; session-over down > GONE anew",
    "PARKED: session-over down > PAUSED-CREATING anew; connected > CREATING create anew",
    "READY: session-over down > GONE notify anew place_lost",
    "member CREATING: session-over down > PAUSED-CREATING anew",
    /* A node of another session under our name means the end of our node, wherever the claim sees it. The claims behind
       look for themselves. */
    "PARKED: own-changed > PARKED get-own; got-own > CREATING create let-look anew",
    /* A node that cannot be read is held all the same. The claim asks for the owner of the node, and later tries the
       get again. */
    "WATCHED: own-unchecked > HELD ask-owner look-later; got-owner > GONE let-look count-loss notify anew lost=node",
    "WATCHED: own-unchecked > HELD ask-owner look-later; "
        "got-owner ENONODE > GONE step-aside count-loss notify anew lost=node",
    "HELD: quiet > HELD get-own; own-unchecked > same; got-own EAUTH > HELD ask-owner look-later",
    "PARKED, DOUBTED, REMOVING, GONE, DOWNGRADING: own-unchecked > same; got-owner > same",
    /* A hold that lasts is noted once. Behind the write, a get of our node sets the watch. */
    "HELD with-text: pause-over > HELD wants-note; noting > HELD get-own; noted > same; "
        "got-own ours version=1 with-note > HELD version=1",
    "PARKED with-text: pause-over > same",
    /* Our own write uses up a watch that was set, and the claim sets the watch again. */
    "WATCHED with-text: noting > HELD; own-changed > HELD get-own version=-1; noted > same; "
        "got-own ours version=1 with-note > HELD version=1; quiet > same",
    /* Another client writes a wish before the note: the hold is not lost, and the claim writes nothing until it knows
       the version. It reports the wish. If the restored text has no note, the claim writes the note afterwards. */
    "HELD with-text: noting > HELD get-own; noted EZK-103 refused > HELD version=-1; "
        "got-own ours version=1 wish=1 > HELD restore tell-wish version=1; own-changed > HELD get-own version=-1; "
        "got-own ours version=2 > HELD wants-note version=2",
    /* If another client changed the data, the claim tries again with the version that it has read. */
    "WATCHED with-text: own-changed > HELD get-own version=-1; got-own ours version=5 > HELD wants-note version=5",
    /* A refusal that arrives behind a downgrade says nothing about the reader's node. */
    "WATCHED with-text: noting > HELD; downgrade > HELD step-aside downgrade anew; noted EZK-103 refused > same",
    /* If another part of the transaction was refused, or no answer came, the note is tried again. A forbidden note is
       never tried again, because each probe would fail with it. */
    "HELD with-text: noting > HELD get-own; noted ENONODE|EZK-103|ECONNLOSS|ESESSION > HELD wants-note",
    "HELD with-text: noting > HELD get-own; noted EAUTH|EINVAL|EZK-110 refused > HELD",
    /* A node that is created again has no note. */
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
    size_t field; /* the field that is set to true */
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

/* Write the result of a step to @out, in the words of a row. */
static void tell(const struct zkr__claim_state *before,
                 const struct zkr__claim_state *k,
                 unsigned todo,
                 char *out,
                 size_t size)
{
    char code[32];
    FILE *f = fmemopen(out, size, "w");
    assert_non_null(f);
    (void)fprintf(f, "%s", zkt_phase_name(k->phase));
    if (k->phase == ZKR__PAUSED) {
        (void)fprintf(f, "-%s", zkt_phase_name(k->next));
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

/* Play the row "[keeps-place] [member] [WAY] [with-text]: steps" or "steps". With a text, the hold may be noted in it.
   */
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

/* Copy @row with the @length characters at @from replaced by the first @size of @by. CODE behind @from is replaced,
   too. */
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

/* Play each of the rows that @row stands for. */
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

/* A claim is decided once it is held, over or given up. A waiting or doubted claim is not decided. */
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

/* No client exists here, so there is no lock to hold. */
ZKR__TSA(no_thread_safety_analysis)
static bool takes(struct zkr__claim *claim,
                  unsigned round,
                  const struct zkr__answer *answer,
                  struct zkr__claim_event *e)
{
    return zkr__claim_take_answer(claim, zkr__asked_tag(ZKR__ASKED_PROVE, round),
                                  answer, e);
}

/* The answers of an abandoned round are dropped, because they describe another node or another session. */
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
