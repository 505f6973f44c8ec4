/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thousand contenders, or $STORM of them, join a queue at the same time, through ten sessions. One of these sessions
 * has the holder, whose probes share the connection with all requests of its neighbours.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "fourlw.h"
#include "server.h"

enum { SESSIONS = 10, MOST_EACH = 1000, SESSION_MS = 30000, PROBE_MS = 20 };
enum { PATIENCE_MS = 100000 };

static const char *hosts; /* a server that grants such a session timeout */
static zkr_client *clients[SESSIONS];
static zkr_mutex *mutexes[SESSIONS];
static zkr_ticket *tickets[SESSIONS][MOST_EACH];
static int each = 100;

static void open_all(void)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = SESSION_MS;
    o.lease_probe_ms = PROBE_MS; /* so that there are probes during the storm */
    for (int i = 0; i < SESSIONS; i++) {
        ZKT_MUST(zkr_client_open(&clients[i], hosts, &o));
        ZKT_MUST(zkr_client_wait_connected(clients[i], PATIENCE_MS));
        mutexes[i] = zkt_mutex(clients[i]);
    }
}

static void join(void)
{
    for (int k = 0; k < each; k++) {
        for (int i = 0; i < SESSIONS; i++) {
            ZKT_MUST(
                zkr_mutex_request(mutexes[i], ZKR_FOREVER, NULL, NULL, &tickets[i][k]));
        }
    }
}

/* Returns whether everybody has joined and only probes are on their way. */
static bool is_settled(void)
{
    bool quiet = zkt_ephemerals(hosts) > SESSIONS * each;
    for (int i = 1; i < SESSIONS && quiet; i++) {
        quiet = zkt_all_answered(clients[i]);
    }
    return quiet;
}

/* Release the waiters while the lock is still held, so that nobody is granted. */
static void leave(void)
{
    for (int k = each - 1; k >= 0; k--) {
        for (int i = SESSIONS - 1; i >= 0; i--) {
            zkt_end_ticket(tickets[i][k]);
        }
    }
    for (int i = 0; i < SESSIONS; i++) {
        ZKT_MUST(zkr_client_flush(clients[i], PATIENCE_MS));
    }
}

static struct zkr__histogram probes_of(zkr_client *c)
{
    zkr__lock(c);
    struct zkr__histogram probes = c->probe_trips;
    zkr__unlock(c);
    return probes;
}

/* Returns an upper bound for the longest probe after @before, as text in seconds. */
static const char *longest(const struct zkr__histogram *before,
                           const struct zkr__histogram *after)
{
    int last = 0;
    for (int i = 0; i <= ZKR__BOUNDS; i++) {
        last = after->counts[i] > before->counts[i] ? i : last;
    }
    return zkr__histogram_bound(last);
}

ZKT_CASE(a_storm_of_waiters_delays_no_probe)
{
    enum { SURE_MS = SESSION_MS / 10 };
    zkr_ticket *held = NULL;
    const char *storm = getenv("STORM");
    each = storm ? (int)strtol(storm, NULL, 10) / SESSIONS : each;
    ZKT_IN_RANGE(each, 1, MOST_EACH);
    const zkt_server_options o = {.max_session_ms = SESSION_MS};
    hosts = zkt_server_host(zkt_server_start(&o));
    open_all();
    ZKT_MUST(zkr_mutex_request(mutexes[0], ZKR_FOREVER, NULL, NULL, &held));
    ZKT_MUST(zkr_ticket_wait(held, PATIENCE_MS));
    const struct zkr__histogram before = probes_of(clients[0]);
    int64_t begin = zkt_now_ms(), least = SESSION_MS;
    join();
    while (!is_settled()) {
        int64_t valid = zkr_ticket_valid_for_ms(held);
        least = valid < least ? valid : least;
        assert_true(zkt_now_ms() < begin + PATIENCE_MS);
    }
    const struct zkr__histogram after = probes_of(clients[0]);
    printf("%d joined in %lld ms; a probe took %s s at most; the holder was sure for "
           "%lld of %d ms at least\n",
           SESSIONS * each, (long long)(zkt_now_ms() - begin), longest(&before, &after),
           (long long)least, SESSION_MS);
    assert_int_equal(zkr_ticket_state(held), ZKR_TICKET_HELD);
    ZKT_IN_RANGE(least, SURE_MS, SESSION_MS);
    leave();
    zkt_end_ticket(held);
    for (int i = 0; i < SESSIONS; i++) {
        zkt_destroy(mutexes[i]);
        zkt_close(clients[i]);
    }
}
