/* SPDX-License-Identifier: Apache-2.0 */
/* What the server does, and what its answers say. */
#include <string.h>

#include "alone_world.h"

/* --- the server --- */

static void make_node(void)
{
    static const uint8_t lines[] = {0, 1, 3, 7, 15};
    const int most = alone_use->ahead == 0 ? 1 : alone_use->ahead;
    zkp_must(!alone_is_ours(), "two nodes of one claim");
    A->node = WRITER;
    A->wish = 0;
    A->alive = lines[zkp_pick(most + 1)];
    A->spent = A->told = 0;
    A->near = (uint8_t)(alone_use->children ? 0 : zkp_pick(most == 1 ? 2 : most));
}

/* A request to let go that the claim has not read is in the data. */
static bool has_unread_wish(void)
{
    return A->wish == 2 && A->k.told != 2;
}

/* The downgrade names the version of the data that the claim has read, if it has. */
static bool is_changed(void)
{
    return has_unread_wish() && A->k.version >= 0 && !A->k.unchecked;
}

static void downgrade(void)
{
    if ((A->node == WRITER || A->node == STRANGER) && !is_changed()) {
        zkp_must(!has_unread_wish() || A->k.unchecked, "a wish is deleted unread");
        A->node = READER;
        A->wish = 0;
    }
}

void alone_carry_out(enum asked asked)
{
    if (asked == CREATE && A->directory) {
        make_node();
    } else if ((asked == REMOVE || asked == WRITE_DELETE) && alone_is_there()) {
        A->node = NO_NODE;
    } else if (asked == DOWNGRADE) {
        downgrade();
    }
}

void alone_fence(void)
{
    memset(A->late, 0, sizeof(A->late));
    A->lates = 0;
}

bool alone_news_is_on_its_way(void)
{
    return A->own_news || A->ahead_news || A->before_news;
}

void alone_change_own(enum news news)
{
    if (A->own_watch && alone_use->lies && zkp_maybe()) {
        A->own_watch = false; /* the event is lost */
    } else if (A->own_watch) {
        A->own_watch = false;
        A->own_news = (uint8_t)news;
    } else if (A->own_news) { /* while there is no connection */
        A->own_news = (uint8_t)news;
    }
}

/* No permission; too busy; no memory; a quota, for any error that a retry does not end; not sent. */
static const int refusals[] = {ZKR_EAUTH, ZKR_EZK(-127), ZKR_ENOMEM, ZKR_EZK(-125),
                               ZKR_ECONNLOSS};

/* ZKR_OK, or another answer that is possible in any case. */
static int refuse(void)
{
    int which = alone_use->fair ? 0 : zkp_pick(6);
    return which == 0 ? ZKR_OK : refusals[which - 1];
}

/* There is no room for a watch. */
static bool has_no_room(void)
{
    return !alone_use->fair && zkp_maybe();
}

/* --- what a list says --- */

int alone_first_of(unsigned set)
{
    int i = 0;
    while (i < BLOCKERS && !(set & 1U << i)) {
        i++;
    }
    return i;
}

/* The owner of the node ahead may send news. */
static bool may_be_near(void)
{
    return alone_use->nearby || alone_use->member || alone_use->shared ||
           alone_use->ahead == BLOCKERS;
}

/* The verdict of a rule on the blockers that are @seen; a writer that blocks may go on as a reader. */
static void judge(struct zkr__claim_event *e, unsigned seen)
{
    enum { FITS, FOREIGN, FULL };
    int queue = alone_use->fair ? FITS : zkp_pick(seen == 0 ? FULL : FULL + 1);
    e->foreign = queue == FOREIGN; /* a recipe of another program is there */
    e->full = queue == FULL;
    e->granted = seen == 0;
    e->once = alone_use->once;
    if (!zkr__event_waits(e)) {
        return;
    }
    if (alone_use->children) {
        e->wait = ZKR__WAIT_CHILDREN;
        return;
    }
    int at = alone_first_of(seen);
    unsigned others = seen & ~(1U << at);
    bool alone = others == 0, writer = zkp_maybe();
    bool node = A->near != at + 1;
    e->same = A->k.phase == ZKR__PARKED && A->link != NEIGHBOUR && A->ahead == at;
    e->wait = node ? ZKR__WAIT_NODE : ZKR__WAIT_NEIGHBOUR;
    e->near = may_be_near() && node && zkp_maybe();
    e->ahead = A->k.ahead != INT64_MAX && at <= A->last ? 1 : 0;
    e->then = alone && !writer            ? ZKR__THEN_OURS
              : alone || zkp_pick(2) == 0 ? ZKR__THEN_OURS_IF_HELD
                                          : ZKR__THEN_LOOK;
    bool looks_not = alone_use->fair && zkp_maybe(); /* it would gain nothing */
    if (!alone_use->ahead || !node || alone_use->member || writer || looks_not) {
        return;
    }
    if (e->then == ZKR__THEN_OURS) {
        e->look = ZKR__BEHIND_FIRST;
    } else if (e->then == ZKR__THEN_OURS_IF_HELD && zkp_pick(2) == 0) {
        int next = alone_first_of(others);
        e->look = (others & ~(1U << next)) ? ZKR__BEHIND_MORE : ZKR__BEHIND_TWO;
    }
}

/* The claim has heard of @seen, and stands where it was told. */
static void stand(const struct zkr__claim_event *e, unsigned seen, bool watching)
{
    if (A->k.phase != ZKR__PARKED) {
        return;
    }
    int at = alone_first_of(seen);
    if (e->wait == ZKR__WAIT_CHILDREN) {
        A->link = watching && !e->unwatched ? DIRECTORY : UNLINKED;
        return;
    }
    if (!e->same) {
        A->told = 0;
        A->link = e->wait == ZKR__WAIT_NEIGHBOUR ? NEIGHBOUR : LINK_ASKED;
        A->ahead_news = NO_NEWS;
    }
    A->ahead = A->last = (uint8_t)at;
}

/* --- answers --- */

static void answer_list(struct sent sent, struct zkr__claim_event e, unsigned seen)
{
    bool told = e.code == ZKR_OK && e.found && zkr__event_waits(&e);
    if (told) { /* a request for these goes out in the step */
        int at = alone_first_of(seen);
        if (e.look == ZKR__BEHIND_MORE || e.look == ZKR__BEHIND_TWO) {
            A->before = (uint8_t)alone_first_of(seen & ~(1U << at));
            A->before_watch = false;
            A->before_news = NO_NEWS;
        }
        if (!e.same && e.wait == ZKR__WAIT_NODE) {
            A->ahead = (uint8_t)at;
        }
    }
    bool was = A->k.phase == ZKR__PARKED;
    alone_happens(e);
    if (told && (!was || e.look != ZKR__LOOKS_NOT || !e.same)) {
        stand(&e, seen, sent.watching);
    }
}

static void on_create(struct sent sent)
{
    struct zkr__claim_event e = {.kind = ZKR__EV_CREATED, .code = refuse()};
    unsigned seen = 0;
    alone_fence();
    if (e.code == ZKR_OK && !A->directory) {
        e.code = ZKR_ENONODE;
        e.hopeless = A->k.made_parents && zkp_maybe();
    } else if (e.code == ZKR_OK) {
        make_node();
        /* Not a path that can be ours, or no memory to know it. */
        e.code = !sent.past && zkp_maybe() ? ZKR_ECONNLOSS : ZKR_OK;
    }
    if (sent.past) {
        return;
    }
    if (e.code == ZKR_OK) {
        e.exhausted = zkp_maybe();
        e.bare = A->bare;
        e.placed = !A->k.leaving && !e.exhausted && !alone_use->member &&
                   !A->k.watch_children &&
                   (!alone_use->children || alone_nodes() == 0) && zkp_maybe();
        e.found = e.placed;
    }
    if (e.placed) { /* nodes that are known may be gone by now */
        bool phantom = !(alone_nodes() & 1) && A->near != 1 && !alone_use->once &&
                       !alone_use->children && zkp_maybe();
        seen = alone_nodes() | (phantom ? 1U : 0U);
        judge(&e, seen);
    }
    answer_list(sent, e, seen);
}

static void on_find(struct sent sent)
{
    struct zkr__claim_event e = {.kind = ZKR__EV_LISTED, .code = refuse()};
    alone_fence();
    if (sent.past) {
        return;
    }
    if (e.code == ZKR_OK && zkp_maybe()) {
        e.code = ZKR_ECONNLOSS; /* the write was not answered */
    }
    if (e.code == ZKR_OK && !A->directory) {
        e.code = ZKR_ENONODE;
    } else if (e.code == ZKR_OK) {
        e.found = A->node != NO_NODE;
        A->reads = e.found ? A->node == READER : A->reads;
    }
    alone_happens(e);
}

static void on_list(struct sent sent)
{
    struct zkr__claim_event e = {.kind = ZKR__EV_LISTED, .code = refuse()};
    unsigned seen = alone_nodes();
    if (e.code == ZKR_OK && !A->directory) {
        e.code = ZKR_ENONODE;
    } else if (e.code == ZKR_OK) {
        e.unwatched = sent.watching && has_no_room();
        e.found = alone_is_there() && !(alone_use->lies && zkp_maybe());
        if (!e.found && A->node != NO_NODE) {
            A->reads = A->node == READER; /* found by its GUID, for the next time */
        }
    }
    if (e.code == ZKR_OK && A->k.phase == ZKR__LOOKING) {
        e.foreign = zkp_maybe();
    } else if (e.found) {
        judge(&e, seen);
        e.ours = A->k.own == ZKR__OWN_UNPROVED && alone_is_ours() && zkp_maybe();
    }
    answer_list(sent, e, seen);
}

static void on_own(struct sent sent)
{
    struct zkr__claim_event e = {.kind = ZKR__EV_GOT_OWN, .code = refuse()};
    bool reads = A->reads;
    A->reads = A->reads && !zkr__claim_reads_writer(&A->k);
    bool is_there = alone_is_there();
    A->reads = reads;
    if (e.code == ZKR_OK && !is_there) {
        e.code = ZKR_ENONODE;
    } else if (e.code == ZKR_OK) {
        e.ours = alone_is_ours();
        e.checked = sent.asked == CHECK;
        e.unwatched = !e.checked && has_no_room();
        A->own_watch = A->own_watch || (!e.checked && !e.unwatched);
        e.exhausted = A->k.phase == ZKR__ADOPTING && zkp_maybe();
        e.with_metadata = alone_use->metadata && zkp_maybe();
        e.revocation = A->wish;
    }
    alone_happens(e);
}

static void on_ahead(struct sent sent)
{
    bool is_alive = (alone_nodes() & 1U << sent.at) != 0;
    bool mine =
        A->k.phase == ZKR__PARKED && A->ahead == sent.at && A->link == LINK_ASKED;
    struct zkr__claim_event e = {.kind = ZKR__EV_GOT_AHEAD, .code = refuse()};
    if (e.code == ZKR_OK && !is_alive) {
        e.code = ZKR_ENONODE;
    } else if (e.code == ZKR_OK) {
        e.unwatched = has_no_room();
        e.near = (alone_use->nearby || alone_use->shared) && zkp_maybe();
    }
    bool saw = A->k.saw_ahead;
    if (mine && e.code == ZKR_OK) {
        A->link = e.unwatched ? UNLINKED : WATCHED;
    } else if (mine && e.code == ZKR_EAUTH && saw) {
        A->link = UNREADABLE;
    }
    alone_happens(e);
    zkp_must(!(mine && saw && e.code == ZKR_EAUTH) || A->k.failure == 0,
             "the wait ends because a node that was seen may not be read");
}

static void on_before(struct sent sent)
{
    bool is_alive = (alone_nodes() & 1U << sent.at) != 0;
    struct zkr__claim_event e = {.kind = ZKR__EV_GOT_BEFORE, .code = refuse()};
    if (e.code == ZKR_OK && !is_alive) {
        e.code = ZKR_ENONODE;
    } else if (e.code == ZKR_OK) {
        e.unwatched = has_no_room();
        A->before_watch = !e.unwatched && A->before == sent.at;
    }
    alone_happens(e);
}

static void on_prove(struct sent sent)
{
    struct zkr__claim_event e = {.kind = ZKR__EV_PROVED, .code = refuse()};
    alone_fence();
    if (e.code == ZKR_OK && !alone_is_there()) {
        e.code = ZKR_ENONODE;
    }
    if (!sent.past) {
        alone_happens(e);
    }
}

static void on_remove(struct sent sent)
{
    struct zkr__claim_event e = {.kind = ZKR__EV_REMOVED, .code = refuse()};
    alone_fence();
    if (e.code == ZKR_OK && !alone_is_there()) {
        e.code = ZKR_ENONODE;
    } else if (e.code == ZKR_OK) {
        alone_carry_out(REMOVE);
        alone_change_own(IS_GONE);
    }
    if (!sent.past) {
        alone_happens(e);
    }
}

static void on_downgrade(struct sent sent)
{
    struct zkr__claim_event e = {.kind = ZKR__EV_DOWNGRADED};
    alone_fence();
    bool is_gone = A->node == NO_NODE || A->node == READER;
    int refused = zkp_pick(3);
    if (refused != 0) {
        e.code = ZKR_ECONNLOSS; /* by the server; not sent for want of memory */
        e.refused = refused == 1 && !is_gone;
    } else if (is_gone) {
        e.code = ZKR_ENONODE;
    } else if (is_changed()) {
        e.code = ZKR__OTHER_VERSION;
        e.refused = true;
    } else {
        downgrade();
    }
    if (!sent.past) {
        A->reads = A->reads && !(e.refused && e.code == ZKR_ECONNLOSS);
        alone_happens(e);
    }
}

static void on_restore(struct sent sent)
{
    struct zkr__claim_event e = {.kind = ZKR__EV_RESTORED, .code = refuse()};
    if (e.code == ZKR_OK && !alone_is_there()) {
        e.code = ZKR_ENONODE;
    } else if (e.code == ZKR_OK && A->wish == 2) {
        e.code = ZKR_EZK(-103);
    } else if (e.code == ZKR_OK) {
        A->wish = 0;
        alone_change_own(HAS_CHANGED);
    }
    alone_happens(e);
}

static void on_owner(struct sent sent)
{
    struct zkr__claim_event e = {.kind = ZKR__EV_GOT_OWNER, .code = refuse()};
    if (e.code == ZKR_OK && !alone_is_there()) {
        e.code = ZKR_ENONODE;
    }
    e.ours = e.code == ZKR_OK && alone_is_ours();
    alone_happens(e);
}

static void on_note(struct sent sent)
{
    struct zkr__claim_event e = {.kind = ZKR__EV_NOTED, .code = refuse()};
    alone_fence();
    e.refused =
        e.code != ZKR_OK && zkp_maybe(); /* else because of the node of another claim */
    if (e.code == ZKR_OK && !alone_is_there()) {
        e.kind = ZKR__EV_OWN_GONE;
    } else if (e.code == ZKR_OK && A->wish != 0) {
        e.code = ZKR_EZK(-103);
        e.refused = true;
    } else if (e.code == ZKR_OK && zkp_maybe()) {
        /* Somebody has changed the data, or the refusal is about the node of another claim. */
        e.refused = zkp_maybe();
        e.code = !e.refused && zkp_maybe() ? ZKR_ENONODE : ZKR_EZK(-103);
    } else if (e.code == ZKR_OK) {
        alone_change_own(HAS_CHANGED);
    }
    alone_happens(e);
}

static void on_write(struct sent sent)
{
    struct zkr__claim_event e = {.kind = ZKR__EV_WRITTEN,
                                 .deletes = sent.asked == WRITE_DELETE,
                                 .code = refuse()};
    alone_fence();
    if (e.code == ZKR_OK && !alone_is_there()) {
        e.code = sent.past ? ZKR_EZK(-101) : ZKR_ENONODE;
    } else if (e.code == ZKR_OK && e.deletes) {
        alone_carry_out(REMOVE);
        alone_change_own(IS_GONE);
    }
    alone_happens(e);
}

/* --- moves: the connection and the session --- */

void alone_answer(struct sent sent)
{
    static void (*const answers[])(struct sent) = {
        [CREATE] = on_create,   [LIST] = on_list,          [FIND] = on_find,
        [OWN] = on_own,         [AHEAD] = on_ahead,        [BEFORE] = on_before,
        [PROVE] = on_prove,     [REMOVE] = on_remove,      [DOWNGRADE] = on_downgrade,
        [RESTORE] = on_restore, [OWNER] = on_owner,        [NOTE] = on_note,
        [WRITE] = on_write,     [WRITE_DELETE] = on_write, [CHECK] = on_own,
    };
    answers[sent.asked](sent);
}

void alone_on_lost(struct sent sent)
{
    enum zkr__event_kind kind =
        sent.asked == NOTE ? ZKR__EV_NOTED
        : sent.asked > NOTE
            ? ZKR__EV_WRITTEN
            : zkr__asked_event(zkr__deed_asks((enum zkr__deed)sent.asked));
    if (!sent.past || sent.asked >= NOTE) {
        alone_happens((struct zkr__claim_event){.kind = kind,
                                                .code = ZKR_ECONNLOSS,
                                                .deletes = sent.asked == WRITE_DELETE});
    }
}
