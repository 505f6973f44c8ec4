/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a client: whose lines come where, what becomes of too many, and what of a fork. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "fixture.h"
#include "session/log.h"
#include "session/zk_log.h"

enum {
    SESSION_MS = 10000,
    PATIENCE_MS = 30000,
    CHILD_MS = 15000,
    CHILDREN = 96,
    AT_ONCE = 4,
    READERS = 2
};

/* --- what a callback sees --- */

struct lines {
    atomic_int ours, theirs, debug, broken, other_thread;
    pthread_t thread;
    atomic_bool known;
    atomic_bool held_up; /* the callback does not return while set */
};

static void take_line(int level, const char *line, void *ctx)
{
    struct lines *l = ctx;
    if (!atomic_exchange(&l->known, true)) {
        l->thread = pthread_self();
    }
    atomic_fetch_add(&l->other_thread, !pthread_equal(l->thread, pthread_self()));
    atomic_fetch_add(&l->broken, strchr(line, '\n') != NULL || *line == '\0');
    atomic_fetch_add(strstr(line, ":ZOO_") ? &l->theirs : &l->ours, 1);
    atomic_fetch_add(&l->debug, strstr(line, ":ZOO_DEBUG@") != NULL);
    while (atomic_load(&l->held_up)) {
        zkt_sleep_ms(1);
    }
}

/* Not through the door of the tests: it has a mutex of its own, which children would inherit. */
static zkr_client *
logging_client_by(zkr_open_handle_fn open, struct lines *l, int64_t level)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    zkr_client *c = NULL;
    o.log = take_line;
    o.log_ctx = l;
    o.log_level = level;
    o.open_handle = open;
    ZKT_MUST(zkr_client_open(&c, zkt_servers(), &o));
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    return c;
}

static zkr_client *logging_client(struct lines *l, int64_t level)
{
    return logging_client_by(NULL, l, level);
}

static zhandle_t *open_ours(const char *servers,
                            zkr_watcher_fn watcher,
                            int session_timeout_ms,
                            void *watcher_ctx,
                            void *ctx)
{
    return zookeeper_init(servers, watcher, session_timeout_ms, NULL, watcher_ctx,
                          ZOO_NO_LOG_CLIENTENV);
}

/*
 * The log callback gets our lines and libzookeeper's, whole ones, all on the dispatch thread. libzookeeper is never asked
 * for its debug lines: as it closes, one reads what was freed (ZOOKEEPER-4809).
 */
ZKT_CASE(the_log_takes_libzookeepers_lines_too)
{
    static const struct {
        zkr_open_handle_fn open;
        int64_t level;
    } rows[] = {{NULL, ZKR_LOG_INFO}, {NULL, ZKR_LOG_DEBUG}, {open_ours, ZKR_LOG_INFO}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct lines l = {0};
        zkr_client *c = logging_client_by(rows[i].open, &l, rows[i].level);
        zkt_expire(c);
        ZKT_EVENTUALLY(atomic_load(&l.theirs) > 2, PATIENCE_MS);
        zkt_close(c);
        assert_true(atomic_load(&l.ours) > 1);
        assert_int_equal(atomic_load(&l.broken), 0);
        assert_int_equal(atomic_load(&l.other_thread), 0);
        assert_int_equal(atomic_load(&l.debug), 0);
    }
}

/* Two clients, each with a level of its own: the lines come to whom they are about, and no more than it wants. */
ZKT_CASE(each_client_gets_its_own_lines)
{
    struct lines loud = {0}, quiet = {0};
    zkr_client *q = logging_client(&quiet, ZKR_LOG_ERROR);
    zkr_client *c = logging_client(&loud, ZKR_LOG_DEBUG);
    ZKT_EVENTUALLY(atomic_load(&loud.theirs) > 2, PATIENCE_MS);
    zkt_close(c); /* the quiet one's level is the highest now */
    int before = atomic_load(&loud.theirs);
    c = logging_client(&loud, ZKR_LOG_DEBUG);
    ZKT_EVENTUALLY(atomic_load(&loud.theirs) > before + 2, PATIENCE_MS);
    zkt_close(q);
    before = atomic_load(&loud.theirs);
    zkt_expire(c); /* there is more to say, and nobody else to say it of */
    ZKT_EVENTUALLY(atomic_load(&loud.theirs) > before, PATIENCE_MS);
    zkt_close(c);
    assert_int_equal(atomic_load(&quiet.theirs), 0);
    assert_int_equal(atomic_load(&quiet.ours), 0);
}

/*
 * Without a server it says the same again and again, some forty lines a second: that is passed on once, and again after a
 * connection. A connection that is reset ends in one of several texts, by how far it had come.
 */
ZKT_CASE(what_libzookeeper_repeats_is_passed_on_once)
{
    enum { WHILE_MS = 1000, TEXTS = 8 };
    struct lines l = {0};
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = SESSION_MS;
    o.log = take_line;
    o.log_ctx = &l;
    zkr_client *c = zkt_client_with(zkt_proxy_host(proxy), &o);
    int before = 0;
    for (int i = 0; i < 2; i++) {
        zkt_proxy_cut(proxy);
        ZKT_EVENTUALLY(atomic_load(&l.theirs) > before, PATIENCE_MS);
        zkt_sleep_ms(WHILE_MS);
        assert_true(atomic_load(&l.theirs) <= before + TEXTS);
        zkt_proxy_heal(proxy);
        ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
        before = atomic_load(&l.theirs);
    }
    zkt_close(c);
}

/* Also when there are more than have a slot: those beyond are told of to the first. */
ZKT_CASE(more_clients_than_slots_lose_no_line)
{
    enum { CLIENTS = ZKR__LOG_SLOTS + 2 };
    struct lines lines[CLIENTS] = {{0}};
    zkr_client *c[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        c[i] = logging_client(&lines[i], ZKR_LOG_DEBUG);
    }
    for (int i = 0; i < ZKR__LOG_SLOTS; i++) {
        ZKT_EVENTUALLY(atomic_load(&lines[i].theirs) > 2, PATIENCE_MS);
    }
    assert_int_equal(atomic_load(&lines[CLIENTS - 1].theirs), 0);
    for (int i = 0; i < CLIENTS; i++) {
        zkt_close(c[i]);
    }
}

/* --- one line for each event --- */

struct last {
    char line[1200];
    atomic_int count;
};

static void keep_line(int level, const char *line, void *ctx)
{
    struct last *last = ctx;
    if (strncmp(line, "event=", 6) == 0) {
        (void)snprintf(last->line, sizeof(last->line), "%s", line);
        atomic_fetch_add(&last->count, 1);
    }
}

static void log_event(zkr_client *c, const struct zkr__event *event, bool more)
{
    zkr__lock(c);
    if (more) {
        zkr__log_more(c, ZKR_LOG_ERROR, event, "a=%d b=%d", 1, 2);
    } else {
        zkr__log(c, ZKR_LOG_ERROR, event);
    }
    zkr__unlock(c);
}

/* Fields in order; quotes where a value needs them; and a line that is too long is cut off. */
ZKT_CASE(events_are_keys_and_values)
{
    static char long_text[3000];
    (void)memset(long_text, '"', sizeof(long_text) - 1);
    static const struct {
        struct zkr__event event;
        bool more;
        const char *line;
    } rows[] = {
        {{.name = "plain", .session_id = 0x1f, .epoch = 2},
         false,
         "event=plain session=0x1f epoch=2"},
        {{.name = "all",
          .path = "/a",
          .node = "n-1",
          .reason = "two words",
          .session_id = 1,
          .epoch = 1},
         true,
         "event=all path=/a node=n-1 session=0x1 epoch=1 a=1 b=2 reason=\"two words\""},
        {{.name = "odd", .path = "/a b=\"c\"\\\n\t", .reason = "", .session_id = 1},
         false,
         "event=odd path=\"/a b=\\\"c\\\"\\\\\\n?\" session=0x1 epoch=0 reason=\"\""},
        {{.name = "long", .path = long_text, .session_id = 1}, true, NULL},
    };
    struct last last = {.count = 0};
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    zkr_client *c = NULL;
    o.log = keep_line;
    o.log_ctx = &last;
    o.log_level = ZKR_LOG_ERROR;
    ZKT_MUST(zkr_client_open(&c, zkt_servers(), &o));
    for (int i = 0; i < (int)(sizeof(rows) / sizeof(rows[0])); i++) {
        log_event(c, &rows[i].event, rows[i].more);
        ZKT_BECOMES(atomic_load(&last.count), i + 1, PATIENCE_MS);
        if (rows[i].line) {
            assert_string_equal(last.line, rows[i].line);
        } else {
            assert_int_equal(strlen(last.line), 1023);
        }
    }
    zkt_close(c);
}

/* --- somebody who is always busy --- */

struct worker {
    pthread_t thread;
    zkr_client *c;
    atomic_bool *stop;
    atomic_int faults;
};

static int lock_once(zkr_client *c)
{
    zkr_mutex *m = NULL;
    int rc = zkr_mutex_create(&m, c, zkt_path(), NULL);
    if (rc == ZKR_OK) {
        rc = zkr_mutex_acquire(m, PATIENCE_MS);
    }
    if (rc == ZKR_OK) {
        rc = zkr_mutex_release(m);
    }
    return rc == ZKR_OK ? zkr_mutex_destroy(m) : rc;
}

static void *lock_on(void *arg)
{
    struct worker *w = arg;
    while (!atomic_load(w->stop)) {
        atomic_fetch_add(&w->faults, lock_once(w->c) != ZKR_OK);
    }
    return NULL;
}

/* As libzookeeper's threads do, which hold no lock of ours. */
static void *log_on(void *arg)
{
    struct worker *w = arg;
    while (!atomic_load(w->stop)) {
        zkr__log_foreign(0, ZKR_LOG_ERROR, "a line");
        zkr__log_line(w->c, ZKR_LOG_ERROR, "a line of ours");
    }
    return NULL;
}

static void *read_on(void *arg)
{
    struct worker *w = arg;
    zkr_stats stats = {0};
    while (!atomic_load(w->stop)) {
        int64_t before = stats.dropped_log;
        atomic_fetch_add(&w->faults,
                         zkr_client_stats(w->c, &stats, sizeof(stats)) != ZKR_OK ||
                             stats.dropped_log < before);
    }
    return NULL;
}

static void
begin(struct worker *w, zkr_client *c, void *(*fn)(void *), atomic_bool *stop)
{
    w->c = c;
    w->stop = stop;
    assert_int_equal(pthread_create(&w->thread, NULL, fn, w), 0);
}

static void end(struct worker *w)
{
    assert_int_equal(pthread_join(w->thread, NULL), 0);
    assert_int_equal(atomic_load(&w->faults), 0);
}

/* --- too many --- */

/* A callback that is too slow holds nobody up: lines are dropped and counted, for all to read. */
ZKT_CASE(lines_are_dropped_and_counted_while_stats_are_read)
{
    struct lines l = {0};
    struct worker busy = {0};
    struct worker readers[READERS] = {{0}};
    atomic_bool stop = false;
    zkr_client *c = logging_client(&l, ZKR_LOG_ERROR);
    atomic_store(&l.held_up, true);
    begin(&busy, c, log_on, &stop);
    for (int i = 0; i < READERS; i++) {
        begin(&readers[i], c, read_on, &stop);
    }
    ZKT_EVENTUALLY(zkt_stats(c).dropped_log > 100, PATIENCE_MS);
    atomic_store(&l.held_up, false);
    atomic_store(&stop, true);
    end(&busy);
    for (int i = 0; i < READERS; i++) {
        end(&readers[i]);
    }
    zkt_close(c);
}

/* --- fork --- */

/* Status 0: the child's own client locked and unlocked, and its log came to its own callback. */
static int live_a_life(void *arg)
{
    struct lines l = {0};
    zkr_client *c = logging_client(&l, ZKR_LOG_DEBUG);
    ZKT_MUST(lock_once(c));
    zkt_close(c);
    return atomic_load(&l.ours) > 0 && atomic_load(&l.theirs) > 0 ? 0 : 1;
}

/*
 * The allocator of clang's sanitizers, before it learned of fork(), keeps its locks as they are:
 * a child hangs in it when another thread was allocating. There the parent is idle.
 */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PARENT_IS_IDLE
#endif
#endif
#ifdef PARENT_IS_IDLE
enum { BUSY = 0 };
#else
enum { BUSY = 2 };
#endif

/* Forked from a process whose threads are busy, and log, a child's own client works. */
ZKT_CASE(a_child_of_a_busy_parent_has_a_client_of_its_own)
{
    struct lines l = {0};
    struct worker busy[2] = {{0}};
    atomic_bool stop = false;
    pid_t children[AT_ONCE];
    int bad = 0;
    zkr_client *c = logging_client(&l, ZKR_LOG_DEBUG);
    for (int i = 0; i < BUSY; i++) {
        begin(&busy[i], c, lock_on, &stop);
    }
    for (int i = 0; i < CHILDREN && bad == 0; i += AT_ONCE) {
        for (int j = 0; j < AT_ONCE; j++) {
            children[j] = zkt_fork(live_a_life, NULL);
        }
        for (int j = 0; j < AT_ONCE; j++) {
            bad += zkt_join(children[j], CHILD_MS) != 0;
        }
    }
    atomic_store(&stop, true);
    for (int i = 0; i < BUSY; i++) {
        end(&busy[i]);
    }
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    zkt_close(c);
    assert_int_equal(bad, 0);
}
