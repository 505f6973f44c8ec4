/* SPDX-License-Identifier: Apache-2.0 */
/* Server names whose addresses change. This program's getaddrinfo() replaces that of the C library. */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor.h"
#include "fixture.h"
#include "session/request.h"
#include "threads.h"

enum { SESSION_MS = 6000, SHORT_MS = 300, PATIENCE_MS = 30000 };
/* The longest time of zkr_client_close(), and an allowance for a busy machine. */
enum { CLOSE_MS = 2500, BUSY_MS = 1000 };

#define NAME "zookeeper.test"
#define HERE "127.0.0.1"
#define THERE "127.0.0.2"

/* --- the resolver --- */

static const char *_Atomic address; /* of NAME; NULL = it cannot be resolved now */
static atomic_bool hangs;           /* while set, requests for NAME get no answer */
/* Requests for NAME with this port get an answer even so. NULL = no such port. */
static const char *_Atomic spared;
static atomic_int asking, most_asking, asked;

/* Answer with the addresses in @hosts, which are separated by commas. */
static int answer(const char *hosts, const char *service, struct addrinfo **found)
{
    enum { MOST = 3, ROOM = 64 };
    struct one {
        struct addrinfo info;
        struct sockaddr_in in;
    } *a = calloc(MOST, sizeof *a);
    int n = 0;
    for (const char *host = hosts; a && *host && n < MOST; n++) {
        char text[ROOM];
        size_t len = strcspn(host, ",");
        (void)snprintf(text, sizeof text, "%.*s", (int)len, host);
        a[n].in.sin_family = AF_INET;
        a[n].in.sin_port = htons((uint16_t)(service ? strtol(service, NULL, 10) : 0));
        if (inet_pton(AF_INET, text, &a[n].in.sin_addr) != 1) {
            free(a);
            return EAI_NONAME;
        }
        a[n].info.ai_family = AF_INET;
        a[n].info.ai_socktype = SOCK_STREAM;
        a[n].info.ai_addr = (struct sockaddr *)&a[n].in;
        a[n].info.ai_addrlen = sizeof a[n].in;
        if (n > 0) {
            a[n - 1].info.ai_next = &a[n].info;
        }
        host += len + (host[len] == ',');
    }
    *found = a ? &a->info : NULL;
    return a ? 0 : EAI_MEMORY;
}

int getaddrinfo(const char *host,
                const char *service,
                const struct addrinfo *hints,
                struct addrinfo **found)
{
    if (strcmp(host, NAME) != 0) {
        return answer(host, service, found);
    }
    if (hints && (hints->ai_flags & AI_NUMERICHOST)) {
        return EAI_NONAME;
    }
    int at_once = atomic_fetch_add(&asking, 1) + 1;
    if (at_once > atomic_load(&most_asking)) {
        atomic_store(&most_asking, at_once);
    }
    const char *free_port = atomic_load(&spared);
    while (atomic_load(&hangs) && !(free_port && strcmp(service, free_port) == 0)) {
        zkt_sleep_ms(1);
        free_port = atomic_load(&spared);
    }
    const char *now = atomic_load(&address);
    atomic_fetch_add(&asked, 1);
    atomic_fetch_sub(&asking, 1);
    return now ? answer(now, service, found) : EAI_AGAIN;
}

void freeaddrinfo(struct addrinfo *list)
{
    free(list);
}

static void port_of(const char *host, char servers[64])
{
    (void)snprintf(servers, 64, "%s:%s", NAME, strrchr(host, ':') + 1);
}

/* --- the tests --- */

/* First no resolver answers, or no server at the first address. The message says so. The client resolves the name again
   and connects. */
ZKT_CASE_WAYS(a_name_is_asked_again,
              {"a_name_may_be_resolvable_only_later", a_name_is_asked_again, 0, NULL},
              {"a_wrong_address_is_not_kept_for_ever", a_name_is_asked_again, 1, NULL})
{
    char servers[64];
    zkr_client *c = NULL;
    port_of(zkt_servers(), servers);
    atomic_store(&address, zkt_way() == 0 ? NULL : THERE);
    ZKT_MUST(zkr_client_open(&c, servers, NULL));
    ZKT_RC(zkr_client_wait_connected(c, SHORT_MS), ZKR_ETIMEDOUT);
    assert_non_null(strstr(zkr_last_error()->message, zkt_way() == 0
                                                          ? "cannot resolve " NAME
                                                          : "no answer from " THERE));
    atomic_store(&address, HERE);
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    zkt_close(c);
}

/* --- servers that move while a lock is held --- */

struct hold {
    char servers[64];
    zkt_proxy *here;
    zkr_client *c;
    zkr_mutex *m;
    int64_t session;
    atomic_int lost;
};

static void on_lost(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    atomic_fetch_add((atomic_int *)ctx, 1);
}

/* Hold a lock through a server at NAME, which means HERE, or at that address if not @named. */
static void hold_at(struct hold *h, int64_t session_ms, bool named)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    zkr_mutex_options mo = ZKR_MUTEX_OPTIONS_INIT;
    *h = (struct hold){.here = zkt_proxy_start(zkt_servers())};
    port_of(zkt_proxy_host(h->here), h->servers);
    atomic_store(&address, HERE);
    o.session_timeout_ms = session_ms;
    mo.on_lost = on_lost;
    mo.on_lost_ctx = &h->lost;
    h->c = zkt_client_with(named ? h->servers : zkt_proxy_host(h->here), &o);
    h->session = zkr_client_session_id(h->c);
    h->m = zkt_mutex_with(h->c, &mo);
    ZKT_MUST(zkr_mutex_acquire(h->m, PATIENCE_MS));
}

/* Check that the client is connected again in the same session, and has held the lock all the time. */
static void still_holds(struct hold *h)
{
    ZKT_BECOMES(zkr_client_state(h->c), ZKR_STATE_CONNECTED, PATIENCE_MS);
    assert_true(zkr_client_session_id(h->c) == h->session);
    assert_true(zkr_mutex_is_held(h->m));
    assert_int_equal(atomic_load(&h->lost), 0);
    ZKT_MUST(zkr_mutex_release(h->m));
}

/* Returns whether the client uses a new list and is connected to a server of that list. */
static bool follows_its_list(zkr_client *c)
{
    zkr__lock(c);
    bool follows = !c->new_list;
    zkr__unlock(c);
    return follows;
}

/*
 * The old address refuses, and the new one answers only later: the client finds it in time to keep the session and the
 * lock. If a list of names replaces a list of addresses, the names are resolved again and again, as if they had been
 * given at the start.
 */
ZKT_CASE_WAYS(they_are_followed,
              {"servers_that_move_are_followed", they_are_followed, 0, NULL},
              {"names_of_a_new_list_are_followed", they_are_followed, 1, NULL})
{
    struct hold h;
    hold_at(&h, SESSION_MS, zkt_way() == 0);
    if (zkt_way() == 1) {
        ZKT_MUST(zkr_client_set_servers(h.c, h.servers));
        ZKT_EVENTUALLY(follows_its_list(h.c),
                       PATIENCE_MS); /* the name still has the same address */
    }
    int port = zkt_proxy_port(h.here);
    zkt_proxy_stop(h.here);
    ZKT_BECOMES(zkr_client_state(h.c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
    int before = atomic_load(&asked);
    ZKT_EVENTUALLY(atomic_load(&asked) > before, PATIENCE_MS);
    (void)zkt_proxy_start_at(THERE, port, zkt_servers());
    atomic_store(&address, THERE);
    still_holds(&h);
}

static bool knows(zkr_client *c, const char *host)
{
    zkr__lock(c);
    bool known = strstr(c->link->servers, host) != NULL;
    zkr__unlock(c);
    return known;
}

/* The name gets a third address. Before, it had two, one of which libzookeeper had twice, so libzookeeper already had
   three. */
ZKT_CASE(an_address_that_is_added_is_found)
{
    enum { LONG_MS = 10000 };
    struct hold h;
    hold_at(&h, LONG_MS, true);
    int port = zkt_proxy_port(h.here);
    zkt_proxy_stop(h.here);
    atomic_store(&address, HERE "," THERE);
    ZKT_EVENTUALLY(knows(h.c, THERE), PATIENCE_MS);
    (void)zkt_proxy_start_at("127.0.0.3", port, zkt_servers());
    atomic_store(&address, HERE "," THERE ",127.0.0.3");
    still_holds(&h);
}

/* The old address accepts connections but sends nothing. When the name has a new address, the client gives such a
   connection up at once. */
ZKT_CASE(a_silent_old_address_is_given_up)
{
    enum { LONG_MS = 10000, SOON_MS = LONG_MS / 2 };
    struct hold h;
    hold_at(&h, LONG_MS, true);
    zkt_proxy *there = zkt_proxy_start_at(THERE, zkt_proxy_port(h.here), zkt_servers());
    zkt_proxy_blackhole(h.here);
    zkt_proxy_drop_connections(h.here);
    ZKT_BECOMES(zkr_client_state(h.c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
    atomic_store(&address, THERE);
    ZKT_BECOMES(zkr_client_state(h.c), ZKR_STATE_CONNECTED, SOON_MS);
    assert_true(zkt_proxy_counters(there).connections > 0);
    still_holds(&h);
}

/* The name keeps its address, and the server returns there: resolving the name again disturbs nothing. */
ZKT_CASE(the_same_address_again_changes_nothing)
{
    struct hold h;
    hold_at(&h, SESSION_MS, true);
    zkt_proxy_cut(h.here);
    ZKT_BECOMES(zkr_client_state(h.c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
    int before = atomic_load(&asked);
    ZKT_EVENTUALLY(atomic_load(&asked) > before + 1, PATIENCE_MS);
    zkt_proxy_heal(h.here);
    still_holds(&h);
}

/* --- a resolver that hangs --- */

static void close_in_time(zkr_client *c)
{
    int64_t before = zkt_now_ms();
    zkt_close(c);
    ZKT_IN_RANGE(zkt_now_ms() - before, 0, CLOSE_MS + BUSY_MS);
}

/* Let the resolver answer. A thread that was left behind in it ends by itself, as the end of the test checks. */
static void resolver_comes_back(void)
{
    atomic_store(&hangs, false);
    ZKT_BECOMES(atomic_load(&asking), 0, PATIENCE_MS);
    assert_int_equal(atomic_load(&most_asking), 1);
}

/* One request at a time waits for the resolver, in a thread like the client's others. A loss is reported in time, and
   the close returns. */
ZKT_CASE(a_hanging_resolver_delays_no_loss_and_no_close)
{
    enum { BRIEF_MS = 2000 };
    struct hold h;
    uint64_t blocked;
    atomic_store(&most_asking, 0);
    hold_at(&h, BRIEF_MS, true);
    atomic_store(&hangs, true);
    int64_t before = zkt_now_ms();
    zkt_proxy_cut(h.here);
    ZKT_BECOMES(zkt_threads_named("zkr-resolve", &blocked, NULL), 1, PATIENCE_MS);
    assert_true(blocked & ZKT_SIGNAL(SIGTERM));
    ZKT_BECOMES(atomic_load(&h.lost), 1, PATIENCE_MS);
    ZKT_IN_RANGE(zkt_now_ms() - before, 0, BRIEF_MS + BUSY_MS);
    ZKT_BECOMES(zkr_client_session_id(h.c), 0, BRIEF_MS + BUSY_MS);
    ZKT_RC(zkr_mutex_release(h.m), ZKR_ESESSION);
    zkt_destroy(h.m);
    assert_int_equal(atomic_load(&asking), 1);
    close_in_time(h.c);
    assert_int_equal(atomic_load(&asking), 1);
    resolver_comes_back();
}

/* If the resolver does not answer for one name, the client still reaches a server that is given by its address,
   whichever of the two is first in the list. */
ZKT_CASE(a_name_without_an_answer_blocks_no_address)
{
    const char *port = strrchr(zkt_servers(), ':') + 1;
    atomic_store(&most_asking, 0);
    atomic_store(&address, HERE);
    for (int i = 0; i < 2; i++) {
        char servers[128];
        zkr_client *c = NULL;
        (void)snprintf(servers, sizeof(servers), "%s:%s,%s:%s", i ? HERE : NAME, port,
                       i ? NAME : HERE, port);
        atomic_store(&hangs, true);
        ZKT_MUST(zkr_client_open(&c, servers, NULL));
        ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
        int64_t session = zkr_client_session_id(c);
        resolver_comes_back(); /* this changes nothing */
        ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
        assert_true(zkr_client_session_id(c) == session);
        close_in_time(c);
    }
}

/* The resolver hangs from the start: the message says so, the open does not wait, and the late answer is used. */
ZKT_CASE(a_resolver_may_hang_at_the_opening)
{
    char servers[64];
    zkr_client *c = NULL;
    port_of(zkt_servers(), servers);
    atomic_store(&most_asking, 0);
    atomic_store(&address, HERE);
    atomic_store(&hangs, true);
    ZKT_MUST(zkr_client_open(&c, servers, NULL));
    ZKT_RC(zkr_client_wait_connected(c, SHORT_MS), ZKR_ETIMEDOUT);
    assert_non_null(strstr(zkr_last_error()->message, "no answer from the resolver"));
    close_in_time(c);
    resolver_comes_back();
    atomic_store(&hangs, true);
    ZKT_MUST(zkr_client_open(&c, servers, NULL));
    ZKT_BECOMES(atomic_load(&asking), 1, PATIENCE_MS);
    resolver_comes_back();
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    zkt_close(c);
}

/* The name of the old list is still being resolved when a new list is given. Its late answer is not used for the new
   list. */
ZKT_CASE(a_late_answer_is_about_the_old_list)
{
    char servers[2][64];
    zkt_proxy *p[2] = {zkt_proxy_start(zkt_servers()), zkt_proxy_start(zkt_servers())};
    zkr_client *c = NULL;
    port_of(zkt_proxy_host(p[0]), servers[0]);
    port_of(zkt_proxy_host(p[1]), servers[1]);
    atomic_store(&address, HERE);
    atomic_store(&hangs, true);
    ZKT_MUST(zkr_client_open(&c, servers[0], NULL));
    ZKT_BECOMES(atomic_load(&asking), 1, PATIENCE_MS);
    ZKT_MUST(zkr_client_set_servers(c, servers[1]));
    ZKT_BECOMES(atomic_load(&asking), 2, PATIENCE_MS);
    atomic_store(&spared, strrchr(servers[0], ':') + 1);
    ZKT_BECOMES(atomic_load(&asking), 1, PATIENCE_MS);
    ZKT_RC(zkr_client_wait_connected(c, SHORT_MS), ZKR_ETIMEDOUT);
    atomic_store(&hangs, false);
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    atomic_store(&spared, NULL);
    assert_int_equal(zkt_proxy_counters(p[0]).connections, 0);
    assert_true(zkt_proxy_counters(p[1]).open > 0);
    assert_int_equal(zkt_reconnects(c), 0);
    zkt_close(c);
}
