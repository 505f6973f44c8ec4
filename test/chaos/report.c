/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>

#include <zkr/error.h>

#include "util.h"

enum { LINE_EVERY_MS = 5000, BATCH = 512 };

#define MS(ns) ((double)(ns) / 1e6)

static void line(struct zkc_progress *p)
{
    const int64_t now = zkt_now_ms();
    (void)fprintf(stderr,
                  "chaos: %5.1f s  %-38s grants %" PRId64 " (+%" PRId64
                  ")  losses %" PRId64 "  time-outs %" PRId64 "\n",
                  (double)(now - p->started) / 1000, p->doing, p->count[ZKC_GRANT],
                  p->count[ZKC_GRANT] - p->grants_before, p->count[ZKC_LOST],
                  p->timed_out);
    p->grants_before = p->count[ZKC_GRANT];
    p->next_at = now + LINE_EVERY_MS;
}

void zkc_progress_tick(void *progress)
{
    struct zkc_progress *p = progress;
    zkc_record batch[BATCH];
    size_t n;
    while ((n = zkc_history_read(p->history, &p->read, batch, BATCH)) > 0) {
        for (size_t i = 0; i < n; i++) {
            if (batch[i].kind < ZKC_KINDS) {
                p->count[batch[i].kind]++;
                p->took |=
                    batch[i].kind == ZKC_FAULT ? (zkc_kinds)1 << batch[i].code : 0;
                p->timed_out +=
                    batch[i].kind == ZKC_FAIL && batch[i].code == ZKR_ETIMEDOUT;
            }
        }
    }
    if (zkt_now_ms() >= p->next_at) {
        line(p);
    }
}

void zkc_progress_say(struct zkc_progress *p, const char *doing)
{
    p->doing = doing;
    line(p);
}

static void faults(const struct zkc_verdict *v, zkc_kinds kinds)
{
    (void)printf("| %-40s | %6s | %12s |\n", "fault", "number", "longest, s");
    (void)printf("|---|---|---|\n");
    for (int i = 0; i < ZKC_FAULT_KINDS; i++) {
        if (zkc_has_kind(kinds, i)) {
            (void)printf("| %-40s | %6" PRId64 " | %12.1f |\n", zkc_fault_name(i),
                         v->fault[i], MS(v->fault_ns[i]) / 1000);
        }
    }
    (void)printf("| %-40s | %6" PRId64 " | %12s |\n", "client killed itself",
                 v->count[ZKC_SELF_KILL], "");
}

static void number(const char *what, int64_t n)
{
    (void)printf("| %-56s | %10" PRId64 " |\n", what, n);
}

static void duration(const char *what, int64_t ns)
{
    (void)printf("| %-56s | %7.1f ms |\n", what, MS(ns));
}

static void counts(const struct zkc_outcome_text *o)
{
    const struct zkc_verdict *v = o->verdict;
    int64_t writes = 0;
    int64_t lost = 0;
    int64_t late = 0;
    int64_t late_ns = 0;
    for (int i = 0; i < ZKC_PATHS; i++) {
        const zkc_store_reply *s = &o->store[i];
        writes += s->plain_writes;
        lost += s->plain_writes - s->plain_value;
        late += s->plain_late;
        late_ns = s->plain_late_ns > late_ns ? s->plain_late_ns : late_ns;
    }
    number("grants", v->count[ZKC_GRANT]);
    number("of these, tickets by callback", v->granted[ZKC_BY_CALLBACK]);
    number("tickets by waiting", v->granted[ZKC_BY_WAIT]);
    number("tickets by asking for the state", v->granted[ZKC_BY_POLL]);
    number("grants to readers", v->granted_as[ZKC_AS_READER]);
    number("grants to writers", v->granted_as[ZKC_AS_WRITER]);
    number("writers that stayed as readers", v->count[ZKC_DOWNGRADED]);
    number("grants of permits of a semaphore", v->granted_as[ZKC_AS_PERMITS]);
    number("grants of a multi-lock", v->granted_as[ZKC_AS_BOTH]);
    number("looks at a path of it while it is held", v->count[ZKC_LOOKED]);
    number("grants by a node that had been kept", v->kept);
    number("re-entries", v->count[ZKC_AGAIN]);
    number("losses", v->count[ZKC_LOST]);
    number("acquires timed out, tries that failed", v->timed_out);
    number("acquires canceled", v->canceled);
    number("of these, tickets released while they waited", v->tickets_canceled);
    number("acquires refused (no connection)", v->refused);
    number("guarded writes", v->count[ZKC_GUARD_OK]);
    number("guarded writes without an answer",
           v->count[ZKC_GUARD_TRY] - v->count[ZKC_GUARD_OK] - v->count[ZKC_GUARD_NO]);
    number("fenced updates", v->count[ZKC_STORE] - v->store_refused);
    number("fenced updates refused by token", v->store_refused);
    number("unfenced updates", writes);
    number("unfenced updates lost (not a violation)", lost);
    number("unfenced writes by a former holder", late);
    duration("the latest of these, after the first write of the next holder", late_ns);
}

static void figures(const struct zkc_verdict *v)
{
    duration("longest unavailability", v->unavailable);
    duration("hand-over, median", v->hand_over_median);
    duration("hand-over, 99th percentile", v->hand_over_99);
    duration("hand-over, longest", v->hand_over_max);
    duration("acquire after its deadline, longest", v->late);
    duration("client not scheduled by the machine, longest", v->stalled);
    duration("node deleted from outside: sure until, longest", v->noticed);
    duration("all threads had all locks after the nemesis", v->calm);
}

void zkc_report_bad(const struct zkc_verdict *v)
{
    number("**violations**", zkc_bad_count(v));
    for (int i = 0; i < ZKC_BAD_KINDS; i++) {
        if (v->bad[i] > 0) {
            (void)printf("VIOLATION: %s, %" PRId64 " times; first: %s\n",
                         zkc_bad_name((enum zkc_bad)i), v->bad[i], v->first[i]);
        }
    }
}

void zkc_report(const struct zkc_outcome_text *o)
{
    const struct zkc_verdict *v = o->verdict;
    (void)printf("\n./run chaos --seconds %" PRId64 " --seed %" PRIu64 "%s%s\n\n",
                 o->seconds, o->seed, o->nemesis != NULL ? " --nemesis " : "",
                 o->nemesis != NULL ? o->nemesis : "");
    faults(v, o->kinds);
    (void)printf("\n| %-56s | %10s |\n|---|---|\n", "", "");
    counts(o);
    figures(v);
    zkc_report_bad(v);
    (void)fflush(stdout);
}
