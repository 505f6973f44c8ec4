/* SPDX-License-Identifier: Apache-2.0 */
/* Contenders for the permits of a semaphore, and its maximum. */
#include <inttypes.h>
#include <string.h>

#include "engine/children_cache.h"
#include "search.h"
#include "util.h"

enum { CHANGES_MAX = 1024, PERMITS_MAX = 3 };

static const char *const COUNT = "/permits-max";
static const char *const GATE = "/permits/locks";

/* The maxima that were in force, and from which transaction on; 0 = not known. */
static struct {
    size_t count;
    struct {
        int64_t zxid, max;
    } list[CHANGES_MAX];
} maxima;

/* --- the maximum --- */

static void note_max(int64_t zxid, int64_t max)
{
    if (maxima.count == CHANGES_MAX) {
        zkt_fail("more changes of the maximum than a run has");
    }
    maxima.list[maxima.count].zxid = zxid;
    maxima.list[maxima.count++].max = max;
}

void search_begin_permits(void)
{
    maxima.count = 0;
    note_max(0, S.s.max);
}

static int64_t max_in(const struct zkf_node *node)
{
    const unsigned char *bytes = node->data;
    return node->data_len == 4 ? bytes[3] : 0;
}

/* Look for a change. One that a leader took with it when it fell was never in force. */
static void watch_max(void)
{
    const struct zkf_node *node = zkf_find(COUNT);
    int64_t zxid = node ? node->mzxid : 0, max = node ? max_in(node) : S.s.max;
    while (node && maxima.count > 1 && maxima.list[maxima.count - 1].zxid > zxid) {
        maxima.count--;
    }
    if (maxima.list[maxima.count - 1].zxid != zxid ||
        maxima.list[maxima.count - 1].max != max) {
        note_max(zxid, max);
    }
}

/* The highest of those in force from @zxid on. */
static int64_t highest_since(int64_t zxid)
{
    int64_t highest = 0;
    for (size_t i = maxima.count; i > 0; i--) {
        int64_t from = maxima.list[i - 1].zxid, max = maxima.list[i - 1].max;
        highest = max > highest ? max : highest;
        if (from != 0 && from <= zxid) {
            break;
        }
    }
    return highest;
}

static void set_max(int64_t max)
{
    const unsigned char bytes[] = {0, 0, 0, (unsigned char)max};
    if (!zkf_find(COUNT)) {
        (void)zkf_stranger_create(COUNT, false);
    }
    (void)zkf_stranger_set(COUNT, bytes, sizeof(bytes));
}

void search_resize(void)
{
    S.did.resizes++;
    if (zkf_chance(15)) {
        (void)zkf_stranger_delete(COUNT);
    } else {
        set_max(zkf_below(PERMITS_MAX + 1));
    }
}

void search_resize_enough(void)
{
    const struct zkf_node *node = zkf_find(COUNT);
    if (S.s.resizes && (!node || max_in(node) != PERMITS_MAX)) {
        set_max(PERMITS_MAX);
    }
}

size_t search_count_watches(void)
{
    return S.s.resizes ? (size_t)S.s.clients : 0;
}

/* --- what the applications do --- */

static int64_t made_at(const char *dir)
{
    const struct zkf_node *node = zkf_find(dir);
    return node ? node->czxid : 0;
}

static struct setting setting_of(const struct contender *k)
{
    const zkr_client *c = S.members[k->client].c;
    return (struct setting){.connected = zkr__connected(c),
                            .session = c->session_id,
                            .reconnects = c->stats.reconnects,
                            .gate = made_at(GATE),
                            .leases = made_at(search_dir(DIR_PERMITS))};
}

void search_open_permits(struct member *m)
{
    zkr_semaphore_options o = ZKR_SEMAPHORE_OPTIONS_INIT;
    o.max_from = S.s.resizes ? COUNT : NULL;
    if (zkr_semaphore_create(&m->semaphore, m->c, "/permits", S.s.max, &o) != ZKR_OK) {
        zkt_fail("no semaphore");
    }
}

void search_ask_permits(struct contender *k)
{
    int64_t timeout_ms = search_timeout(k);
    k->permits = 1 + (int)zkf_below(S.s.resizes ? PERMITS_MAX : S.s.max);
    k->once = timeout_ms == 0;
    k->asked_in = setting_of(k);
    S.did.tickets++;
    S.requesting = k->label;
    zkf_trace("client %d: contender %d asks for %d permits", k->client, k->label,
              k->permits);
    if (zkr_semaphore_request(S.members[k->client].semaphore, k->permits, timeout_ms,
                              zkf_chance(80) ? search_on_ticket : NULL, k,
                              &k->ticket) != ZKR_OK) {
        zkt_fail("no ticket");
    }
    S.requesting = 0;
}

struct contender *search_ask_sent(const struct zkr__claim *claim)
{
    for (int i = 0; i < SEARCH_CONTENDERS && claim->group; i++) {
        struct contender *k = &S.contenders[i];
        if (k->permits > 0 && k->ticket && k->ticket->hold.group &&
            claim->group == k->ticket->hold.group) {
            return k;
        }
    }
    return NULL;
}

/* --- what must hold --- */

static bool is_in(const struct zkf_node *node, const char *dir)
{
    return node->parent_hash == zkf_hash(dir);
}

int search_leases_of(const struct contender *k)
{
    int count = 0;
    for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
        count += n->label == k->label && n->czxid == k->token &&
                 is_in(n, search_dir(DIR_PERMITS));
    }
    return count;
}

/* Permits that are out up to its own. */
static int64_t rank_of(const struct contender *k)
{
    int64_t rank = 0;
    for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
        rank += n->czxid <= k->token && is_in(n, search_dir(DIR_PERMITS)) &&
                !search_is_leaving(k, n);
    }
    return rank;
}

void search_check_inside(struct contender *k)
{
    const struct zkr__group *group = k->ticket ? k->ticket->hold.group : NULL;
    if (!zkr__sure(S.members[k->client].c)) {
        k->asked_in.connected =
            false; /* a grant may come to nothing, and it comes anew */
    }
    const struct zkr__claim *last =
        group && group->state == ZKR__GROUP_WAITING && !group->members[k->permits]
            ? group->members[k->permits - 1]
            : NULL;
    if (!last || last->k.phase != ZKR__PARKED) {
        k->beside_gate = 0;
    } else if (k->beside_gate == 0) {
        k->beside_gate = zkf_now();
    } else if (S.s.peace && !S.s.forbids && zkf_now() > k->beside_gate + S.s.session) {
        search_violation("contender %d of client %d waits inside, and not at the gate",
                         k->label, k->client);
    }
}

/* Nothing can have cost it its place since it asked. */
static bool kept_place(const struct contender *k)
{
    struct setting now = setting_of(k), then = k->asked_in;
    return then.connected && then.session == now.session &&
           then.reconnects == now.reconnects && then.gate != 0 &&
           then.gate == now.gate && then.leases != 0 && then.leases == now.leases &&
           !S.s.hands && !S.s.remakes && !S.s.forbids && !S.s.starved && !S.s.door &&
           !S.s.throttles;
}

bool search_is_lease(const struct zkf_node *node)
{
    return is_in(node, search_dir(DIR_PERMITS));
}

void search_on_permit_node(struct contender *k, const struct zkf_node *node)
{
    if (is_in(node, GATE)) {
        k->asked_in.connected = k->asked_in.connected && k->gate == 0; /* or anew */
        k->gate = node->czxid;
    }
}

/* Of this client, whoever asked before it has been served, or has given up. */
static void check_own(const struct contender *k)
{
    for (int i = 0; i < SEARCH_CONTENDERS; i++) {
        const struct contender *q = &S.contenders[i];
        if (q->label == 0 || q->label >= k->label || q->client != k->client ||
            q->permits == 0 || q->once || !q->ticket || !q->ticket->hold.group) {
            continue;
        }
        S.did.permits_in_turn++;
        if (q->ticket->hold.group->state == ZKR__GROUP_WAITING && kept_place(q)) {
            search_violation("contender %d of client %d gets permits past contender "
                             "%d, which asked before it",
                             k->label, k->client, q->label);
        }
    }
}

/* One of the same client that asked later: that it came to the gate first does not count. */
static bool asked_later(const struct contender *k, int label)
{
    const struct contender *q = search_by_label(label);
    return q && q->client == k->client && q->label > k->label;
}

/* Whoever came to the gate before it is through, or on the way out. */
static void check_gate(const struct contender *k)
{
    int64_t came = k->gate != 0 && k->gate < k->token ? k->gate : k->token;
    for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
        if (n->czxid < came && n->label != k->label && is_in(n, GATE) &&
            !asked_later(k, n->label) && !search_is_leaving(k, n)) {
            search_violation("contender %d of client %d gets permits past %s", k->label,
                             k->client, n->path);
        }
    }
}

void search_check_permits(const struct contender *k, int64_t token)
{
    S.did.permit_grants++;
    S.did.several_permits += k->permits > 1;
    if (search_leases_of(k) != k->permits) {
        search_violation("contender %d holds %d permits by %d nodes", k->label,
                         k->permits, search_leases_of(k));
    }
    if (rank_of(k) > highest_since(token)) {
        search_violation("contender %d holds permit %" PRId64 " of %" PRId64, k->label,
                         rank_of(k), highest_since(token));
    }
    if (k->ticket->hold.group->members[k->permits]) {
        search_violation("contender %d has its permits, and still stands at the gate",
                         k->label);
    }
    if (!k->once) {
        check_gate(k);
        check_own(k);
    }
    if (S.s.max == 1 && !S.s.resizes) {
        if (token <= S.last_token[DIR_PERMITS] &&
            k->label != S.last_label[DIR_PERMITS]) {
            search_violation("token %" PRId64 " after token %" PRId64, token,
                             S.last_token[DIR_PERMITS]);
        }
        S.last_token[DIR_PERMITS] = token;
        S.last_label[DIR_PERMITS] = k->label;
    }
}

void search_sum_permits(bool (*believes)(const struct contender *k))
{
    int64_t sum = 0, earliest = INT64_MAX;
    if (!S.s.permits) {
        return;
    }
    watch_max();
    for (int i = 0; i < SEARCH_CONTENDERS; i++) {
        const struct contender *k = &S.contenders[i];
        if (k->permits > 0 && believes(k)) {
            sum += k->permits;
            earliest = k->token < earliest ? k->token : earliest;
            S.did.permits_together += sum > k->permits;
        }
    }
    if (sum > 0 && sum > highest_since(earliest)) {
        search_violation("%" PRId64 " permits of %" PRId64 " are held", sum,
                         highest_since(earliest));
    }
}
