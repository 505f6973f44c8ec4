/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of two clients that read by shared nodes and write: readers and writers are never in together. */
#include "rwlock_shares.h"

enum { READERS = 6, WRITERS = 1, CLIENTS = 2, READS = 120, WRITES = 12 };

static atomic_int readers_in, writers_in, together, failures;

static void expect(bool ok, atomic_int *count)
{
    if (!ok) {
        atomic_fetch_add(count, 1);
    }
}

static int to_read_often(const struct sides *s, void *arg)
{
    (void)arg;
    for (int i = 0; i < READS; i++) {
        expect(zkr_mutex_acquire(s->r, ZKR_FOREVER) == ZKR_OK, &failures);
        atomic_fetch_add(&readers_in, 1);
        expect(atomic_load(&writers_in) == 0, &together);
        if (i % 16 == 0) {
            expect(zkr_mutex_multi(s->r, 0, NULL, NULL, PATIENCE_MS) == ZKR_OK,
                   &failures);
        } else {
            zkt_sleep_ms(i % 3);
        }
        expect(atomic_load(&writers_in) == 0, &together);
        atomic_fetch_sub(&readers_in, 1);
        expect((i % 16 == 8 ? zkr_mutex_release_multi(s->r, 0, NULL, NULL, PATIENCE_MS)
                            : zkr_mutex_release(s->r)) == ZKR_OK,
               &failures);
    }
    return ZKR_OK;
}

static int to_write_often(const struct sides *s, void *arg)
{
    (void)arg;
    for (int i = 0; i < WRITES; i++) {
        expect(zkr_mutex_acquire(s->w, ZKR_FOREVER) == ZKR_OK, &failures);
        expect(atomic_fetch_add(&writers_in, 1) == 0, &together);
        expect(atomic_load(&readers_in) == 0, &together);
        zkt_sleep_ms(i % 3);
        expect(atomic_load(&readers_in) == 0, &together);
        atomic_fetch_sub(&writers_in, 1);
        expect(zkr_mutex_release(s->w) == ZKR_OK, &failures);
    }
    return ZKR_OK;
}

ZKT_CASE(readers_and_writers_are_never_in_together)
{
    enum { EACH = READERS + WRITERS };
    zkr_client *c[CLIENTS];
    struct sides s[CLIENTS];
    struct worker w[CLIENTS * EACH];
    for (int i = 0; i < CLIENTS; i++) {
        c[i] = zkt_client(zkt_servers(), SESSION_MS);
        s[i] = shares_of(c[i], 0, NULL);
    }
    for (int i = 0; i < CLIENTS * EACH; i++) {
        hire(&w[i], &s[i % CLIENTS]);
        start(&w[i], i < CLIENTS * WRITERS ? to_write_often : to_read_often, NULL);
    }
    for (int i = 0; i < CLIENTS * EACH; i++) {
        ZKT_MUST(result(&w[i]));
        dismiss(&w[i]);
    }
    int64_t grants = 0;
    for (int i = 0; i < CLIENTS; i++) {
        zkr_stats stats;
        ZKT_MUST(zkr_client_flush(c[i], PATIENCE_MS));
        ZKT_MUST(zkr_client_stats(c[i], &stats, sizeof(stats)));
        grants += stats.grants;
        end_sides(&s[i]);
        zkt_close(c[i]);
    }
    assert_int_equal(atomic_load(&failures), 0);
    assert_int_equal(atomic_load(&together), 0);
    assert_int_equal(zkt_nodes(), 0);
    print_message("%d acquires by %lld nodes\n",
                  CLIENTS * (READERS * READS + WRITERS * WRITES), (long long)grants);
}
