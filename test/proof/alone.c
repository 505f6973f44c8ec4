/* SPDX-License-Identifier: Apache-2.0 */
#include "alone.h"

#include <string.h>

#include "alone_world.h"

/* --- moves: the connection and the session --- */

/* Without a connection: the index of the first request that is lost, or A->count. */
static int first_lost(void)
{
    int i = 0;
    while (i < A->count && A->flight[i].next) {
        i++;
    }
    return i;
}

static bool has_lost(void)
{
    return first_lost() < A->count;
}

/* Claims share lists, so a list may wait for another one, and be sent after later requests. */
static void let_list_wait(void)
{
    const struct sent list = A->flight[0];
    if (!alone_use->orderly && A->count > 1 && list.asked == LIST && zkp_maybe()) {
        memmove(A->flight, A->flight + 1, (size_t)(A->count - 1) * sizeof(list));
        A->flight[A->count - 1] = list;
    }
}

/* Remove the request at @i from those in flight. */
static struct sent take_sent(int i)
{
    struct sent sent = A->flight[i];
    A->count--;
    memmove(A->flight + i, A->flight + i + 1, (size_t)(A->count - i) * sizeof(sent));
    memset(&A->flight[A->count], 0, sizeof(sent));
    sent.next = false;
    return sent;
}

/* libzookeeper rejected a request, so its answer comes before those of earlier requests. */
static bool answer_early(void)
{
    bool may = A->connected || alone_use->shared;
    int taken = may && !alone_use->orderly ? A->count : 0;
    if (taken < 2) {
        return false;
    }
    alone_on_lost(take_sent(1 + zkp_pick(taken - 1)));
    return true;
}

/* The next connection exists, but its credentials are not accepted yet, so the client has no CONNECTED. */
static bool answer_before_connected(void)
{
    if (A->connected || A->count == 0 || !A->flight[0].next ||
        alone_news_is_on_its_way()) {
        return false;
    }
    alone_up = true;
    alone_answer(take_sent(0));
    alone_up = false;
    return true;
}

/* Without a connection: the requests that wait for the next one are lost last. */
static bool lose(void)
{
    if (A->count == 0) {
        return false;
    }
    bool all = !has_lost();
    for (int i = 0; i < A->count && all; i++) {
        A->flight[i].next = false;
    }
    alone_on_lost(take_sent(first_lost()));
    return true;
}

static bool answer(void)
{
    if (!A->connected) {
        return lose();
    }
    if (A->count == 0 || alone_news_is_on_its_way()) {
        return false;
    }
    let_list_wait();
    alone_answer(take_sent(0));
    return true;
}

/* The number of requests in front that the previous connection did not take. */
static int count_again(void)
{
    int i = 0;
    while (i < A->count && A->flight[i].again) {
        i++;
    }
    return i;
}

/*
 * The server carries out the first writes in flight, carries out the next ones later, and never the others. Requests that
 * were sent after the connection broke, but before the client knew, go out on the next connection.
 */
static bool cut(void)
{
    if (!A->connected) {
        return false;
    }
    int writes = 0, at = 0;
    int next = alone_use->orderly ? 0 : zkp_pick(A->count - count_again() + 1);
    int sent = A->count - next;
    for (int i = 0; i < A->count; i++) {
        writes += i < sent && alone_is_write(A->flight[i].asked);
        A->flight[i].next = i >= sent;
    }
    int done = zkp_pick(writes + 1), late = zkp_pick(writes - done + 1);
    zkp_say("cut: of %d writes %d are carried out, %d come late", writes, done, late);
    if (done > 0) {
        alone_fence();
    }
    for (int i = 0; i < sent; i++) {
        enum asked asked = A->flight[i].asked;
        if (!alone_is_write(asked)) {
            continue;
        }
        if (at < done) {
            bool was = alone_is_there();
            alone_carry_out(asked);
            if (was && !alone_is_there()) {
                alone_change_own(IS_GONE);
            }
        } else if (at < done + late && A->lates < LATE_MAX) {
            A->late[A->lates++] = (uint8_t)asked;
        }
        at++;
    }
    A->connected = false;
    return true;
}

static bool carry_out_late(void)
{
    if (A->lates == 0) {
        return false;
    }
    zkp_say("a late write is carried out");
    enum asked asked = A->late[0];
    A->lates--;
    memmove(A->late, A->late + 1, A->lates);
    A->late[A->lates] = 0;
    bool was = alone_is_there();
    alone_carry_out(asked);
    if (was && !alone_is_there()) {
        alone_change_own(IS_GONE);
    }
    return true;
}

/* Holds are told first, then all. */
static bool connect(void)
{
    if (A->connected || has_lost()) {
        return false;
    }
    A->connected = true;
    for (int i = 0; i < A->count; i++) {
        A->flight[i].again = A->flight[i].next;
        A->flight[i].next = false;
    }
    zkp_say("connected");
    if (A->begun && A->k.phase == ZKR__HELD && A->k.downgrade == ZKR__SETTLED) {
        alone_tell(ZKR__EV_CONNECTED);
    }
    if (A->begun) {
        alone_tell(ZKR__EV_CONNECTED);
    }
    return true;
}

static bool end_session(void)
{
    if (!A->begun) {
        return false;
    }
    A->connected = A->own_watch = false;
    A->own_news = A->ahead_news = A->before_news = NO_NEWS;
    A->node = NO_NODE;
    alone_fence();
    int kept = 0;
    for (int i = 0; i < A->count; i++) {
        if (A->flight[i].asked >= NOTE) {
            A->flight[kept] = A->flight[i];
            A->flight[kept++].next = false;
        }
    }
    memset(&A->flight[kept], 0, sizeof(A->flight[0]) * (size_t)(A->count - kept));
    A->count = (uint8_t)kept;
    alone_tell(ZKR__EV_SESSION_OVER);
    return true;
}

static bool pass_lease(void)
{
    if (A->k.phase == ZKR__HELD) {
        alone_tell(ZKR__EV_LEASE_EXPIRED);
        return true;
    }
    return false;
}

/* --- moves: people, and those ahead --- */

/* With a connection, what happens at the server is told before the next thing happens there. */
static bool may_happen(void)
{
    return A->begun && !(A->connected && alone_news_is_on_its_way());
}

static bool delete_by_hand(void)
{
    if (A->node == NO_NODE || !may_happen()) {
        return false;
    }
    zkp_say("our node is deleted by hand");
    alone_change_own(IS_GONE);
    A->node = NO_NODE;
    A->wish = 0;
    return true;
}

/* The watch sees a deletion; after a re-connection, that the node is another one. */
static bool replace_by_hand(void)
{
    if (!alone_is_ours() || !may_happen()) {
        return false;
    }
    zkp_say("our node is replaced by hand");
    alone_change_own(A->connected ? IS_GONE : HAS_CHANGED);
    A->node = STRANGER;
    A->wish = 0;
    return true;
}

static bool write_by_hand(void)
{
    bool is_wish = alone_use->wishes && alone_is_ours() && A->wish != 2;
    if (!(is_wish || A->own_watch) || A->node == NO_NODE || !may_happen()) {
        return false;
    }
    zkp_say("our node is written to by hand");
    A->wish = is_wish ? 2 : A->wish;
    alone_change_own(HAS_CHANGED);
    return true;
}

static bool sweep(void)
{
    if (!A->directory || A->node != NO_NODE || A->k.phase == ZKR__PARKED) {
        return false;
    }
    zkp_say("the empty directory is deleted");
    A->directory = false;
    A->alive = A->spent = 0;
    return true;
}

/* The watch of another claim on a node ahead fires, while the claim itself awaits the answer to its get of that node. */
static bool shared_watch_fires(void)
{
    return alone_use->shared && A->connected && zkp_maybe();
}

static void lose_blocker(int i)
{
    zkp_say("blocker %d goes", i);
    A->alive &= (uint8_t) ~(1U << i);
    A->spent &= (uint8_t) ~(1U << i);
    bool looks = zkr__claim_watches_before(&A->k) && A->before == i;
    if (A->before_watch ? A->before == i : looks && shared_watch_fires()) {
        A->before_watch = false;
        A->before_news = IS_GONE;
    }
    bool asked = A->link == LINK_ASKED && A->ahead == i && shared_watch_fires();
    if (asked || (A->link == WATCHED && A->ahead == i)) {
        A->ahead_news = IS_GONE;
    } else if (A->link == DIRECTORY) {
        A->ahead_news = HAS_CHANGED;
    } else if (A->link == NEIGHBOUR && A->ahead == i) {
        static const enum zkr__event_kind kinds[] = {
            ZKR__EV_AHEAD_GONE, ZKR__EV_AHEAD_WRITES, ZKR__EV_AHEAD_RELEASED};
        bool held = (A->alive >> i) == 0; /* none before it is there */
        A->link = UNLINKED;
        alone_tell(kinds[zkp_pick(held ? 3 : 2)]);
    }
}

static bool a_blocker_goes(void)
{
    if (alone_nodes() == 0 || !may_happen()) {
        return false;
    }
    unsigned left = alone_nodes();
    for (int skip = zkp_pick(__builtin_popcount(left)); skip > 0; skip--) {
        left &= left - 1;
    }
    lose_blocker(alone_first_of(left));
    return true;
}

/* The owner of the last node that blocks, of another process, lets go. Its node is still there, and it may tell of that. */
static bool a_blocker_passes_on(void)
{
    if (!alone_use->nearby || A->alive == 0) {
        return false;
    }
    int i = 31 - __builtin_clz(A->alive);
    if (A->near == i + 1) {
        return false;
    }
    zkp_say("blocker %d lets go", i);
    A->alive &= (uint8_t) ~(1U << i);
    A->spent |= (uint8_t)(1U << i);
    return true;
}

static bool stands_behind(int i)
{
    bool path = A->link != NEIGHBOUR && A->link != DIRECTORY;
    return A->k.phase == ZKR__PARKED && path && A->ahead == i;
}

/* Once, or not at all; late; and once more. */
static bool the_holder_tells(void)
{
    int i = alone_first_of(A->spent);
    if (A->spent == 0 || !stands_behind(i) || A->told == i + 1) {
        return false;
    }
    A->told = (uint8_t)(i + 1);
    return true;
}

/* In no order with any other news, with or without a connection. */
static bool told(void)
{
    int told = A->told;
    if (told == 0) {
        return false;
    }
    A->told = zkp_maybe() ? A->told : 0;
    if (!stands_behind(told - 1)) {
        return A->told == 0;
    }
    alone_tell(ZKR__EV_AHEAD_TOLD);
    return true;
}

static bool ahead_changes(void)
{
    bool asked = alone_use->shared && A->connected && A->link == LINK_ASKED &&
                 alone_count(AHEAD) < 2;
    if (!(asked || A->link == WATCHED) || A->ahead_news || !may_happen()) {
        return false;
    }
    A->ahead_news = HAS_CHANGED;
    return true;
}

static bool before_changes(void)
{
    bool asked = alone_use->shared && A->connected &&
                 zkr__claim_watches_before(&A->k) && !A->before_news &&
                 alone_count(BEFORE) < 2;
    if (!(asked || A->before_watch) || !may_happen()) {
        return false;
    }
    A->before_watch = false;
    A->before_news = HAS_CHANGED;
    return true;
}

/* --- moves: news. A re-connection brings it in no order, and before the claim is told of it. --- */

static bool news_may_come(void)
{
    return A->begun && (A->connected || !has_lost());
}

static bool own_news(void)
{
    enum news news = A->own_news;
    if (!news || !news_may_come()) {
        return false;
    }
    A->own_news = NO_NEWS;
    if (alone_knows_node()) {
        alone_tell(news == IS_GONE ? ZKR__EV_OWN_GONE : ZKR__EV_OWN_CHANGED);
    }
    return true;
}

static bool ahead_news(void)
{
    enum news news = A->ahead_news;
    if (!news || !news_may_come()) {
        return false;
    }
    A->ahead_news = NO_NEWS;
    A->link = UNLINKED;
    alone_tell(news == IS_GONE ? ZKR__EV_AHEAD_GONE : ZKR__EV_AHEAD_CHANGED);
    return true;
}

static bool before_news(void)
{
    enum news news = A->before_news;
    if (!news || !news_may_come()) {
        return false;
    }
    A->before_news = NO_NEWS;
    alone_tell(news == IS_GONE ? ZKR__EV_BEFORE_GONE : ZKR__EV_BEFORE_CHANGED);
    return true;
}

/* The claim does not delete or search for its node. */
static bool has_node_still(const struct zkr__claim_state *k)
{
    return zkr__claim_stage(k) != ZKR__REMOVING && zkr__claim_stage(k) != ZKR__FINDING;
}

/* The lease probe checks the node of a hold. The hold may have ended when the answer comes. */
static bool probe(void)
{
    const struct zkr__claim_state *k = &A->k;
    bool held = k->phase == ZKR__HELD;
    if (k->holds == 0 || !A->connected || (held && k->unchecked) ||
        alone_news_is_on_its_way()) {
        return false;
    }
    if (k->downgrade != ZKR__SETTLED) { /* the probe was sent before */
        alone_tell(ZKR__EV_OWN_UNCHECKED);
        return true;
    }
    bool gone = held ? !alone_is_there() : zkp_maybe();
    if (gone && alone_is_there() && has_node_still(k)) {
        return false;
    }
    alone_tell(gone ? ZKR__EV_OWN_GONE : ZKR__EV_OWN_UNCHECKED);
    return true;
}

/* --- moves: timers --- */

static bool retry(void)
{
    if (!A->retry) {
        return false;
    }
    A->retry = false;
    alone_tell(ZKR__EV_PAUSE_OVER);
    return true;
}

static bool quiet(void)
{
    if (!A->quiet && A->k.phase != ZKR__READY && A->k.own != ZKR__OWN_SEEN) {
        return false;
    }
    A->quiet = false;
    alone_tell(ZKR__EV_QUIET);
    return true;
}

/* After some session timeouts, while no request is in flight that renews the watch. */
static bool unheard(void)
{
    bool parked =
        A->k.phase == ZKR__PARKED && A->link != NEIGHBOUR && A->link != UNLINKED;
    bool asked = alone_count(AHEAD) > alone_use->shared || alone_is_asked(LIST);
    if (!(parked || A->k.phase == ZKR__HELD) || asked || alone_news_is_on_its_way()) {
        return false;
    }
    alone_tell(ZKR__EV_UNHEARD);
    return true;
}

/* --- moves: the owner, the group --- */

static bool start(void)
{
    if (A->begun) {
        return false;
    }
    A->begun = true;
    A->k.failures = alone_use->member && zkp_maybe() ? CAP : 0;
    A->k.pauses = A->k.failures > 0 && zkp_maybe();
    alone_tell(ZKR__EV_START);
    return true;
}

/* Also the owner of a claim that has failed, and that is leaving for this reason. */
static bool leave(void)
{
    if (!A->begun) {
        return false;
    }
    alone_tell(ZKR__EV_LEAVE);
    return true;
}

static bool give_up(void)
{
    if (!A->begun || A->k.phase == ZKR__GONE) {
        return false;
    }
    alone_happens(
        (struct zkr__claim_event){.kind = ZKR__EV_GIVE_UP, .code = ZKR_ETIMEDOUT});
    return true;
}

static bool holds(void)
{
    return A->k.phase == ZKR__HELD && !A->k.leaving && !A->k.kept;
}

static bool downgrade(void)
{
    if (!alone_use->downgrades || !holds() || A->reads ||
        A->k.downgrade != ZKR__SETTLED) {
        return false;
    }
    A->reads = true;
    A->own_watch = false; /* what happens at the other path is not heard of */
    A->own_news = NO_NEWS;
    alone_tell(ZKR__EV_DOWNGRADE);
    return true;
}

static bool keep(void)
{
    if (!alone_use->kept || !holds() || A->k.writing > 0) {
        return false;
    }
    alone_tell(ZKR__EV_KEPT);
    return true;
}

static bool take(void)
{
    if (!A->k.kept) {
        return false;
    }
    alone_tell(ZKR__EV_TAKEN);
    return true;
}

/* None behind one that deletes. */
static bool write(void)
{
    if (!holds() || !A->connected || A->k.writing >= alone_use->writes ||
        A->k.departure != ZKR__STAYS) {
        return false;
    }
    bool deletes = zkp_maybe();
    alone_happens(
        (struct zkr__claim_event){.kind = ZKR__EV_WRITING, .deletes = deletes});
    A->flight[A->count++].asked = (uint8_t)(deletes ? WRITE_DELETE : WRITE);
    return true;
}

static bool note(void)
{
    if (!A->connected || !zkr__claim_wants_metadata(&A->k) || alone_is_asked(NOTE)) {
        return false;
    }
    alone_ask(NOTE);
    alone_tell(ZKR__EV_METADATA_SENT);
    return true;
}

/* The creates of all members are sent. Without a connection, the create fails at once. */
static bool send_unsent(void)
{
    if (!A->unsent || A->k.leaving) {
        return false;
    }
    A->unsent = false;
    if (A->connected) {
        alone_create();
    } else {
        alone_on_lost((struct sent){.asked = CREATE});
    }
    return true;
}

/* The member has left the group, so its create is not sent. */
static bool drop_unsent(void)
{
    if (!A->unsent || !A->k.leaving) {
        return false;
    }
    A->unsent = false;
    alone_happens(
        (struct zkr__claim_event){.kind = ZKR__EV_CREATED, .code = ZKR_ENONODE});
    return true;
}

static bool all_ready(void)
{
    if (A->k.phase != ZKR__READY && (A->k.phase != ZKR__HELD || !alone_use->member)) {
        return false;
    }
    alone_tell(ZKR__EV_ALL_READY);
    return true;
}

/* --- the model --- */

enum {
    START,
    NEWS_OWN,
    NEWS_AHEAD,
    NEWS_BEFORE,
    ANSWER,
    LATE,
    CONNECT,
    RETRY,
    READY,
    SEND,
    DROP,
    BLOCKER,
    LEAVE,
    QUIET,
    UNHEARD,
    MOVES_FIRST_RARE
};

static bool (*const moves[])(void) = {
    [START] = start,
    [NEWS_OWN] = own_news,
    [NEWS_AHEAD] = ahead_news,
    [NEWS_BEFORE] = before_news,
    [ANSWER] = answer,
    [LATE] = carry_out_late,
    [CONNECT] = connect,
    [RETRY] = retry,
    [READY] = all_ready,
    [SEND] = send_unsent,
    [DROP] = drop_unsent,
    [BLOCKER] = a_blocker_goes,
    [LEAVE] = leave,
    [QUIET] = quiet,
    [UNHEARD] = unheard,
    cut,
    end_session,
    pass_lease,
    delete_by_hand,
    replace_by_hand,
    write_by_hand,
    sweep,
    ahead_changes,
    before_changes,
    a_blocker_passes_on,
    the_holder_tells,
    told,
    answer_early,
    answer_before_connected,
    probe,
    give_up,
    downgrade,
    keep,
    take,
    write,
    note,
};

static void begin(void *state)
{
    struct alone *a = state;
    a->k.keeps_place = alone_use->keeps;
    a->k.member = alone_use->member;
    a->k.has_metadata = alone_use->metadata;
    a->k.next = alone_use->member ? ZKR__CREATING : ZKR__PAUSED;
}

static bool move(void *state, int which)
{
    A = state;
    return A->k.phase != ZKR__GONE && moves[which]();
}

static void normalise(void *state)
{
    struct alone *a = state;
    struct zkr__claim_state *k = &a->k;
    alone_cap(k);
    /* Which requests to let go are the same, is all that matters of them. */
    if (k->revocation != 0 && k->revocation == k->told) {
        k->revocation = 1;
    } else if (k->revocation != 0) {
        k->revocation = 2;
    }
    if (k->told == 2) {
        a->wish = a->wish == 2 ? 1 : a->wish;
    }
    k->told = k->told != 0;
    if (k->phase == ZKR__GONE) { /* no step leads from there: see check_safety() */
        enum node node = a->node;
        memset(a, 0, sizeof(*a));
        k->phase = ZKR__GONE;
        k->leaving = a->begun = true;
        a->node = (uint8_t)node;
        return;
    }
    a->told = k->phase == ZKR__PARKED ? a->told : 0;
    a->near = a->alive == 0 && a->spent == 0 && k->phase != ZKR__PARKED ? 0 : a->near;
    /* From any other phase a list would be a later one. */
    bool first = k->phase == ZKR__CREATING || k->phase == ZKR__LISTING;
    a->listed_later = a->listed_later || !first;
    a->last = k->ahead == INT64_MAX ? 0 : a->last;
}

/* What would happen next, one thing after the other, without a fault. */
static int next_calm_move(void)
{
    const struct zkr__claim_state *k = &A->k;
    bool parked = k->phase == ZKR__PARKED;
    bool comes = A->connected || !has_lost();
    return k->phase == ZKR__GONE                   ? -1
           : !A->begun                             ? START
           : comes && A->own_news                  ? NEWS_OWN
           : comes && A->ahead_news                ? NEWS_AHEAD
           : comes && A->before_news               ? NEWS_BEFORE
           : A->lates > 0                          ? LATE
           : A->count > 0 && comes == A->connected ? ANSWER
           : !A->connected                         ? CONNECT
           : A->unsent                             ? (k->leaving ? DROP : SEND)
           : A->retry                              ? RETRY
           : k->phase == ZKR__READY                ? READY
           : k->phase == ZKR__HELD                 ? LEAVE
           : parked && alone_nodes() != 0          ? BLOCKER
           : parked && A->quiet                    ? QUIET
           : parked && A->link == UNREADABLE       ? UNHEARD
                                                   : -1;
}

static bool calm(void *state)
{
    A = state;
    int which = next_calm_move();
    return which >= 0 && moves[which]();
}

static void check_end(const void *state)
{
    const struct alone *a = state;
    zkp_must(a->k.phase == ZKR__GONE, "it waits for ever");
    zkp_must(a->node == NO_NODE || a->node == STRANGER, "a node is left");
}

static void print(const void *state)
{
    const struct alone *a = state;
    zkp_say("    phase %d next %d own %d then %d look %d downgrade %d departure %d%s%s"
            "; node %d%s%s; alive %d spent %d told %d near %d ahead %d link %d; "
            "failures %d; %d asked, "
            "%d late%s%s",
            (int)a->k.phase, (int)a->k.next, (int)a->k.own, (int)a->k.then,
            (int)a->k.look, (int)a->k.downgrade, (int)a->k.departure,
            a->k.leaving ? " leaving" : "", a->k.kept ? " kept" : "", a->node,
            a->reads ? " reads" : "", a->own_watch ? " watched" : "", a->alive,
            a->spent, a->told, a->near, a->ahead, a->link, (int)a->k.failures, a->count,
            a->lates, a->connected ? "" : ", not connected", a->retry ? ", retry" : "");
}

const struct zkp_model *zkp_alone(const struct zkp_use *for_this)
{
    static struct zkp_model model;
    alone_use = for_this;
    model = (struct zkp_model){.name = for_this->name,
                               .size = sizeof(struct alone),
                               .moves = sizeof(moves) / sizeof(moves[0]),
                               .begin = begin,
                               .move = move,
                               .calm = calm,
                               .check_end = check_end,
                               .normalise = normalise,
                               .print = print};
    _Static_assert(sizeof(struct alone) % 8 == 0, "words");
    return &model;
}
