/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "base/path.h"
#include "fake.h"
#include "fake_script_cluster.h"
#include "fixture.h"
#include "fourlw.h"
#include "session/client.h"
#include "session/open.h"
#include "session/request.h"
#include "session/service.h"
#include "session/zk.h"
#include "session/zk_multi.h"
#include "session/zk_value.h"

enum { SESSIONS = 2, NAMES = 16, ZXIDS = 64, LOG = 16384, PATIENCE_MS = 20000 };

enum { OPS = 3, NAME = 200 };

/* The transaction of a session. Each session has only one at a time. */
struct multi {
    zoo_op_t ops[OPS];
    zoo_op_result_t results[OPS];
    char names[OPS][NAME], below[NAME];
    struct Stat stat;
    const char *deleted;
    int count;
};

struct side;

struct session {
    struct side *side;
    char letter;
    zkr_client *c;
    zkt_proxy *proxy;
    bool away, closed;
    int role; /* with several servers: role of the server to which it is connected */
    int unanswered;
    struct zkr__listener listener;
    struct multi multi;
    char log[LOG];
    size_t len;
};

/* One of the two sides: the fake or a real server. */
struct side {
    bool real;
    char base[128];
    struct session sessions[SESSIONS];
    pthread_mutex_t mu; /* protects the members below */
    char names[NAMES][160];
    int name_count;
    int64_t zxids[ZXIDS], owners[SESSIONS + 2];
    int zxid_count, owner_count;
};

/* Returns the address of the server with this role, or of the only server. */
static const char *real_host(int role)
{
    return script_cluster() ? script_cluster_host(role) : zkt_servers();
}

/* --- the log, which has the same words on both sides --- */

static void say(struct session *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct session *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(s->log + s->len, LOG - s->len, format, args);
    va_end(args);
    s->len += n > 0 && (size_t)n < LOG - s->len ? (size_t)n : 0;
}

static const char *below_base(const struct side *side, const char *path)
{
    size_t len = strlen(side->base);
    return path && strncmp(path, side->base, len) == 0 ? path + len : path;
}

static int index_of(int64_t *list, int *count, int64_t value)
{
    int i = 0;
    while (i < *count && list[i] != value) {
        i++;
    }
    if (i == *count) {
        list[(*count)++] = value;
    }
    return i;
}

static int by_text(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static void say_names(struct session *s, const struct zkr__answer *a)
{
    const char *names[64];
    size_t count = a->name_count < 64 ? a->name_count : 64;
    for (size_t i = 0; i < count; i++) {
        names[i] = a->names[i];
    }
    qsort(names, count, sizeof(names[0]), by_text);
    say(s, " [");
    for (size_t i = 0; i < count; i++) {
        say(s, " %s", names[i]);
    }
    say(s, " ]");
}

/* Log nodes that were created together, in the order of the request. */
static void note_made(struct session *s, const struct zkr__answer *a)
{
    struct side *side = s->side;
    for (size_t i = 0; i < a->name_count; i++) {
        say(s, " %s", below_base(side, a->names[i]));
        (void)snprintf(side->names[side->name_count++], sizeof(side->names[0]), "%s",
                       a->names[i]);
    }
    say(s, " failed %d", (int)a->failed_at);
}

static void say_results(struct session *s, const struct zkr__answer *a)
{
    struct multi *m = &s->multi;
    zkr__zk_results(a, m->ops, (size_t)m->count, m->results);
    for (int i = 0; i < m->count; i++) {
        const zoo_op_result_t *r = &m->results[i];
        const char *name = r->value && r->value[0] ? below_base(s->side, r->value) : "";
        say(s, " %d%s%s%s", r->err, name, r->stat ? " stat" : "",
            r->stat && r->stat->mzxid > 0 ? "!" : "");
    }
    say(s, " failed %d", (int)a->failed_at);
}

static bool unknown_outcome(int rc)
{
    return rc == -2 || rc == -4 || rc == -7 || rc == -116;
}

/* Log the answer. The tag is 0 for requests that are not logged. Otherwise it is the kind of the request plus 1. */
static void on_answer(void *ctx, unsigned tag, const struct zkr__answer *a)
{
    struct session *s = ctx;
    struct side *side = s->side;
    s->unanswered--;
    if (tag == 0) {
        return;
    }
    pthread_mutex_lock(&side->mu);
    if (unknown_outcome(a->zk_rc)) {
        say(s, "answer to %u: lost\n", tag - 1);
    } else {
        say(s, "answer to %u: %d (%d)", tag - 1, a->zk_rc, a->code);
        if (a->path) {
            say(s, " %s", below_base(side, a->path));
            (void)snprintf(side->names[side->name_count++], sizeof(side->names[0]),
                           "%s", a->path);
        }
        if (a->czxid != 0) {
            say(s, " zxid#%d", index_of(side->zxids, &side->zxid_count, a->czxid));
        }
        if (a->owner != 0) {
            say(s, " owner#%d", index_of(side->owners, &side->owner_count, a->owner));
        }
        if (a->data_len > 0) {
            say(s, " '%.*s'", (int)a->data_len, (const char *)a->data);
        }
        if (a->version != 0) {
            say(s, " version %d", a->version);
        }
        if (tag - 1 == ZKR__OP_CHILDREN && a->code == ZKR_OK) {
            say_names(s, a);
            say(s, " next %lld", (long long)a->made);
        }
        if (tag - 1 == ZKR__OP_ACL && a->code == ZKR_OK) {
            say(s, "%s%s",
                zkr__zk_acl_same(a->acl, &ZOO_OPEN_ACL_UNSAFE) ? " open" : "",
                a->empty ? " empty" : "");
        }
        if (tag - 1 == ZKR__OP_CREATES) {
            note_made(s, a);
        }
        if (tag - 1 == ZKR__OP_CHECK && a->code != ZKR_OK) {
            say(s, " bad %zu", a->failed_at);
        }
        if (tag - 1 == ZKR__OP_MULTI) {
            say_results(s, a);
        }
        say(s, "\n");
    }
    pthread_mutex_unlock(&side->mu);
}

static void on_node(void *engine, const char *path, enum zkr__node_event event)
{
    struct session *s = engine;
    pthread_mutex_lock(&s->side->mu);
    say(s, "event: %s %s\n", event == ZKR__NODE_DELETED ? "deleted" : "changed",
        below_base(s->side, path));
    pthread_mutex_unlock(&s->side->mu);
}

static void on_state(struct zkr__listener *listener, int state)
{
    struct session *s = (struct session *)(void *)((char *)listener -
                                                   offsetof(struct session, listener));
    pthread_mutex_lock(&s->side->mu);
    say(s, "state: %s\n", zkr_client_state_name(state));
    pthread_mutex_unlock(&s->side->mu);
}

static void nothing(void *engine)
{
}

static int64_t never(void *engine, int64_t now)
{
    return ZKR__NEVER;
}

static const struct zkr__upcalls upcalls = {
    .connected = nothing,
    .session_over = nothing,
    .auth_refused = nothing,
    .lease_expired = nothing,
    .node_event = on_node,
    .send_probe = nothing,
    .run_timers = never,
    .free = nothing,
};

/* --- time --- */

static void serve(struct session *s)
{
    zkf_enter(s->letter - 'a');
    zkr__lock(s->c);
    zkr__service_run(s->c);
    zkr__unlock(s->c);
}

static void serve_all(struct side *side)
{
    for (int i = 0; i < SESSIONS; i++) {
        if (!side->sessions[i].closed) {
            serve(&side->sessions[i]);
        }
    }
}

static void elapse(const struct side *side, int64_t real_ms, int64_t fake_ms)
{
    if (side->real) {
        zkt_sleep_ms(real_ms);
    } else {
        (void)zkf_step(zkf_now() + fake_ms * ZKR__MS);
    }
}

static void
wait_for(struct side *side, bool (*done)(struct session *s), struct session *s)
{
    int64_t end = zkt_now_ms() + PATIENCE_MS;
    while (true) {
        serve_all(side);
        zkr__lock(s->c);
        bool met = done(s);
        zkr__unlock(s->c);
        if (met) {
            return;
        }
        elapse(side, 1, 10);
        if (zkt_now_ms() > end) {
            zkt_fail("session %c of the %s side gets no answer; so far:\n%s", s->letter,
                     side->real ? "real" : "fake", s->log);
        }
    }
}

/* Wait until the servers have reached the state that the script demands. The sessions go on meanwhile. */
static void wait_for_servers(struct side *side)
{
    int64_t end = zkt_now_ms() + PATIENCE_MS;
    while (!script_cluster_done(side->real)) {
        serve_all(side);
        elapse(side, 20, 10);
        if (zkt_now_ms() > end) {
            zkt_fail("the %s servers do not get well; so far:\n%s",
                     side->real ? "real" : "fake", side->sessions[0].log);
        }
    }
}

static bool is_up(struct session *s)
{
    return zkr__connected(s->c);
}

static bool is_down(struct session *s)
{
    return !zkr__connected(s->c);
}

static bool is_answered(struct session *s)
{
    return s->unanswered == 0;
}

static void ask(struct session *s, const struct zkr__op *op, unsigned tag)
{
    struct zkr__op with_acl = *op;
    with_acl.acl = s->c->acl;
    zkf_enter(s->letter - 'a');
    zkr__lock(s->c);
    s->unanswered++;
    zkr__submit(s->c, &with_acl, on_answer, s, tag);
    zkr__unlock(s->c);
}

/* Wait for the answers to all requests, and for all their events, which come before the answer to a later read. */
static void settle(struct side *side)
{
    static const struct zkr__op read = {.kind = ZKR__OP_EXISTS, .path = "/"};
    static const struct zkr__op sync = {.kind = ZKR__OP_SYNC, .path = "/"};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < SESSIONS; i++) {
            struct session *s = &side->sessions[i];
            if (s->closed || s->away) {
                continue;
            }
            wait_for(side, is_up, s);
            if (script_cluster() && !script_cluster_apart(s->role)) {
                /* The server of this session becomes as current as the servers of the other sessions. */
                ask(s, &sync, 0);
            }
            ask(s, &read, 0);
            wait_for(side, is_answered, s);
            wait_for(side, is_up, s);
        }
    }
}

/* --- a script --- */

static const struct {
    const char *word;
    enum zkr__op_kind kind;
    bool container, watch;
} verbs[] = {
    {"create", ZKR__OP_CREATE, false, false},
    {"parent", ZKR__OP_PARENT, false, false},
    {"container", ZKR__OP_PARENT, true, false},
    {"delete", ZKR__OP_DELETE, false, false},
    {"set", ZKR__OP_SET, false, false}, /* version 0 */
    {"put", ZKR__OP_SET, false, false}, /* any version */
    {"children", ZKR__OP_CHILDREN, false, false},
    {"children!", ZKR__OP_CHILDREN, false, true},
    {"get", ZKR__OP_GET, false, false},
    {"get!", ZKR__OP_GET, false, true},
    {"exists", ZKR__OP_EXISTS, false, false},
    {"exists!", ZKR__OP_EXISTS, false, true},
    {"acl", ZKR__OP_ACL, false, false},
    {"sync", ZKR__OP_SYNC, false, false},
    {"check", ZKR__OP_CHECK, false, false},
    {"creates", ZKR__OP_CREATES, false, false},
};

/*
 * Convert a word to a path. "/x" is below the path of the test, "$2" is the third node that was created, and "$2/y" is
 * below that node.
 */
static void resolve(const struct side *side, const char *word, char *path, size_t size)
{
    const char *stem = side->base;
    if (word[0] == '$') {
        stem = side->names[word[1] - '0'];
        word += 2;
    }
    (void)snprintf(path, size, "%s%s", stem, strcmp(word, "/") == 0 ? "" : word);
}

static void add_create(struct multi *m, const char *path, int flags)
{
    zoo_create_op_init(&m->ops[m->count], path, "made", 4, &ZOO_OPEN_ACL_UNSAFE, flags,
                       m->names[m->count], NAME);
    m->count++;
}

static void add_set(struct multi *m, const char *path)
{
    zoo_set_op_init(&m->ops[m->count++], path, "set", 3, -1, &m->stat);
}

/* Returns a transaction, whose names fake_script.h explains. It uses @m, and borrows @paths. */
static struct zkr__op
transaction(struct multi *m, const char *verb, const char *const paths[2])
{
    struct zkr__op op = {.kind = ZKR__OP_MULTI, .ops = m->ops};
    memset(m, 0, sizeof(*m));
    if (strcmp(verb, "build") == 0) {
        (void)snprintf(m->below, sizeof(m->below), "%s/n-", paths[1]);
        op.paths = paths;
        op.path_count = 1;
        add_create(m, paths[1], 0);
        add_set(m, paths[1]);
        add_create(m, m->below, ZOO_SEQUENCE);
    } else if (strcmp(verb, "finish") == 0) {
        add_set(m, paths[1]);
        zoo_check_op_init(&m->ops[m->count++], paths[0], -1);
        m->deleted = paths[0];
        op.deleted = &m->deleted;
        op.deleted_count = 1;
    } else {
        zkt_fail("no verb '%s'", verb);
    }
    op.op_count = (size_t)m->count;
    return op;
}

static void run_verb(struct session *s, const char *verb, char *words[2])
{
    char paths[2][256];
    const char *list[2] = {paths[0], paths[1]};
    size_t count = 0;
    while (count < 2 && words[count]) {
        resolve(s->side, words[count], paths[count], sizeof(paths[0]));
        count++;
    }
    const struct zkr__creation creations[2] = {{paths[0], "one", 3},
                                               {paths[1], NULL, 0}};
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (strcmp(verbs[i].word, verb) == 0) {
            struct zkr__op op = {.kind = verbs[i].kind,
                                 .path = paths[0],
                                 .container = verbs[i].container,
                                 .watch = verbs[i].watch,
                                 .paths = list,
                                 .path_count = count,
                                 .creations = creations,
                                 .creation_count = count};
            bool data = op.kind == ZKR__OP_CREATE || op.kind == ZKR__OP_SET;
            op.data = data ? "owner" : NULL;
            op.data_len = data ? 5 : 0;
            op.version = strcmp(verb, "put") == 0 ? -1 : 0;
            ask(s, &op, (unsigned)op.kind + 1);
            return;
        }
    }
    const struct zkr__op multi = transaction(&s->multi, verb, list);
    ask(s, &multi, (unsigned)multi.kind + 1);
}

static void go_away(struct session *s, bool away)
{
    s->away = away;
    if (s->side->real) {
        (away ? zkt_proxy_cut : zkt_proxy_heal)(s->proxy);
    } else {
        zkf_blackhole(s->letter - 'a', false);
        if (away) {
            (void)zkf_cut(s->letter - 'a', ZKF_CUT_SOME);
            /* The session learns of the cut, and of nothing after it. */
            (void)zkf_step(zkf_now());
            zkf_blackhole(s->letter - 'a', true);
        }
    }
    wait_for(s->side, away ? is_down : is_up, s);
}

static int64_t reconnects;

static bool is_up_again(struct session *s)
{
    return zkr__connected(s->c) && s->c->stats.reconnects > reconnects;
}

/* Cut the connection of the session. The next connection is to the server with this role. */
static void lead(struct session *s, int role)
{
    script_cluster_lead(s->side->real, s->letter - 'a', s->proxy, role);
    if (s->side->real) {
        zkt_proxy_drop_connections(s->proxy);
    } else {
        (void)zkf_cut(s->letter - 'a', ZKF_CUT_SOME);
    }
}

/* Move the session to another server, or to the same server again. */
static void move(struct session *s, int role)
{
    s->role = role;
    zkr__lock(s->c);
    reconnects = s->c->stats.reconnects;
    zkr__unlock(s->c);
    lead(s, role);
    wait_for(s->side, is_up_again, s);
}

/* Let the session try a server that refuses it, because the server lags behind the session. */
static void try_in_vain(struct session *s, int role)
{
    s->away = true;
    lead(s, role);
    wait_for(s->side, is_down, s);
    for (int i = 0; i < 300; i++) {
        serve(s);
        elapse(s->side, 1, 1);
    }
}

/* Create a node that lacks some permissions, which are letters of "crwd". */
static void forbid(struct side *side, const char *word, const char *missing)
{
    static const struct {
        char letter;
        int real;
        unsigned fake;
    } perms[] = {{'c', ZKT_CREATE, ZKF_CREATE},
                 {'r', ZKT_READ, ZKF_READ},
                 {'w', ZKT_WRITE, ZKF_WRITE},
                 {'d', ZKT_DELETE, ZKF_DELETE}};
    char path[256];
    int allowed = ZKT_ALL;
    unsigned forbidden = 0;
    for (size_t i = 0; i < sizeof(perms) / sizeof(perms[0]); i++) {
        if (strchr(missing, perms[i].letter)) {
            allowed &= ~perms[i].real;
            forbidden |= perms[i].fake;
        }
    }
    resolve(side, word, path, sizeof(path));
    if (side->real) {
        const zkt_node node = {
            .path = path, .perms = allowed, .scheme = "world", .id = "anyone"};
        zkt_raw *raw;
        ZKT_EVENTUALLY((raw = zkt_raw_open(real_host(SCRIPT_LEADER), 10000)) != NULL,
                       PATIENCE_MS);
        assert_int_equal(zkt_raw_create(raw, &node, NULL, 0), 0);
        (void)zkt_raw_close(raw);
    } else {
        assert_true(zkf_stranger_create(path, false));
        assert_true(zkf_forbid(path, forbidden));
    }
}

static void lose(struct session *s, const char *what, char *words[4])
{
    bool answer = strcmp(what, "lose-answer") == 0;
    if (s->side->real) {
        (answer ? zkt_proxy_cut_after_request : zkt_proxy_cut_before_request)(s->proxy,
                                                                              1);
        run_verb(s, words[0], words + 1);
    } else {
        size_t before = zkf_log_length();
        run_verb(s, words[0], words + 1);
        while (answer && zkf_log_length() == before) {
            (void)zkf_step(zkf_now() + ZKR__MS);
        }
        (void)zkf_cut(s->letter - 'a', answer ? ZKF_CUT_ANSWERS : ZKF_CUT_REQUESTS);
    }
    wait_for(s->side, is_answered, s);
}

static void end(struct session *s, bool close)
{
    if (close) {
        s->closed = true;
        zkf_hurry(true);
        ZKT_MUST(zkr_client_close(s->c));
        zkf_hurry(false);
        for (int i = 0; i < 20 && !s->side->real; i++) {
            (void)zkf_step(zkf_now() + ZKR__MS);
        }
    } else { /* the session is disconnected, so it learns of its end only when it reconnects */
        go_away(s, true);
        if (s->side->real) {
            zkt_expire_session(real_host(SCRIPT_LEADER), zkr_client_session_id(s->c));
        } else {
            zkf_expire(s->c->session_id);
        }
        go_away(s, false);
    }
}

/* Run "- pass MS". */
static void pass(struct side *side, int64_t ms)
{
    const int64_t end = side->real ? zkt_now_ms() + ms : zkf_now() / ZKR__MS + ms;
    while ((side->real ? zkt_now_ms() : zkf_now() / ZKR__MS) < end) {
        serve_all(side);
        elapse(side, 20, 20);
    }
}

/* Run "SESSION VERB [PATH...]". With "&" at the end, the next line follows at once. */
static void run_line(struct side *side, const char *text)
{
    char line[256], *words[6] = {NULL}, *rest = NULL;
    (void)snprintf(line, sizeof(line), "%s", text);
    bool more = false;
    int count = 0;
    for (char *w = strtok_r(line, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        if (strcmp(w, "&") == 0) {
            more = true;
        } else {
            words[count++] = w;
        }
    }
    bool all = strcmp(words[0], "-") == 0;
    struct session *s = all ? NULL : &side->sessions[words[0][0] - 'a'];
    if (all && strcmp(words[1], "forbid") == 0) {
        forbid(side, words[2], words[3]);
    } else if (all && strcmp(words[1], "pass") == 0) {
        pass(side, strtol(words[2], NULL, 10));
    } else if (all) {
        script_cluster_do(side->real, words + 1);
        wait_for_servers(side);
    } else if (strcmp(words[1], "at") == 0) {
        move(s, script_role(words[2]));
    } else if (strcmp(words[1], "tries") == 0) {
        try_in_vain(s, script_role(words[2]));
    } else if (strcmp(words[1], "time-out") == 0) {
        say(s, "time-out %lld, counts %lld\n",
            (long long)s->c->door->timeout_ms(s->c->link->zh),
            (long long)s->c->session_ms);
    } else if (strncmp(words[1], "lose-", 5) == 0) {
        lose(s, words[1], words + 2);
    } else if (strcmp(words[1], "away") == 0 || strcmp(words[1], "back") == 0) {
        go_away(s, strcmp(words[1], "away") == 0);
    } else if (strcmp(words[1], "expire") == 0 || strcmp(words[1], "close") == 0) {
        end(s, strcmp(words[1], "close") == 0);
    } else {
        run_verb(s, words[1], words + 2);
    }
    if (!more) {
        settle(side);
    }
}

/* --- both sides --- */

static void open_session(struct side *side, int i)
{
    struct session *s = &side->sessions[i];
    s->side = side;
    s->letter = (char)('a' + i);
    s->listener.on_state = on_state;
    s->role = i == 0 ? SCRIPT_FOLLOWER : SCRIPT_OTHER;
    s->proxy = side->real ? zkt_proxy_start(real_host(s->role)) : NULL;
    if (script_cluster()) {
        script_cluster_lead(side->real, i, s->proxy, s->role);
    }
    const struct zkr__env env = {.door = side->real ? &zkr__zk_real : &zkf_door,
                                 .no_threads = true};
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = script_cluster() ? script_cluster_session_ms() : 6000;
    zkf_enter(i);
    ZKT_MUST(zkr__client_open(
        &s->c, side->real ? zkt_proxy_host(s->proxy) : "127.0.0.1:1", &o, &env));
    zkr__lock(s->c);
    s->c->engine = s;
    s->c->up = &upcalls;
    zkr__listen(s->c, &s->listener);
    zkr__unlock(s->c);
}

static void make_base(struct side *side)
{
    struct zkr__op op = {.kind = ZKR__OP_PARENT, .path = side->base};
    for (char *slash = side->base; slash; *slash = '/') {
        slash = strchr(slash + 1, '/');
        if (slash) {
            *slash = '\0';
        }
        ask(&side->sessions[0], &op, 0);
        wait_for(side, is_answered, &side->sessions[0]);
        if (!slash) {
            break;
        }
    }
}

/* Delete the nodes that a script leaves at the real server. */
static void remove_all(const struct side *side)
{
    static const char *const last[] = {"/q/d", "/q/none", "/none", "/q", "/r"};
    char path[256];
    for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++) {
        resolve(side, last[i], path, sizeof(path));
        (void)zkt_delete(zkt_servers(), path);
    }
}

static void run_side(struct side *side, const char *const *script)
{
    (void)pthread_mutex_init(&side->mu, NULL);
    static int bases;
    if (script_cluster()) {
        (void)snprintf(side->base, sizeof(side->base), "/script-%d", bases / 2);
        bases++;
        script_cluster_begin(side->real);
    } else {
        (void)snprintf(side->base, sizeof(side->base), "%s", zkt_path());
    }
    for (int i = 0; i < SESSIONS; i++) {
        open_session(side, i);
    }
    settle(side);
    make_base(side);
    for (bool settled = true; *script; script++) {
        for (int i = 0; i < SESSIONS && settled; i++) {
            say(&side->sessions[i], "> %s\n", *script);
        }
        run_line(side, *script);
        settled = strchr(*script, '&') == NULL;
    }
    for (int i = 0; i < SESSIONS; i++) {
        if (!side->sessions[i].closed) {
            end(&side->sessions[i], true);
        }
        zkt_proxy_stop(side->sessions[i].proxy);
    }
    (void)pthread_mutex_destroy(&side->mu);
}

enum { PART = 1000 };
#define VERSION(major, minor, patch) (((major)*PART + (minor)) * PART + (patch))

static int server_version(void)
{
    char said[256];
    int major = 0, minor = 0, patch = 0;
    assert_true(zkt_4lw(real_host(SCRIPT_LEADER), "srvr", said, sizeof(said)) > 0);
    if (sscanf(said, "Zookeeper version: %d.%d.%d", &major, &minor, &patch) != 3) {
        zkt_fail("no version in: %s", said);
    }
    return VERSION(major, minor, patch);
}

void fake_script_compare(const char *const *script)
{
    static struct side fake, real;
    memset(&fake, 0, sizeof(fake));
    memset(&real, 0, sizeof(real));
    real.real = true;
    const int version = server_version();
    /* Since 3.8.4 and 3.9.2, exists() requires READ (ZOOKEEPER-2590). */
    const bool exists_asks =
        version >= VERSION(3, 9, 2) ||
        (version >= VERSION(3, 8, 4) && version < VERSION(3, 9, 0));
    const struct zkf_config config = {.seed = 1,
                                      .servers = script_cluster() ? SCRIPT_SERVERS : 1,
                                      .tick = 500 * ZKR__MS,
                                      .patience = 6000 * ZKR__MS,
                                      .calm = true,
                                      .exists_asks = exists_asks,
                                      .finds_first = version < VERSION(3, 6, 0)};
    zkf_begin(&config);
    run_side(&fake, script);
    zkf_end();
    run_side(&real, script);
    if (!script_cluster()) {
        remove_all(&real);
    }
    for (int i = 0; i < SESSIONS; i++) {
        const char *f = fake.sessions[i].log, *r = real.sessions[i].log;
        size_t same = 0, line = 0;
        for (; f[same] == r[same] && f[same] != '\0'; same++) {
            line = f[same] == '\n' ? same + 1 : line;
        }
        if (f[same] != r[same]) {
            size_t from = line > 200 ? line - 200 : 0;
            zkt_fail("session %c: ...%.*s--- the fake goes on\n%.200s\n--- the real "
                     "one\n%.200s",
                     'a' + i, (int)(line - from), f + from, f + line, r + line);
        }
    }
}
