/* SPDX-License-Identifier: Apache-2.0 */
/* Permits: no more are held than exist, they are granted in the order of the requests, and their maximum changes. */
#include <inttypes.h>

#include "ops.h"
#include "queue/children_cache.h"
#include "queue/claim_run.h"
#include "queue/group.h"
#include "util.h"

enum { CHANGES = 1024 };

static const char *const COUNT = "/permits-max";

/* The maxima, each with the zxid from which it was in force; a zxid of 0 = unknown. */
static struct {
    size_t count;
    struct {
        int64_t zxid, max;
    } list[CHANGES];
} maxima;

/* --- the maximum --- */

static void note_max(int64_t zxid, int64_t max)
{
    if (maxima.count == CHANGES) {
        zkt_fail("more changes of the maximum than a run has");
    }
    maxima.list[maxima.count].zxid = zxid;
    maxima.list[maxima.count++].max = max;
}

void sim_permits_begin(void)
{
    maxima.count = 0;
    note_max(0, scene.max);
}

const char *sim_max_from(void)
{
    return scene.resizes ? COUNT : NULL;
}

static int64_t max_in(const struct zkf_node *node)
{
    const unsigned char *bytes = node->data;
    return node->data_len == 4 ? bytes[3] : 0;
}

/* Look for a change of the maximum. A change that a failed leader took with it was never in force. */
static void watch_max(void)
{
    const struct zkf_node *node = zkf_find(COUNT);
    int64_t zxid = node ? node->mzxid : 0, max = node ? max_in(node) : scene.max;
    while (node && maxima.count > 1 && maxima.list[maxima.count - 1].zxid > zxid) {
        maxima.count--;
    }
    if (maxima.list[maxima.count - 1].zxid != zxid ||
        maxima.list[maxima.count - 1].max != max) {
        note_max(zxid, max);
    }
}

/* Returns the highest maximum that was in force from @zxid on. */
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

int64_t sim_max_now(void)
{
    return maxima.list[maxima.count - 1].max;
}

static void set_max(int64_t max)
{
    const unsigned char bytes[] = {0, 0, 0, (unsigned char)max};
    if (!zkf_find(COUNT)) {
        (void)zkf_stranger_create(COUNT, false);
    }
    (void)zkf_stranger_set(COUNT, bytes, sizeof(bytes));
}

void sim_resize(void)
{
    did.resizes++;
    if (zkf_chance(15)) {
        (void)zkf_stranger_delete(COUNT);
    } else {
        set_max(zkf_below(SIM_PERMITS + 1));
    }
}

void sim_resize_enough(void)
{
    const struct zkf_node *node = zkf_find(COUNT);
    if (scene.resizes && (!node || max_in(node) != SIM_PERMITS)) {
        set_max(SIM_PERMITS);
    }
}

/* --- requests --- */

static struct setting setting_of(const struct process *p)
{
    return (struct setting){.connected = zkr__connected(p->c),
                            .session = p->c->session_id,
                            .reconnects = p->c->stats.reconnects};
}

long sim_permits_tick(void)
{
    static long tick;
    return ++tick;
}

void sim_permits_asked(struct pass *pass, int n, bool once)
{
    pass->permits = n;
    pass->once = once;
    pass->asked = sim_permits_tick();
    pass->asked_in = setting_of(pass->p);
}

/* Returns whether nothing can have cost the request its place. */
static bool kept_place(const struct pass *pass)
{
    struct setting now = setting_of(pass->p), then = pass->asked_in;
    return then.connected && then.session == now.session &&
           then.reconnects == now.reconnects && !scene.hands && !scene.remakes &&
           !scene.forbids && !scene.starved && !scene.door && !scene.throttles;
}

static bool is_in(const struct zkf_node *node, enum sim_dir dir)
{
    return node->parent_hash == zkf_hash(sim_dir(dir));
}

/* Check that each earlier request of this client was served or has given up. */
static void check_own(const struct pass *pass)
{
    for (int i = 0; i < SIM_PASSES; i++) {
        const struct pass *q = &pass->p->passes[i];
        if (q->permits == 0 || q->done == 0 || q->done >= pass->asked || q->once ||
            !q->ticket || q->destroyed || !q->ticket->hold.group) {
            continue;
        }
        did.permits_in_turn++;
        if (q->ticket->hold.group->state == ZKR__GROUP_WAITING && kept_place(q)) {
            sim_violation("client %d gets permits for a request past an earlier one",
                          pass->p->client);
        }
    }
}

/* Check that no earlier contender of another client is still in PATH/locks. */
static void check_gate(const struct pass *pass, int64_t token)
{
    int client = pass->p->client;
    int64_t came = pass->gate != 0 && pass->gate < token ? pass->gate : token;
    for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
        if (n->czxid < came && n->label != client + 1 && is_in(n, AT_GATE)) {
            sim_violation("client %d gets permits past %s", client, n->path);
        }
    }
}

static void check_grant(const struct pass *pass, const struct zkr__group *group)
{
    int client = pass->p->client;
    int64_t token = group->members[0]->czxid, rank = 0, highest = highest_since(token);
    for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
        rank += n->czxid <= token && is_in(n, AT_PERMITS) &&
                !sim_makes_way(client, n, false);
    }
    if (rank > highest) {
        sim_violation("client %d holds permit %" PRId64 " of %" PRId64, client, rank,
                      highest);
    }
    if (group->members[pass->permits]) {
        sim_violation("client %d has its permits, and still stands at the gate",
                      client);
    }
    if (!pass->once) {
        check_gate(pass, token);
        check_own(pass);
    }
}

/* Check that a waiter for permits has a node in PATH/locks, so that later contenders queue behind it. */
static void check_inside(struct pass *pass, const struct zkr__group *group)
{
    const struct zkr__claim *last =
        group->state == ZKR__GROUP_WAITING && !group->members[pass->permits]
            ? group->members[pass->permits - 1]
            : NULL;
    if (!last || last->k.phase != ZKR__PARKED) {
        pass->beside_gate = 0;
    } else if (pass->beside_gate == 0) {
        pass->beside_gate = zkf_now();
    } else if (sim_peace() && zkf_now() > pass->beside_gate + scene.session) {
        sim_violation("client %d waits inside, and not at the gate", pass->p->client);
    }
}

/* No lock is needed, because all threads stand still. */
ZKR__TSA(no_thread_safety_analysis)
static void look(struct pass *pass)
{
    const struct zkr__group *group =
        pass->ticket && !pass->destroyed ? pass->ticket->hold.group : NULL;
    if (pass->permits == 0 || !group || group->count != (uint32_t)pass->permits + 1) {
        return;
    }
    const struct zkr__claim *gate = group->members[pass->permits];
    if (gate && gate->czxid != 0 && gate->czxid != pass->gate) {
        pass->asked_in.connected = pass->asked_in.connected && pass->gate == 0;
        pass->gate = gate->czxid;
    }
    const struct zkr__claim *lease = group->members[0];
    if (gate && lease && gate->czxid != 0 && gate->czxid == lease->czxid) {
        sim_violation("client %d goes in with its node at the gate", pass->p->client);
    }
    if (!zkr__sure(pass->p->c)) {
        pass->asked_in.connected = false; /* a grant may fail, and is then repeated */
    }
    check_inside(pass, group);
    bool granted =
        group->state == ZKR__GROUP_HELD && zkr__claim_sure(group->members[0]);
    if (granted && !pass->granted &&
        sim_trusted(pass->p->client, group->members[0]->node)) {
        did.several_permits += pass->permits > 1;
        check_grant(pass, group);
    }
    pass->granted = granted;
}

void sim_check_permits(int64_t held, int64_t earliest)
{
    watch_max();
    if (!sim_history && held > 0 && held > highest_since(earliest)) {
        sim_violation("%" PRId64 " permits are held of %" PRId64, held,
                      highest_since(earliest));
    }
}

void sim_look_at_permits(struct process *p)
{
    for (int i = 0; i < SIM_PASSES; i++) {
        look(&p->passes[i]);
    }
}
