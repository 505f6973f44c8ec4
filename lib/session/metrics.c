/* SPDX-License-Identifier: Apache-2.0 */
/* All measurements of a client, as OpenMetrics text. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <zkr/metrics.h>

#include "base/error.h"
#include "base/mem.h"
#include "session/bound.h"

/* --- text, truncated at the end of the buffer --- */

struct out {
    char *buf;
    size_t size, len;
};

__attribute__((format(printf, 2, 3))) static void
put(struct out *out, const char *format, ...)
{
    bool room = out->len < out->size;
    va_list args;
    va_start(args, format);
    int len = vsnprintf(room ? out->buf + out->len : NULL,
                        room ? out->size - out->len : 0, format, args);
    va_end(args);
    out->len += len > 0 ? (size_t)len : 0;
}

/* Print seconds without floating point, because the program's locale might print a comma. */
static void put_seconds(struct out *out, int64_t ns)
{
    const int64_t second = 1000 * ZKR__MS;
    put(out, "%lld.%09lld\n", (long long)(ns / second), (long long)(ns % second));
}

static void put_escaped(struct out *out, const char *value)
{
    for (;; value++) {
        size_t plain = strcspn(value, "\n\"\\");
        put(out, "%.*s", (int)plain, value);
        value += plain;
        if (*value == '\0') {
            return;
        }
        put(out, "\\%c", *value == '\n' ? 'n' : *value);
    }
}

static void
put_family(struct out *out, const char *name, const char *type, const char *help)
{
    static const char unit[] = "_seconds";
    size_t len = strlen(name), unit_len = sizeof(unit) - 1;
    put(out, "# TYPE %s %s\n", name, type);
    if (len > unit_len && strcmp(name + len - unit_len, unit) == 0) {
        put(out, "# UNIT %s seconds\n", name);
    }
    put(out, "# HELP %s %s\n", name, help);
}

/* The labels of a sample; NULL = none. @key and @value are either both set or both NULL. */
struct labels {
    const char *path, *key, *value;
};

/* "name{path="…",key="value"} " */
static void
put_name(struct out *out, const char *name, const char *suffix, struct labels l)
{
    put(out, "%s%s%s", name, suffix, l.path || l.key ? "{" : "");
    if (l.path) {
        put(out, "path=\"");
        put_escaped(out, l.path);
        put(out, "\"%s", l.key ? "," : "");
    }
    if (l.key) {
        put(out, "%s=\"%s\"", l.key, l.value);
    }
    put(out, l.path || l.key ? "} " : " ");
}

static void put_sample(struct out *out,
                       const char *name,
                       const char *suffix,
                       struct labels labels,
                       int64_t number)
{
    put_name(out, name, suffix, labels);
    put(out, "%lld\n", (long long)number);
}

static void put_histogram(struct out *out,
                          const char *name,
                          const char *path,
                          const struct zkr__histogram *h)
{
    int64_t count = 0;
    for (int i = 0; i <= ZKR__BOUNDS; i++) {
        count += h->counts[i];
        put_sample(out, name, "_bucket",
                   (struct labels){path, "le", zkr__histogram_bound(i)}, count);
    }
    put_sample(out, name, "_count", (struct labels){.path = path}, count);
    put_name(out, name, "_sum", (struct labels){.path = path});
    put_seconds(out, h->sum_ns);
}

/* --- families --- */

struct reading {
    zkr_stats stats;
    bool connected, measured;
    int64_t session_ms, bound_ms, dropped_log, news_ignored;
    struct zkr__histogram probes;
    size_t count;
    struct zkr__meter *meters; /* copies; their paths live as long as the client */
};

static bool is_counter(const char *type)
{
    return strcmp(type, "counter") == 0;
}

static const char *const reasons[] = {[ZKR__METERED_SESSION] = "session",
                                      [ZKR__METERED_NODE] = "node",
                                      [ZKR__METERED_LEASE] = "lease",
                                      [ZKR__METERED_STOPPED] = "stopped"};
static const char *const ways[] = {[ZKR__BY_NEIGHBOUR] = "local",
                                   [ZKR__BY_NEWS] = "nearby",
                                   [ZKR__BY_EVENT] = "event",
                                   [ZKR__BY_PREPARATION] = "prepared",
                                   [ZKR__BY_LIST] = "list"};

/* A family has one number for each path or, if @key is set, one for each path and each of the @count values. */
static const struct family {
    const char *name, *type, *help;
    size_t offset, count;
    const char *key;
    const char *const *values;
} families[] = {
#define AT(member) offsetof(struct zkr__counts, member)
#define ONE(member) AT(member), 1, NULL, NULL
    {"zkr_waiting", "gauge", "Acquires that wait in the queue now.", ONE(waiting)},
    {"zkr_held", "gauge", "Holds now.", ONE(held)},
    {"zkr_acquired", "counter", "Grants, without re-entries.", ONE(acquired)},
    {"zkr_contended", "counter", "Grants after a wait behind another contender.",
     ONE(contended)},
    {"zkr_timed_out", "counter", "Acquires that timed out.", ONE(timed_out)},
    {"zkr_canceled", "counter", "Acquires that the application canceled.",
     ONE(canceled)},
    {"zkr_failed", "counter", "Acquires that failed with an error.", ONE(failed)},
    {"zkr_reentries", "counter", "Re-entries by the holder.", ONE(reentries)},
    {"zkr_lost", "counter", "Holds that were lost.", AT(lost), ZKR__METERED_LOSSES,
     "reason", reasons},
    {"zkr_hand_overs", "counter", "Grants after a wait.", AT(hand_overs),
     ZKR__HAND_OVERS, "kind", ways},
#undef ONE
#undef AT
};

static void
put_numbers(struct out *out, const struct reading *r, const struct family *f)
{
    put_family(out, f->name, f->type, f->help);
    for (size_t p = 0; p < r->count; p++) {
        const char *numbers = (const char *)&r->meters[p].n + f->offset;
        for (size_t i = 0; i < f->count; i++) {
            struct labels labels = {r->meters[p].path, f->key,
                                    f->key ? f->values[i] : NULL};
            int64_t number;
            memcpy(&number, numbers + i * sizeof(number), sizeof(number));
            put_sample(out, f->name, is_counter(f->type) ? "_total" : "", labels,
                       number);
        }
    }
}

static void put_paths(struct out *out, const struct reading *r)
{
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        put_numbers(out, r, &families[i]);
    }
    put_family(out, "zkr_wait_seconds", "histogram",
               "Time from the request to the grant.");
    for (size_t p = 0; p < r->count; p++) {
        put_histogram(out, "zkr_wait_seconds", r->meters[p].path, &r->meters[p].n.wait);
    }
    put_family(out, "zkr_hold_seconds", "histogram",
               "Time from the grant to the release or loss.");
    for (size_t p = 0; p < r->count; p++) {
        put_histogram(out, "zkr_hold_seconds", r->meters[p].path, &r->meters[p].n.hold);
    }
}

static void put_time(struct out *out, const char *name, const char *help, int64_t ms)
{
    put_family(out, name, "gauge", help);
    put(out, "%s ", name);
    put_seconds(out, ms * ZKR__MS);
}

static void put_client(struct out *out, const struct reading *r)
{
    const struct {
        const char *name, *type, *help;
        int64_t number;
    } rows[] = {
        {"zkr_connected", "gauge", "1 if a server serves the session now.",
         r->connected},
        {"zkr_sessions", "counter", "Sessions established.", r->stats.sessions},
        {"zkr_expirations", "counter",
         "Sessions that ended before the client was closed.", r->stats.expirations},
        {"zkr_reconnects", "counter", "Reconnections within a session.",
         r->stats.reconnects},
        {"zkr_requests", "counter", "Requests sent, without pings.", r->stats.requests},
        {"zkr_probes", "counter", "Lease probes sent.", r->stats.probes},
        {"zkr_pending_deletes", "gauge", "Nodes whose deletion is not confirmed yet.",
         r->stats.pending_deletes},
        {"zkr_news_ignored", "counter",
         "Notifications of other processes that were not used.", r->news_ignored},
        {"zkr_dropped_log_lines", "counter", "Log lines dropped.", r->dropped_log},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        put_family(out, rows[i].name, rows[i].type, rows[i].help);
        put_sample(out, rows[i].name, is_counter(rows[i].type) ? "_total" : "",
                   (struct labels){0}, rows[i].number);
    }
    put_time(out, "zkr_session_timeout_seconds",
             "Shortest timeout granted to the session.", r->session_ms);
    if (r->measured) {
        put_time(out, "zkr_lease_bound_seconds",
                 "Time for which the session is guaranteed to be alive.", r->bound_ms);
    }
    put_family(out, "zkr_probe_round_trip_seconds", "histogram",
               "Round trips of lease probes.");
    put_histogram(out, "zkr_probe_round_trip_seconds", NULL, &r->probes);
}

/* --- reading --- */

static bool read_all(zkr_client *c, struct reading *r) ZKR__LOCKED
{
    const struct zkr__meters *meters = &c->meters;
    bool others = meters->other.path != NULL && meters->count >= ZKR__METERS;
    *r = (struct reading){.stats = c->stats,
                          .connected = c->state == ZKR_STATE_CONNECTED,
                          .measured = c->options.lease_probe_ms >= 0,
                          .session_ms = c->session_ms,
                          .bound_ms = zkr__valid_for_ms(c),
                          .news_ignored = c->news_ignored,
                          .dropped_log =
                              __atomic_load_n(&c->log_dropped, __ATOMIC_RELAXED),
                          .probes = c->probe_trips};
    r->meters = zkr__mem_alloc((meters->count + 1) * sizeof(*r->meters));
    if (!r->meters) {
        return false;
    }
    for (const struct zkr__meter *m = meters->list; m; m = m->next) {
        r->meters[r->count++] = *m;
    }
    if (others) {
        r->meters[r->count++] = meters->other;
    }
    return true;
}

int zkr_client_metrics(zkr_client *c, char *buf, size_t size, size_t *needed)
{
    int rc = zkr__client_enter(c);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (!buf && size > 0) {
        return zkr__fail(ZKR_EINVAL, NULL, "zkr_client_metrics: there is no buffer");
    }
    struct reading r;
    zkr__lock(c);
    bool whole = read_all(c, &r);
    zkr__unlock(c);
    if (!whole) {
        return zkr__fail(ZKR_ENOMEM, NULL, "zkr_client_metrics: out of memory");
    }
    struct out out = {.buf = buf, .size = size};
    put_paths(&out, &r);
    put_client(&out, &r);
    put(&out, "# EOF\n");
    out.len++; /* the terminating zero */
    zkr__mem_free(r.meters);
    if (needed) {
        *needed = out.len;
    }
    if (out.len <= size) {
        return ZKR_OK;
    }
    if (size > 0) {
        buf[size - 1] = '\0';
    }
    return zkr__fail(ZKR_EINVAL, NULL, "the metrics need a buffer of %zu bytes",
                     out.len);
}
