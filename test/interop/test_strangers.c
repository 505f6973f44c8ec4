/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom a mutex excludes that others made on its path, who excludes it, and where they do not, what the log says. The
 * README's table of other clients says the same. Arguments: curator.bsh, kazoo_peer.py.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "peer.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000 };

/* A lock of another library, by its word in the script. */
struct stranger {
    const char *kind;
    bool we_wait;        /* while it holds */
    bool it_waits;       /* while we hold */
    const char *warning; /* the words of ours that are in the log then; NULL = none */
};

/* The warnings about the path of the test. */
struct warnings {
    const char *expected;
    atomic_int all, as_expected;
};

static void note_warning(int level, const char *line, void *ctx)
{
    struct warnings *w = ctx;
    if (level == ZKR_LOG_WARN && strstr(line, zkt_path())) {
        atomic_fetch_add(&w->all, 1);
        atomic_fetch_add(&w->as_expected, w->expected && strstr(line, w->expected));
    }
}

static zkr_client *listening_client(struct warnings *w)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = SESSION_MS;
    o.log = note_warning;
    o.log_ctx = w;
    o.log_level = ZKR_LOG_WARN;
    return zkt_client_with(zkt_servers(), &o);
}

/* Two tries: the warning comes once. */
static void it_holds(struct peer *p, zkr_mutex *m, const struct stranger *s)
{
    peer_ask(p, "acquire 10000", "true");
    for (int i = 0; i < 2; i++) {
        int rc = zkr_mutex_acquire(m, 0);
        ZKT_RC(rc, s->we_wait ? ZKR_ETIMEDOUT : ZKR_OK);
        if (rc == ZKR_OK) {
            ZKT_MUST(zkr_mutex_release(m));
        }
    }
    peer_ask(p, "release", "ok");
}

static void we_hold(struct peer *p, zkr_mutex *m, const struct stranger *s)
{
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    peer_ask(p, "acquire 500", s->it_waits ? "false" : "true");
    if (!s->it_waits) {
        peer_ask(p, "release", "ok");
    }
    ZKT_MUST(zkr_mutex_release(m));
}

static void meet(struct peer *p, const struct stranger *s)
{
    char line[64];
    struct warnings w = {.expected = s->warning};
    (void)snprintf(line, sizeof(line), "kind %s", s->kind);
    peer_ask(p, line, "ok");
    zkr_client *c = listening_client(&w);
    zkr_mutex *m = zkt_mutex(c);
    it_holds(p, m, s);
    we_hold(p, m, s);
    zkt_destroy(m);
    zkt_close(c); /* after which no line is under way */
    if (atomic_load(&w.all) != (s->warning != NULL) ||
        atomic_load(&w.as_expected) != atomic_load(&w.all)) {
        fail_msg("%s: %d warnings, %d as expected", s->kind, atomic_load(&w.all),
                 atomic_load(&w.as_expected));
    }
}

static void meet_all(enum peer_kind kind, const struct stranger *list, size_t count)
{
    struct peer *p = peer_start(kind);
    for (size_t i = 0; i < count; i++) {
        meet(p, &list[i]);
    }
}

ZKT_CASE(curators_locks)
{
    static const struct stranger list[] = {
        {"mutex", true, true, NULL},
        {"read", true, false, "read-write lock"},
        {"write", true, false, "read-write lock"},
        {"semaphore-mutex", false, false, "semaphore"}, /* leaves its directories */
    };
    meet_all(CURATOR, list, sizeof(list) / sizeof(list[0]));
}

ZKT_CASE(kazoos_locks)
{
    static const struct stranger list[] = {
        {"subclass", true, true, NULL},
        {"plain", true, false, "another recipe"},
        {"patterns", true, true, "another recipe"},
    };
    meet_all(KAZOO, list, sizeof(list) / sizeof(list[0]));
}
