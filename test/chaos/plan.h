/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_PLAN_H
#define ZKC_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The schedule of faults depends only on the seed and on the kinds of faults. Every round has each kind once, in its
 * own order.
 */

#define ZKC_FAULT_MAP(X)                                                               \
    X(LEADER_KILLED, "leader killed and restarted", 300, 1500)                         \
    X(FOLLOWER_KILLED, "follower killed and restarted", 300, 2500)                     \
    X(SERVER_PAUSED, "server stopped, less than a session", 300, 1500)                 \
    X(SERVER_STOPPED, "server stopped, more than a session", 2500, 5000)               \
    X(CLIENT_PAUSED, "client stopped, less than a session", 300, 1500)                 \
    X(CLIENT_STOPPED, "client stopped, more than a session", 2600, 4500)               \
    X(CLIENT_KILLED, "client killed and restarted", 0, 0)                              \
    X(GUARDIAN_KILLED, "guardian killed, perhaps with its client", 0, 0)               \
    X(CLIENT_DROPPED, "client's connections dropped", 100, 600)                        \
    X(CLIENT_CUT_OFF, "client cut off in silence", 600, 4500)                          \
    X(CLIENT_REFUSED, "client's connections reset", 600, 4500)                         \
    X(CLIENT_SLOWED, "client's connections slow", 1500, 4000)                          \
    X(FOLLOWER_CUT_OFF, "follower cut from the leader", 1500, 6000)                    \
    X(LEADER_CUT_OFF, "leader cut from the others", 4000, 6000)                        \
    X(REPLY_LOST, "reply of the n-th request lost", 2000, 3000)                        \
    X(ALL_RESTARTED, "all servers restarted", 200, 800)                                \
    X(LIMITS_CHANGED, "limits changed at restart", 200, 800)                           \
    X(SERVER_MOVED, "server moved", 1500, 4000)                                        \
    X(PARENT_DELETED, "empty lock path deleted", 4000, 5000)                           \
    X(HOLDER_DELETED, "holder's node deleted from outside", 2000, 3000)                \
    X(HOLDER_REPLACED, "holder's node replaced by another's", 1500, 3000)              \
    X(FORBIDDEN, "permissions taken away", 1500, 4000)                                 \
    X(WALL_STEPPED, "wall clocks stepped", 1500, 4000)                                 \
    X(DISK_SLOW, "disk of a server slow", 3000, 6000)                                  \
    X(DISK_FULL, "disk of a server full", 500, 2500)                                   \
    X(LACKING, "client's servers lack operations", 1500, 4000)                         \
    X(NEW_SESSIONS, "client's servers begin new sessions", 1500, 4000)                 \
    X(NO_LEADER, "client's servers refuse sessions", 600, 4000)                        \
    X(COUNTS_CHANGES, "client's servers count changes", 1500, 4000)                    \
    /* The kinds from here on come only in runs that name them. */                     \
    X(RECONFIGURED, "server removed and added by reconfig", 1000, 4000)                \
    X(ROLLED, "servers of another release, and back", 1000, 4000)                      \
    X(SNAPSHOT_TAKEN, "snapshot by the AdminServer", 500, 2000)                        \
    X(SNAPSHOT_RESTORED, "snapshot restored on one server", 1000, 3000)

enum zkc_fault_kind {
#define ZKC_FAULT_ENUM_(name, text, least, most) ZKC_##name,
    ZKC_FAULT_MAP(ZKC_FAULT_ENUM_)
#undef ZKC_FAULT_ENUM_
        ZKC_FAULT_KINDS
};

typedef struct zkc_fault {
    enum zkc_fault_kind kind;
    uint32_t who;    /* modulo the number of candidates */
    uint32_t how;    /* modulo the number of variants */
    int64_t span_ms; /* duration, or the longest duration */
    int64_t rest_ms; /* pause before the next fault */
} zkc_fault;

/** A set of kinds of faults, one bit for each. */
typedef uint64_t zkc_kinds;

/** The kinds of faults in a run without --nemesis. */
enum { ZKC_USUAL_KINDS = ZKC_RECONFIGURED };
#define ZKC_USUAL (((zkc_kinds)1 << ZKC_USUAL_KINDS) - 1)

static inline bool zkc_has_kind(zkc_kinds kinds, int kind)
{
    return (kinds >> kind & 1) != 0;
}

/** Read a list such as "leader-killed,disk-full", or "usual". Returns false if a name is unknown. */
bool zkc_kinds_read(const char *list, zkc_kinds *out);

typedef struct zkc_plan {
    uint64_t random;
    int kinds; /* kinds in a round */
    int drawn; /* faults of this round so far */
    enum zkc_fault_kind round[ZKC_FAULT_KINDS];
} zkc_plan;

/** SplitMix64: returns the next number of the sequence. */
uint64_t zkc_random(uint64_t *state);
/** Returns a random number from @least to @most. */
int64_t zkc_between(uint64_t *state, int64_t least, int64_t most);

void zkc_plan_begin(zkc_plan *p, uint64_t seed, zkc_kinds kinds);
zkc_fault zkc_plan_next(zkc_plan *p);
const char *zkc_fault_name(int kind);

#endif
