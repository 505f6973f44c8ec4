/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease bound: the time before which no server can have ended the client's session. Pure arithmetic on the times at
 * which quorum writes were sent and answered (CLOCK_BOOTTIME, ns).
 *
 * What servers promise. The leader keeps an expiry time for each session, and does not end the session before it. The
 * leader sets the expiry time
 *  - when it hears of the client, to now + the timeout of the connection through which it hears: a follower reports the
 *    client, with that timeout, when it forwards the client's handshake or answers the leader's ping;
 *  - when it becomes the leader, to now + the timeout with which the session was created, the only one in the log
 *    (ZooKeeper: SessionTrackerImpl, ZKDatabase.getSessionWithTimeOuts).
 * S is the smallest timeout granted to this session, its creation included. S never grows. So the leader always sets
 * the expiry time to now + S or later.
 *
 * Lemma: if a leader heard of the client at h or later, and was still the leader then, no leader ends the session
 * before h + S.
 * Proof: the expiry time was h + S or later at that moment. Each later setting is its own now + S or later, which is
 * later still. This holds for settings through the present connection, through a server that the client has left and
 * that reports the client late, and by the next leader. Only the current leader can end a session, because the end of a
 * session is a write.
 *
 * A write that is answered with success proves that its leader was the leader when it proposed the write: a quorum
 * accepted it, and a server that follows the next leader accepts nothing from the previous one. So everything that this
 * leader had heard before the write, it heard while it was the leader. A connection ends when its server loses its
 * leader, so all writes of one connection have the same leader.
 *
 * How the leader hears. A follower reports the client only when it answers the leader's ping, which is sent every
 * tick/2 (ZooKeeper: Leader.lead, Learner.ping). Each timeout granted is at least two ticks, so S >= 2 ticks, and pings
 * arrive at least every S/4. Pings and commits reach a follower in one ordered stream; its ping answers and requests
 * reach the leader in one ordered stream, too. Reads, pings and a connected state prove nothing, because a follower
 * that is cut off still answers them.
 *
 * Each rule gives an h for the lemma; the bound is the latest h + S.
 *  1. Beginning of a connection. The creation of a session is a write, and the leader counts the timeout from it: h =
 *     opened. The follower forwards the handshake of a later connection at once, and waits for the leader's answer. So
 *     the leader that accepts a write of that connection has heard of the handshake. The handshake was sent after the
 *     last answer of the previous connection. So h = last.sent, the time at which that answered write was sent. The
 *     handshake alone proves nothing, because a stale leader answers handshakes, too.
 *  2. Chain of three writes on one connection, A, B, C. B is sent S/4 after A was answered. Between their commits a
 *     ping left the leader. So when the follower gets B's commit it has answered the ping, and has reported the client
 *     in that answer or an earlier one. C is sent after B was answered, so it follows the ping's answer to the leader.
 *     So the leader that accepted C has heard of the client, no earlier than A was sent: h = A.sent.
 *  3. One write alone, answered within S/12. libzookeeper pings when it is idle for a third of the timeout in force.
 *     While that timeout is longer than S, the service sends a read when idle for S/3. While a request waits for its
 *     answer, libzookeeper does not ping, and the service sends a read at least every S/10 (service.c). So something
 *     was sent in the S/3 before the write, and anything sent tick/2 before the write has reached the leader: h = sent
 *     - S/3 - S/4. On a connection younger than that, the handshake was sent then, as in rule 1.
 *     This rule is a stopgap until the first chain is complete. It relies on two facts that the client cannot measure:
 *     neither the process nor its network stalled right before the write, and the leader's pings before the write were
 *     not delayed. If either fails, and the follower is cut off before its next ping answer, the bound can be late by
 *     the length of that stall, at most by 5S/12, because the leader knew the session when it accepted the write. The
 *     fencing token covers that case, as it covers a frozen machine; terms.no_stopgap turns the rule off.
 * A margin, S/1000 by default, is subtracted from all bounds in case the local clock is slow. A larger margin also
 * lengthens the S/4 of rule 2 by the same part, in case the local clock is fast.
 *
 * A timeout shorter than S, granted at a re-connect, becomes the new S, and bounds by the old S no longer hold. Either
 * the leader has heard of the handshake, and the session lives for at least the new S from there; or a stale leader has
 * answered, and the old bound holds. Requests answered on the old connection were sent before the handshake, so the
 * bound is at most last.sent + S. Two gaps are left. Until the client learns of a server's handshake, it uses the old
 * S: if the process stops in that interval, or the connection breaks before the answer is read, the client may believe
 * in a hold for up to the difference. And a hold so young that it has not been probed yet relies on earlier writes, and
 * may be lost because of the new S. session.c finds out which timeouts were granted, and gives up a session when it
 * cannot. When the new bound passes before the old one, session.c gives up the session, too, and keeps its handle until
 * the old bound.
 *
 * Probing: the client sends a write every gap/n, counted from the time the last one was sent; gap is slightly longer
 * than tick/2. One probe is in flight at a time, because a server with a slow log would answer each of several probes
 * later than a single one. A probe waits for up to a third of the pause if it can then be the B of one more A. Just
 * before the next answer, A is (n + 2) * gap/n old. With the usual n of 3 the bound is never less than 0.55 S ahead,
 * and 0.7 S for a client that writes all the time. With less than S/3 left, writes are sent every S/32. If answers take
 * at most S/8, each chain is complete before the previous one becomes worthless (test/proof/README.md). A hold begins
 * when zkr__lease_lasts() expects that. All of this uses S, like the bound, even while a longer timeout is in force.
 */
#ifndef ZKR_SESSION_LEASE_H
#define ZKR_SESSION_LEASE_H

#include <stdbool.h>
#include <stdint.h>

struct zkr__write {
    int64_t sent, answered; /* sent: the time before the request was submitted */
};

/* Settings that hold for all connections of a session. */
struct zkr__lease_terms {
    /* The servers' tick in ns; 0 = unknown, and assumed to be S/2. */
    int64_t tick;
    int64_t pause;      /* wanted time between probes in ns; 0 = S/12 */
    int64_t margin_ppm; /* largest difference between clock rates; 0 = 1000 */
    bool no_stopgap;    /* rule 3 is off */
};

/* Number of writes that are remembered. They are at least gap/16 apart, so they span four gaps. */
enum { ZKR__LEASE_WRITES = 64 };

struct zkr__lease {
    struct zkr__lease_terms terms;
    int64_t session; /* S: the smallest timeout granted */
    int64_t gap;     /* least time between A's answer and the sending of B */
    int64_t pause;   /* time between probes */
    int64_t until;   /* the bound */
    /* The last answered write, or at first the opening of the session. */
    struct zkr__write last;
    uint64_t count; /* how many writes the ring has received */
    struct zkr__write writes[ZKR__LEASE_WRITES];
};

/*
 * Begin the lease of a new session. @granted is its timeout, and @opened a time before the client requested the
 * session.
 */
void zkr__lease_begin(struct zkr__lease *l,
                      const struct zkr__lease_terms *terms,
                      int64_t granted,
                      int64_t opened);
/* Record a new connection of the session, possibly with another timeout. Chains must start again. */
void zkr__lease_reconnected(struct zkr__lease *l, int64_t granted);
/* End the lease with its session. */
void zkr__lease_end(struct zkr__lease *l);
/* Record that a write was answered with success. */
void zkr__lease_answered(struct zkr__lease *l, int64_t sent, int64_t answered);
/* Returns when the next probe is due while anything is held. The time may be in the past. */
int64_t zkr__lease_probe_at(const struct zkr__lease *l);
/*
 * Returns whether the next proof can arrive before the bound passes, if probes are answered as fast as the last write
 * was.
 */
bool zkr__lease_lasts(const struct zkr__lease *l, int64_t boot);
/* Returns whether the bound comes from the chain that the last write completed. */
bool zkr__lease_is_chained(const struct zkr__lease *l);

/*@ requires \valid_read(l);
    assigns \nothing;
    ensures \result == (boot < l->until); */
static inline bool zkr__lease_alive(const struct zkr__lease *l, int64_t boot)
{
    return boot < l->until;
}

#endif
