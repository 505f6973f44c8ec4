/* SPDX-License-Identifier: Apache-2.0 */
/* Permits are had first come, first served, by many requests at once as well. */
#include <stdlib.h>

#include "../unit/unit.h"
#include "semaphores.h"

enum { CLIENTS = 4, REQUESTS = 100, PERMITS = 11, ROUNDS = 5 };

/* Asked for by client i % CLIENTS, in this order. */
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

/* Later requests of the same client that were served before: by the time of the grant, or by the token. */
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

/* @largest: each asks for 1 to so many. Returns the jumps. */
static int ask_at_once(zkr_semaphore **s, int largest, uint64_t seed)
{
    static struct asked asked[REQUESTS];
    atomic_int turns = 0;
    memset(asked, 0, sizeof(asked));
    for (int i = 0; i < REQUESTS; i++) {
        asked[i].told.turns = &turns;
        asked[i].told.then = release;
        int n = 1 + (int)zkt_below(&seed, largest);
        (void)ask_for(s[i % CLIENTS], n, &asked[i].told);
    }
    ZKT_BECOMES(atomic_load(&turns), REQUESTS, PATIENCE_MS);
    for (int i = 0; i < REQUESTS; i++) {
        ZKT_EVENTUALLY(asked[i].told.held == 1, PATIENCE_MS);
        assert_int_equal(asked[i].told.wrong, 0);
        ZKT_MUST(zkr_ticket_destroy(asked[i].told.t));
    }
    return jumps(asked);
}

/* All permits are out and somebody waits at the gate, so both directories are there afterwards. */
static void make_directories(zkr_semaphore *s)
{
    zkr_ticket *all = NULL, *more = NULL;
    ZKT_MUST(zkr_semaphore_acquire(s, PERMITS, PATIENCE_MS, &all));
    assert_true(zkt_timed_out(zkr_semaphore_acquire(s, 1, 200, &more)));
    zkt_end_ticket(all);
    ZKT_EVENTUALLY(below("locks") == 0 && below("leases") == 0, PATIENCE_MS);
}

/* While the directories are made, who comes later may be first: semaphore.h. */
static void ask_often(int largest)
{
    zkr_semaphore *s[CLIENTS];
    int found = 0;
    for (int i = 0; i < CLIENTS; i++) {
        s[i] = semaphore(zkt_client(zkt_servers(), SESSION_MS), PERMITS);
    }
    make_directories(s[0]);
    for (int round = 0; round < ROUNDS; round++) {
        found += ask_at_once(s, largest, (uint64_t)largest * 100 + (uint64_t)round);
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
