/* SPDX-License-Identifier: Apache-2.0 */
/* Curator's semaphores and ours on one path, in both directions. Argument: curator_peer.bsh. */
#include <signal.h>

#include "../recipes/semaphores.h"
#include "peer.h"

/* Curator holds permits. We get the others, and a wait ends when Curator returns its permits. */
ZKT_CASE(we_respect_curators_permits)
{
    struct peer *j = peer_start(CURATOR);
    struct told told = {0};
    zkr_semaphore *s = semaphore(zkt_client(zkt_servers(), SESSION_MS), 3);
    peer_ask(j, "semaphore 3", "ok");
    peer_ask(j, "take 2 5000", "true");
    expect(try(s, 2), ZKR_ETIMEDOUT);
    ZKT_MUST(try(s, 1));
    (void)queue_for(s, 3, &told);
    zkt_sleep_ms(SOON_MS / 5);
    assert_int_equal(told.held, 0);
    peer_ask(j, "give", "ok");
    ZKT_BECOMES(told.held, 1, PATIENCE_MS);
    peer_ask(j, "nodes", "3");
    end(told.t);
}

/* We hold permits. A wait of Curator times out, and another one ends with our release. */
ZKT_CASE(curator_respects_our_permits)
{
    struct peer *j = peer_start(CURATOR);
    zkr_semaphore *s = semaphore(zkt_client(zkt_servers(), SESSION_MS), 3);
    zkr_ticket *two = take(s, 2);
    peer_ask(j, "semaphore 3", "ok");
    peer_ask(j, "take 2 300", "false");
    peer_ask(j, "take 1 5000", "true");
    peer_say(j, "take 2 20000");
    ZKT_EVENTUALLY(at_gate() == 1 && leases() == 4, PATIENCE_MS);
    end(two);
    peer_expect(j, "true");
    expect(try(s, 1), ZKR_ETIMEDOUT);
    peer_ask(j, "give", "ok");
    ZKT_BECOMES(try(s, 1), ZKR_OK, PATIENCE_MS);
    peer_ask(j, "give", "ok");
}

/* One gate for both libraries: two requests for one permit and one for two are served in order. */
ZKT_CASE(the_gate_is_one)
{
    struct peer *j = peer_start(CURATOR);
    struct told many = {0}, one = {0};
    zkr_semaphore *s = semaphore(zkt_client(zkt_servers(), SESSION_MS), 2);
    zkr_ticket *held = take(s, 1);
    peer_ask(j, "semaphore 2", "ok");
    (void)queue_for(s, 2, &many);
    peer_say(j, "take 1 20000");
    ZKT_BECOMES(at_gate(), 2, PATIENCE_MS);
    (void)queue_for(s, 1, &one);
    end(held);
    ZKT_BECOMES(many.held, 1, PATIENCE_MS);
    zkt_sleep_ms(SOON_MS / 5);
    assert_int_equal(one.held, 0);
    end(many.t);
    peer_expect(j, "true");
    ZKT_BECOMES(one.held, 1, PATIENCE_MS);
    end(one.t);
    peer_ask(j, "give", "ok");
}

/* A semaphore with one permit is compatible with Curator's InterProcessSemaphoreMutex. */
ZKT_CASE(one_permit_is_curators_semaphore_mutex)
{
    struct peer *j = peer_start(CURATOR);
    struct told told = {0};
    zkr_semaphore *s = semaphore(zkt_client(zkt_servers(), SESSION_MS), 1);
    peer_ask(j, "enter 5000", "true");
    expect(try(s, 1), ZKR_ETIMEDOUT);
    (void)queue_for(s, 1, &told);
    zkt_sleep_ms(SOON_MS / 5);
    assert_int_equal(told.held, 0);
    peer_ask(j, "exit", "ok");
    ZKT_BECOMES(told.held, 1, PATIENCE_MS);
    peer_ask(j, "enter 300", "false");
    peer_say(j, "enter 20000");
    ZKT_BECOMES(leases(), 2, PATIENCE_MS);
    end(told.t);
    peer_expect(j, "true");
    peer_ask(j, "exit", "ok");
}

/* Curator's SharedCount is our maximum: its initial value, and every later one. */
ZKT_CASE(curators_count_is_our_maximum)
{
    struct peer *j = peer_start(CURATOR);
    struct told told = {0};
    peer_ask(j, "counted 2", "ok");
    zkr_semaphore *s = resizable(zkt_client(zkt_servers(), SESSION_MS), 9);
    zkr_ticket *one = take(s, 1);
    peer_ask(j, "take 1 5000", "true");
    (void)queue_for(s, 2, &told);
    peer_ask(j, "resize 3", "ok");
    zkt_sleep_ms(SOON_MS / 5);
    assert_int_equal(told.held, 0);
    peer_ask(j, "resize 4", "ok");
    ZKT_BECOMES(told.held, 1, PATIENCE_MS);
    peer_ask(j, "take 1 300", "false");
    set_max(5);
    peer_ask(j, "take 1 20000", "true");
    end(told.t);
    end(one);
    peer_ask(j, "give", "ok");
    peer_ask(j, "give", "ok");
}

struct doomed {
    int pipe[2];
    char hosts[256], path[128];
};

/* Runs in a separate process: acquires two permits, reports that, and waits to be killed. */
static int hold(void *arg)
{
    const struct doomed *d = arg;
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    zkr_client *c = NULL;
    zkr_semaphore *s = NULL;
    zkr_ticket *t = NULL;
    o.session_timeout_ms = 5000;
    if (zkr_client_open(&c, d->hosts, &o) != ZKR_OK ||
        zkr_semaphore_create(&s, c, d->path, 3, NULL) != ZKR_OK ||
        zkr_semaphore_acquire(s, 2, PATIENCE_MS, &t) != ZKR_OK) {
        return 1;
    }
    zkt_put_byte(d->pipe[1], 1);
    zkt_sleep_ms(PATIENCE_MS);
    return 0;
}

/* Holders are killed one after the other. Curator and we share their permits, and never exceed the maximum. */
ZKT_CASE(the_permits_of_the_killed_come_back)
{
    enum { ROUNDS = 2 };
    struct peer *j = peer_start(CURATOR);
    struct doomed d;
    zkr_semaphore *s = semaphore(zkt_client(zkt_servers(), SESSION_MS), 3);
    peer_ask(j, "semaphore 3", "ok");
    (void)snprintf(d.hosts, sizeof(d.hosts), "%s", zkt_servers());
    (void)snprintf(d.path, sizeof(d.path), "%s", zkt_path());
    for (int i = 0; i < ROUNDS; i++) {
        struct told told = {0};
        zkt_pipe(d.pipe);
        pid_t pid = zkt_fork(hold, &d);
        assert_int_equal(zkt_get_byte(d.pipe[0], PATIENCE_MS), 1);
        peer_ask(j, "take 1 5000", "true");
        peer_say(j, "take 1 20000");
        ZKT_EVENTUALLY(at_gate() == 1 && leases() == 4, PATIENCE_MS);
        (void)queue_for(s, 2, &told);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(zkt_join(pid, PATIENCE_MS), 128 + SIGKILL);
        peer_expect(j, "true");
        zkt_sleep_ms(SOON_MS / 5);
        assert_int_equal(told.held, 0); /* two of three are Curator's */
        peer_ask(j, "give", "ok");
        ZKT_BECOMES(told.held, 1, PATIENCE_MS);
        peer_ask(j, "give", "ok");
        end(told.t);
        ZKT_EVENTUALLY(leases() == 0 && at_gate() == 0, PATIENCE_MS);
        zkt_pipe_close(d.pipe);
    }
}
