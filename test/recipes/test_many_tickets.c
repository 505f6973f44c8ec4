/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ten thousand tickets wait in one process with an event loop. The first tests measure their threads and their memory.
 * The other tests break a connection when there are more nodes than libzookeeper could name in one request as it
 * reconnects. Memory means the allocations of the library itself: the program is linked with --wrap=calloc and
 * --wrap=free, which do not affect libzookeeper.
 */
#include <inttypes.h>
#include <malloc.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "session/meter.h"
#include "session/watches.h"

enum { TICKETS = 10000, APART = 3000, SESSION_MS = 20000, CHUNK = 500 };
enum { WATCH_MOST = 22 }; /* bytes that a client keeps for each watch */
enum { SPARE_BYTES = ZKR__WATCH_SPARE_BYTES, NAME_LEN = 55 };
enum { PATIENCE_MS = 120000, TICKET_MOST = 1024, METER_MOST = 576, PATH_SIZE = 256 };

void *__real_calloc(size_t count, size_t size);
void __real_free(void *p);
void *__wrap_calloc(size_t count, size_t size);
void __wrap_free(void *p);

static _Atomic int64_t allocated;  /* bytes */
static _Thread_local bool by_test; /* this thread allocates for the test itself */

/* Returns the size of an allocation, including the header of the allocator. */
static int64_t bytes_of(void *p)
{
    return p ? (int64_t)(malloc_usable_size(p) + sizeof(size_t)) : 0;
}

void *__wrap_calloc(size_t count, size_t size)
{
    void *p = __real_calloc(count, size);
    atomic_fetch_add(&allocated, by_test ? 0 : bytes_of(p));
    return p;
}

void __wrap_free(void *p)
{
    atomic_fetch_sub(&allocated, by_test ? 0 : bytes_of(p));
    __real_free(p);
}

/* How many tickets wait at each of how many paths, behind one holder each. */
struct shape {
    const char *name;
    int paths, each;
    bool apart; /* another client has the holders */
    bool cut;   /* the connection of the waiters will break */
    int length; /* length of a path, if above the minimum; 0 = a usual length */
};

struct crowd;

struct place {
    struct crowd *k;
    zkr_ticket *ticket;
    int path, turn; /* turn 0 = the holder of the path */
};

struct crowd {
    const struct shape *shape;
    zkr_client *c, *holder;
    /* Between c and the servers, only if the connection will break, because it would distort the memory count. */
    zkt_proxy *proxy;
    zkr_mutex *mutexes[TICKETS], *held[TICKETS];
    struct place places[2 * TICKETS];
    int next[TICKETS]; /* number of the next grant at each path */
    int64_t last_token[TICKETS];
    int granted;
    char unexpected[200]; /* the first unexpected call */
    bool pass_on;         /* granted tickets release at once */
};

static struct crowd crowd; /* not allocated, so not counted */

static struct place *place_at(struct crowd *k, int path, int turn)
{
    return &k->places[turn * k->shape->paths + path];
}

static void on_ticket(zkr_ticket *t, int state, void *ctx)
{
    struct place *p = ctx;
    struct crowd *k = p->k;
    int64_t token = 0;
    const int turn = k->next[p->path]++;
    const int64_t last = k->last_token[p->path];
    int rc = zkr_ticket_fencing_token(t, &token);
    k->last_token[p->path] = token;
    k->granted++;
    if (rc == ZKR_OK && k->pass_on) {
        rc = zkr_ticket_release(t);
    }
    bool good =
        state == ZKR_TICKET_HELD && p->turn == turn && rc == ZKR_OK && token > last;
    if (!good && k->unexpected[0] == '\0') {
        zkr_lost lost = {0};
        (void)zkr_ticket_lost(t, &lost, sizeof(lost));
        (void)snprintf(k->unexpected, sizeof(k->unexpected),
                       "path %d: %d instead of %d, state %d, rc %d, token %lld after "
                       "%lld, lost by %lld, last write %lld ms ago",
                       p->path, p->turn, turn, state, rc, (long long)token,
                       (long long)last, (long long)lost.reason,
                       (long long)lost.last_write_ms);
    }
}

static void request(struct crowd *k, int path, int turn)
{
    struct place *p = place_at(k, path, turn);
    *p = (struct place){.k = k, .path = path, .turn = turn};
    ZKT_MUST(zkr_mutex_request(turn == 0 ? k->held[path] : k->mutexes[path],
                               ZKR_FOREVER, on_ticket, p, &p->ticket));
}

/* Run the program's event loop for a moment. */
static void loop_once(struct crowd *k)
{
    struct pollfd fds[] = {{.fd = zkr_client_event_fd(k->c), .events = POLLIN},
                           {.fd = zkr_client_event_fd(k->holder), .events = POLLIN}};
    assert_true(fds[0].fd >= 0 && fds[1].fd >= 0);
    (void)poll(fds, 2, 20);
    assert_true(zkr_client_dispatch(k->c, 0) >= 0);
    assert_true(zkr_client_dispatch(k->holder, 0) >= 0);
    assert_string_equal(k->unexpected, "");
}

static void loop_for(struct crowd *k, int64_t ms)
{
    for (const int64_t end = zkt_now_ms() + ms; zkt_now_ms() < end;) {
        loop_once(k);
    }
}

static void loop_until_granted(struct crowd *k, int count)
{
    const int64_t end = zkt_now_ms() + PATIENCE_MS;
    while (k->granted < count) {
        assert_true(zkt_now_ms() < end);
        loop_once(k);
    }
}

static int64_t watches(void)
{
    by_test = true;
    int64_t count = zkt_watches();
    by_test = false;
    return count;
}

/*
 * Write a path of such a length that the full path of a node has 90 bytes, as is usual. The watches of ten thousand
 * such nodes just fit into the limit.
 */
static void path_of(char path[PATH_SIZE], const struct shape *shape, int i)
{
    enum { USUAL = 22, LEAST = 5, MOST = 96 };
    char digits[MOST + 1];
    int count = USUAL;
    if (shape->length > 0) {
        count = shape->length - (int)strlen(zkt_path()) - 1;
        count = count < LEAST ? LEAST : count > MOST ? MOST : count;
    }
    (void)snprintf(digits, sizeof(digits), "%096d", i);
    (void)snprintf(path, PATH_SIZE, "%s/%s", zkt_path(), digits + MOST - count);
}

/* Returns how many of @count optional watches on nodes of one client are set. */
static int64_t spare_watches(const struct crowd *k, int64_t count)
{
    char path[PATH_SIZE];
    path_of(path, k->shape, 0);
    int64_t room = SPARE_BYTES / (int64_t)(strlen(path) + 1 + NAME_LEN + 4);
    return count < room ? count : room;
}

/* Wait until all optional watches that fit are set. By then, all other requests were sent, too. */
static void loop_until_watched(struct crowd *k, int64_t count)
{
    const int64_t end = zkt_now_ms() + PATIENCE_MS;
    while (watches() < count) { /* a watch that was triggered is set again */
        assert_true(zkt_now_ms() < end);
        loop_for(k, 200);
    }
    loop_for(k, 200); /* for the last answers */
}

static zkr_client *open_client(const char *servers)
{
    zkr_client *c = NULL;
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = SESSION_MS;
    o.dispatch_by_application = 1;
    ZKT_MUST(zkr_client_open(&c, servers, &o));
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    return c;
}

static void set_up(struct crowd *k, const struct shape *shape)
{
    char path[PATH_SIZE];
    memset(k, 0, sizeof(*k));
    k->shape = shape;
    k->proxy = shape->cut ? zkt_proxy_start(zkt_servers()) : NULL;
    k->c = open_client(k->proxy ? zkt_proxy_host(k->proxy) : zkt_servers());
    k->holder = shape->apart ? open_client(zkt_servers()) : k->c;
    for (int i = 0; i < shape->paths; i++) {
        path_of(path, k->shape, i);
        ZKT_MUST(zkr_mutex_create(&k->mutexes[i], k->c, path, NULL));
        ZKT_MUST(zkr_mutex_create(&k->held[i], k->holder, path, NULL));
    }
}

static void delete_paths(const struct crowd *k)
{
    char path[PATH_SIZE];
    zkt_raw *by = zkt_raw_open(zkt_servers(), SESSION_MS);
    assert_non_null(by);
    for (int i = 0; i < k->shape->paths; i++) {
        path_of(path, k->shape, i);
        int rc = zkt_raw_delete(by, path);
        assert_true(rc == ZKT_OK ||
                    rc == ZKT_NONODE); /* deleted by the server, if it is a container */
    }
    assert_int_equal(zkt_raw_close(by), ZKT_OK);
}

static void close_client(zkr_client *c)
{
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    ZKT_MUST(zkr_client_close(c));
}

static void tear_down(struct crowd *k)
{
    for (int i = 0; i < k->shape->paths; i++) {
        for (int turn = 0; turn <= k->shape->each; turn++) {
            ZKT_MUST(zkr_ticket_destroy(place_at(k, i, turn)->ticket));
        }
        ZKT_MUST(zkr_mutex_destroy(k->mutexes[i]));
        ZKT_MUST(zkr_mutex_destroy(k->held[i]));
    }
    close_client(k->c);
    if (k->shape->apart) {
        close_client(k->holder);
    }
    delete_paths(k);
}

/* Acquire each path with one ticket. */
static void hold_all(struct crowd *k)
{
    for (int i = 0; i < k->shape->paths; i++) {
        request(k, i, 0);
        if ((i + 1) % CHUNK == 0) {
            loop_until_granted(k, i + 1);
        }
    }
    loop_until_granted(k, k->shape->paths);
    loop_until_watched(k, spare_watches(k, k->shape->paths));
}

static void queue_all(struct crowd *k)
{
    for (int turn = 1; turn <= k->shape->each; turn++) {
        for (int i = 0; i < k->shape->paths; i++) {
            request(k, i, turn);
        }
    }
}

/* Release the holders, so that the waiters are granted in turn, and end all objects. */
static void serve_all(struct crowd *k)
{
    k->pass_on = true;
    for (int i = 0; i < k->shape->paths; i++) {
        ZKT_MUST(zkr_ticket_release(place_at(k, i, 0)->ticket));
    }
    loop_until_granted(k, k->shape->paths * (1 + k->shape->each));
    tear_down(k);
}

/*
 * Check that the waiting tickets need no thread and at most 1 KiB each, and that they are granted in the order
 * of the requests.
 */
static void they_wait(const struct shape *shape)
{
    struct crowd *k = &crowd;
    int tickets = shape->paths * shape->each, nodes = shape->paths + tickets;
    set_up(k, shape);
    int threads = zkt_thread_count();
    hold_all(k);
    int64_t before = atomic_load(&allocated);
    queue_all(k);
    /* If another client holds, each node ahead of a waiter is watched. */
    int64_t ahead = shape->apart ? tickets + spare_watches(k, shape->paths) : 0;
    loop_until_watched(k, ahead + spare_watches(k, shape->apart ? tickets : nodes));
    assert_int_equal(zkt_stats(k->c).waiting, tickets);
    /* A client keeps metrics for its first paths, not for tickets. */
    int metered = shape->paths < ZKR__METERS ? shape->paths : ZKR__METERS;
    int64_t meters = shape->apart ? (int64_t)metered * METER_MOST : 0;
    int64_t kept = meters + (shape->apart ? 2 : 1) * (int64_t)tickets * WATCH_MOST;
    int64_t each = (atomic_load(&allocated) - before - kept) / tickets;
    print_message("%s: %" PRId64 " bytes for each ticket that waits\n", shape->name,
                  each);
    assert_int_equal(k->granted, shape->paths);
    assert_int_equal(zkt_thread_count(), threads);
    assert_true(each > 0 && each <= TICKET_MOST);

    serve_all(k);
}

ZKT_CASE(ten_thousand_wait_in_one_process)
{
    static const struct shape shape = {
        .name = "behind one another", .paths = TICKETS / 100, .each = 100};
    they_wait(&shape);
}

ZKT_CASE(those_of_another_client_take_as_little)
{
    static const struct shape shape = {
        .name = "behind another client", .paths = APART, .each = 1, .apart = true};
    they_wait(&shape);
}

/* --- as much as can be watched --- */

/* Break the connection once. SESSION_MS is long enough to notice a session that ends or reconnects forever. */
static void break_connection(struct crowd *k)
{
    int64_t before = zkt_stats(k->c).reconnects;
    zkt_proxy_drop_connections(k->proxy);
    const int64_t end = zkt_now_ms() + PATIENCE_MS;
    while (zkt_stats(k->c).reconnects == before) {
        assert_true(zkt_now_ms() < end);
        loop_once(k);
    }
    loop_for(k, SESSION_MS);
    zkr_stats stats = zkt_stats(k->c);
    assert_int_equal(stats.reconnects, before + 1);
    assert_true(stats.expirations == 0 && stats.losses == 0);
    assert_int_equal(zkr_client_state(k->c), ZKR_STATE_CONNECTED);
}

/* The watches on the nodes of held tickets nearly reach the limit of a client. */
ZKT_CASE(ten_thousand_hold_through_a_broken_connection)
{
    static const struct shape shape = {.name = "held", .paths = TICKETS, .cut = true};
    struct crowd *k = &crowd;
    set_up(k, &shape);
    hold_all(k);
    break_connection(k);
    for (int i = 0; i < shape.paths; i++) {
        struct place *p = place_at(k, i, 0);
        assert_int_equal(zkr_ticket_state(p->ticket), ZKR_TICKET_HELD);
        ZKT_MUST(zkr_ticket_release(p->ticket));
    }
    tear_down(k);
}

static void they_wait_through_a_cut(const struct shape *shape)
{
    struct crowd *k = &crowd;
    set_up(k, shape);
    hold_all(k);
    queue_all(k);
    loop_for(k, SESSION_MS / 2);
    break_connection(k);
    assert_int_equal(zkt_stats(k->c).waiting, shape->paths * shape->each);
    serve_all(k);
}

ZKT_CASE(six_thousand_wait_on_as_many_paths_through_a_broken_connection)
{
    static const struct shape shape = {.name = "apart",
                                       .paths = 6000,
                                       .each = 1,
                                       .apart = true,
                                       .cut = true,
                                       .length = 30};
    they_wait_through_a_cut(&shape);
}

/* The watches that the waiters need nearly reach the limit of a client, and so do the optional ones. */
ZKT_CASE(five_thousand_wait_on_long_paths_through_a_broken_connection)
{
    static const struct shape shape = {.name = "on long paths",
                                       .paths = 5000,
                                       .each = 1,
                                       .apart = true,
                                       .cut = true,
                                       .length = 100};
    they_wait_through_a_cut(&shape);
}

ZKT_CASE(ten_thousand_wait_in_line_through_a_broken_connection)
{
    static const struct shape shape = {.name = "in line",
                                       .paths = 1,
                                       .each = TICKETS,
                                       .apart = true,
                                       .cut = true,
                                       .length = 30};
    they_wait_through_a_cut(&shape);
}
