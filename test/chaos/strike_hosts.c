/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of the hosts of servers and clients. */
#include "strike.h"
#include "util.h"

/* ---- wall clocks --------------------------------------------------------------------- */

static void step_walls(const struct strike *x, long long ahead_s)
{
    for (int i = 0; i < ZKC_SERVERS; i++) {
        atomic_store(&x->s->hosts[i]->wall_s, ahead_s);
    }
    atomic_store(&x->s->control->wall_s, ahead_s);
}

static int walls_told(const struct strike *x, int server)
{
    return server < ZKC_SERVERS ? atomic_load(&x->s->hosts[server]->told)
                                : atomic_load(&x->s->control->told);
}

/*
 * Steps all wall clocks, forward and back and far. The fault takes effect only if all servers and a client read their
 * clocks meanwhile.
 */
bool zkc_step_walls(const struct strike *x)
{
    enum { STEPS = 4 };
    static const long long steps[] = {3600,  -3600,  2,         -2,
                                      86400, -86400, 300000000, -60};
    const int count = sizeof steps / sizeof *steps;
    bool told = true;
    int before[ZKC_SERVERS + 1];
    for (int i = 0; i <= ZKC_SERVERS; i++) {
        before[i] = walls_told(x, i);
    }
    for (int i = 0; i < STEPS; i++) {
        step_walls(x, steps[(x->f->how + (uint32_t)i) % (uint32_t)count]);
        (void)zkc_stage_pass(x->s, x->f->span_ms / STEPS);
    }
    step_walls(x, 0);
    for (int i = 0; i <= ZKC_SERVERS; i++) {
        told = told && walls_told(x, i) != before[i];
    }
    return told;
}

/* ---- disks ---------------------------------------------------------------------------- */

static int one_of_them(const struct strike *x)
{
    return (x->leader + (int)(x->f->who % ZKC_SERVERS)) % ZKC_SERVERS;
}

/* Makes each fsync of the leader or of another server take from 0.5 to 3 s. */
bool zkc_slow_disk(const struct strike *x)
{
    struct zkt_bad_host *host = x->s->hosts[one_of_them(x)];
    const int before = atomic_load(&host->synced);
    atomic_store(&host->sync_ms, 500 + (int)(x->f->how % 2501));
    (void)zkc_stage_pass(x->s, x->f->span_ms);
    atomic_store(&host->sync_ms, 0);
    return atomic_load(&host->synced) > before;
}

/* The server leaves the ensemble. It returns once there is room, or is restarted. */
bool zkc_fill_disk(const struct strike *x)
{
    enum { BY_ITSELF_MS = 15000, STEP_MS = 100 };
    const int which = one_of_them(x);
    zkt_server *server = zkt_ensemble_server(x->s->ensemble, which);
    struct zkt_bad_host *host = x->s->hosts[which];
    const int before = atomic_load(&host->refused);
    atomic_store(&host->full, 1);
    (void)zkc_stage_pass(x->s, x->f->span_ms);
    atomic_store(&host->full, 0);
    const int64_t end = zkt_now_ms() + BY_ITSELF_MS;
    while (zkt_server_pid(server) != 0 && !zkt_server_wait(server, STEP_MS) &&
           zkt_now_ms() < end && zkc_stage_pass(x->s, STEP_MS)) {
    }
    if (!zkt_server_wait(server, STEP_MS)) {
        zkc_stage_kill(server);
        zkt_server_launch(server);
    }
    return atomic_load(&host->refused) > before;
}
