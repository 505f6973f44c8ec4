/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/mem.h"
#include "fourlw.h"
#include "keep.h"
#include "session/request.h"

enum { PATIENCE_MS = 20000 };

static char path[128];

/* The last lines that clients of zkt_client() have logged in this case. */
enum { LINES = 32, LINE_SIZE = 400 };
/* The thread sanitizer does not know that a fork makes a new mutex for the log. */
#ifdef ZKT_SLOWED_DOWN
enum { KEEPS_LINES = false };
#else
enum { KEEPS_LINES = true };
#endif
static char lines[LINES][LINE_SIZE];
static atomic_int logged; /* there is no lock, because a fork could copy it locked */

static void keep_line(int level, const char *line, void *ctx)
{
    (void)snprintf(lines[atomic_fetch_add(&logged, 1) % LINES], LINE_SIZE,
                   "%lld ms: %s", (long long)zkt_now_ms(), line);
}

static void tell_lines(void)
{
    int end = atomic_load(&logged);
    for (int i = end > LINES ? end - LINES : 0; i < end; i++) {
        print_error("%s\n", lines[i % LINES]);
    }
}

/* After a failed check, report what is at the path, and what led to it. */
static void tell(void)
{
    tell_lines();
    zkt_list list;
    const int rc = zkt_children(zkt_servers(), path, &list);
    print_error("at %s: %s", path,
                rc == ZKT_OK       ? ""
                : rc == ZKT_NONODE ? "nothing"
                                   : "no answer");
    for (int i = 0; i < list.count; i++) {
        print_error("%s%s", i > 0 ? ", " : "", list.name[i]);
    }
    print_error("\n");
    zkt_list_free(&list);
}

int zkt_enter(void **state)
{
    zkt_on_failure(tell);
    atomic_store(&logged, 0);
    (void)snprintf(path, sizeof(path), "%s", zkt_unique_path("t"));
    zkt_door_focus(NULL);
    zkt_baseline();
    return 0;
}

/*
 * Ephemeral nodes must be gone. Parents and other nodes may stay, and are deleted. That also removes the watches of
 * clients that live on, as in test/interop.
 */
int zkt_leave(void **state)
{
    if (zkt_nodes() > 0) {
        ZKT_EVENTUALLY(zkt_ephemerals_under(zkt_servers(), path) == 0, PATIENCE_MS);
        (void)zkt_delete_children(zkt_servers(), path);
    }
    (void)zkt_delete(zkt_servers(), path);
    zkt_check_clean(path);
    return 0;
}

const char *zkt_path(void)
{
    return path;
}

const char *zkt_child(const char *name)
{
    static char texts[16][320];
    static unsigned next;
    char *text = texts[next++ % 16];
    (void)snprintf(text, sizeof(texts[0]), "%s/%s", path, name);
    return text;
}

int zkt_nodes(void)
{
    return zkt_children_count(zkt_servers(), path);
}

void zkt_lone_node(char *node, size_t size)
{
    zkt_list list;
    assert_int_equal(zkt_children(zkt_servers(), path, &list), ZKT_OK);
    assert_int_equal(list.count, 1);
    (void)snprintf(node, size, "%s/%s", path, list.name[0]);
    zkt_list_free(&list);
}

int64_t zkt_watches(void)
{
    char below[sizeof(path) + 1];
    (void)snprintf(below, sizeof(below), "%s/", path);
    return zkt_watches_under(zkt_servers(), below);
}

int64_t zkt_latest_claim(zkr_mutex *m)
{
    int64_t latest = 0;
    for (int64_t left = 1; left > 0; zkt_sleep_ms(1)) {
        left = zkr_mutex_valid_for_ms(m);
        int64_t now = zkt_now_ms();
        latest = left > 0 && now + left > latest ? now + left : latest;
    }
    return latest;
}

static void end_client(void *c)
{
    ZKT_MUST(zkr_client_close(c));
}

static int
open_client(zkr_client **c, const char *hosts, const zkr_client_options *options)
{
    const struct zkr__env env = {.door = &zkt_door, .nearby = zkt_nearby_door};
    int rc = zkr__client_open(c, hosts, options, &env);
    if (rc == ZKR_OK) {
        ZKT_MUST(zkr_client_wait_connected(*c, PATIENCE_MS));
        zkt_keep(*c, end_client);
    }
    return rc;
}

zkr_client *zkt_client_with(const char *hosts, const zkr_client_options *options)
{
    zkr_client *c = NULL;
    ZKT_MUST(open_client(&c, hosts, options));
    return c;
}

zkr_client *zkt_client(const char *hosts, int64_t session_ms)
{
    zkr_client_options options = ZKR_CLIENT_OPTIONS_INIT;
    options.session_timeout_ms = session_ms;
    options.log = KEEPS_LINES ? keep_line : NULL;
    options.log_level = ZKR_LOG_INFO;
    return zkt_client_with(hosts, &options);
}

const zkr_client_options zkt_bad_credentials = {.size = sizeof(zkr_client_options),
                                                .auth_scheme = "no-such-scheme",
                                                .auth_cert = "x",
                                                .auth_cert_len = 1};

zkr_client *zkt_client_if_memory(void)
{
    zkr_client *c = NULL;
    int rc = open_client(&c, zkt_servers(), NULL);
    ZKT_RC(rc, rc == ZKR_OK ? ZKR_OK : ZKR_ENOMEM);
    return c;
}

void zkt_close(zkr_client *c)
{
    zkt_unkeep(c);
    end_client(c);
}

zkr_stats zkt_stats(zkr_client *c)
{
    zkr_stats stats = {0};
    ZKT_MUST(zkr_client_stats(c, &stats, sizeof(stats)));
    return stats;
}

static void end_mutex(void *m)
{
    ZKT_MUST(zkr_mutex_destroy(m));
}

zkr_mutex *
zkt_mutex_at(zkr_client *c, const char *where, const zkr_mutex_options *options)
{
    zkr_mutex *m = NULL;
    ZKT_MUST(zkr_mutex_create(&m, c, where, options));
    zkt_keep(m, end_mutex);
    return m;
}

zkr_mutex *zkt_mutex_with(zkr_client *c, const zkr_mutex_options *options)
{
    return zkt_mutex_at(c, path, options);
}

zkr_mutex *zkt_mutex(zkr_client *c)
{
    return zkt_mutex_with(c, NULL);
}

void zkt_in_and_out(zkr_mutex *m)
{
    enum { LONG_MS = 60000 };
    ZKT_MUST(zkr_mutex_acquire(m, LONG_MS));
    ZKT_MUST(zkr_mutex_release(m));
}

void zkt_destroy(zkr_mutex *m)
{
    zkt_unkeep(m);
    end_mutex(m);
}

static void end_ticket(void *t)
{
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
}

zkr_ticket *zkt_ticket(zkr_mutex *m)
{
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, NULL, NULL, &t));
    zkt_keep(t, end_ticket);
    return t;
}

void zkt_end_ticket(zkr_ticket *t)
{
    zkt_unkeep(t);
    end_ticket(t);
}

static void end_contenders(void *list)
{
    zkr_contenders_free(list);
}

zkr_mutex *zkt_settled(zkr_mutex *m)
{
    zkt_settle(zkt_servers());
    return m;
}

zkr_contenders *zkt_contenders(zkr_mutex *m)
{
    zkr_contenders *list = NULL;
    ZKT_MUST(zkr_mutex_contenders(zkt_settled(m), &list));
    zkt_keep(list, end_contenders);
    return list;
}

bool zkt_all_answered(zkr_client *c)
{
    zkr__lock(c);
    bool all = !c->link || zkr__link_oldest(c->link) == ZKR__NEVER;
    zkr__unlock(c);
    return all;
}

void zkt_expire_start(zkr_client *c)
{
    zkt_expire_session(zkt_servers(), zkr_client_session_id(c));
}

void zkt_expire(zkr_client *c)
{
    int64_t id = zkr_client_session_id(c);
    zkt_expire_start(c);
    ZKT_EVENTUALLY(zkr_client_session_id(c) != id, PATIENCE_MS);
}

static int64_t noted;

void zkt_note_session(zkr_client *c)
{
    noted = zkr_client_session_id(c);
}

void zkt_expire_noted(void *unused)
{
    zkt_expire_session(zkt_servers(), noted);
}

void zkt_await_next_session(zkr_client *c)
{
    ZKT_EVENTUALLY(zkr_client_session_id(c) != noted, PATIENCE_MS);
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
}

bool zkt_next_strike(struct zkt_strikes *s)
{
    enum { MOST = 1000 };
    bool on = s->n == 0 || s->struck;
    if (!on && s->n <= s->least) {
        zkt_fail("the fault struck %d times only, not %d", s->n - 1, s->least);
    }
    if (s->n >= MOST) {
        zkt_fail("the fault still strikes at request %d", s->n);
    }
    s->n += on;
    s->struck = false;
    return on;
}

static atomic_int allocations_left;

static bool allow(void)
{
    return atomic_fetch_sub(&allocations_left, 1) != 1;
}

void zkt_deny_allocation(int n)
{
    atomic_store(&allocations_left, n);
    zkr__mem_set_gate(allow);
}

bool zkt_was_denied(void)
{
    zkr__mem_set_gate(NULL);
    return atomic_load(&allocations_left) <= 0;
}

void zkt_each_allocation_fails(int least, void (*life)(void))
{
    for (struct zkt_strikes s = {.least = least}; zkt_next_strike(&s);) {
        zkt_deny_allocation(s.n);
        life();
        s.struck = zkt_was_denied();
    }
}
