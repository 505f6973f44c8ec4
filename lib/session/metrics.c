/* SPDX-License-Identifier: Apache-2.0 */
/* All that a client has measured, as OpenMetrics text. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <zkr/metrics.h>

#include "base/error.h"
#include "base/mem.h"
#include "session/bound.h"

/* --- text, of which no more is kept than fits --- */

struct out {
    char *buf;
    size_t size, len;
};

static void put_bytes(struct out *out, const char *from, size_t len)
{
    if (out->len < out->size) {
        size_t room = out->size - out->len;
        memcpy(out->buf + out->len, from, len < room ? len : room);
    }
    out->len += len;
}

static void put(struct out *out, const char *text)
{
    put_bytes(out, text, strlen(text));
}

static void put_number(struct out *out, int64_t number)
{
    char text[24];
    (void)snprintf(text, sizeof(text), "%lld", (long long)number);
    put(out, text);
}

/* Without floating point: the program's locale may write a comma. */
static void put_seconds(struct out *out, int64_t ns)
{
    enum { DIGITS = 9 };
    char text[32];
    const int64_t second = 1000 * ZKR__MS;
    (void)snprintf(text, sizeof(text), "%lld.%0*lld", (long long)(ns / second), DIGITS,
                   (long long)(ns % second));
    put(out, text);
}

static void put_escaped(struct out *out, const char *value)
{
    for (; *value != '\0'; value++) {
        put(out, *value == '\n' ? "\\n" : *value == '"' || *value == '\\' ? "\\" : "");
        put_bytes(out, value, *value != '\n');
    }
}

static void
put_family(struct out *out, const char *name, const char *type, const char *help)
{
    static const char unit[] = "_seconds";
    size_t len = strlen(name), unit_len = sizeof(unit) - 1;
    const char *const head[] = {"# TYPE ", name, " ", type, "\n"};
    for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++) {
        put(out, head[i]);
    }
    if (len > unit_len && strcmp(name + len - unit_len, unit) == 0) {
        put(out, "# UNIT ");
        put(out, name);
        put(out, " seconds\n");
    }
    put(out, "# HELP ");
    put(out, name);
    put(out, " ");
    put(out, help);
    put(out, "\n");
}

/* "name{path="…",key="value"} ", or as much of it as there is. */
static void put_name(struct out *out,
                     const char *name,
                     const char *suffix,
                     const char *path,
                     const char *key,
                     const char *value)
{
    put(out, name);
    put(out, suffix);
    if (path || key) {
        put(out, "{");
    }
    if (path) {
        put(out, "path=\"");
        put_escaped(out, path);
        put(out, key ? "\"," : "\"");
    }
    if (key) {
        put(out, key);
        put(out, "=\"");
        put(out, value);
        put(out, "\"");
    }
    put(out, path || key ? "} " : " ");
}

static void put_sample(struct out *out,
                       const char *name,
                       const char *suffix,
                       const char *path,
                       int64_t number)
{
    put_name(out, name, suffix, path, NULL, NULL);
    put_number(out, number);
    put(out, "\n");
}

static void put_histogram(struct out *out,
                          const char *name,
                          const char *path,
                          const struct zkr__histogram *h)
{
    int64_t count = 0;
    for (int i = 0; i <= ZKR__BOUNDS; i++) {
        count += h->counts[i];
        put_name(out, name, "_bucket", path, "le", zkr__histogram_bound(i));
        put_number(out, count);
        put(out, "\n");
    }
    put_sample(out, name, "_count", path, count);
    put_name(out, name, "_sum", path, NULL, NULL);
    put_seconds(out, h->sum_ns);
    put(out, "\n");
}

/* --- what is told --- */

struct reading {
    zkr_stats stats;
    bool connected, measured;
    int64_t session_ms, bound_ms, dropped_log;
    struct zkr__histogram probes;
    size_t count;
    struct zkr__meter *meters; /* copies; their paths live as long as the client */
};

static void put_paths(struct out *out, const struct reading *r)
{
#define FIELD(member) offsetof(struct zkr__counts, member)
    static const struct {
        const char *name, *type, *help;
        size_t offset;
    } rows[] = {
        {"zkr_waiting", "gauge", "Waiting in the queue now.", FIELD(waiting)},
        {"zkr_held", "gauge", "Held now.", FIELD(held)},
        {"zkr_acquired", "counter", "Granted, re-entries excepted.", FIELD(acquired)},
        {"zkr_contended", "counter", "Granted after waiting behind another.",
         FIELD(contended)},
        {"zkr_timed_out", "counter", "Given up at the timeout.", FIELD(timed_out)},
        {"zkr_canceled", "counter", "Given up by the application.", FIELD(canceled)},
        {"zkr_failed", "counter", "Given up because of an error.", FIELD(failed)},
        {"zkr_reentries", "counter", "Acquired again by who held already.",
         FIELD(reentries)},
    };
#undef FIELD
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool counter = strcmp(rows[i].type, "counter") == 0;
        put_family(out, rows[i].name, rows[i].type, rows[i].help);
        for (size_t p = 0; p < r->count; p++) {
            const char *base = (const char *)&r->meters[p].n;
            int64_t number;
            memcpy(&number, base + rows[i].offset, sizeof(number));
            put_sample(out, rows[i].name, counter ? "_total" : "", r->meters[p].path,
                       number);
        }
    }
}

/* Counters of each path by kinds: an array of struct zkr__counts. */
struct kinds {
    const char *name, *help, *key;
    const char *const *kinds;
    size_t count, offset;
};

static void put_kinds(struct out *out, const struct reading *r, const struct kinds *f)
{
    put_family(out, f->name, "counter", f->help);
    for (size_t p = 0; p < r->count; p++) {
        const char *numbers = (const char *)&r->meters[p].n + f->offset;
        for (size_t k = 0; k < f->count; k++) {
            int64_t number;
            memcpy(&number, numbers + k * sizeof(number), sizeof(number));
            put_name(out, f->name, "_total", r->meters[p].path, f->key, f->kinds[k]);
            put_number(out, number);
            put(out, "\n");
        }
    }
}

static void put_by_kind(struct out *out, const struct reading *r)
{
    static const char *const reasons[] = {
        [ZKR__METERED_SESSION] = "session",
        [ZKR__METERED_NODE] = "node",
        [ZKR__METERED_LEASE] = "lease",
        [ZKR__METERED_STOPPED] = "stopped",
    };
    static const char *const ways[] = {[ZKR__BY_NEIGHBOUR] = "local",
                                       [ZKR__BY_EVENT] = "event",
                                       [ZKR__BY_LIST] = "list"};
    static const struct kinds lost = {
        "zkr_lost", "Lost while held.",  "reason",
        reasons,    ZKR__METERED_LOSSES, offsetof(struct zkr__counts, lost)};
    static const struct kinds hand_overs = {
        "zkr_hand_overs", "Grants after a wait.",
        "kind",           ways,
        ZKR__HAND_OVERS,  offsetof(struct zkr__counts, hand_overs)};
    put_kinds(out, r, &lost);
    put_kinds(out, r, &hand_overs);
}

static void put_times(struct out *out, const struct reading *r)
{
    put_family(out, "zkr_wait_seconds", "histogram", "From asking to the grant.");
    for (size_t p = 0; p < r->count; p++) {
        put_histogram(out, "zkr_wait_seconds", r->meters[p].path, &r->meters[p].n.wait);
    }
    put_family(out, "zkr_hold_seconds", "histogram",
               "From the grant to the release or the loss.");
    for (size_t p = 0; p < r->count; p++) {
        put_histogram(out, "zkr_hold_seconds", r->meters[p].path, &r->meters[p].n.hold);
    }
}

static void put_time(struct out *out, const char *name, const char *help, int64_t ms)
{
    put_family(out, name, "gauge", help);
    put(out, name);
    put(out, " ");
    put_seconds(out, ms * ZKR__MS);
    put(out, "\n");
}

static void put_client(struct out *out, const struct reading *r)
{
    const struct {
        const char *name, *type, *help;
        int64_t number;
    } rows[] = {
        {"zkr_connected", "gauge", "A server has the session now.", r->connected},
        {"zkr_sessions", "counter", "Sessions established.", r->stats.sessions},
        {"zkr_expirations", "counter", "Sessions that ended, but for the close.",
         r->stats.expirations},
        {"zkr_reconnects", "counter", "Connections made again within a session.",
         r->stats.reconnects},
        {"zkr_requests", "counter", "Requests sent, pings excepted.",
         r->stats.requests},
        {"zkr_probes", "counter", "Lease probes sent.", r->stats.probes},
        {"zkr_pending_deletes", "gauge", "Nodes not yet confirmed gone.",
         r->stats.pending_deletes},
        {"zkr_dropped_log_lines", "counter", "Log lines dropped.", r->dropped_log},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool counter = strcmp(rows[i].type, "counter") == 0;
        put_family(out, rows[i].name, rows[i].type, rows[i].help);
        put_sample(out, rows[i].name, counter ? "_total" : "", NULL, rows[i].number);
    }
    put_time(out, "zkr_session_timeout_seconds", "Session timeout in force.",
             r->session_ms);
    if (r->measured) {
        put_time(out, "zkr_lease_bound_seconds",
                 "For how long the session is surely alive.", r->bound_ms);
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
                          .dropped_log =
                              __atomic_load_n(&c->log_dropped, __ATOMIC_RELAXED),
                          .probes = c->probe_trips};
    r->meters = zkr__mem_alloc((meters->count + 1) * sizeof(*r->meters));
    if (!r->meters) {
        return false;
    }
    for (const struct zkr__meter *m = meters->first; m; m = m->next) {
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
    put_by_kind(&out, &r);
    put_times(&out, &r);
    put_client(&out, &r);
    put_bytes(&out, "# EOF\n", sizeof("# EOF\n"));
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
