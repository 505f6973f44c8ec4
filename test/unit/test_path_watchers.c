/* SPDX-License-Identifier: Apache-2.0 */
/* Which watchers are notified of an event of a path, while watchers come and go. */
#include "queue/engine_state.h"
#include "unit.h"

enum { SOME = 6 };

struct watcher {
    struct zkr__path_watcher base;
    int told;
    enum zkr__node_event last;
    /* Actions when the watcher is notified. */
    const char *moves_to;  /* "" = nowhere */
    struct watcher *takes; /* this watcher stops watching */
    struct watcher *calls; /* this watcher begins to watch the same path */
    const char *event_at;  /* the path of another event, which occurs once */
};

static struct zkr__path_table all;

static void on_event(struct zkr__path_watcher *base, enum zkr__node_event event)
{
    struct watcher *w = (struct watcher *)base;
    const char *path = zkr__path_watched(base);
    assert_non_null(path);
    w->told++;
    w->last = event;
    if (w->takes) {
        zkr__path_unwatch(&all, &w->takes->base);
    }
    if (w->calls) {
        assert_true(zkr__path_watch(&all, &w->calls->base, path));
    }
    if (w->event_at) {
        const char *at = w->event_at;
        w->event_at = NULL;
        zkr__path_event(&all, at, ZKR__NODE_CHANGED);
    }
    if (w->moves_to && *w->moves_to) {
        assert_true(zkr__path_watch(&all, base, w->moves_to));
    } else if (w->moves_to) {
        zkr__path_unwatch(&all, base);
    }
}

static void watch(struct watcher *w, const char *path)
{
    w->base.on_event = on_event;
    assert_true(zkr__path_watch(&all, &w->base, path));
    assert_string_equal(zkr__path_watched(&w->base), path);
}

static void watch_all(struct watcher *w, const char *path)
{
    for (int i = 0; i < SOME; i++) {
        watch(&w[i], path);
    }
}

/* End all watches, and check that the table is empty. */
static void end(struct watcher *w)
{
    for (int i = 0; i < SOME; i++) {
        zkr__path_unwatch(&all, &w[i].base);
        zkr__path_unwatch(&all, &w[i].base); /* no effect */
        assert_null(zkr__path_watched(&w[i].base));
    }
    assert_int_equal(all.count, 0);
    assert_null(all.slots);
}

static int told(const struct watcher *w)
{
    int sum = 0;
    for (int i = 0; i < SOME; i++) {
        sum += w[i].told;
    }
    return sum;
}

/* Each watcher of the path is notified once, with the event, and continues to watch. Other watchers are not notified.
   */
ZKT_UNIT_CASE(all_who_watch_a_path_are_notified)
{
    struct watcher w[SOME] = {{.told = 0}};
    watch_all(w, "/a");
    watch(&w[0], "/ab");
    watch(&w[1], "/");
    zkr__path_event(&all, "/a", ZKR__NODE_DELETED);
    zkr__path_event(&all, "/none", ZKR__NODE_DELETED);
    for (int i = 0; i < SOME; i++) {
        assert_int_equal(w[i].told, i > 1);
        assert_true(i < 2 || w[i].last == ZKR__NODE_DELETED);
    }
    zkr__path_event(&all, "/a", ZKR__NODE_CHANGED);
    zkr__path_event(&all, "/ab", ZKR__NODE_CHANGED);
    assert_int_equal(w[0].told, 1);
    assert_int_equal(w[2].told, 2);
    assert_int_equal(w[2].last, ZKR__NODE_CHANGED);
    end(w);
}

/* A watcher watches one path: the last one it was given. */
ZKT_UNIT_CASE(a_watcher_watches_one_path)
{
    struct watcher w[SOME] = {{.told = 0}};
    watch(&w[0], "/a");
    watch(&w[0], "/b");
    watch(&w[0], "/b");
    zkr__path_event(&all, "/a", ZKR__NODE_DELETED);
    assert_int_equal(w[0].told, 0);
    zkr__path_event(&all, "/b", ZKR__NODE_DELETED);
    assert_int_equal(w[0].told, 1);
    end(w);
}

/* Watchers that stop or move when they are notified do not keep the others from being notified. */
ZKT_UNIT_CASE(watchers_may_leave_while_they_are_notified)
{
    static const char *const ways[] = {"", "/b", "/a", NULL};
    for (size_t way = 0; way < ZKT_COUNT(ways); way++) {
        for (int who = 0; who <= SOME; who++) {
            struct watcher w[SOME] = {{.told = 0}};
            watch_all(w, "/a");
            for (int i = 0; i < SOME; i++) {
                w[i].moves_to = who == i || who == SOME ? ways[way] : NULL;
            }
            zkr__path_event(&all, "/a", ZKR__NODE_DELETED);
            for (int i = 0; i < SOME; i++) {
                assert_int_equal(w[i].told, 1);
            }
            end(w);
        }
    }
}

/* One watcher ends the watch of another. If the other was not notified yet, it is not notified any more. All other
   watchers are notified. */
ZKT_UNIT_CASE(a_watcher_may_take_another_along)
{
    for (int i = 0; i < SOME * SOME; i++) {
        struct watcher w[SOME] = {{.told = 0}};
        struct watcher *taker = &w[i / SOME], *taken = &w[i % SOME];
        watch_all(w, "/a");
        taker->takes = taken; /* taken may be taker */
        zkr__path_event(&all, "/a", ZKR__NODE_DELETED);
        assert_int_equal(taker->told, 1);
        assert_true(taken->told <= 1);
        assert_int_equal(told(w) - taken->told, SOME - 1);
        assert_null(zkr__path_watched(&taken->base));
        end(w);
    }
}

/* A watcher that begins to watch while others are notified gets no notification of that event, which is older. */
ZKT_UNIT_CASE(a_watcher_that_comes_is_not_notified)
{
    struct watcher w[SOME] = {{.told = 0}};
    struct watcher late = {.base = {.on_event = on_event}};
    watch_all(w, "/a");
    for (int i = 0; i < SOME; i++) {
        w[i].calls = &late;
    }
    zkr__path_event(&all, "/a", ZKR__NODE_CHANGED);
    assert_int_equal(told(w), SOME);
    assert_int_equal(late.told, 0);
    zkr__path_event(&all, "/a", ZKR__NODE_CHANGED);
    assert_int_equal(late.told, 1);
    zkr__path_unwatch(&all, &late.base);
    end(w);
}

/* The last watcher of a path leaves while another one begins: the path is kept. */
ZKT_UNIT_CASE(a_path_is_kept_while_its_watchers_change)
{
    struct watcher w[SOME] = {{.told = 0}};
    w[1].base.on_event = on_event;
    w[0].calls = &w[1];
    w[0].moves_to = "";
    watch(&w[0], "/a");
    zkr__path_event(&all, "/a", ZKR__NODE_CHANGED);
    assert_null(zkr__path_watched(&w[0].base));
    assert_string_equal(zkr__path_watched(&w[1].base), "/a");
    zkr__path_event(&all, "/a", ZKR__NODE_CHANGED);
    assert_int_equal(w[0].told, 1);
    assert_int_equal(w[1].told, 1);
    end(w);
}

/* During an event, another event of this or another path may occur: each watcher is notified at most once of each
   event. */
ZKT_UNIT_CASE(events_may_nest)
{
    for (int who = 0; who < SOME; who++) {
        for (int i = 0; i < 4; i++) {
            struct watcher w[SOME] = {{.told = 0}};
            watch_all(w, "/a");
            watch(&w[(who + 1) % SOME], "/b");
            w[who].event_at = i % 2 ? "/b" : "/a";
            w[who].moves_to = i / 2 ? "" : NULL;
            zkr__path_event(&all, "/a", ZKR__NODE_DELETED);
            for (int j = 0; j < SOME; j++) {
                assert_true(w[j].told >= (j != (who + 1) % SOME));
                assert_true(w[j].told <= 2);
            }
            assert_int_equal(w[(who + 1) % SOME].told, i % 2);
            end(w);
        }
    }
}

/* Without memory, a watch cannot be set, and the watcher's earlier watch is gone, too. */
ZKT_UNIT_CASE(a_watch_needs_memory)
{
    struct watcher w[SOME] = {{.told = 0}};
    int failures = 0;
    bool done = false;
    while (!done) {
        watch(&w[0], "/b");
        zkt_allow_allocations(failures);
        done = zkr__path_watch(&all, &w[0].base, "/a");
        zkt_allow_allocations(-1);
        assert_int_equal(zkr__path_watched(&w[0].base) != NULL, done);
        failures += !done;
    }
    assert_true(failures > 0);
    zkr__path_event(&all, "/b", ZKR__NODE_DELETED);
    assert_int_equal(w[0].told, 0);
    end(w);
}
