/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server whose limit is too small for the watches that the client sets again at each connection. Here, jute.maxbuffer
 * is far below its default, so the client's own limit of watches does not help.
 */
#include <stdio.h>

#include "fixture.h"
#include "fourlw.h"

enum { SESSION_MS = 2000, PATIENCE_MS = 60000, LOCKS = 60 };

static int states_of(zkr_ticket *const *tickets, int state)
{
    int count = 0;
    for (int i = 0; i < LOCKS; i++) {
        count += zkr_ticket_state(tickets[i]) == state;
    }
    return count;
}

static void request_all(zkr_client *c, zkr_mutex **locks, zkr_ticket **tickets)
{
    for (int i = 0; i < LOCKS; i++) {
        char path[64];
        (void)snprintf(path, sizeof(path), "/locks/%d", i);
        ZKT_MUST(zkr_mutex_create(&locks[i], c, path, NULL));
        ZKT_MUST(zkr_mutex_request(locks[i], ZKR_FOREVER, NULL, NULL, &tickets[i]));
    }
}

/* Wait until the client knows of each watch that was set, because answers arrive in the order of the requests. */
static void await_answers(zkr_mutex *any)
{
    zkr_contenders *list = NULL;
    ZKT_MUST(zkr_mutex_contenders(any, &list));
    zkr_contenders_free(list);
}

static void end_all(zkr_mutex **locks, zkr_ticket **tickets)
{
    for (int i = 0; i < LOCKS; i++) {
        (void)zkr_ticket_release(tickets[i]); /* ZKR_ESESSION if the hold was lost */
        ZKT_MUST(zkr_ticket_destroy(tickets[i]));
        ZKT_MUST(zkr_mutex_destroy(locks[i]));
    }
}

/*
 * The client connects again and again, and each connection renews the session. So the client gives the session up, its
 * nodes are deleted, and the waiters behind them get their turn. The client continues in its next session.
 */
ZKT_CASE(a_session_that_gets_no_answer_is_given_up)
{
    zkt_server_options so = {.jvm_arguments = "-Djute.maxbuffer=3000"};
    zkt_server *server = zkt_server_start(&so);
    zkt_proxy *proxy = zkt_proxy_start(zkt_server_host(server));
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = SESSION_MS;
    o.lease_probe_ms = -1; /* a probe would be too long, too */
    zkr_client *c = zkt_client_with(zkt_proxy_host(proxy), &o);
    zkr_client *others = zkt_client_with(zkt_server_host(server), &o);
    zkr_mutex *locks[2][LOCKS];
    zkr_ticket *tickets[2][LOCKS];
    request_all(c, locks[0], tickets[0]);
    ZKT_BECOMES(states_of(tickets[0], ZKR_TICKET_HELD), LOCKS, PATIENCE_MS);
    ZKT_EVENTUALLY(zkt_watch_count(zkt_server_host(server)) >= LOCKS, PATIENCE_MS);
    await_answers(locks[0][0]);
    request_all(others, locks[1], tickets[1]);

    zkt_proxy_drop_connections(proxy);
    ZKT_EVENTUALLY(zkt_stats(c).expirations >= 1, PATIENCE_MS);
    ZKT_BECOMES(states_of(tickets[1], ZKR_TICKET_HELD), LOCKS, PATIENCE_MS);
    assert_int_equal(states_of(tickets[0], ZKR_TICKET_LOST), LOCKS);
    ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_CONNECTED, PATIENCE_MS);
    end_all(locks[1], tickets[1]);
    end_all(locks[0], tickets[0]);
    zkt_close(c);
    zkt_close(others);
}
