/* SPDX-License-Identifier: Apache-2.0 */
/* How many bytes of watches a handle has, as libzookeeper counts them. */
#include "session/watches.h"
#include "unit.h"

enum { PATHS = 40, KINDS = 2, ROUNDS = 20000, PREFIX = 5 };

static const struct zkr__watch_bytes most = {.needed = 700, .spare = 300};

/* The model of one watch in libzookeeper: one path, by its data or by its children. */
struct entry {
    int asked;
    bool set;
    enum zkr__watch watch; /* the kind of watch in the first request for this path */
};

static struct entry model[PATHS][KINDS];
static struct zkr__watches watches;

static const char *path_of(int i)
{
    static char texts[PATHS][128];
    (void)snprintf(texts[i], sizeof(texts[i]), "/path/%0*d", 1 + i % 30, i);
    return texts[i];
}

static int64_t bytes(int i)
{
    return (int64_t)strlen(path_of(i)) + PREFIX + 4;
}

static bool is_there(const struct entry *e)
{
    return e->asked > 0 || e->set;
}

/* The caller that reserves RESERVED watches counts them. */
static struct zkr__watch_bytes sum(void)
{
    struct zkr__watch_bytes total = {0};
    for (int i = 0; i < PATHS; i++) {
        for (int kind = 0; kind < KINDS; kind++) {
            const struct entry *e = &model[i][kind];
            bool spare = e->watch == ZKR__WATCH_SPARE;
            bool counts = is_there(e) && e->watch != ZKR__WATCH_RESERVED;
            total.spare += counts && spare ? bytes(i) : 0;
            total.needed += counts && !spare ? bytes(i) : 0;
        }
    }
    return total;
}

static struct zkr__op op_for(int i, int kind, enum zkr__watch watch)
{
    return (struct zkr__op){.kind = kind ? ZKR__OP_CHILDREN : ZKR__OP_GET,
                            .path = path_of(i),
                            .watch = watch};
}

struct flight {
    uint32_t key;
    int path, kind;
};

static struct flight flights[64];
static int flying;
static uint64_t seed = 7;

static int below(int n)
{
    return (int)zkt_below(&seed, n);
}

/* Choose NEEDED watches most often, and RESERVED and VITAL ones least often. */
static enum zkr__watch some_watch(void)
{
    static const enum zkr__watch all[] = {
        ZKR__WATCH_NEEDED, ZKR__WATCH_NEEDED, ZKR__WATCH_NEEDED,   ZKR__WATCH_SPARE,
        ZKR__WATCH_SPARE,  ZKR__WATCH_SPARE,  ZKR__WATCH_RESERVED, ZKR__WATCH_VITAL};
    return all[below(sizeof(all) / sizeof(all[0]))];
}

static long refused[ZKR__WATCH_VITAL + 1];

static void ask(void)
{
    int i = below(PATHS), kind = below(KINDS);
    enum zkr__watch watch = some_watch();
    struct entry *e = &model[i][kind];
    struct zkr__op op = op_for(i, kind, watch);
    struct zkr__watch_bytes all = sum();
    bool fits = is_there(e) ||
                (watch == ZKR__WATCH_NEEDED  ? all.needed + bytes(i) <= most.needed
                 : watch == ZKR__WATCH_SPARE ? all.spare + bytes(i) <= most.spare
                                             : true);
    assert_int_equal(zkr__watches_fit(&watches, &op), fits);
    uint32_t key = zkr__watches_take(&watches, &op);
    assert_int_equal(key != 0, fits);
    refused[watch] += !fits;
    if (key != 0) {
        e->watch = is_there(e) ? e->watch : watch;
        e->asked++;
        flights[flying++] = (struct flight){key, i, kind};
    }
}

static void answer(void)
{
    int at = below(flying);
    struct flight f = flights[at];
    bool set = below(3) > 0;
    flights[at] = flights[--flying];
    zkr__watches_answered(&watches, f.key, set);
    model[f.path][f.kind].asked--;
    model[f.path][f.kind].set = model[f.path][f.kind].set || set;
}

static void happen(void)
{
    static const enum zkr__node_event events[] = {ZKR__NODE_DELETED, ZKR__NODE_CHANGED,
                                                  ZKR__NODE_CHILDREN};
    int i = below(PATHS), event = below(3);
    zkr__watches_event(&watches, path_of(i), events[event]);
    model[i][0].set = model[i][0].set && event == 2;
    model[i][1].set = model[i][1].set && event == 1;
}

/* After requests, answers and events in any order, the sums equal those of the model. */
ZKT_UNIT_CASE(bytes_are_those_of_what_is_watched)
{
    watches = (struct zkr__watches){.most = most, .prefix = PREFIX};
    for (int n = 0; n < ROUNDS; n++) {
        int what = below(5);
        if (what < 2 && flying < 64) {
            ask();
        } else if (what < 4 && flying > 0) {
            answer();
        } else {
            happen();
        }
        assert_int_equal(watches.bytes.needed, sum().needed);
        assert_int_equal(watches.bytes.spare, sum().spare);
    }
    assert_true(refused[ZKR__WATCH_NEEDED] > 100 && refused[ZKR__WATCH_SPARE] > 100);
    zkr__watches_free(&watches);
}

/* Thousands of claims of a client may send requests for one path before the first answer. Each request gets the watch.
   */
ZKT_UNIT_CASE(thousands_may_ask_about_one_path)
{
    enum { MANY = 20000 };
    struct zkr__watches w = {.most = most};
    struct zkr__op op = op_for(1, 0, ZKR__WATCH_NEEDED);
    uint32_t key = 0;
    for (int i = 0; i < MANY; i++) {
        key = zkr__watches_take(&w, &op);
        assert_true(key != 0);
    }
    for (int i = 0; i < MANY; i++) {
        assert_true(w.bytes.needed > 0);
        zkr__watches_answered(&w, key, false);
    }
    assert_true(w.bytes.needed == 0 && w.count == 0);
    zkr__watches_free(&w);
}

/* One request names all watches of a session, and must not exceed the servers' limit. */
ZKT_UNIT_CASE(all_watches_fit_into_a_request)
{
    enum { JUTE_MAXBUFFER = 0xfffff, SLACK = 40000 };
    assert_true(ZKR__WATCH_NEEDED_BYTES + ZKR__WATCH_SPARE_BYTES + SLACK <
                JUTE_MAXBUFFER);
}

/* Without memory, no watch is set, and nothing is counted. */
ZKT_UNIT_CASE(without_memory_nothing_is_watched)
{
    struct zkr__watches w = {.most = most};
    struct zkr__op op = op_for(1, 0, ZKR__WATCH_NEEDED);
    zkt_allow_allocations(0);
    assert_int_equal(zkr__watches_take(&w, &op), 0);
    zkt_allow_allocations(-1);
    assert_true(w.bytes.needed == 0 && w.count == 0);
}
