/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hundred candidates come and go at random on connections that break. There are never two leaders, neither by the
 * functions of the latches (inside) nor by the nodes (outside).
 *
 * Both views compare fencing tokens, which rise from leader to leader. Once a leadership with a token was seen, no
 * leadership with a lower token may be sure any more.
 *
 * $ZKR_TEST_SECONDS sets the duration, and $ZKR_TEST_SEED repeats a run.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "latches.h"

enum { CLIENTS = 4, EACH = 25, SESSION_MS = 2000, PATIENCE_MS = 30000 };
enum { DEFAULT_SECONDS = 15, LEAST_TERMS = 4, LONGEST_CUT_MS = 2 * SESSION_MS };
/* The first latches of each client stop rarely, so that they lead when their connection breaks. */
enum { STAYERS = 5, STAYERS_TURN = 3 };

struct client {
    zkt_proxy *proxy;
    zkr_client *c;
    zkr_leader_latch *l[EACH];
    struct zkt_told told[EACH];
    pthread_t worker, vandal;
    unsigned seed;
    bool started[EACH];
};

static struct client clients[CLIENTS];
static atomic_bool over;
static _Atomic int64_t inside, outside; /* highest token seen */
static atomic_int terms, violations, samples;

static void see(_Atomic int64_t *seen, int64_t token)
{
    int64_t now = atomic_load(seen);
    while (token > now && !atomic_compare_exchange_weak(seen, &now, token)) {
    }
}

/* --- threads --- */

/* Start and stop latches of one client. */
static void *come_and_go(void *arg)
{
    struct client *k = arg;
    while (!atomic_load(&over)) {
        int i = rand_r(&k->seed) % EACH;
        if (i < STAYERS && rand_r(&k->seed) % STAYERS_TURN != 0) {
            i += STAYERS;
        }
        if (k->started[i]) {
            bool notify = rand_r(&k->seed) % 2;
            ZKT_MUST(zkr_leader_latch_stop(k->l[i], notify ? ZKR_LATCH_NOTIFY
                                                           : ZKR_LATCH_SILENT));
            if (!notify) { /* the loss was not reported */
                atomic_store(&k->told[i].losses, atomic_load(&k->told[i].gains));
            }
        } else {
            ZKT_MUST(zkr_leader_latch_start(k->l[i]));
        }
        k->started[i] = !k->started[i];
        zkt_sleep_ms(rand_r(&k->seed) % 20);
    }
    return NULL;
}

/* Break the connection of one client now and then, sometimes for longer than a session timeout. */
static void *break_lines(void *arg)
{
    struct client *k = arg;
    unsigned seed = k->seed + 1;
    while (!atomic_load(&over)) {
        zkt_sleep_ms(500 + rand_r(&seed) % 4000);
        switch (rand_r(&seed) % 4) {
        case 0:
            zkt_proxy_drop_connections(k->proxy);
            break;
        case 1:
            zkt_proxy_cut(k->proxy);
            break;
        case 2:
            zkt_proxy_blackhole(k->proxy);
            break;
        default:
            zkt_proxy_freeze(k->proxy, rand_r(&seed) % 2);
            break;
        }
        zkt_sleep_ms(rand_r(&seed) % LONGEST_CUT_MS);
        zkt_proxy_heal(k->proxy);
    }
    return NULL;
}

static void look_at(zkr_leader_latch *l)
{
    int64_t token = 0;
    int64_t before_in = atomic_load(&inside), before_out = atomic_load(&outside);
    if (zkr_leader_latch_fencing_token(l, &token) != ZKR_OK) {
        return;
    }
    atomic_fetch_add(&samples, 1);
    atomic_fetch_add(&terms, token > before_in);
    if (token < before_in || token < before_out) {
        print_error("token %lld is sure after %lld inside, %lld outside\n",
                    (long long)token, (long long)before_in, (long long)before_out);
        atomic_fetch_add(&violations, 1);
    }
    see(&inside, token);
}

/* Ask all latches whether they lead. */
static void *look_inside(void *arg)
{
    while (!atomic_load(&over)) {
        for (int i = 0; i < CLIENTS * EACH; i++) {
            look_at(clients[i / EACH].l[i % EACH]);
        }
        zkt_sleep_ms(1);
    }
    return NULL;
}

/* Returns the name with the lowest number, or NULL if the list is empty. */
static const char *lowest(const zkt_list *list)
{
    const char *first = NULL;
    for (int i = 0; i < list->count; i++) {
        const char *name = list->name[i];
        if (!first || strcmp(strrchr(name, '-'), strrchr(first, '-')) < 0) {
            first = name;
        }
    }
    return first;
}

/* Read from the server, without the library, whose node is the first. */
static void *look_outside(void *arg)
{
    zkt_raw *raw = zkt_raw_open(zkt_servers(), 20000);
    while (!atomic_load(&over)) {
        zkt_list list = {0};
        zkt_stat st;
        char path[512];
        if (zkt_raw_children(raw, zkt_path(), false, &list) == ZKT_OK &&
            list.count > 0) {
            (void)snprintf(path, sizeof(path), "%s/%s", zkt_path(), lowest(&list));
            if (zkt_raw_exists(raw, path, false, &st) == ZKT_OK) {
                see(&outside, st.czxid);
            }
        }
        zkt_list_free(&list);
        zkt_sleep_ms(1);
    }
    zkt_raw_close(raw);
    return NULL;
}

/* --- the test --- */

static void set_up(struct client *k, unsigned seed)
{
    *k = (struct client){.seed = seed};
    k->proxy = zkt_proxy_start(zkt_servers());
    k->c = zkt_client(zkt_proxy_host(k->proxy), SESSION_MS);
    for (int i = 0; i < EACH; i++) {
        k->l[i] = zkt_telling_latch(k->c, "one of a hundred", &k->told[i], NULL);
        k->started[i] = i < STAYERS;
        if (k->started[i]) {
            ZKT_MUST(zkr_leader_latch_start(k->l[i]));
        }
    }
}

static void tear_down(struct client *k)
{
    for (int i = 0; i < EACH; i++) {
        ZKT_MUST(zkr_leader_latch_stop(k->l[i], ZKR_LATCH_NOTIFY));
        assert_int_equal(atomic_load(&k->told[i].bad), 0);
        assert_int_equal(atomic_load(&k->told[i].gains),
                         atomic_load(&k->told[i].losses));
        zkt_destroy_latch(k->l[i]);
    }
    ZKT_MUST(zkr_client_flush(k->c, PATIENCE_MS));
    zkt_close(k->c);
    zkt_proxy_stop(k->proxy);
}

static bool any_leads(void)
{
    bool leads = false;
    for (int i = 0; i < CLIENTS * EACH && !leads; i++) {
        leads = zkr_leader_latch_has_leadership(clients[i / EACH].l[i % EACH]);
    }
    return leads;
}

/* Returns the number of reconnections, in the same session or in a new one. */
static int64_t breaks(void)
{
    int64_t count = 0;
    for (int i = 0; i < CLIENTS; i++) {
        zkr_stats s = zkt_stats(clients[i].c);
        count += s.reconnects + s.sessions - 1;
    }
    return count;
}

static int64_t number_of(const char *variable, int64_t fallback)
{
    const char *text =
        getenv(variable); // NOLINT(concurrency-mt-unsafe): no threads yet
    return text ? strtoll(text, NULL, 10) : fallback;
}

ZKT_CASE(a_hundred_candidates_never_have_two_leaders)
{
    int64_t seconds = number_of("ZKR_TEST_SECONDS", DEFAULT_SECONDS);
    unsigned seed = (unsigned)number_of("ZKR_TEST_SEED", zkt_now_ms());
    print_message("ZKR_TEST_SEED=%u\n", seed);
    pthread_t in, out;
    zkt_create_path(zkt_servers(), zkt_path());
    for (int i = 0; i < CLIENTS; i++) {
        set_up(&clients[i], seed + 10U * (unsigned)i);
    }
    for (int i = 0; i < CLIENTS; i++) {
        struct client *k = &clients[i];
        assert_int_equal(pthread_create(&k->worker, NULL, come_and_go, k), 0);
        assert_int_equal(pthread_create(&k->vandal, NULL, break_lines, k), 0);
    }
    assert_int_equal(pthread_create(&in, NULL, look_inside, NULL), 0);
    assert_int_equal(pthread_create(&out, NULL, look_outside, NULL), 0);
    zkt_sleep_ms(1000 * seconds);
    ZKT_EVENTUALLY(atomic_load(&terms) >= LEAST_TERMS && breaks() > 0, PATIENCE_MS);
    atomic_store(&over, true);
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i].worker, NULL);
        pthread_join(clients[i].vandal, NULL);
    }
    pthread_join(in, NULL);
    pthread_join(out, NULL);
    ZKT_EVENTUALLY(any_leads(), PATIENCE_MS);
    print_message("%d terms seen, %d samples, %lld breaks\n", atomic_load(&terms),
                  atomic_load(&samples), (long long)breaks());
    for (int i = 0; i < CLIENTS; i++) {
        tear_down(&clients[i]);
    }
    assert_int_equal(atomic_load(&violations), 0);
}
