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
 *  3. One write alone, when answered within S/12. libzookeeper pings when idle for S/3. While a
 *     request waits for its answer it sends no pings; then the nudge (service.c) sends a read, every
 *     S/10 at least. So something was sent in the S/3 before the write, and what was sent tick/2
 *     before the write has reached the leader: sent + S - S/3 - S/4. It is a stopgap until the
 *     first chain is complete, and leans on what we cannot measure: that neither the process nor its
 *     line had been standing still right before, and that the leader's pings before the write were
 *     not held up. If either fails, and the follower is cut off before its next ping answer, the
 *     bound can be late by as long as that stall, at most by 5S/12, for the leader knew the session
 *     when it took the write. The fencing token covers that, as it does a frozen machine; who wants
 *     no stopgap refuses the rule (terms.no_stopgap).
 * From all of them a margin, S/1000 unless told, is taken for a clock of ours that is slow. For one that is
 * fast by more than that, S/4 above is longer by the same part.
 *
 * S is negotiated anew at each connection. The leader counts with the S of the connection by which
 * it hears of us, from the handshake on. With a smaller S, either the leader has heard of the handshake,
 * and the session lives for the new S from there at least; or a stale one has answered it, and the old
 * bound stands. What was answered by the old connection was sent before the handshake. So the bound is
 * at most last.sent + S. A larger S counts for what is heard one old S after the re-connect or
 * later, when the server we left has said its last word about us. Between a server's handshake and our
 * learning of it we still count with the old S: if the process stops exactly there, or the connection
 * breaks before the answer is read, we may believe in a hold for up to the difference.
 *
 * Probing: a write every gap/n, counted from the answer of the one before; gap is tick/2 and a bit.
 * Just before the next one is answered, A is (n + 2) * gap/n old. With the usual n of 3 the bound is
 * never less than 0.55 S ahead, and a client that writes all the time has 0.7 S. With less than S/3
 * left, writes come every S/32.
 */
#ifndef ZKR_SESSION_LEASE_H
#define ZKR_SESSION_LEASE_H

#include <stdbool.h>
#include <stdint.h>

struct zkr__write {
    int64_t sent, answered; /* sent: taken before the request was submitted */
};

/* What does not change from one connection to the next. */
struct zkr__lease_terms {
    int64_t tick;       /* of the servers, ns; 0 = unknown, S/2 at most */
    int64_t pause;      /* wanted time between probes, ns; 0 = S/12 */
    int64_t margin_ppm; /* by how much clocks may differ in rate; 0 = 1000 */
    bool no_stopgap;    /* without rule 3 */
};

/* Writes that are remembered, at least gap/16 apart: they go back four gaps. */
enum { ZKR__LEASE_WRITES = 64 };

struct zkr__lease {
    struct zkr__lease_terms terms;
    int64_t session;        /* S */
    int64_t gap;            /* least time from A answered to B sent */
    int64_t pause;          /* between probes */
    int64_t until;          /* the bound */
    int64_t grown, grow_at; /* a larger S, for writes sent from then on; 0 = none */
    int64_t since;          /* the present S counts for what was heard from here on */
    struct zkr__write last; /* answered last; at first the opening */
    struct zkr__write writes[ZKR__LEASE_WRITES]; /* ring */
    unsigned count;                              /* ever put into it */
};

/* A new session. @opened: taken before its creation can have been asked for. */
void zkr__lease_begin(struct zkr__lease *l,
                      const struct zkr__lease_terms *terms,
                      int64_t session,
                      int64_t opened);
/* The session went to another connection, @now, with perhaps another S. Chains start anew. */
void zkr__lease_reconnected(struct zkr__lease *l, int64_t session, int64_t now);
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
