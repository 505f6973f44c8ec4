/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of one client are granted in the order of the calls, even if the path does not exist yet. */
#include <stdlib.h>

#include "../unit/unit.h"
#include "semaphores.h"

enum { CLIENTS = 4, REQUESTS = 100, PERMITS = 11, ROUNDS = 4, AGAIN = 2 };

/* A request by client i % CLIENTS. The requests are made in the order of the array. */
struct asked {
    struct told told;
    int64_t token;
};

static void release(zkr_ticket *t, int state, struct told *told)
{
    struct asked *a = (struct asked *)told;
    if (state == ZKR_TICKET_HELD) {
        ZKT_MUST(zkr_ticket_fencing_token(t, &a->token));
        ZKT_MUST(zkr_ticket_release(t));
    }
}

/* Returns how often a later request of the same client was served first, by the time of the grant or by the token. */
static int jumps(const struct asked *asked)
{
    int found = 0;
    for (int i = 0; i < REQUESTS; i++) {
        for (int j = i + CLIENTS; j < REQUESTS; j += CLIENTS) {
            bool by_time = asked[j].told.turn < asked[i].told.turn;
            bool by_token = asked[j].token < asked[i].token;
            if (by_time || by_token) {
                print_message(
                    "request %d was grant %d with token %lld, and request %d grant "
                    "%d with token %lld\n",
                    i, (int)asked[i].told.turn, (long long)asked[i].token, j,
                    (int)asked[j].told.turn, (long long)asked[j].token);
                found++;
            }
        }
    }
    return found;
}

/* The object through which one client requests: a mutex, or a semaphore. */
struct asker {
    zkr_client *c;
    zkr_mutex *m; /* NULL = use the semaphore */
    zkr_semaphore *s;
};

/* Make all requests at once. With semaphores, each is for 1 to @largest permits. Returns the number of jumps. */
static int ask_at_once(struct asker *askers, int largest, uint64_t seed)
{
    static struct asked asked[REQUESTS];
    atomic_int turns = 0;
    memset(asked, 0, sizeof(asked));
    for (int i = 0; i < REQUESTS; i++) {
        const struct asker *asker = &askers[i % CLIENTS];
        asked[i].told.turns = &turns;
        asked[i].told.then = release;
        if (asker->m) {
            (void)request(asker->m, ZKR_FOREVER, &asked[i].told);
        } else {
            (void)ask_for(asker->s, 1 + (int)zkt_below(&seed, largest), &asked[i].told);
        }
    }
    ZKT_BECOMES(atomic_load(&turns), REQUESTS, PATIENCE_MS);
    for (int i = 0; i < REQUESTS; i++) {
        ZKT_EVENTUALLY(asked[i].told.held == 1, PATIENCE_MS);
        assert_int_equal(asked[i].told.wrong, 0);
        ZKT_MUST(zkr_ticket_destroy(asked[i].told.t));
    }
    return jumps(asked);
}

/* Make all requests twice at a new path, which does not exist at first. Returns the number of jumps. */
static int ask_anew(struct asker *askers, int largest, int round)
{
    char path[256];
    int found = 0;
    (void)snprintf(path, sizeof(path), "%s/%d", zkt_path(), round);
    for (int i = 0; i < CLIENTS; i++) {
        struct asker *a = &askers[i];
        ZKT_MUST(largest > 0 ? zkr_semaphore_create(&a->s, a->c, path, PERMITS, NULL)
                             : zkr_mutex_create(&a->m, a->c, path, NULL));
    }
    for (int again = 0; again < AGAIN; again++) {
        uint64_t seed = (uint64_t)(largest * 100 + round * AGAIN + again);
        found += ask_at_once(askers, largest, seed);
    }
    for (int i = 0; i < CLIENTS; i++) {
        ZKT_MUST(largest > 0 ? zkr_semaphore_destroy(askers[i].s)
                             : zkr_mutex_destroy(askers[i].m));
    }
    return found;
}

/* @largest is as in ask_at_once(), or 0 for mutexes. */
static void ask_often(int largest)
{
    struct asker askers[CLIENTS] = {{0}};
    int found = 0;
    for (int i = 0; i < CLIENTS; i++) {
        askers[i].c = zkt_client(zkt_servers(), SESSION_MS);
    }
    for (int round = 0; round < ROUNDS; round++) {
        found += ask_anew(askers, largest, round);
    }
    assert_int_equal(found, 0);
}

ZKT_CASE(nobody_passes_an_earlier_one_of_its_client)
{
    ask_often(1);
}

ZKT_CASE(nor_when_it_wants_fewer)
{
    ask_often(5);
}

ZKT_CASE(nor_at_a_mutex)
{
    ask_often(0);
}
