/* SPDX-License-Identifier: Apache-2.0 */
#include "transition.h"

#include <stdio.h>

/* --- packing --- */

static bool is_parked(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__PARKED;
}

static unsigned wish(const struct zkr__claim_state *k)
{
    return k->revocation == 0 ? 0 : k->revocation == k->told ? 1 : 2;
}

// clang-format off
/* The number of bits, the name, and the value. */
#define FIELDS(F)                                     \
    F(4, phase, k->phase)                             \
    F(4, next, k->phase == ZKR__PAUSED ? k->next : 0) \
    F(3, own, k->own)                                 \
    F(2, then, is_parked(k) ? k->then : 0)            \
    F(3, look, is_parked(k) ? k->look : 0)            \
    F(2, departure, k->departure)                     \
    F(2, downgrade, k->downgrade)                     \
    F(2, metadata, k->metadata)                       \
    F(2, writing, k->writing > 2 ? 2 : k->writing)    \
    F(2, wish, wish(k))                               \
    F(1, has_metadata, k->has_metadata)               \
    F(1, leaving, k->leaving)                         \
    F(1, unchecked, k->unchecked)                     \
    F(1, keeps_place, k->keeps_place)                 \
    F(1, watch_children, k->watch_children)           \
    F(1, waited, is_parked(k) && k->waited)           \
    F(1, made_parents, k->made_parents)               \
    F(1, member, k->member)                           \
    F(1, place_lost, k->place_lost)                   \
    F(1, pauses, k->pauses)                           \
    F(1, saw_ahead, is_parked(k) && k->saw_ahead)     \
    F(1, kept, k->kept)                               \
    F(1, held_once, k->holds > 0)                     \
    F(1, failed, k->failure != 0)                     \
    F(1, lost, k->lost != 0)                          \
    F(1, behind, k->ahead != INT64_MAX)               \
    F(1, no_version, k->version < 0)                  \
    F(1, told, k->told != 0)
// clang-format on

#define PACK(bits, name, value) packed = packed << (bits) | (uint64_t)(value);
#define DESCRIBE(bits, name, value) {#name, bits},

static uint64_t pack(const struct zkr__claim_state *k)
{
    uint64_t packed = 0;
    FIELDS(PACK)
    return packed;
}

static const struct {
    const char *name;
    unsigned bits;
} fields[] = {FIELDS(DESCRIBE)};

enum { FIELD_COUNT = sizeof(fields) / sizeof(fields[0]) };

struct zkt_transition zkt_transition_whole(const struct zkr__claim_state *before,
                                           const struct zkr__claim_event *e,
                                           const struct zkr__claim_state *after,
                                           unsigned todo)
{
    return (struct zkt_transition){.before = pack(before),
                                   .after = pack(after),
                                   .kind = (uint32_t)e->kind,
                                   .todo = todo};
}

/* --- features --- */

/* Each of these functions removes a feature from a state. */

static void drop_metadata(struct zkr__claim_state *k)
{
    k->metadata = ZKR__METADATA_DUE;
}

static void drop_has_metadata(struct zkr__claim_state *k)
{
    k->has_metadata = false;
}

static void drop_version(struct zkr__claim_state *k)
{
    k->version = 0;
}

static void drop_doubt(struct zkr__claim_state *k)
{
    k->keeps_place = false;
}

static void drop_wish(struct zkr__claim_state *k)
{
    k->revocation = k->told = 0;
}

static void drop_writes(struct zkr__claim_state *k)
{
    k->writing = 0;
    k->departure = ZKR__STAYS;
}

static void drop_parents(struct zkr__claim_state *k)
{
    k->made_parents = false;
}

static void drop_pause(struct zkr__claim_state *k)
{
    k->pauses = false;
}

static void drop_refusal(struct zkr__claim_state *k)
{
    k->unchecked = false;
}

/* There was no room for the watch on the node. */
static void drop_unwatched(struct zkr__claim_state *k)
{
    k->own = k->own == ZKR__OWN_SEEN ? ZKR__OWN_SET : k->own;
}

static void drop_holds(struct zkr__claim_state *k)
{
    k->holds = 0;
}

static void drop_place(struct zkr__claim_state *k)
{
    k->ahead = INT64_MAX;
}

/* The step itself, not the function that records it (trace.c). */
zkr__step __real_zkr__claim_step;

/*
 * Remove the feature from both states if the step is the same without it and keeps it, or from the state before if the
 * step overwrites it.
 */
static void project(struct zkr__claim_state *before,
                    const struct zkr__claim_event *e,
                    struct zkr__claim_state *after,
                    unsigned todo,
                    void (*drop)(struct zkr__claim_state *k))
{
    struct zkr__claim_state start = *before, end = *after;
    drop(&start);
    drop(&end);
    const struct zkr__claim_state begun = start;
    const uint64_t had = pack(before) ^ pack(&start);
    if (had == 0 || __real_zkr__claim_step(&start, e) != todo) {
        return;
    }
    if (pack(&start) == pack(&end) && had == (pack(after) ^ pack(&end))) {
        *before = begun;
        *after = end;
    } else if (pack(&start) == pack(after)) {
        *before = begun;
    }
}

struct zkt_transition zkt_transition(const struct zkr__claim_state *before,
                                     const struct zkr__claim_event *e,
                                     const struct zkr__claim_state *after,
                                     unsigned todo)
{
    static void (*const features[])(struct zkr__claim_state * k) = {
        drop_metadata, drop_has_metadata, drop_version, drop_doubt,
        drop_wish,     drop_writes,       drop_parents, drop_pause,
        drop_refusal,  drop_holds,        drop_place,   drop_unwatched};
    struct zkr__claim_state from = *before, to = *after;
    for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
        project(&from, e, &to, todo, features[i]);
    }
    return zkt_transition_whole(&from, e, &to, todo);
}

/* --- hash --- */

uint64_t zkt_mix(uint64_t x)
{
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

uint64_t zkt_transition_hash(const struct zkt_transition *t)
{
    uint64_t h = zkt_mix(t->before + 1) ^ (zkt_mix(t->after + 2) * 3);
    h = zkt_mix(h ^ ((uint64_t)t->kind << 32 | t->todo));
    return h == 0 ? 1 : h;
}

/* --- text --- */

static const char *const phases[] = {
    "PAUSED", "LOOKING",    "CREATING", "FINDING", "ADOPTING", "LISTING",  "PARKED",
    "READY",  "CONFIRMING", "PROVING",  "HELD",    "DOUBTED",  "REMOVING", "GONE"};

static const char *const kinds[ZKR__EV_KINDS] = {
    "START",          "CONNECTED",      "PAUSE_OVER", "SESSION_OVER",  "CREATED",
    "LISTED",         "GOT_AHEAD",      "GOT_OWN",    "GOT_OWNER",     "AHEAD_GONE",
    "AHEAD_RELEASED", "AHEAD_WRITES",   "AHEAD_TOLD", "AHEAD_CHANGED", "GOT_BEFORE",
    "BEFORE_GONE",    "BEFORE_CHANGED", "OWN_GONE",   "OWN_CHANGED",   "OWN_UNCHECKED",
    "ALL_READY",      "PROVED",         "REMOVED",    "RESTORED",      "QUIET",
    "UNHEARD",        "LEASE_EXPIRED",  "GIVE_UP",    "WRITING",       "WRITTEN",
    "METADATA_SENT",  "NOTED",          "DOWNGRADE",  "DOWNGRADED",    "KEPT",
    "TAKEN",          "LEAVE",
};

const char *zkt_phase_name(enum zkr__phase phase)
{
    return phases[phase];
}

const char *zkt_event_name(enum zkr__event_kind kind)
{
    return kinds[kind];
}

static void print_state(uint64_t packed, FILE *to)
{
    unsigned left = 0;
    for (int i = 0; i < FIELD_COUNT; i++) {
        left += fields[i].bits;
    }
    for (int i = 0; i < FIELD_COUNT; i++) {
        left -= fields[i].bits;
        unsigned value =
            (unsigned)(packed >> left & ((UINT64_C(1) << fields[i].bits) - 1));
        if (i == 0) {
            (void)fputs(phases[value], to);
        } else if (value != 0 && fields[i].bits == 1) {
            (void)fprintf(to, " %s", fields[i].name);
        } else if (value != 0) {
            (void)fprintf(to, " %s=%u", fields[i].name, value);
        }
    }
}

void zkt_transition_print(const struct zkt_transition *t, char *text, size_t size)
{
    FILE *to = fmemopen(text, size, "w");
    if (to) {
        print_state(t->before, to);
        (void)fprintf(to, " -- %s --> ", kinds[t->kind]);
        print_state(t->after, to);
        (void)fprintf(to, ", to do %x", t->todo);
        (void)fclose(to);
    }
}
