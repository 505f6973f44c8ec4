/* SPDX-License-Identifier: Apache-2.0 */
/* Known gaps of the lease: promises that depend on what a client cannot measure. */
#include "sim.h"

void sim_stalled(int at, bool stalled)
{
    struct process *m = &processes[at];
    if (m->stalled) {
        m->stalled_at = zkf_now();
    }
    m->stalled = stalled;
}

/* Between a server's handshake and the client's notice of it, the client uses the old timeout (lease.h). */
void sim_on_shortened(int client, int64_t session, int64_t timeout)
{
    struct process *m = &processes[client];
    if (m->checked && m->checked->session_id == session &&
        timeout < m->checked->session_ms * ZKR__MS) {
        m->shortened = timeout;
        m->shrunk = session;
        m->reconnects = m->checked->stats.reconnects;
        did.shortened++;
    }
}

/*
 * If the client was stalled just before, one write alone proves less than the library assumes (lease.h, rule 3). This
 * gap is known, so it is not reported.
 */
bool sim_leans(int client)
{
    const struct process *m = &processes[client];
    return m->shortened != 0 || (scene.servers > 1 && m->alone &&
                                 zkf_now() - m->stalled_at < 2 * scene.session);
}

static void look_at_timeout(struct process *m)
{
    bool heard =
        m->checked->session_id != 0 && m->checked->stats.reconnects > m->reconnects &&
        m->checked->door->timeout_ms(m->checked->link->zh) * ZKR__MS <= m->shortened;
    if (m->checked->session_id == 0 || heard) {
        m->shortened = 0;
    }
}

/* If the timeout of a session became shorter than at the time of a promise, the session may end before the promised
   time (lease.h). */
void sim_on_expired(int64_t session)
{
    for (int i = 0; i < scene.clients; i++) {
        if (processes[i].shrunk == session) {
            sim_forget_promises(i);
        }
    }
}

void sim_look_at_lease(int client)
{
    struct process *m = &processes[client];
    const struct zkr__lease *l = &m->checked->lease;
    look_at_timeout(m);
    if (l->until != m->lease_seen) {
        int64_t margin = scene.margin_ppm > 0 ? scene.margin_ppm : 1000;
        int64_t alone = l->last.sent - l->session / 3 - l->gap;
        if (l->until > m->lease_seen) {
            m->alone =
                l->until == alone + l->session - l->session / 1000 * margin / 1000;
        }
        m->lease_seen = l->until;
    }
}
