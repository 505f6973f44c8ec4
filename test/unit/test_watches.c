/* SPDX-License-Identifier: Apache-2.0 */
/* How many bytes of watches a handle has, as libzookeeper would count them. */
#include "session/watches.h"
#include "unit.h"

enum { PATHS = 40, KINDS = 2, ROUNDS = 20000, PREFIX = 5, MOST = 1000 };

/* One path, by its data or its children, as libzookeeper has it. */
struct entry {
    int asked;
    bool set, spare;
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

static int64_t sum(bool spare)
{
    int64_t total = 0;
    for (int i = 0; i < PATHS; i++) {
        for (int kind = 0; kind < KINDS; kind++) {
            const struct entry *e = &model[i][kind];
            total += is_there(e) && (e->spare || !spare) ? bytes(i) : 0;
        }
    }
    return total;
}

static struct zkr__op op_for(int i, int kind, bool spare)
{
    return (struct zkr__op){.kind = kind ? ZKR__OP_CHILDREN : ZKR__OP_GET,
                            .path = path_of(i),
                            .watch = true,
                            .spare = spare};
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

static void ask(void)
{
    int i = below(PATHS), kind = below(KINDS);
    bool spare = below(2) == 0;
    struct entry *e = &model[i][kind];
    struct zkr__op op = op_for(i, kind, spare);
    int64_t more = is_there(e) ? 0 : bytes(i);
    bool fits = sum(false) + more <= MOST && (!spare || sum(true) + more <= MOST / 3);
    assert_int_equal(zkr__watches_fit(&watches, &op), fits);
    uint32_t key = zkr__watches_take(&watches, &op);
    assert_int_equal(key != 0, fits || more == 0);
    if (key != 0) {
        e->spare = spare && (e->spare || !is_there(e));
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

/* Requests, answers and events in any order: the sums are those of what is there. */
ZKT_UNIT_CASE(bytes_are_those_of_what_is_watched)
{
    watches = (struct zkr__watches){.most = MOST, .prefix = PREFIX};
    for (int n = 0; n < ROUNDS; n++) {
        int what = below(5);
        if (what < 2 && flying < 64) {
            ask();
        } else if (what < 4 && flying > 0) {
            answer();
        } else {
            happen();
        }
        assert_int_equal(watches.bytes, sum(false));
        assert_int_equal(watches.spare_bytes, sum(true));
    }
    zkr__watches_free(&watches);
}

/* Without memory there is no watch, and nothing is counted. */
ZKT_UNIT_CASE(without_memory_nothing_is_watched)
{
    struct zkr__watches w = {.most = MOST};
    struct zkr__op op = op_for(1, 0, false);
    zkt_allow_allocations(0);
    assert_int_equal(zkr__watches_take(&w, &op), 0);
    zkt_allow_allocations(-1);
    assert_true(w.bytes == 0 && w.count == 0);
}
