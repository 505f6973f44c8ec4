/* SPDX-License-Identifier: Apache-2.0 */
/* Where a promise of the lease leans on what cannot be measured: holes that are known. */
#include "search.h"

void search_stalled(int at, bool stalled)
{
    struct member *m = &S.members[at];
    if (m->stalled) {
        m->stalled_at = zkf_now();
    }
    m->stalled = stalled;
}

/* Between a server's handshake and our hearing of it we count with the old time-out: lease.h. */
void search_on_shortened(int client, int64_t session, int64_t timeout)
{
    struct member *m = &S.members[client];
    if (m->c && m->c->session_id == session && timeout < m->c->session_ms * ZKR__MS) {
        m->shortened = timeout;
        m->reconnects = m->c->stats.reconnects;
        S.did.shortened++;
    }
}

/*
 * One write alone proves less than the library makes of it when the client was stalled just before
 * (lease.h, rule 3, says so). That hole is known, so it is not reported.
 */
bool search_leans(int client)
{
    const struct member *m = &S.members[client];
    return m->shortened != 0 ||
           (S.s.servers > 1 && m->alone && zkf_now() - m->stalled_at < 2 * S.s.session);
}

static bool look_at_timeout(struct member *m)
{
    bool heard = m->c->session_id != 0 && m->c->stats.reconnects > m->reconnects &&
                 m->c->door->timeout_ms(m->c->link->zh) * ZKR__MS <= m->shortened;
    if (m->c->session_id == 0 || heard) {
        m->shortened = 0;
    }
    bool shorter = m->c->session_ms < m->timeout_ms;
    m->timeout_ms = m->c->session_ms;
    m->shrunk_at = shorter ? zkf_now() : m->shrunk_at;
    return shorter;
}

/*
 * A short hold costs no probe: it goes by writes from before, for a sixteenth of the session. With a shorter time-out
 * these may be too old (lease.h). Those of a hold that has been probed are not: here none shrinks to less than a quarter.
 */
bool search_shrank_early(const struct contender *k)
{
    const struct member *m = &S.members[k->client];
    return m->shrunk_at >= k->held_at && m->written_at <= k->held_at;
}

bool search_look_at_lease(int client)
{
    struct member *m = &S.members[client];
    const struct zkr__lease *l = &m->c->lease;
    bool shorter = look_at_timeout(m);
    if (l->last.answered != m->write_seen) {
        m->write_seen = l->last.answered;
        m->written_at = zkf_now();
    }
    if (l->until != m->lease_seen) {
        int64_t margin = S.s.margin_ppm > 0 ? S.s.margin_ppm : 1000;
        int64_t alone = l->last.sent - l->session / 3 - l->gap;
        if (l->until > m->lease_seen) {
            m->alone =
                l->until == alone + l->session - l->session / 1000 * margin / 1000;
        }
        m->lease_seen = l->until;
    }
    return shorter;
}
