/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ten thousand tickets that wait in one process with an event loop: the threads and the memory
 * that they take. Memory is what the library itself has allocated: the program is linked with
 * --wrap=calloc and --wrap=free, which do not reach into libzookeeper.
 */
#include <inttypes.h>
#include <malloc.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"

enum { PATHS = 100, EACH = 100, TICKETS = PATHS * EACH, SESSION_MS = 20000 };
enum { PATIENCE_MS = 120000, TICKET_MOST = 1024, PATH_SIZE = 256 };

void *__real_calloc(size_t count, size_t size);
void __real_free(void *p);
void *__wrap_calloc(size_t count, size_t size);
void __wrap_free(void *p);

static _Atomic int64_t allocated; /* bytes */

/* With the word that the allocator keeps for itself. */
static int64_t bytes_of(void *p)
{
    return p ? (int64_t)(malloc_usable_size(p) + sizeof(size_t)) : 0;
}

void *__wrap_calloc(size_t count, size_t size)
{
    void *p = __real_calloc(count, size);
    atomic_fetch_add(&allocated, bytes_of(p));
    return p;
}

void __wrap_free(void *p)
{
    atomic_fetch_sub(&allocated, bytes_of(p));
    __real_free(p);
}

struct crowd;

struct place {
    struct crowd *k;
    zkr_ticket *ticket;
    int path, turn; /* 0 = the first at its path */
};

struct crowd {
    zkr_client *c;
    zkr_mutex *mutexes[PATHS];
    struct place places[PATHS][1 + EACH];
    int next[PATHS]; /* whose turn it is */
    int64_t last_token[PATHS];
    int held, unexpected;
    bool pass_on; /* who is granted releases at once */
};

static struct crowd crowd; /* not from the allocator */

static void on_ticket(zkr_ticket *t, int state, void *ctx)
{
    struct place *p = ctx;
    struct crowd *k = p->k;
    int64_t token = 0;
    bool good = state == ZKR_TICKET_HELD && p->turn == k->next[p->path]++ &&
                zkr_ticket_fencing_token(t, &token) == ZKR_OK &&
                token > k->last_token[p->path];
    k->last_token[p->path] = token;
    k->held++;
    if (k->pass_on) {
        good = zkr_ticket_release(t) == ZKR_OK && good;
    }
    k->unexpected += !good;
}

static void request(struct crowd *k, int path, int turn)
{
    struct place *p = &k->places[path][turn];
    *p = (struct place){.k = k, .path = path, .turn = turn};
    ZKT_MUST(
        zkr_mutex_request(k->mutexes[path], ZKR_FOREVER, on_ticket, p, &p->ticket));
}

/* The program's event loop, for a moment. */
static void loop_once(struct crowd *k)
{
    struct pollfd fd = {.fd = zkr_client_event_fd(k->c), .events = POLLIN};
    assert_true(fd.fd >= 0);
    (void)poll(&fd, 1, 20);
    assert_true(zkr_client_dispatch(k->c, 0) >= 0);
    assert_int_equal(k->unexpected, 0);
}

static void loop_for(struct crowd *k, int64_t ms)
{
    for (const int64_t end = zkt_now_ms() + ms; zkt_now_ms() < end;) {
        loop_once(k);
    }
}

static void loop_until_held(struct crowd *k, int count)
{
    const int64_t end = zkt_now_ms() + PATIENCE_MS;
    while (k->held < count) {
        assert_true(zkt_now_ms() < end);
        loop_once(k);
    }
}

static void loop_until_waiting(struct crowd *k, int64_t count)
{
    const int64_t end = zkt_now_ms() + PATIENCE_MS;
    zkr_stats stats = {0};
    while (stats.waiting < count) {
        assert_true(zkt_now_ms() < end);
        loop_once(k);
        ZKT_MUST(zkr_client_stats(k->c, &stats, sizeof(stats)));
    }
}

static void path_of(char path[PATH_SIZE], int i)
{
    (void)snprintf(path, PATH_SIZE, "%s/%d", zkt_path(), i);
}

static void set_up(struct crowd *k)
{
    char path[PATH_SIZE];
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = SESSION_MS;
    o.dispatch_by_application = 1;
    *k = (struct crowd){0};
    ZKT_MUST(zkr_client_open(&k->c, zkt_servers(), &o));
    ZKT_MUST(zkr_client_wait_connected(k->c, PATIENCE_MS));
    for (int i = 0; i < PATHS; i++) {
        path_of(path, i);
        ZKT_MUST(zkr_mutex_create(&k->mutexes[i], k->c, path, NULL));
    }
}

static void delete_paths(void)
{
    char path[PATH_SIZE];
    zkt_raw *by = zkt_raw_open(zkt_servers(), SESSION_MS);
    assert_non_null(by);
    for (int i = 0; i < PATHS; i++) {
        path_of(path, i);
        int rc = zkt_raw_delete(by, path);
        assert_true(rc == ZKT_OK ||
                    rc == ZKT_NONODE); /* reaped, if it is a container */
    }
    assert_int_equal(zkt_raw_close(by), ZKT_OK);
}

static void tear_down(struct crowd *k)
{
    for (int i = 0; i < PATHS; i++) {
        for (int turn = 0; turn <= EACH; turn++) {
            ZKT_MUST(zkr_ticket_destroy(k->places[i][turn].ticket));
        }
        ZKT_MUST(zkr_mutex_destroy(k->mutexes[i]));
    }
    ZKT_MUST(zkr_client_flush(k->c, PATIENCE_MS));
    ZKT_MUST(zkr_client_close(k->c));
    delete_paths();
}

/* They take no thread and at most 1 KiB each; and then each is granted, in the order of requests. */
static void ten_thousand_wait_in_one_process(void **state)
{
    struct crowd *k = &crowd;
    (void)state;
    set_up(k);
    int threads = zkt_thread_count();
    for (int i = 0; i < PATHS; i++) {
        request(k, i, 0);
    }
    loop_until_held(k, PATHS);
    int64_t before = atomic_load(&allocated);
    for (int turn = 1; turn <= EACH; turn++) {
        for (int i = 0; i < PATHS; i++) {
            request(k, i, turn);
        }
    }
    loop_until_waiting(k, TICKETS);
    loop_for(k, 1000); /* until all watches are set */
    int64_t each = (atomic_load(&allocated) - before) / TICKETS;
    print_message("%" PRId64 " bytes for each ticket that waits\n", each);
    assert_int_equal(k->held, PATHS);
    assert_int_equal(zkt_thread_count(), threads);
    assert_true(each > 0 && each <= TICKET_MOST);

    k->pass_on = true;
    for (int i = 0; i < PATHS; i++) {
        ZKT_MUST(zkr_ticket_release(k->places[i][0].ticket));
    }
    loop_until_held(k, PATHS + TICKETS);
    tear_down(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {ZKT_TEST(ten_thousand_wait_in_one_process)};
    return cmocka_run_group_tests(tests, zkt_group_setup, zkt_group_teardown);
}
