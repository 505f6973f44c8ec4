/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a client: which client gets which lines, what happens to too many lines, and the log after a fork. */
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

/* The test's own door is not used, because it has a mutex that children would inherit. */
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
 * The log callback gets whole lines of the library and of libzookeeper, all on the dispatch thread. The client never
 * enables the debug lines of libzookeeper, because one of them reads freed memory during the close (ZOOKEEPER-4809).
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

/* Each of two clients has its own level: a line goes only to the client that it concerns, and only if the client's
   level includes it. */
ZKT_CASE(each_client_gets_its_own_lines)
{
    struct lines loud = {0}, quiet = {0};
    zkr_client *q = logging_client(&quiet, ZKR_LOG_ERROR);
    zkr_client *c = logging_client(&loud, ZKR_LOG_DEBUG);
    ZKT_EVENTUALLY(atomic_load(&loud.theirs) > 2, PATIENCE_MS);
    zkt_close(c); /* now the level of the quiet client is the highest */
    int before = atomic_load(&loud.theirs);
    c = logging_client(&loud, ZKR_LOG_DEBUG);
    ZKT_EVENTUALLY(atomic_load(&loud.theirs) > before + 2, PATIENCE_MS);
    zkt_close(q);
    before = atomic_load(&loud.theirs);
    zkt_expire(c); /* this causes more lines, and only about this client */
    ZKT_EVENTUALLY(atomic_load(&loud.theirs) > before, PATIENCE_MS);
    zkt_close(c);
    assert_int_equal(atomic_load(&quiet.theirs), 0);
    assert_int_equal(atomic_load(&quiet.ours), 0);
}

/*
 * Without a server, libzookeeper repeats itself about forty times a second. A repeated line passes once, and again
 * after a connection. A reset connection causes one of several texts, depending on how far it had come.
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

/* If there are more clients than slots, the first client gets the lines of the clients without a slot. */
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

/* The fields are in order, and values are quoted where necessary. A line that is too long is cut. */
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

/* --- busy threads --- */

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

/* Log like the threads of libzookeeper, which hold no lock of the library. */
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

/* A slow callback delays nothing: lines are dropped and counted, and any thread can read the count. */
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

/* Returns 0 if the child's own client locked and unlocked, and the child's own callback got its log. */
static int live_a_life(void *arg)
{
    struct lines l = {0};
    zkr_client *c = logging_client(&l, ZKR_LOG_DEBUG);
    ZKT_MUST(lock_once(c));
    zkt_close(c);
    return atomic_load(&l.ours) > 0 && atomic_load(&l.theirs) > 0 ? 0 : 1;
}

/*
 * The allocator of clang's sanitizers, in versions that do not handle fork(), keeps its locks in a child. The child
 * hangs in the allocator if another thread was allocating. There, the parent is idle.
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

/* A child is forked from a process whose threads are busy and log. The child's own client works. */
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
