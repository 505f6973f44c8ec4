/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease bound: until when no server can have ended our session. Pure arithmetic on when quorum writes were sent and
 * answered (CLOCK_BOOTTIME, ns).
 *
 * What servers promise. The leader keeps a time for each session, and does not end the session before that time. It
 * sets the time
 *  - when it hears of us, to now + the timeout of the connection by which it hears: a follower names us, with that
 *    timeout, as it forwards our handshake or answers the leader's ping;
 *  - as it becomes the leader, to now + the timeout by which the session was created, the only one that is in the log
 *    (ZooKeeper: SessionTrackerImpl, ZKDatabase.getSessionWithTimeOuts).
 * S is the smallest timeout granted to this session, its creation included. It never grows. So the leader always sets
 * the time to now + S or later.
 *
 * Lemma: if a leader heard of us at h or later, and was the leader still, no leader ends the session before h + S.
 * For the time stood at h + S or later then, and each setting since has left it at its own now + S, which is later
 * still: through us, through a server that we have left and that names us late, by the next leader. And only the
 * leader of the moment can end a session, as that is a write.
 *
 * A write that is answered with success shows that its leader was the leader as it proposed the write: a quorum took
 * it, and a server that follows the next leader takes nothing from the one before. So all that this leader had heard
 * by then, it had heard in time. And a connection ends when its server loses its leader, so all writes of one
 * connection are of one leader.
 *
 * How the leader hears. A follower names us only as it answers the leader's ping, which comes every tick/2 (ZooKeeper:
 * Leader.lead, Learner.ping). Each timeout granted is two ticks or more, so S >= 2 ticks, and pings come at least every
 * S/4. Pings and commits reach a follower in one ordered stream; so do its ping answers and requests reach the leader.
 * Reads, pings and a connected state prove nothing: a follower that is cut off goes on answering them.
 *
 * Each rule gives an h for the lemma; the bound is the latest h + S.
 *  1. Beginning of a connection. The creation of a session is a write at the leader, which counts from there: h =
 *     opened. The handshake of a later connection is forwarded by the follower at once, which waits for the leader's
 *     answer. So the leader that takes a write of that connection has heard of the handshake, and the handshake was
 *     sent after the last answer of the connection before: h = last.sent, of the write so answered. The handshake
 *     alone shows nothing, as a stale leader answers handshakes, too.
 *  2. Chain of three writes on one connection, A, B, C. B is sent S/4 after A was answered: between their commits a
 *     ping left the leader, so when the follower gets B's commit it has answered the ping, and has named us in that
 *     answer or in one before. C is sent after B was answered: it follows the ping's answer to the leader. So the
 *     leader that took C has heard of us, and no earlier than A was sent: h = A.sent.
 *  3. One write alone, answered within S/12. libzookeeper pings when it is idle for a third of the timeout in force.
 *     While that is longer than S, the service sends a read when idle for S/3; and while a request waits for its
 *     answer, when libzookeeper does not ping, a read every S/10 at least (service.c). So something was sent in the S/3
 *     before the write, and what was sent tick/2 before the write has reached the leader: h = sent - S/3 - S/4. On a
 *     connection younger than that it was the handshake, as in rule 1.
 *     This rule is a stopgap until the first chain is complete, and leans on what we cannot measure: that neither the
 *     process nor its line stood still right before, and that the leader's pings before the write were not held up.
 *     If either fails, and the follower is cut off before its next ping answer, the bound can be late by as long as
 *     that stall, at most by 5S/12, for the leader knew the session when it took the write. The fencing token covers
 *     that, as it does a frozen machine; terms.no_stopgap turns the rule off.
 * A margin, S/1000 unless told, is taken from all bounds for a clock of ours that is slow. A larger margin also makes
 * the S/4 of rule 2 longer by the same part, for a clock that is fast.
 *
 * A timeout shorter than S, granted at a re-connect, is the new S, and bounds by the old S no longer hold. Either the
 * leader has heard of the handshake, and the session lives from there for the new S at least; or a stale leader has
 * answered, and the old bound stands. What the old connection answered was sent before the handshake, so the bound is
 * at most last.sent + S. Two gaps are left. Between a server's handshake and our learning of it we still count with
 * the old S: if the process stops exactly there, or the connection breaks before the answer is read, we may believe in
 * a hold for up to the difference. And a hold so young that it has not been probed yet goes by writes from before, and
 * may be lost to the new S. session.c finds out which timeouts were granted, and gives up a session when it cannot. When
 * the new bound passes before the old one, it gives up the session, too, and keeps its handle until the old one.
 *
 * Probing: a write every gap/n, counted from sending the last; gap is tick/2 and a bit. One is under way at a time, as a
 * server that writes its log slowly would only answer each of several later. A probe waits for up to a third of the pause
 * when it can be the B of one more A then. Just before the next answer, A is (n + 2) * gap/n old. With the usual n of 3 the
 * bound is never less than 0.55 S ahead, and 0.7 S for a client that writes all the time. With less than S/3 left, writes
 * come every S/32. When answers take S/8 at most, each chain is complete before the one before it is worth nothing
 * (test/proof/README.md). A hold begins when that can be expected: zkr__lease_lasts(). All of it goes by S, as the bound does, also
 * while a longer timeout is in force.
 */
#ifndef ZKR_SESSION_LEASE_H
#define ZKR_SESSION_LEASE_H

#include <stdbool.h>
#include <stdint.h>

struct zkr__write {
    int64_t sent, answered; /* sent: taken before the request was submitted */
};

/* What stays from one connection to the next. */
struct zkr__lease_terms {
    int64_t tick;       /* of the servers, ns; 0 = unknown, S/2 at most */
    int64_t pause;      /* wanted time between probes, ns; 0 = S/12 */
    int64_t margin_ppm; /* by how much clocks may differ in rate; 0 = 1000 */
    bool no_stopgap;    /* without rule 3 */
};

/* Writes that are remembered: at least gap/16 apart, so they go back four gaps. */
enum { ZKR__LEASE_WRITES = 64 };

struct zkr__lease {
    struct zkr__lease_terms terms;
    int64_t session;        /* S: the smallest timeout that was granted */
    int64_t gap;            /* least time from A answered to B sent */
    int64_t pause;          /* between probes */
    int64_t until;          /* the bound */
    struct zkr__write last; /* answered last; at first the opening */
    uint64_t count;         /* writes ever put into the ring */
    struct zkr__write writes[ZKR__LEASE_WRITES];
};

/* A new session. @granted: its timeout. @opened: a time before its creation can have been asked for. */
void zkr__lease_begin(struct zkr__lease *l,
                      const struct zkr__lease_terms *terms,
                      int64_t granted,
                      int64_t opened);
/* The session has another connection, with perhaps another timeout. Chains start anew. */
void zkr__lease_reconnected(struct zkr__lease *l, int64_t granted);
/* The session is over. */
void zkr__lease_end(struct zkr__lease *l);
/* A write was answered with success. */
void zkr__lease_answered(struct zkr__lease *l, int64_t sent, int64_t answered);
/* When the next probe is due, while anything is held. May lie in the past. */
int64_t zkr__lease_probe_at(const struct zkr__lease *l);
/* Can the next proof come before the bound passes, if probes are answered as the last write was? */
bool zkr__lease_lasts(const struct zkr__lease *l, int64_t boot);
/* The bound comes from the chain that the last write completed. */
bool zkr__lease_is_chained(const struct zkr__lease *l);

/*@ requires \valid_read(l);
    assigns \nothing;
    ensures \result == (boot < l->until); */
static inline bool zkr__lease_alive(const struct zkr__lease *l, int64_t boot)
{
    return boot < l->until;
}

#endif
