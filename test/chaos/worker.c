/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of the threads of a client on the locks, and their records. */
#include "worker.h"

#include <stdio.h>

#include "guarded.h"
#include "plan.h"
#include "store.h"
#include "tickets.h"
#include "util.h"

static int64_t between(struct zkc_worker *w, int64_t least, int64_t most)
{
    return zkc_between(&w->random, least, most);
}

static bool one_in(struct zkc_worker *w, int64_t n)
{
    return between(w, 1, n) == 1;
}

/* ---- operations during a hold ------------------------------------------------------- */

/* Does one operation on the store. Returns false if there is no answer; *@reply then says "not accepted". */
static bool ask_store(const struct zkc_grip *g,
                      enum zkc_store_op op,
                      int64_t value,
                      zkc_store_reply *reply)
{
    const zkc_store_request ask = {
        .op = op, .path = g->want.path, .token = g->token, .value = value};
    *reply = (zkc_store_reply){0};
    return zkc_store_ask(g->w->store, &ask, reply);
}

/* Writes one more than @read, unless the read was refused, and records that. */
static void
add_one(const struct zkc_grip *g, enum zkc_store_op write, zkc_store_reply read)
{
    zkc_record r = zkc_grip_record(g, write == ZKC_WRITE ? ZKC_STORE : ZKC_PLAIN);
    zkc_store_reply reply = {0};
    r.value = read.value + 1;
    if (write == ZKC_WRITE) {
        r.kind = ZKC_STORE_TRY;
        zkc_grip_put(g, &r);
        r.kind = ZKC_STORE;
    }
    if (read.accepted && !ask_store(g, write, r.value, &reply)) {
        return;
    }
    r.until = zkc_now();
    r.code = (int32_t)reply.accepted;
    zkc_grip_put(g, &r);
}

static void count_fenced(const struct zkc_grip *g)
{
    zkc_store_reply reply;
    if (ask_store(g, ZKC_READ, 0, &reply)) {
        add_one(g, ZKC_WRITE, reply);
    }
}

/* Counts without the fence. If @fenced_too, also counts with the fence after the same @pause_ms, for comparison. */
static void count_plain(const struct zkc_grip *g, int64_t pause_ms, bool fenced_too)
{
    zkc_store_reply plain;
    zkc_store_reply fenced;
    if (!ask_store(g, ZKC_PLAIN_READ, 0, &plain) ||
        (fenced_too && !ask_store(g, ZKC_READ, 0, &fenced))) {
        return;
    }
    zkt_sleep_ms(pause_ms);
    add_one(g, ZKC_PLAIN_WRITE, plain);
    if (fenced_too) {
        add_one(g, ZKC_WRITE, fenced);
    }
}

static void count_guarded(struct zkc_grip *g)
{
    struct zkc_process *p = g->w->process;
    char path[64];
    int64_t value = 0;
    int64_t zxid = 0;
    int code = 0;
    (void)snprintf(path, sizeof path, "%s/%d", ZKC_COUNTERS, g->want.path);
    if (g->guard_unsure ||
        zkc_counter_read(p->handle, g, path, &value, &code) != ZKC_DONE) {
        return;
    }
    zkt_sleep_ms(between(g->w, 0, 5));
    zkc_record r = zkc_grip_record(g, ZKC_GUARD_TRY);
    r.value = value + 1;
    zkc_grip_put(g, &r);
    static const enum zkc_kind kinds[] = {[ZKC_DONE] = ZKC_GUARD_OK,
                                          [ZKC_NOT_DONE] = ZKC_GUARD_NO,
                                          [ZKC_UNSURE] = ZKC_GUARD_UNKNOWN};
    enum zkc_outcome outcome =
        zkc_counter_write(p->handle, g, path, value + 1, &zxid, &code);
    g->guard_unsure = outcome == ZKC_UNSURE;
    r.kind = (uint16_t)kinds[outcome];
    r.until = zkc_now();
    r.limit = zkc_token(g->want.path, zxid, 0);
    r.code = code;
    zkc_grip_put(g, &r);
}

static void enter_again(const struct zkc_grip *g)
{
    zkc_record r = zkc_grip_record(g, ZKC_AGAIN);
    r.value = g->token;
    r.code = zkr_mutex_acquire(g->mutex, 0);
    r.until = zkc_now();
    if (r.code == ZKR_OK) {
        int rc = zkc_grip_token(g, &r.token);
        r.code = rc == ZKR_OK && zkr_mutex_depth(g->mutex) != 2 ? ZKR_ESTATE : rc;
        zkc_grip_put(g, &r);
        (void)zkc_grip_sure(g);
        (void)zkr_mutex_release(g->mutex);
        return;
    }
    zkc_grip_put(g, &r);
}

/* A try beside an exclusive hold must fail. If it does not, the judge sees two holds. */
static void try_beside(const struct zkc_grip *g)
{
    const bool by_callback = one_in(g->w, 2);
    zkc_ticket *t;
    (void)zkc_ticket_take(g->w, &g->want, by_callback ? ZKC_BY_CALLBACK : ZKC_BY_WAIT,
                          0, &t);
    if (t != NULL) {
        (void)zkc_grip_sure(&t->grip);
        zkc_ticket_end(t);
    }
}

/* Holds for a while, as long as the hold is sure, so that the lease is renewed and a fault can come. */
static void sit(const struct zkc_grip *g, int64_t most_ms)
{
    const int64_t end = zkt_now_ms() + between(g->w, most_ms / 5, most_ms);
    const atomic_int *stay = &g->w->process->control->stay;
    while ((zkt_now_ms() < end || atomic_load(stay) != 0) && zkc_grip_sure(g)) {
        zkt_sleep_ms(20);
    }
}

/* Other holders may be inside: write nothing. */
static void stay_among_others(const struct zkc_grip *g)
{
    const int64_t what = between(g->w, 1, 100);
    if (what <= 15) {
        try_beside(g);
    } else if (what <= 30 && g->ticket == NULL) {
        enter_again(g);
    } else if (what <= 95) {
        zkt_sleep_ms(between(g->w, 1, 20));
    } else {
        sit(g, 1500);
    }
}

/* A multi-lock that is surely held is first on both of its paths. */
static void look_at_both(const struct zkc_grip *g)
{
    const int paths[] = {g->want.path, g->want.also};
    for (int i = 0; i < 2; i++) {
        const struct zkc_want one = {.as = ZKC_AS_MUTEX, .path = paths[i]};
        zkr_contenders *list = NULL;
        zkc_record r = zkc_grip_record(g, ZKC_LOOKED);
        r.path = (uint8_t)paths[i];
        r.code = zkr_mutex_contenders(zkc_locks_mutex(g->w->locks, &one), &list);
        r.until = zkc_now();
        if (r.code == ZKR_OK && zkr_contenders_count(list) > 0) {
            r.value = zkr_contenders_get(list, 0)->fencing_token;
        }
        zkr_contenders_free(list);
        zkc_grip_put(g, &r);
    }
    (void)zkc_grip_sure(g);
}

static void write_alone(struct zkc_grip *g)
{
    struct zkc_worker *w = g->w;
    const int64_t what = between(w, 1, 1000);
    if (what <= 300) {
        count_fenced(g);
    } else if (what <= 450) {
        count_plain(g, between(w, 0, 5), false);
    } else if (what <= 800) {
        count_guarded(g);
    } else if (what <= 940) {
        if (g->ticket == NULL && !one_in(w, 4)) {
            enter_again(g);
        } else {
            try_beside(g);
        }
    } else if (what <= 990) {
        zkt_sleep_ms(between(w, 1, 20));
    } else if (what <= 996) {
        sit(g, 1500);
    } else { /* the classic mistake: check once, then work for long */
        count_plain(g, between(w, 100, 900), true);
    }
}

static void do_something(struct zkc_grip *g)
{
    if (g->want.as == ZKC_AS_READER || g->want.as == ZKC_AS_PERMITS) {
        stay_among_others(g);
    } else if (g->want.as == ZKC_AS_BOTH && one_in(g->w, 3)) {
        look_at_both(g);
    } else {
        write_alone(g);
    }
}

/* ---- one round ---------------------------------------------------------------------- */

/* Takes the lock by acquire. The caller ends the hold with zkc_grip_release(). */
static bool take_by_thread(struct zkc_grip *g, int64_t limit_ms)
{
    zkc_record r = zkc_grip_record(g, ZKC_FAIL);
    r.limit = limit_ms;
    r.code = zkr_mutex_acquire(g->mutex, limit_ms);
    r.until = zkc_now();
    if (r.code != ZKR_OK) {
        zkc_grip_put(g, &r);
        return false;
    }
    zkc_grip_granted(g, r.at, r.until, limit_ms);
    return true;
}

static void use(struct zkc_grip *g)
{
    struct zkc_worker *w = g->w;
    if (g->want.path == ZKC_LONG_PATH && one_in(w, 3) &&
        atomic_load(&w->process->control->phase) == ZKC_RUNNING) {
        sit(g, 2000);
    }
    for (int64_t steps = between(w, 1, 4); steps > 0 && zkc_grip_sure(g); steps--) {
        do_something(g);
        if (g->want.as == ZKC_AS_WRITER && g->ticket == NULL && one_in(w, 2)) {
            zkc_grip_downgrade(g);
            sit(g, 100); /* time for the next reader to come */
        }
    }
}

static bool round_by_ticket(struct zkc_worker *w,
                            const struct zkc_want *want,
                            enum zkc_by by,
                            int64_t limit_ms)
{
    zkc_ticket *t;
    const bool held = zkc_ticket_take(w, want, by, limit_ms, &t) == ZKR_OK;
    if (t != NULL) {
        use(&t->grip);
        if (one_in(w, 4)) {
            zkc_tickets_leave(t);
        } else {
            zkc_ticket_end(t);
        }
    }
    return held;
}

/* Returns whether the lock was granted. */
static bool round_on(struct zkc_worker *w,
                     const struct zkc_want *want,
                     enum zkc_by by,
                     int64_t limit_ms)
{
    if (by != ZKC_BY_THREAD) {
        return round_by_ticket(w, want, by, limit_ms);
    }
    struct zkc_grip g = zkc_grip_begin(w, want, by);
    const bool held = take_by_thread(&g, limit_ms);
    if (held) {
        use(&g);
        zkc_grip_release(&g);
    }
    return held;
}

static enum zkc_by pick_by(struct zkc_worker *w, enum zkc_as as)
{
    const bool by_ticket = as == ZKC_AS_PERMITS || as == ZKC_AS_BOTH;
    const int64_t x = between(w, by_ticket ? 51 : 1, 100);
    return x <= 50   ? ZKC_BY_THREAD
           : x <= 75 ? ZKC_BY_CALLBACK
           : x <= 90 ? ZKC_BY_WAIT
                     : ZKC_BY_POLL;
}

static struct zkc_want pick_on(struct zkc_worker *w, int path)
{
    struct zkc_want want = {.path = path};
    if (path == ZKC_RW_PATH) {
        want.as = one_in(w, 2) ? ZKC_AS_WRITER : ZKC_AS_READER;
    } else if (path == ZKC_PERMITS_PATH) {
        want.as = ZKC_AS_PERMITS;
        want.permits = (int)between(w, 1, ZKC_PERMITS_MAX);
    }
    return want;
}

static struct zkc_want pick_both(struct zkc_worker *w)
{
    const bool turned = one_in(w, 2);
    return (struct zkc_want){.as = ZKC_AS_BOTH,
                             .path = turned ? ZKC_RARE_PATH : ZKC_SHORT_PATH,
                             .also = turned ? ZKC_SHORT_PATH : ZKC_RARE_PATH};
}

/*
 * Returns whether the worker should request the kept lock. Mostly one process requests it, and after a while another,
 * because a lock that other clients want is not kept.
 */
static bool is_its_turn(struct zkc_worker *w)
{
    enum { TURN_MS = 4000 };
    const int turn = (int)(zkt_now_ms() / TURN_MS % ZKC_PROCESSES);
    return one_in(w, turn == w->process->args->index ? 6 : 500);
}

static struct zkc_want pick(struct zkc_worker *w)
{
    if (is_its_turn(w)) {
        return pick_on(w, ZKC_KEPT_PATH);
    }
    const int64_t x = between(w, 1, 100);
    return x > 95 ? pick_both(w)
                  : pick_on(w, x <= 45   ? ZKC_SHORT_PATH
                               : x <= 55 ? ZKC_LONG_PATH
                               : x <= 60 ? ZKC_RARE_PATH
                               : x <= 80 ? ZKC_RW_PATH
                                         : ZKC_PERMITS_PATH);
}

static int64_t pick_limit(struct zkc_worker *w, int path)
{
    static const int64_t limits[] = {5, 30, 100, 300, 1000, 3000};
    const int64_t x = between(w, 1, 100);
    if (x <= (path == ZKC_LONG_PATH ? 10 : 40)) {
        return ZKR_FOREVER;
    }
    return x <= 60 ? 0 : limits[between(w, 0, 5)];
}

static void *finish(struct zkc_worker *w)
{
    atomic_store(&w->done, true);
    return NULL;
}

void *zkc_worker_run(void *arg)
{
    struct zkc_worker *w = arg;
    struct zkc_process *p = w->process;
    while (atomic_load(&p->control->phase) == ZKC_RUNNING) {
        if (atomic_load(&p->quit)) {
            return finish(w);
        }
        const struct zkc_want want = pick(w);
        (void)round_on(w, &want, pick_by(w, want.as), pick_limit(w, want.path));
        zkt_sleep_ms(one_in(w, 10) ? between(w, 0, 200) : between(w, 0, 10));
    }
    for (int path = 0; path < ZKC_PATHS && !atomic_load(&p->quit); path++) {
        const struct zkc_want want = pick_on(w, path);
        while (!round_on(w, &want, pick_by(w, want.as), ZKR_FOREVER) &&
               !atomic_load(&p->quit)) {
            zkt_sleep_ms(10); /* canceled before the calm, or refused */
        }
    }
    return finish(w);
}
