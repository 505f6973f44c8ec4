/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread of a client does with the locks, and how it tells the history. */
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "store.h"
#include "util.h"

struct hold {
    struct zkc_worker *w;
    zkr_mutex *m;
    int path;
    int64_t token;
    bool
        guard_unsure; /* a guarded write may still happen: make no other in this hold */
};

static zkc_record record_of(const struct hold *h, enum zkc_kind kind)
{
    zkc_record r = zkc_client_record(h->w->process, kind, h->path);
    r.thread = (uint8_t)h->w->number;
    r.token = h->token;
    return r;
}

static void put(const struct hold *h, const zkc_record *r)
{
    zkc_put(h->w->process->history, r);
}

static int64_t between(struct zkc_worker *w, int64_t least, int64_t most)
{
    return zkc_between(&w->random, least, most);
}

static bool one_in(struct zkc_worker *w, int64_t n)
{
    return between(w, 1, n) == 1;
}

/* ---- what is done while it is held -------------------------------------------------- */

/* Returns whether it is surely held; a promise of 0 ms is none. */
static bool ask_sure(const struct hold *h)
{
    zkc_record r = record_of(h, ZKC_SURE);
    r.value = zkr_mutex_valid_for_ms(h->m);
    r.until = zkc_now();
    if (r.value > 0) {
        put(h, &r);
    }
    return r.value > 0;
}

/* One operation of the store. False: no answer; *@reply then says "not accepted". */
static bool ask_store(const struct hold *h,
                      enum zkc_store_op op,
                      int64_t value,
                      zkc_store_reply *reply)
{
    const zkc_store_request ask = {
        .op = op, .path = h->path, .token = h->token, .value = value};
    *reply = (zkc_store_reply){0};
    return zkc_store_ask(h->w->store, &ask, reply);
}

/* Write one more than was @read, unless that was refused, and tell. */
static void add_one(const struct hold *h, enum zkc_store_op write, zkc_store_reply read)
{
    zkc_record r = record_of(h, write == ZKC_WRITE ? ZKC_STORE : ZKC_PLAIN);
    zkc_store_reply reply = {0};
    r.value = read.value + 1;
    if (read.accepted && !ask_store(h, write, r.value, &reply)) {
        return;
    }
    r.until = zkc_now();
    r.code = (int32_t)reply.accepted;
    put(h, &r);
}

static void count_fenced(const struct hold *h)
{
    zkc_store_reply reply;
    if (ask_store(h, ZKC_READ, 0, &reply)) {
        add_one(h, ZKC_WRITE, reply);
    }
}

/* Without the fence; and with it, after the same @pause_ms, for comparison. */
static void count_plain(const struct hold *h, int64_t pause_ms, bool fenced_too)
{
    zkc_store_reply plain;
    zkc_store_reply fenced;
    if (!ask_store(h, ZKC_PLAIN_READ, 0, &plain) ||
        (fenced_too && !ask_store(h, ZKC_READ, 0, &fenced))) {
        return;
    }
    zkt_sleep_ms(pause_ms);
    add_one(h, ZKC_PLAIN_WRITE, plain);
    if (fenced_too) {
        add_one(h, ZKC_WRITE, fenced);
    }
}

static void count_guarded(struct hold *h)
{
    struct zkc_process *p = h->w->process;
    char path[64];
    int64_t value = 0;
    int64_t zxid = 0;
    int code = 0;
    (void)snprintf(path, sizeof path, "%s/%d", ZKC_COUNTERS, h->path);
    if (h->guard_unsure ||
        zkc_counter_read(p->handle, h->m, path, &value, &code) != ZKC_DONE) {
        return;
    }
    zkt_sleep_ms(between(h->w, 0, 5));
    zkc_record r = record_of(h, ZKC_GUARD_TRY);
    r.value = value + 1;
    put(h, &r);
    static const enum zkc_kind kinds[] = {[ZKC_DONE] = ZKC_GUARD_OK,
                                          [ZKC_NOT_DONE] = ZKC_GUARD_NO,
                                          [ZKC_UNSURE] = ZKC_GUARD_UNKNOWN};
    enum zkc_outcome outcome =
        zkc_counter_write(p->handle, h->m, path, value + 1, &zxid, &code);
    h->guard_unsure = outcome == ZKC_UNSURE;
    r.kind = (uint16_t)kinds[outcome];
    r.until = zkc_now();
    r.limit = zxid;
    r.code = code;
    put(h, &r);
}

static void enter_again(const struct hold *h)
{
    zkc_record r = record_of(h, ZKC_AGAIN);
    r.value = h->token;
    r.code = zkr_mutex_acquire(h->m, 0);
    r.until = zkc_now();
    if (r.code == ZKR_OK) {
        int rc = zkr_mutex_fencing_token(h->m, &r.token);
        r.code = rc == ZKR_OK && zkr_mutex_depth(h->m) != 2 ? ZKR_ESTATE : rc;
        put(h, &r);
        (void)ask_sure(h);
        (void)zkr_mutex_release(h->m);
        return;
    }
    put(h, &r);
}

/* So that the lease has to be kept up, and a fault can come; as long as it is sure. */
static void sit(const struct hold *h, int64_t most_ms)
{
    const int64_t end = zkt_now_ms() + between(h->w, most_ms / 5, most_ms);
    const atomic_int *stay = &h->w->process->control->stay;
    while ((zkt_now_ms() < end || atomic_load(stay) != 0) && ask_sure(h)) {
        zkt_sleep_ms(20);
    }
}

static void do_something(struct hold *h)
{
    struct zkc_worker *w = h->w;
    const int64_t what = between(w, 1, 1000);
    if (what <= 300) {
        count_fenced(h);
    } else if (what <= 450) {
        count_plain(h, between(w, 0, 5), false);
    } else if (what <= 800) {
        count_guarded(h);
    } else if (what <= 940) {
        enter_again(h);
    } else if (what <= 990) {
        zkt_sleep_ms(between(w, 1, 20));
    } else if (what <= 996) {
        sit(h, 1500);
    } else { /* what nobody should do: look once, then work for long */
        count_plain(h, between(w, 100, 900), true);
    }
}

/* ---- one round ---------------------------------------------------------------------- */

/* The number at the end of the node's name, or -1. */
static int64_t sequence_of(zkr_mutex *m)
{
    char node[256];
    if (zkr_mutex_node(m, node, sizeof node) != ZKR_OK || strlen(node) < 10) {
        return -1;
    }
    return strtoll(node + strlen(node) - 10, NULL, 10);
}

static void let_go(const struct hold *h)
{
    zkc_record r = record_of(h, ZKC_RELEASE);
    put(h, &r); /* first, so that the claim ends even if we are killed in between */
    r.kind = ZKC_RELEASED;
    r.code = zkr_mutex_release(h->m);
    r.until = zkc_now();
    put(h, &r);
}

/* Returns whether it was granted. */
static bool round_on(struct zkc_worker *w, int path, int64_t limit_ms)
{
    struct hold h = {.w = w, .m = w->mutexes[path], .path = path};
    zkc_record r = record_of(&h, ZKC_FAIL);
    r.limit = limit_ms;
    r.code = zkr_mutex_acquire(h.m, limit_ms);
    r.until = zkc_now();
    if (r.code != ZKR_OK) {
        put(&h, &r);
        return false;
    }
    r.value = sequence_of(h.m);
    r.code = zkr_mutex_fencing_token(h.m, &h.token); /* fails if it is lost already */
    r.kind = ZKC_GRANT;
    r.token = h.token;
    put(&h, &r);
    if (path == ZKC_LONG_PATH && one_in(w, 3) &&
        atomic_load(&w->process->control->phase) == ZKC_RUNNING) {
        sit(&h, 2000);
    }
    for (int64_t steps = between(w, 1, 4); steps > 0 && ask_sure(&h); steps--) {
        do_something(&h);
    }
    let_go(&h);
    return true;
}

static int pick_path(struct zkc_worker *w)
{
    const int64_t x = between(w, 1, 100);
    return x <= 85 ? ZKC_SHORT_PATH : x <= 95 ? ZKC_LONG_PATH : ZKC_RARE_PATH;
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
        const int path = pick_path(w);
        (void)round_on(w, path, pick_limit(w, path));
        zkt_sleep_ms(one_in(w, 10) ? between(w, 0, 200) : between(w, 0, 10));
    }
    for (int path = 0; path < ZKC_PATHS && !atomic_load(&p->quit); path++) {
        while (!round_on(w, path, ZKR_FOREVER) && !atomic_load(&p->quit)) {
            zkt_sleep_ms(10); /* canceled before the calm, or refused */
        }
    }
    return finish(w);
}
