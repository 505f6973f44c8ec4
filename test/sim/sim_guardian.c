/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulation of lib/guardian/guardian.c and of the program that it starts. It ends the sessions of a process that
 * has vanished, and sessions whose close may not have reached a server.
 */
#include <string.h>

#include "guardian/guardian.h"
#include "sim.h"

enum { WARDS = 64, AGAIN_MS = 20 };

static struct ward {
    int64_t session, deadline;
} wards[WARDS];
static int ward_count;

static void act(void *unused);
static struct zkf_actor actor = {.act = act};

/* Let the guardian act. It reaches a server at some time, or never. */
static void act(void *unused)
{
    for (int i = 0; i < ward_count; i++) {
        const struct ward *ward = &wards[i];
        bool alive = zkf_session_alive(ward->session);
        if (alive && zkf_chance(70)) {
            zkf_expire(ward->session);
            did.guarded += !zkf_session_alive(ward->session);
        }
        if (!zkf_session_alive(ward->session) || zkf_now() >= ward->deadline) {
            wards[i--] = wards[--ward_count];
        }
    }
    actor.due = ward_count > 0 ? zkf_now() + zkf_below(AGAIN_MS * ZKR__MS) : ZKR__NEVER;
}

void sim_guardian_begin(void)
{
    ward_count = 0;
    actor.due = ZKR__NEVER;
    zkf_actor_add(&actor);
}

int zkr__guardian_join(zkr_client *c)
{
    return ZKR_OK;
}

void zkr__guardian_leave(zkr_client *c)
{
}

int64_t zkr__guardian_look(zkr_client *c, int64_t now)
{
    return ZKR__NEVER;
}

int64_t zkr__guardian_session(zkr_client *c, void *zh, const char *servers)
{
    return scene.guarded ? c->session_id : 0;
}

bool zkr__guardian_directory(zkr_client *c, const char *path, bool used)
{
    return used;
}

void zkr__guardian_over(const zkr_client *c, int64_t session, bool settled)
{
    bool vanished = false;
    for (int i = 0; i < SIM_CLIENTS; i++) {
        vanished = vanished || (processes[i].c == c && processes[i].vanishes);
    }
    if (session != 0 && (vanished || !settled) && ward_count < WARDS) {
        wards[ward_count++] =
            (struct ward){.session = session, .deadline = zkf_now() + scene.session};
        actor.due = zkf_now() + zkf_below(AGAIN_MS * ZKR__MS);
    }
}
