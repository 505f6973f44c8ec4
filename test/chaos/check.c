/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <zkr/error.h>

enum { MS = 1000000 };

static const char *const names[] = {
#define ZKC_BAD_NAME_(name, text) text,
    ZKC_BAD_MAP(ZKC_BAD_NAME_)
#undef ZKC_BAD_NAME_
};

const char *zkc_bad_name(enum zkc_bad kind)
{
    return names[kind];
}

void zkc_bad_add(struct zkc_verdict *v, enum zkc_bad kind, const char *format, ...)
{
    va_list args;
    if (v->bad[kind]++ == 0) {
        va_start(args, format);
        (void)vsnprintf(v->first[kind], ZKC_TEXT, format, args);
        va_end(args);
    }
}

int64_t zkc_bad_count(const struct zkc_verdict *v)
{
    int64_t sum = 0;
    for (int i = 0; i < ZKC_BAD_KINDS; i++) {
        sum += v->bad[i];
    }
    return sum;
}

static void most(int64_t *max, int64_t value)
{
    if (value > *max) {
        *max = value;
    }
}

/* ---- holds -------------------------------------------------------------------------- */

static void check_noticed(const zkc_hold *holds, size_t count, struct zkc_verdict *v)
{
    for (size_t i = 0; i < count; i++) {
        const zkc_hold *h = &holds[i];
        if (h->deleted == 0 || h->last_sure <= h->deleted_until) {
            continue;
        }
        const int64_t took = h->last_sure - h->deleted_until;
        most(&v->noticed, took);
        if (took > (int64_t)(ZKC_SESSION_MS + ZKC_NOTICE_MS) * MS) {
            zkc_bad_add(v, ZKC_BAD_UNNOTICED,
                        "path %d: still sure %.0f ms after the deletion", h->path,
                        (double)took / (double)MS);
        }
    }
}

/* ---- records ------------------------------------------------------------------------ */

/* Returns for how long, within @r, records of @kind say that the process of @r did not run. */
static int64_t
stood_still(const zkc_record *all, size_t n, const zkc_record *r, enum zkc_kind kind)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const zkc_record *s = &all[i];
        if (s->kind == kind && s->process == r->process && s->at < r->until &&
            s->until > r->at) {
            sum += (s->until < r->until ? s->until : r->until) -
                   (s->at > r->at ? s->at : r->at);
        }
    }
    return sum;
}

static void check_deadline(const zkc_record *all,
                           size_t n,
                           const zkc_record *r,
                           struct zkc_verdict *v)
{
    /* A try waits for one round trip, but for at most a third of a session. */
    const int64_t limit = r->limit == 0 ? ZKC_SESSION_MS / 3 : r->limit;
    int64_t late = r->until - r->at - limit * MS;
    if (r->limit < 0 || late <= v->late) {
        return;
    }
    /* A process that was stopped usually also notices that it stalled. Count that time once. */
    const int64_t stopped = stood_still(all, n, r, ZKC_STOPPED);
    const int64_t stalled = stood_still(all, n, r, ZKC_STALLED);
    late -= stopped > stalled ? stopped : stalled;
    most(&v->late, late);
    if (late > (int64_t)ZKC_LATE_MS * MS) {
        zkc_bad_add(v, ZKC_BAD_LATE, "client %d.%d thread %d: %.0f ms after %lld ms",
                    r->process, r->life, r->thread, (double)late / (double)MS,
                    (long long)r->limit);
    }
}

static void check_record(const zkc_record *r, struct zkc_verdict *v)
{
    v->store_refused += r->kind == ZKC_STORE && r->code == 0;
    if (r->kind == ZKC_BAD_CALL) {
        zkc_bad_add(v, ZKC_BAD_TOLD, "path %d: client %d.%d thread %d, state %d",
                    r->path, r->process, r->life, r->thread, r->code);
    }
    if (r->kind == ZKC_GRANT && r->by < ZKC_BYS && r->as < ZKC_ASES) {
        v->granted[r->by]++;
        v->granted_as[r->as]++;
        v->kept += r->path == ZKC_KEPT_PATH && r->code == ZKR_OK && r->value < 0;
    }
    if (r->kind == ZKC_FAIL) {
        v->tickets_canceled += r->code == ZKR_ECANCELED && r->by != ZKC_BY_THREAD;
        v->timed_out += r->code == ZKR_ETIMEDOUT;
        v->canceled += r->code == ZKR_ECANCELED;
        v->refused += r->code != ZKR_ETIMEDOUT && r->code != ZKR_ECANCELED;
    }
    if (r->kind == ZKC_FAULT && r->code >= 0 && r->code < ZKC_FAULT_KINDS) {
        v->fault[r->code]++;
        most(&v->fault_ns[r->code], r->until - r->at);
    }
}

static void check_records(const zkc_record *all, size_t n, struct zkc_verdict *v)
{
    for (size_t i = 0; i < n; i++) {
        const zkc_record *r = &all[i];
        if (r->kind < ZKC_KINDS) {
            v->count[r->kind]++;
        }
        check_record(r, v);
        if (r->kind == ZKC_STALLED && stood_still(all, n, r, ZKC_STOPPED) == 0) {
            most(&v->stalled, r->until - r->at);
        }
        if (r->kind == ZKC_GRANT || r->kind == ZKC_FAIL) {
            check_deadline(all, n, r, v);
        }
    }
}

/* ---- after the nemesis -------------------------------------------------------------- */

static void check_calm(const zkc_record *all, size_t n, struct zkc_verdict *v)
{
    int64_t got[ZKC_PROCESSES][ZKC_THREADS][ZKC_PATHS] = {{{0}}};
    int64_t calm = 0;
    for (size_t i = 0; i < n; i++) {
        const zkc_record *r = &all[i];
        calm = r->kind == ZKC_CALM ? r->at : calm;
        if (calm != 0 && r->kind == ZKC_GRANT && r->process < ZKC_PROCESSES &&
            r->thread < ZKC_THREADS && r->path < ZKC_PATHS && r->until > calm) {
            int64_t *at = &got[r->process][r->thread][r->path];
            *at = *at == 0 ? r->until : *at;
        }
    }
    const int all_of_them = ZKC_PROCESSES * ZKC_THREADS * ZKC_PATHS;
    for (int i = 0; i < all_of_them; i++) {
        const int process = i / (ZKC_THREADS * ZKC_PATHS);
        const int thread = i / ZKC_PATHS % ZKC_THREADS;
        const int64_t at = got[process][thread][i % ZKC_PATHS];
        most(&v->calm, at - calm);
        if (calm == 0 || at == 0 || at - calm > (int64_t)ZKC_CALM_MS * MS) {
            zkc_bad_add(v, ZKC_BAD_STARVED, "client %d thread %d, path %d", process,
                        thread, i % ZKC_PATHS);
        }
    }
}

bool zkc_is_each_expected(const struct zkc_expected *expected)
{
    return expected->each || expected->seconds >= ZKC_ALL_KINDS_S;
}

static void check_faults(const struct zkc_expected *expected, struct zkc_verdict *v)
{
    int64_t faults = 0;
    for (int i = 0; i < ZKC_FAULT_KINDS; i++) {
        faults += v->fault[i];
        if (zkc_is_each_expected(expected) && zkc_has_kind(expected->kinds, i) &&
            v->fault[i] == 0) {
            zkc_bad_add(v, ZKC_BAD_NO_MOVES, "no fault: %s", zkc_fault_name(i));
        }
    }
    /* Some kinds of faults take long. */
    if (!expected->each && faults < expected->seconds / ZKC_FAULT_EVERY_S) {
        zkc_bad_add(v, ZKC_BAD_NO_MOVES, "%" PRId64 " faults in %" PRId64 " s", faults,
                    expected->seconds);
    }
}

static void check_moves(int64_t seconds, struct zkc_verdict *v)
{
    static const enum zkc_kind needed[] = {ZKC_GRANT,  ZKC_SURE,      ZKC_AGAIN,
                                           ZKC_STORE,  ZKC_GUARD_OK,  ZKC_PLAIN,
                                           ZKC_LOOKED, ZKC_DOWNGRADED};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (v->count[needed[i]] == 0) {
            zkc_bad_add(v, ZKC_BAD_NO_MOVES, "no record of kind %d", (int)needed[i]);
        }
    }
    if (v->timed_out == 0 || v->canceled == 0) {
        zkc_bad_add(v, ZKC_BAD_NO_MOVES, "nothing timed out, or nothing was canceled");
    }
    for (int i = 0; i < ZKC_BYS; i++) {
        if (v->granted[i] == 0) {
            zkc_bad_add(v, ZKC_BAD_NO_MOVES, "no grant of way %d", i);
        }
    }
    for (int i = 0; i < ZKC_ASES; i++) {
        if (v->granted_as[i] == 0) {
            zkc_bad_add(v, ZKC_BAD_NO_MOVES, "no grant of kind %d of lock", i);
        }
    }
    if (v->kept == 0) {
        zkc_bad_add(v, ZKC_BAD_NO_MOVES, "no lock stayed with its client");
    }
    if (v->tickets_canceled == 0) {
        zkc_bad_add(v, ZKC_BAD_NO_MOVES, "no ticket was released while it waited");
    }
    if (seconds >= ZKC_LOSSES_S && v->count[ZKC_LOST] == 0) {
        zkc_bad_add(v, ZKC_BAD_NO_MOVES, "no hold was lost");
    }
}

void zkc_check(const zkc_record *all,
               size_t n,
               const struct zkc_expected *expected,
               struct zkc_verdict *v)
{
    size_t count = 0;
    *v = (struct zkc_verdict){.calm = 0};
    zkc_hold *holds = zkc_holds(all, n, &count);
    if (holds == NULL) {
        zkc_bad_add(v, ZKC_BAD_NO_MOVES, "no memory for the holds");
        return;
    }
    check_noticed(holds, count, v);
    check_records(all, n, v);
    qsort(holds, count, sizeof *holds, zkc_hold_by_time);
    zkc_figures(all, n, holds, count, v);
    free(holds);
    check_calm(all, n, v);
    check_moves(expected->seconds, v);
    check_faults(expected, v);
}
