/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease bound: until when no server can have ended our session. Pure arithmetic on the send
 * and answer times of quorum writes (CLOCK_BOOTTIME, ns).
 *
 * What a server promises. The leader keeps a time for each session, and may end it no earlier. It sets that time
 *  - when it hears of us: to now + the timeout of the connection that it hears by, be it more or less than before.
 *    A follower names us with that timeout, as it forwards our handshake or answers the leader's ping;
 *  - as it becomes the leader: to now + the timeout by which the session was created. That one is in the log; what
 *    was granted since is not (ZooKeeper: SessionTrackerImpl, ZKDatabase.getSessionWithTimeOuts).
 *
 * So S is the smallest timeout that servers have granted to this session, its creation included. It never grows.
 * Whatever sets that time, and whenever, sets it to now + S at least. Hence this lemma, on which all rules stand:
 * if some leader heard of us at a time h or later, and was the leader still, no leader ends the session before
 * h + S. For the time stood at h + S or later then, and each setting since has left it at its own now + S, which is
 * later still: by us, by another server that we have left and that speaks of us late, by the next leader. None
 * but the leader of the moment can end a session, as that is a write.
 * A write that is answered with success shows that the leader that took it was the leader as it proposed it: a quorum
 * took it, and one that follows the next leader takes nothing from the one before. So what that leader had heard
 * by then it had heard in time, and the next began later than that.
 * A connection ends when its server loses its leader. So all writes of one connection are of one leader.
 *
 * How the leader hears. A follower tells it whom it heard from only when answering its ping, which comes
 * every tick/2 (ZooKeeper: Leader.lead, Learner.ping). Each timeout granted is two ticks or more, so S >= 2 ticks,
 * and pings come at least every S/4. Pings and commits to a follower share one ordered stream, and so do its ping
 * answers and requests. Reads, pings and a connected state prove nothing: a cut-off follower goes on answering them.
 *
 * Rules, each giving an h that the lemma holds for; the bound is the latest h + S.
 *  1. Beginning of a connection. The creation of a session is a write at the leader, which counts from there: h =
 *     opened. The handshake of each later connection a follower forwards at once, and waits for the leader's answer. So
 *     the leader that takes a write of that connection has heard of the handshake, which was sent after the last
 *     answer on the connection before: h = the time at which was sent what it answers. It needs one write, for a stale
 *     leader answers handshakes, too.
 *  2. Chain of three writes on one connection, A, B, C. B sent S/4 after A was answered: a ping
 *     left the leader between the two commits, so the follower has answered it, naming us in this answer or in one
 *     before, when it gets B's commit. C sent after B was answered: it follows that answer to the
 *     leader. C answered: the leader that took C heard of us no earlier than A was sent, and before C: h = A.sent.
 *  3. One write alone, when answered within S/12. libzookeeper pings when idle for a third of the timeout in
 *     force; while that is longer than S, the service sends a read when idle for S/3. While a request waits for its
 *     answer libzookeeper sends no pings; then the nudge (service.c, both) sends a read, every
 *     S/10 at least. So something was sent in the S/3 before the write, and what was
 *     sent tick/2 before the write has reached the leader: h = sent - S/3 - S/4. On a connection that is younger than
 *     that it was the handshake, as in rule 1. This rule is a stopgap until the
 *     first chain is complete, and leans on what we cannot measure: that neither the process nor its
 *     line had been standing still right before, and that the leader's pings before the write were
 *     not held up. If either fails, and the follower is cut off before its next ping answer, the
 *     bound can be late by as long as that stall, at most by 5S/12, for the leader knew the session
 *     when it took the write. The fencing token covers that, as it does a frozen machine; who wants
 *     no stopgap refuses the rule (terms.no_stopgap).
 * From all of them a margin, S/1000 unless told, is taken for a clock of ours that is slow. For one that is
 * fast by more than that, S/4 above is longer by the same part.
 *
 * A timeout shorter than S, granted at a re-connect, is the new S. Bounds that count with the old one no longer hold:
 * either the leader has heard of the handshake, and the session lives for the new S from there at least; or a stale
 * one has answered it, and the old bound stands. What was answered by the old connection was sent before the
 * handshake. So the bound is at most last.sent + S. Between a server's handshake and our learning of it we still count
 * with the old S: if the process stops exactly there, or the connection
 * breaks before the answer is read, we may believe in a hold for up to the difference. And a hold that has not been
 * probed yet, as it is young, may be lost to the new S: it goes by writes from before.
 * Which timeouts were granted session.c finds out; a session of which it cannot tell is given up.
 *
 * Probing: a write every gap/n, counted from the answer of the one before; gap is tick/2 and a bit.
 * Just before the next one is answered, A is (n + 2) * gap/n old. With the usual n of 3 the bound is
 * never less than 0.55 S ahead, and a client that writes all the time has 0.7 S. With less than S/3
 * left, writes come every S/32. All of it goes by S, as the bound does, also while a longer timeout is in force.
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
    int64_t session;        /* S: the smallest timeout that was granted to it */
    int64_t gap;            /* least time from A answered to B sent */
    int64_t pause;          /* between probes */
    int64_t until;          /* the bound */
    struct zkr__write last; /* answered last; at first the opening */
    struct zkr__write writes[ZKR__LEASE_WRITES]; /* ring */
    unsigned count;                              /* ever put into it */
};

/* A new session. @granted: its timeout. @opened: taken before its creation can have been asked for. */
void zkr__lease_begin(struct zkr__lease *l,
                      const struct zkr__lease_terms *terms,
                      int64_t granted,
                      int64_t opened);
/* The session went to another connection, with perhaps another timeout. Chains start anew. */
void zkr__lease_reconnected(struct zkr__lease *l, int64_t granted);
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
