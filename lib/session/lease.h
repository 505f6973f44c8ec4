/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease bound: until when no server can have ended our session. Pure arithmetic on the send
 * and answer times of quorum writes (CLOCK_BOOTTIME, ns); S is the session timeout.
 *
 * What a server promises: a session lives at least S after the leader last heard of it. A
 * follower tells the leader whom it heard from only when answering the leader's ping, which comes
 * every tick/2 (ZooKeeper: Leader.lead, Learner.ping); S >= 2 ticks, so at least every S/4. Pings
 * and commits to a follower share one ordered stream, and so do its ping answers and requests.
 * Reads, pings and a connected state prove nothing: a cut-off follower goes on answering them.
 *
 * Rules, each giving a time; the bound is the latest.
 *  1. Creation of the session is a write at the leader: opened + S.
 *  2. Chain of three writes on one connection, A, B, C. B sent S/4 after A was answered: a ping
 *     left the leader between the two commits, so the follower has answered it, naming us,
 *     before it got B's commit. C sent after B was answered: it follows that answer to the
 *     leader. C answered: the leader heard of us no earlier than A was sent, so A.sent + S.
 *  3. One write alone, when answered within S/12. libzookeeper pings when idle for S/3, and what
 *     was sent tick/2 before the write has reached the leader: sent + S - S/3 - S/4. It is a
 *     stopgap until the first chain is complete, and leans on what we cannot measure: that neither
 *     the process nor its line had been standing still right before, and that the leader's pings
 *     before the write were not held up. If either fails, and the follower is cut off before its
 *     next ping answer, the bound can be late by as long as that stall, at most by 5S/12, for the
 *     leader knew the session when it took the write. The fencing token covers that, as it does a
 *     frozen machine.
 * From all of them S/1000 is taken for clocks that run at different rates.
 *
 * Probing: B is due S/4 after A, C at once after B, and then B serves as the next A. So two
 * writes every S/4 keep the bound about S/2 to 3S/4 ahead. Until the first chain is complete,
 * which takes S/4 from the first write after an idle time, there is only rule 3: then a write is
 * due whenever less than S/3 is left.
 */
#ifndef ZKR_SESSION_LEASE_H
#define ZKR_SESSION_LEASE_H

#include <stdbool.h>
#include <stdint.h>

struct zkr__write {
    int64_t sent, answered; /* sent: taken before the request was submitted */
};

struct zkr__lease {
    int64_t session;        /* S */
    int64_t gap;            /* least time from A answered to B sent */
    int64_t until;          /* the bound */
    struct zkr__write a, b; /* sent == 0: none yet */
    int64_t last_sent;      /* latest answered write */
};

/*
 * A new session. @opened: taken before its creation can have been asked for. @pause: wanted
 * time between probes, 0 = S/4; held between that and 2S/5.
 */
void zkr__lease_begin(struct zkr__lease *l,
                      int64_t session,
                      int64_t pause,
                      int64_t opened);
/* The session went to another connection: chains start anew, the bound stays. */
void zkr__lease_reconnected(struct zkr__lease *l);
/* The session is over. */
void zkr__lease_end(struct zkr__lease *l);
/* A write was answered with success. */
void zkr__lease_answered(struct zkr__lease *l, int64_t sent, int64_t answered);

/* When the next probe is due, while anything is held. May lie in the past. */
int64_t zkr__lease_probe_at(const struct zkr__lease *l);

static inline bool zkr__lease_alive(const struct zkr__lease *l, int64_t boot)
{
    return boot < l->until;
}

#endif
