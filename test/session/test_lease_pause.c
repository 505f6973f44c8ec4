/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Servers that stand still for a good part of the session timeout do not cost a hold. The promised part is 0.45, as
 * unit.lease shows. A busy machine needs some of this time itself.
 */
#include <stdio.h>

#include "fixture.h"

enum { SESSION_MS = 10000, PAUSE_MS = SESSION_MS * 40 / 100, PATIENCE_MS = 30000 };

/* The clients probe at different moments. */
enum { HOLDERS = 4, PROBE_MS = SESSION_MS / 12 };

struct holders {
    zkr_mutex *m[HOLDERS];
};

static void hold(struct holders *h, const char *host)
{
    for (int i = 0; i < HOLDERS; i++) {
        char path[16];
        (void)snprintf(path, sizeof(path), "/pause%d", i);
        h->m[i] = zkt_mutex_at(zkt_client(host, SESSION_MS), path, NULL);
        ZKT_MUST(zkr_mutex_acquire(h->m[i], PATIENCE_MS));
        zkt_sleep_ms(PROBE_MS / HOLDERS);
    }
}

static void expect_held(struct holders *h)
{
    for (int i = 0; i < HOLDERS; i++) {
        assert_true(zkr_mutex_is_held(h->m[i]));
    }
}

static void expect_sure_again(struct holders *h)
{
    expect_held(h);
    for (int i = 0; i < HOLDERS; i++) {
        ZKT_EVENTUALLY(zkr_mutex_valid_for_ms(h->m[i]) > SESSION_MS / 2, PATIENCE_MS);
    }
    expect_held(h);
}

static void pause_them(zkt_server *const *servers, int count)
{
    for (int i = 0; i < count; i++) {
        zkt_server_freeze(servers[i]);
    }
    zkt_sleep_ms(PAUSE_MS);
    for (int i = 0; i < count; i++) {
        zkt_server_thaw(servers[i]);
    }
}

static void release(struct holders *h)
{
    for (int i = 0; i < HOLDERS; i++) {
        ZKT_MUST(zkr_mutex_release(h->m[i]));
    }
}

/* First the only server and a follower with clients pause, then a whole ensemble. */
ZKT_CASE(a_pause_loses_nothing)
{
    struct holders alone, among;
    const zkt_server_options o = {.sync_limit = 20};
    zkt_ensemble *e = zkt_ensemble_start(3, &o);
    int leader = zkt_ensemble_wait(e, PATIENCE_MS);
    zkt_server *follower = zkt_ensemble_server(e, (leader + 1) % 3);
    zkt_server *only = zkt_server_start(NULL);
    hold(&alone, zkt_server_host(only));
    hold(&among, zkt_server_host(follower));
    /* The proof from the opening of the sessions does not last until the end of the pause. */
    zkt_sleep_ms(SESSION_MS - PAUSE_MS + 500);
    pause_them((zkt_server *[]){only, follower}, 2);
    expect_sure_again(&alone);
    expect_sure_again(&among);
    release(&alone);
    pause_them((zkt_server *[]){follower, zkt_ensemble_server(e, (leader + 2) % 3),
                                zkt_ensemble_server(e, leader)},
               3);
    expect_sure_again(&among);
    release(&among);
}
