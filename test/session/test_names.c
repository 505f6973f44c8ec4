/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server names whose addresses change. The resolver is replaced: this program's getaddrinfo() is
 * found before the C library's.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

enum { SESSION_MS = 2000, SHORT_MS = 300, PATIENCE_MS = 30000 };

#define NAME "zookeeper.test"
#define HERE "127.0.0.1"
#define THERE "127.0.0.2"

/* --- the resolver --- */

static const char *_Atomic address; /* of NAME; NULL = it cannot be resolved now */

static int answer(const char *host, const char *service, struct addrinfo **found)
{
    struct {
        struct addrinfo info;
        struct sockaddr_in in;
    } *a = calloc(1, sizeof *a);
    if (!a) {
        return EAI_MEMORY;
    }
    a->in.sin_family = AF_INET;
    a->in.sin_port = htons((uint16_t)(service ? strtol(service, NULL, 10) : 0));
    if (inet_pton(AF_INET, host, &a->in.sin_addr) != 1) {
        free(a);
        return EAI_NONAME;
    }
    a->info.ai_family = AF_INET;
    a->info.ai_socktype = SOCK_STREAM;
    a->info.ai_addr = (struct sockaddr *)&a->in;
    a->info.ai_addrlen = sizeof a->in;
    *found = &a->info;
    return 0;
}

int getaddrinfo(const char *host,
                const char *service,
                const struct addrinfo *hints,
                struct addrinfo **found)
{
    if (strcmp(host, NAME) != 0) {
        return answer(host, service, found);
    }
    const char *now = atomic_load(&address);
    if (hints && (hints->ai_flags & AI_NUMERICHOST)) {
        return EAI_NONAME;
    }
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

/* No resolver at first: it says so, and goes on trying by itself. */
static void a_name_may_be_resolvable_only_later(void **state)
{
    (void)state;
    char servers[64];
    zkr_client *c = NULL;
    port_of(zkt_servers(), servers);
    atomic_store(&address, NULL);
    ZKT_MUST(zkr_client_open(&c, servers, NULL));
    assert_int_equal(zkr_client_wait_connected(c, SHORT_MS), ZKR_ETIMEDOUT);
    assert_non_null(strstr(zkr_last_error()->message, "cannot resolve " NAME));
    atomic_store(&address, HERE);
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    zkt_close(c);
}

/* Nobody at the first address: the name is asked again, and the client gets through. */
static void a_wrong_address_is_not_kept_for_ever(void **state)
{
    (void)state;
    char servers[64];
    zkr_client *c = NULL;
    port_of(zkt_servers(), servers);
    atomic_store(&address, THERE);
    ZKT_MUST(zkr_client_open(&c, servers, NULL));
    assert_int_equal(zkr_client_wait_connected(c, SHORT_MS), ZKR_ETIMEDOUT);
    assert_non_null(strstr(zkr_last_error()->message, "no answer from " THERE));
    atomic_store(&address, HERE);
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    zkt_close(c);
}

/* The server moves while a lock is held: found at its new address, and all goes on from there. */
static void servers_that_move_are_followed(void **state)
{
    (void)state;
    char servers[64];
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    zkr_client *c = NULL;
    zkt_proxy *here = zkt_proxy_start(zkt_servers());
    port_of(zkt_proxy_host(here), servers);
    atomic_store(&address, HERE);
    o.session_timeout_ms = SESSION_MS;
    ZKT_MUST(zkr_client_open(&c, servers, &o));
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    atomic_store(&address, THERE);
    zkt_proxy *there = zkt_proxy_start_at(THERE, zkt_proxy_port(here), zkt_servers());
    zkt_proxy_stop(here);
    ZKT_EVENTUALLY(!zkr_mutex_is_held(m), PATIENCE_MS);
    assert_int_equal(zkr_mutex_release(m), ZKR_ESESSION);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_release(m));
    zkt_destroy(m);
    zkt_close(c);
    zkt_proxy_stop(there);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ZKT_TEST(a_name_may_be_resolvable_only_later),
        ZKT_TEST(a_wrong_address_is_not_kept_for_ever),
        ZKT_TEST(servers_that_move_are_followed),
    };
    return cmocka_run_group_tests(tests, zkt_group_setup, zkt_group_teardown);
}
