/* SPDX-License-Identifier: Apache-2.0 */
/* What the claim does at an event, and what must be true of that. */
#include <string.h>

#include "alone_world.h"
#include "claim_promises.h"
#include "transition.h"

struct alone *A;
const struct zkp_use *alone_use;
bool alone_up;

/* --- what behaves equally --- */

void alone_cap(struct zkr__claim_state *k)
{
    k->round = 0;
    k->holds = k->holds > 0;
    k->refusals = 0;
    k->refused = false;
    k->waited = k->waited && k->phase == ZKR__PARKED;
    k->failures = k->failures > 0 ? CAP : 0;
    k->standstill = k->standstill > 0 ? CAP : 0;
    k->ahead = k->ahead == INT64_MAX ? INT64_MAX : 1;
    k->version = k->version < 0 ? -1 : 0;
    k->failure = k->failure != 0;
    k->lost = k->lost != 0;
    if (k->phase != ZKR__PAUSED) {
        k->next = ZKR__PAUSED;
    }
    if (k->phase != ZKR__PARKED) {
        k->then = ZKR__THEN_LOOK;
        k->look = ZKR__LOOKS_NOT;
        k->saw_ahead = false;
    }
}

/* Other values where alone_cap() says that they do not matter. Of what is
 * counted, only CAP is often. */
static void scramble(struct zkr__claim_state *k)
{
    k->round += 5;
    k->holds += k->holds > 0 ? 2 : 0;
    k->refusals += 3;
    k->waited = k->waited != (k->phase != ZKR__PARKED);
    k->refused = !k->refused;
    k->failures += k->failures > 0;
    k->standstill += k->standstill > 0;
    k->failure *= ZKR_ETIMEDOUT;
    k->lost *= ZKR_LOST_NODE;
    if (k->phase != ZKR__PAUSED) {
        k->next = ZKR__ADOPTING;
    }
    if (k->phase != ZKR__PARKED) {
        k->then = ZKR__THEN_OURS;
        k->look = ZKR__PREPARED;
        k->saw_ahead = true;
    }
}

/* --- steps --- */

static struct zkr__claim_state before;
static struct zkr__claim_event event;

static void must(bool fine, const char *what)
{
    zkp_must(fine, what);
}

bool alone_is_write(enum asked asked)
{
    return asked == CREATE || asked == REMOVE || asked == DOWNGRADE ||
           asked == WRITE_DELETE;
}

bool alone_knows_node(void)
{
    return has_node(&A->k);
}

bool alone_is_there(void)
{
    return A->node == STRANGER || A->node == (A->reads ? READER : WRITER);
}

bool alone_is_ours(void)
{
    return A->node == WRITER || A->node == READER;
}

int alone_count(enum asked asked)
{
    int count = 0;
    for (int i = 0; i < A->count; i++) {
        count += A->flight[i].asked == asked && !A->flight[i].past;
    }
    return count;
}

bool alone_is_asked(enum asked asked)
{
    return alone_count(asked) > 0;
}

void alone_ask(enum asked asked)
{
    /* An answer before CONNECTED may ask for more. The client does not send that, so it is lost. */
    must(A->connected || alone_up, "asked without a connection");
    /*
     * A refused get and a refused probe may both ask who owns the node. If the node is gone and a write that deletes it is
     * in flight, a timer and the next connection may get the node again.
     */
    bool is_gone = asked == OWN && A->k.departure == ZKR__DEPARTS_AND_GONE;
    bool again =
        asked == OWNER || ((asked == AHEAD || asked == BEFORE) && alone_use->shared);
    must(alone_count(asked) <= (is_gone ? 4 : again), "asked twice");
    must(A->count < FLIGHT_MAX, "too much is asked");
    if (A->count < FLIGHT_MAX) {
        A->flight[A->count++] =
            (struct sent){.asked = (uint8_t)asked,
                          .at = asked == AHEAD    ? A->ahead
                                : asked == BEFORE ? A->before
                                                  : 0,
                          .watching = asked == LIST && A->k.watch_children};
    }
}

/* The answers do not count any more. What leaves nothing behind at the server
 * is as if it had not been sent. */
static void forget(bool all)
{
    int kept = 0;
    for (int i = 0; i < A->count; i++) {
        struct sent *sent = &A->flight[i];
        bool list = sent->asked == LIST || sent->asked == FIND;
        sent->past = sent->past || (sent->asked != NOTE && (all || list));
        if (!sent->past || alone_is_write(sent->asked) || sent->asked == WRITE ||
            sent->asked == FIND) {
            A->flight[kept++] = *sent;
        }
    }
    memset(&A->flight[kept], 0, sizeof(A->flight[0]) * (size_t)(A->count - kept));
    A->count = (uint8_t)kept;
}

static void unlink_ahead(void)
{
    A->link = UNLINKED;
    A->ahead_news = A->before_news = NO_NEWS;
    A->before_watch = false;
    A->ahead = A->before = 0;
}

/* The claim forgets what its phase does not need any more. */
static void settle(void)
{
    if (zkr__claim_forgets(&A->k) & ZKR__FORGET_AHEAD) {
        unlink_ahead();
    }
    if (!zkr__claim_watches_before(&A->k)) {
        A->before_watch = false;
        A->before_news = NO_NEWS;
    }
    A->unsent = A->unsent && A->k.phase == ZKR__CREATING;
}

/* @k: at the end of the step. */
static void check_lease(const struct zkr__claim_state *k,
                        const struct zkr__claim_event *e)
{
    bool granted = A->k.phase != ZKR__HELD && k->phase == ZKR__HELD;
    must(!granted || (e->kind == ZKR__EV_PROVED ? e->sure : e->ample),
         "held, but not surely");
}

static void check_grant(void)
{
    const struct zkr__claim_event *e = &event;
    bool held = before.phase != ZKR__HELD && A->k.phase == ZKR__HELD;
    if (held && !alone_use->lies) {
        must(A->alive == 0, "held before others");
        bool by_client =
            e->kind == ZKR__EV_AHEAD_RELEASED || e->kind == ZKR__EV_ALL_READY;
        must(A->connected || alone_up || by_client, "held without a connection");
        /* News of another process comes in no order: another client may have deleted our node, and the event may be on its way. */
        bool told = e->kind == ZKR__EV_AHEAD_TOLD && A->own_news;
        bool knows =
            (A->connected || alone_up) && e->kind != ZKR__EV_ALL_READY && !told;
        must(alone_is_there() || !knows, "held without a node");
        /* A list and a check know no owner. Just before them the node was made, or seen, or the list proves it. */
        bool first = e->kind == ZKR__EV_LISTED && !A->listed_later;
        bool just_now = first || before.own == ZKR__OWN_SEEN || e->checked;
        must(A->node != STRANGER || !knows || just_now, "held by the node of another");
    }
}

static void check_gone(void)
{
    bool made = alone_is_ours() || alone_is_asked(CREATE);
    for (int i = 0; i < A->lates; i++) {
        made = made || A->late[i] == CREATE;
    }
    for (int i = 0; i < A->count; i++) {
        made = made || A->flight[i].asked == CREATE;
    }
    must(!made, "gone, and leaves a node");
}

/* Under a new name, and perhaps without a list. */
static void create(void)
{
    A->reads = A->own_watch = A->listed_later = false;
    A->own_news = NO_NEWS;
    A->unsent = alone_use->member && zkp_maybe();
    if (!A->unsent) {
        alone_create();
    }
}

void alone_create(void)
{
    alone_ask(CREATE);
    A->bare = !alone_use->member && !A->k.watch_children && zkp_maybe();
    if (!A->bare) {
        alone_ask(LIST);
    }
}

static void carry_out(enum zkr__deed deed)
{
    switch (deed) {
    case ZKR__DEED_PARENTS:
        A->directory = A->directory || zkp_pick(2) == 0;
        break;
    case ZKR__DEED_CREATE:
        create();
        break;
    case ZKR__DEED_LIST:
        A->listed_later = A->listed_later || event.kind != ZKR__EV_CREATED;
        alone_ask(LIST);
        break;
    case ZKR__DEED_GET_AHEAD:
        alone_ask(AHEAD);
        A->link = LINK_ASKED;
        break;
    case ZKR__DEED_RETRY:
    case ZKR__DEED_PACE:
    case ZKR__DEED_LINE_UP:
        A->retry = true;
        break;
    case ZKR__DEED_LOOK_LATER:
    case ZKR__DEED_QUIET:
        A->quiet = true;
        break;
    case ZKR__DEED_HAND_OVER: /* others hear of these */
    case ZKR__DEED_PASS_ON:
    case ZKR__DEED_STEP_ASIDE:
    case ZKR__DEED_LET_LOOK:
    case ZKR__DEED_COUNT_LOSS:
    case ZKR__DEED_NOTIFY:
    case ZKR__DEED_TELL_REVOCATION:
    case ZKR__DEEDS:
        break;
    case ZKR__DEED_FIND:
    case ZKR__DEED_GET_OWN:
    case ZKR__DEED_ASK_OWNER:
    case ZKR__DEED_CHECK_OWN:
    case ZKR__DEED_GET_BEFORE:
    case ZKR__DEED_PROVE:
    case ZKR__DEED_DOWNGRADE:
    case ZKR__DEED_RESTORE:
    case ZKR__DEED_REMOVE:
        alone_ask((enum asked)deed);
    }
}

static void carry_out_all(unsigned todo)
{
    unsigned at = 0;
    enum zkr__deed deed;
    while ((deed = zkr__deed_next(todo, &at)) != ZKR__DEEDS) {
        carry_out(deed);
    }
}

/* What alone_cap() makes equal makes the same step. */
static void check_equal(const struct zkr__claim_event *e, unsigned todo)
{
    struct zkr__claim_state other = before, after = A->k;
    scramble(&other);
    must(zkr__claim_step(&other, e) == todo,
         "what does not matter changes what is done");
    alone_cap(&other);
    alone_cap(&after);
    must(memcmp(&other, &after, sizeof(other)) == 0,
         "what does not matter changes the state");
}

/* Of sessions that are over, of groups, of nodes that are kept, and of nodes of
 * others. */
static void check_rest(const struct zkr__claim_event *e, unsigned todo)
{
    enum zkr__phase was = zkr__claim_stage(&before);
    bool over = e->kind == ZKR__EV_SESSION_OVER, member = alone_use->member;
    bool none = was == ZKR__CREATING || was == ZKR__LOOKING;
    bool look = e->kind == ZKR__EV_GOT_OWN || e->kind == ZKR__EV_GOT_OWNER;
    bool another = look && e->code == ZKR_OK && !e->ours;
    must(!over || !has_node(&A->k), "keeps a place of a session that is over");
    must(!over || !member || none || A->k.phase == ZKR__GONE,
         "a member enters the next session alone");
    must(!(todo & ZKR__DO_CREATE) || !member || none, "a member enters anew alone");
    must(!another || !(todo & ZKR__DO_STEP_ASIDE), "others go past a node of another");
    must(!(todo & ZKR__DO_TELL_REVOCATION) || !A->connected ||
             (todo & (ZKR__DO_RESTORE | ZKR__DO_DOWNGRADE)),
         "a wish stays where the text was");
    must(e->kind != ZKR__EV_TAKEN || A->k.holds != before.holds, "two holds are one");
}

/* All that the client may be like at the event. Of those that make the same
 * step, one is enough. */
static struct zkr__claim_event in_some_client(struct zkr__claim_event e)
{
    enum { CLIENTS = 3 * 2 * 2 * 2 * 2 };
    struct zkr__claim_state ends[CLIENTS];
    struct zkr__claim_event events[CLIENTS];
    unsigned todos[CLIENTS];
    int count = 0;
    for (int i = 0; i < (alone_use->once ? CLIENTS : CLIENTS / 2); i++) {
        int lease = i % 3, at = 0;
        e.connected = A->connected;
        e.ample = lease == 0;
        e.sure = lease < 2;
        e.patient = i / 3 % 2 == 0;
        e.crowded = i / 6 % 2 == 1;
        e.announces = i / 12 % 2 == 1;
        e.wary = i / 24 == 1;
        ends[count] = A->k;
        todos[count] = zkr__claim_step(&ends[count], &e);
        check_lease(&ends[count], &e);
        while (at < count && (todos[at] != todos[count] ||
                              memcmp(&ends[at], &ends[count], sizeof(ends[0])) != 0)) {
            at++;
        }
        events[at] = at == count ? e : events[at];
        count += at == count;
    }
    return events[zkp_pick(count)];
}

/* So often that it counts? */
static void count_on(bool *often, bool more)
{
    *often = *often || (more && zkp_pick(2) == 0);
}

static void count_failures(void)
{
    bool often = before.failures > 0, stuck = before.standstill > 0;
    if (A->k.failures == 0) {
        often = false;
    }
    if (A->k.standstill == 0) {
        stuck = false;
    }
    count_on(&often, A->k.failures > before.failures);
    count_on(&stuck, A->k.standstill > before.standstill);
    A->k.failures = often ? CAP : 0;
    A->k.standstill = stuck ? CAP : 0;
}

void alone_happens(struct zkr__claim_event e)
{
    e = in_some_client(e);
    before = A->k;
    event = e;
    unsigned todo = zkr__claim_step(&A->k, &e);
    check_equal(&e, todo);
    zkp_record(&before, &e, &A->k, todo);
    zkp_say("%s code %d%s%s%s%s%s: phase %d -> %d, to do %x", zkt_event_name(e.kind),
            e.code, e.connected ? "" : ", not connected", e.sure ? "" : ", not sure",
            e.ample ? "" : ", not ample", e.patient ? "" : ", not patient",
            e.crowded ? ", crowded" : "", (int)before.phase, (int)A->k.phase, todo);
    check_safety(&before, &e, &A->k, todo);
    check_grant();
    count_failures();
    if (A->k.round != before.round) {
        forget(true);
    } else if (zkr__claim_forgets(&A->k) & ZKR__FORGET_LIST) {
        forget(false);
    }
    settle();
    carry_out_all(todo);
    must(A->k.own != ZKR__OWN_ASKED || !has_node(&A->k) || alone_is_asked(OWN) ||
             alone_is_asked(CHECK) || A->k.phase == ZKR__PAUSED ||
             zkr__claim_stage(&A->k) == ZKR__REMOVING,
         "waits for an answer to what was not asked");
    if (A->k.phase == ZKR__GONE) {
        check_gone();
    }
    bool sees = A->k.phase == ZKR__HELD && A->k.own == ZKR__OWN_SET && A->own_watch &&
                !A->own_news && !alone_is_asked(OWN);
    must(!sees || A->wish != 2 || A->k.told == 2, "a wish is not told");
    check_rest(&e, todo);
    must(!zkp_calm() || alone_use->once || before.leaving || before.failure != 0 ||
             A->k.failure == 0,
         "fails for nothing");
}

void alone_tell(enum zkr__event_kind kind)
{
    alone_happens((struct zkr__claim_event){.kind = kind});
}
