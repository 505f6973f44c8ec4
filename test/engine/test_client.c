/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of one client, and what it makes of the answers: on the fake, in virtual time. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include <zkr/guard.h>

#include "look/node_watch.h"
#include "on_fake.h"
#include "queue/claim.h"
#include "queue/engine_state.h"
#include "raw.h"
#include "session/must.h"
#include "session/service.h"
#include "session/zk_value.h"

enum { KINDS = ZKR__OP_CREATES + 1 };

/*
 * libzookeeper's thread that reports session events. While it is held up, its events wait, and then all come at once.
 */
static struct {
    struct zkr__handle_owner owner, *real;
    enum zkr__session_event events[4];
    int count, handles;
    bool slow;
} teller;

static void tell_late(struct zkr__handle_owner *owner, enum zkr__session_event event)
{
    if (teller.slow) {
        teller.events[teller.count++] = event;
    } else {
        teller.real->session(teller.real, event);
    }
}

static void tell_of_node(struct zkr__handle_owner *owner,
                         const char *path,
                         enum zkr__node_event event)
{
    teller.real->node(teller.real, path, event);
}

static void tell_now(void)
{
    teller.slow = false;
    for (int i = 0; i < teller.count; i++) {
        teller.real->session(teller.real, teller.events[i]);
    }
    teller.count = 0;
}

static void *open_told_late(const struct zkr__open_args *args)
{
    struct zkr__open_args changed = *args;
    teller.real = args->owner;
    teller.owner =
        (struct zkr__handle_owner){.session = tell_late, .node = tell_of_node};
    changed.owner = &teller.owner;
    return zkf_door.open(&changed);
}

/* Cut the first connection. Its event comes only when the next connection is up. */
static void tell_of_two(struct zkr__handle_owner *owner, enum zkr__session_event event)
{
    tell_late(owner, event);
    if (teller.count == 1) {
        assert_true(zkf_cut(0, ZKF_CUT_REQUESTS));
    } else if (teller.count > 1 && event == ZKR__SESSION_UP) {
        tell_now();
    }
}

static void *open_and_cut(const struct zkr__open_args *args)
{
    teller.slow = teller.handles++ == 0;
    void *zh = open_told_late(args);
    teller.owner.session = tell_of_two;
    return zh;
}

static zkr_stats stats_of(zkr_client *c)
{
    zkr_stats stats;
    ZKT_MUST(zkr_client_stats(c, &stats, sizeof(stats)));
    return stats;
}

/* Returns the only node below @dir. */
static const struct zkf_node *only_node(const char *dir)
{
    const struct zkf_node *found = NULL;
    size_t len = strlen(dir);
    for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
        if (strncmp(n->path, dir, len) == 0 && n->path[len] == '/') {
            assert_null(found);
            found = n;
        }
    }
    assert_non_null(found);
    return found;
}

/* --- the handle --- */

static int opened;

static void *count_opens(const struct zkr__open_args *args)
{
    opened++;
    return zkf_door.open(args);
}

static void pass_until_opened(zkr_client *c, int count)
{
    for (int i = 0; opened < count && i < 10 * ZKF_SESSION_MS / SECOND; i++) {
        zkf_pass(c, SECOND);
    }
    assert_int_equal(opened, count);
}

/* A handle that gets no session is replaced. The next one also gets two session timeouts, at least 5 s. */
ZKT_UNIT_CASE(a_handle_without_a_session_is_given_up)
{
    opened = 0;
    zkr_client *c = open_client_by(count_opens, NULL);
    zkf_blackhole(0, true);
    pass_until_opened(c, 2); /* the session is over */
    zkf_pass(c, 2 * ZKF_SESSION_MS - 2 * SECOND);
    assert_int_equal(opened, 2);
    pass_until_opened(c, 3);
    c->options.session_timeout_ms = SECOND;
    pass_until_opened(c, 4);
    zkf_pass(c, 3 * SECOND);
    assert_int_equal(opened, 4);
    pass_until_opened(c, 5);
    zkf_blackhole(0, false);
    zkf_pass(c, 5 * SECOND);
    assert_int_equal(zkr_client_state(c), ZKR_STATE_CONNECTED);
}

/* --- the lease --- */

/*
 * The machine sleeps for longer than a session timeout, which only one of its two clocks shows. The loss is reported
 * when a thread of the library runs, without a call of the application. In engine.told, the application calls first.
 */
ZKT_UNIT_CASE(a_sleep_of_the_machine_is_told)
{
    zkr_client *c = open_client(NULL);
    (void)hold(c, mutex_at(c, "/lock", NULL));
    between.asleep = 2 * ZKF_SESSION_MS * ZKR__MS;
    zkr__lock(c);
    zkr__service_run(c);
    zkr__unlock(c);
    assert_int_equal(stats_of(c).losses, 1);
}

enum { MANY = 300 }; /* more than two probes can check */

static bool probed[MANY];

static void note_probed(struct zkr__op *op)
{
    for (size_t i = 0; op->kind == ZKR__OP_CHECK && i < op->path_count; i++) {
        int n;
        if (sscanf(op->paths[i], "/many/%d/", &n) == 1) {
            probed[n] = true;
        }
    }
}

/* If there are more holds than a probe can check, probes check them in turn. */
ZKT_UNIT_CASE(many_holds_are_probed_in_turn)
{
    zkr_ticket *t[MANY];
    zkr_client *c = open_client(NULL);
    assert_true(MANY > 2 * ZKR__PROBE_MAX);
    for (int i = 0; i < MANY; i++) {
        char path[32];
        (void)snprintf(path, sizeof(path), "/many/%d", i);
        t[i] = ask(mutex_at(c, path, NULL), ZKR_FOREVER);
    }
    zkf_pass(c, SECOND);
    between.on_submit = note_probed;
    zkf_pass(c, ZKF_SESSION_MS);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(zkr_ticket_state(t[i]), ZKR_TICKET_HELD);
        assert_true(probed[i]);
    }
}

static int64_t probes_within(int64_t lease_probe_ms, int64_t ms)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.lease_probe_ms = lease_probe_ms;
    zkr_client *c = open_client(&o);
    zkr_ticket *t = hold(c, mutex_at(c, "/lock", NULL));
    int64_t before = stats_of(c).probes;
    zkf_pass(c, ms);
    int64_t probes = stats_of(c).probes - before;
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_HELD);
    return probes;
}

/* The default pause is a twelfth of the session timeout, and the option sets other pauses. */
ZKT_UNIT_CASE(the_pause_between_probes_can_be_chosen)
{
    int64_t usual = probes_within(0, 60 * SECOND);
    ZKT_IN_RANGE(usual, 50, 100);
    ZKT_IN_RANGE(probes_within(2600, 60 * SECOND), 20, usual * 2 / 3);
    ZKT_IN_RANGE(probes_within(200, 60 * SECOND), 3 * usual, 350);
}

/* --- tokens --- */

static const int64_t epoch =
    INT64_C(0x7a000000000); /* epoch of a leader: the upper half of its zxids */

static void in_an_epoch(enum zkr__op_kind kind, struct zkr__answer *answer)
{
    answer->czxid += answer->czxid > 0 ? epoch : 0;
}

/* A token is the zxid of the node's creation with all its 64 bits, whether the create was answered or not. */
ZKT_UNIT_CASE(a_token_has_64_bits)
{
    zkr_client *c = open_client(NULL);
    zkr_mutex *m = mutex_at(c, "/lock", NULL);
    between.on_answer = in_an_epoch;
    end(hold(c, m));
    zkf_pass(c, SECOND);
    for (int lost = 0; lost < 2; lost++) {
        int64_t token = 0;
        zkr_ticket *t = ask(m, ZKR_FOREVER);
        if (lost) {
            while (zkf_find("/lock")->children == 0) {
                assert_true(zkf_step(zkf_now() + SECOND * ZKR__MS));
            }
            assert_true(zkf_cut(0, ZKF_CUT_ANSWERS));
        }
        zkf_pass(c, 20 * SECOND);
        ZKT_MUST(zkr_ticket_fencing_token(t, &token));
        assert_true(token == epoch + only_node("/lock")->czxid);
        end(t);
        zkf_pass(c, SECOND);
    }
}

/* --- created nodes --- */

static char scheme[] = "digest", somebody[] = "somebody";
static struct ACL rights[] = {{ZKT_READ | ZKT_DELETE, {scheme, somebody}}};
static struct ACL_vector acl = {1, rights};
static int made[KINDS], bare[KINDS];

static void look_at_acl(struct zkr__op *op)
{
    bool makes = op->kind == ZKR__OP_CREATE || op->kind == ZKR__OP_PARENT ||
                 op->kind == ZKR__OP_CREATES;
    if (makes) {
        made[op->kind]++;
        bare[op->kind] += !op->acl || op->acl->count != 1 ||
                          op->acl->data[0].perms != rights[0].perms ||
                          strcmp(op->acl->data[0].id.id, somebody) != 0;
    }
}

/* Lock nodes, whether created singly or together, and their parents get the ACL of the options. */
ZKT_UNIT_CASE(all_that_is_made_has_the_acl)
{
    static const enum zkr__op_kind kinds[] = {ZKR__OP_CREATE, ZKR__OP_PARENT,
                                              ZKR__OP_CREATES};
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    zkr_multi_lock *both = NULL;
    zkr_ticket *t = NULL;
    o.acl = &acl;
    zkr_client *c = open_client(&o);
    zkr_mutex *m = mutex_at(c, "/deep/lock", NULL);
    between.on_submit = look_at_acl;
    end(hold(c, m));
    ZKT_MUST(zkr_multi_lock_create(&both, c, (const char *const[]){"/one", "/two"}, 2,
                                   NULL));
    ZKT_MUST(zkr_multi_lock_request(both, ZKR_FOREVER, NULL, NULL, &t));
    zkf_pass_to(c, SECOND, t, ZKR_TICKET_HELD);
    end(t);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        assert_true(made[kinds[i]] > 0);
        assert_int_equal(bare[kinds[i]], 0);
    }
    ZKT_MUST(zkr_multi_lock_destroy(both));
}

ZKT_UNIT_CASE(data_are_stored)
{
    zkr_client *c = open_client(NULL);
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.data = "a\0b";
    o.data_len = 3;
    (void)hold(c, mutex_at(c, "/lock", &o));
    zkf_pass(c, 3 * ZKF_SESSION_MS); /* nothing is appended during a long hold */
    const struct zkf_node *node = only_node("/lock");
    assert_int_equal(node->data_len, 3);
    assert_memory_equal(node->data, "a\0b", 3);
}

/* --- parents --- */

ZKT_UNIT_CASE(parents_are_of_the_kind_asked_for)
{
    static const char *const parents[] = {"/deep",       "/deep/lock", "/latch",
                                          "/rw",         "/multi",     "/multi/a",
                                          "/sem/leases", "/sem/locks", "/sem"};
    static const char *const paths[] = {"/multi/a", "/multi/b"};
    for (int persistent = 0; persistent < 2; persistent++) {
        zkr_client *c = open_client(NULL);
        zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
        zkr_leader_latch_options lo = ZKR_LEADER_LATCH_OPTIONS_INIT;
        zkr_rwlock_options ro = ZKR_RWLOCK_OPTIONS_INIT;
        zkr_multi_lock_options mo = ZKR_MULTI_LOCK_OPTIONS_INIT;
        zkr_semaphore_options so = ZKR_SEMAPHORE_OPTIONS_INIT;
        zkr_rwlock *rw = NULL;
        zkr_multi_lock *multi = NULL;
        zkr_semaphore *s = NULL;
        zkr_ticket *t[4], *waits;
        o.persistent_parent = lo.persistent_parent = ro.persistent_parent =
            mo.persistent_parent = so.persistent_parent = persistent;
        ZKT_MUST(zkr_rwlock_create(&rw, c, "/rw", &ro));
        ZKT_MUST(zkr_multi_lock_create(&multi, c, paths, 2, &mo));
        ZKT_MUST(zkr_semaphore_create(&s, c, "/sem", 1, &so));
        t[0] = ask(mutex_at(c, "/deep/lock", &o), ZKR_FOREVER);
        t[1] = ask(zkr_rwlock_reader(rw), ZKR_FOREVER);
        ZKT_MUST(zkr_multi_lock_request(multi, ZKR_FOREVER, NULL, NULL, &t[2]));
        ZKT_MUST(zkr_semaphore_request(s, 1, ZKR_FOREVER, NULL, NULL, &t[3]));
        ZKT_MUST(zkr_leader_latch_start(latch_with(c, &lo)));
        zkf_pass(c, SECOND);
        ZKT_MUST(zkr_semaphore_request(s, 1, ZKR_FOREVER, NULL, NULL, &waits));
        zkf_pass(c, SECOND);
        for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
            assert_int_equal(zkf_find(parents[i])->container, !persistent);
        }
        end(waits);
        for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
            assert_int_equal(zkr_ticket_state(t[i]), ZKR_TICKET_HELD);
            end(t[i]);
        }
        ZKT_MUST(zkr_semaphore_destroy(s));
        ZKT_MUST(zkr_multi_lock_destroy(multi));
        ZKT_MUST(zkr_rwlock_destroy(rw));
    }
}

/* Refuse to create containers, as servers before 3.5 do. */
static int containers_refused;

static void as_an_old_server(struct zkr__op *op)
{
    if (op->kind == ZKR__OP_PARENT && op->container) {
        *op = (struct zkr__op){.kind = ZKR__OP_EXISTS, .path = "/"};
    }
}

static void answer_as_an_old_server(enum zkr__op_kind kind, struct zkr__answer *answer)
{
    if (kind == ZKR__OP_PARENT && answer->code == ZKR_OK && !zkf_find("/deep")) {
        containers_refused++;
        answer->zk_rc = ZUNIMPLEMENTED;
        answer->code = zkr__zk_code(ZUNIMPLEMENTED);
    }
}

ZKT_UNIT_CASE(an_old_server_makes_persistent_parents)
{
    zkr_client *c = open_client(NULL);
    zkr_mutex *m = mutex_at(c, "/deep/lock", NULL);
    between.on_submit = as_an_old_server;
    between.on_answer = answer_as_an_old_server;
    zkr_ticket *t = ask(m, ZKR_FOREVER);
    zkf_pass(c, 10 * SECOND);
    assert_int_equal(containers_refused, 2); /* both levels, once */
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_HELD);
    assert_false(zkf_find("/deep/lock")->container);
}

static bool lacking;                   /* no node can be created */
static int tried[ZKR__OP_CREATES + 1]; /* indexed by kind */

static void count_tried(struct zkr__op *op)
{
    bool creates_nodes = op->kind == ZKR__OP_CREATE || op->kind == ZKR__OP_CREATES;
    tried[op->kind]++;
    if (creates_nodes && lacking) {
        *op = (struct zkr__op){.kind = ZKR__OP_EXISTS, .path = "/"};
    }
}

static void refuse_creates(enum zkr__op_kind kind, struct zkr__answer *answer)
{
    if (lacking && (kind == ZKR__OP_CREATE || kind == ZKR__OP_CREATES)) {
        answer->zk_rc = ZUNIMPLEMENTED;
        answer->code = zkr__zk_code(ZUNIMPLEMENTED);
    }
}

/*
 * Without create2, a transaction creates the node. If that is refused as well, the wait ends. On other servers, both
 * are tried again.
 */
ZKT_UNIT_CASE(servers_that_can_make_no_node_are_refused)
{
    zkr_client *c = open_client(NULL);
    zkr_mutex *m = mutex_at(c, "/lock", NULL);
    memset(tried, 0, sizeof(tried));
    lacking = true;
    between.on_submit = count_tried;
    between.on_answer = refuse_creates;
    zkr_ticket *t = ask(m, ZKR_FOREVER);
    zkf_pass(c, 10 * SECOND);
    ZKT_RC(zkr_ticket_error(t), ZKR_EZK(ZUNIMPLEMENTED));
    end(t);
    assert_int_equal(tried[ZKR__OP_CREATE], 1);
    assert_int_equal(tried[ZKR__OP_CREATES], 1);
    lacking = false;
    end(hold(c, m));
    assert_int_equal(tried[ZKR__OP_CREATE], 1);
    ZKT_MUST(zkr_client_set_servers(c, "127.0.0.1:1"));
    end(hold(c, m));
    assert_int_equal(tried[ZKR__OP_CREATE], 2);
}

/* --- missing answers, and answers that are refusals --- */

/* Returns the outcome of a try, and its duration. */
static int try_without_answer(zkr_client *c, zkr_mutex *m, int64_t *took)
{
    int64_t before = zkf_now();
    zkf_blackhole(0, true);
    zkr_ticket *t = ask(m, 0);
    while (zkr_ticket_state(t) == ZKR_TICKET_WAITING) {
        zkf_pass(c, SECOND / 10);
        assert_true(zkf_now() - before < 60 * SECOND * ZKR__MS);
    }
    *took = (zkf_now() - before) / ZKR__MS;
    zkf_blackhole(0, false);
    int code = zkr_ticket_error(t);
    end(t);
    zkf_pass(c, ZKF_SESSION_MS);
    return code;
}

/*
 * A try waits for an answer for connect_timeout_ms, or for a third of the session timeout. The code must not say that
 * the lock is held.
 */
ZKT_UNIT_CASE(a_try_without_an_answer_says_so)
{
    static const int64_t limits[][2] = {{SECOND, SECOND}, {0, ZKF_SESSION_MS / 3}};
    for (size_t i = 0; i < 2; i++) {
        int64_t took;
        zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
        o.connect_timeout_ms = limits[i][0];
        zkr_client *c = open_client(&o);
        zkr_mutex *m = mutex_at(c, "/lock", NULL);
        ZKT_RC(try_without_answer(c, m, &took), ZKR_ENOANSWER);
        ZKT_IN_RANGE(took, limits[i][1], limits[i][1] + SECOND / 5);
        (void)hold(c, m);
        zkr_ticket *second = ask(m, 0);
        zkf_pass(c, SECOND);
        ZKT_RC(zkr_ticket_error(second), ZKR_ETIMEDOUT);
    }
}

/* Only a server can report the end of a session. Without a server, the session is given up when it must be over. */
ZKT_UNIT_CASE(a_session_without_a_server_is_given_up)
{
    zkr_client *c = open_client(NULL);
    zkr_mutex *m = mutex_at(c, "/lock", NULL);
    zkr_ticket *t = hold(c, m);
    zkf_blackhole(0, true);
    zkf_pass(c, 3 * ZKF_SESSION_MS);
    assert_int_equal(zkr_client_session_id(c), 0);
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_LOST);
    end(t);
    zkf_blackhole(0, false);
    zkf_pass(c, ZKF_SESSION_MS);
    end(hold(c, m)); /* the hold is granted in the next session */
    assert_int_equal(stats_of(c).sessions, 2);
}

static void lose_all(enum zkr__op_kind kind, struct zkr__answer *answer)
{
    answer->code = ZKR_ECONNLOSS;
}

/*
 * Connections come and go, and none of them brings an answer. Each connection renews the session, so its nodes would
 * stay forever. Eight connections are enough to give the session up, but not before a session without a server would be
 * given up.
 */
ZKT_UNIT_CASE(a_session_that_is_never_answered_is_given_up)
{
    enum { LEAST = 8, EACH_MS = ZKF_SESSION_MS / 2, SHORT_MS = ZKF_SESSION_MS / 20 };
    for (int fast = 0; fast < 2; fast++) {
        int cuts = 0, most = fast ? ZKF_SESSION_MS / SHORT_MS + 1 : LEAST;
        zkr_client *c = open_client(NULL);
        between.on_answer = lose_all;
        while (cuts <= most && stats_of(c).expirations == 0) {
            assert_true(zkf_cut(0, ZKF_CUT_ANSWERS));
            zkf_pass(c, fast ? SHORT_MS : EACH_MS);
            cuts++;
        }
        const int least = fast ? most - 3 : LEAST; /* the time began before the cuts */
        ZKT_IN_RANGE(cuts, least, most);
    }
}

static void demand_credentials(enum zkr__op_kind kind, struct zkr__answer *answer)
{
    answer->zk_rc = ZSESSIONCLOSEDREQUIRESASLAUTH;
    answer->code = zkr__zk_code(answer->zk_rc);
}

/* A server demands credentials, while the session lives on. The holds keep the validity that they were promised. */
ZKT_UNIT_CASE(servers_that_demand_credentials_end_no_promise)
{
    zkr_client *c = open_client(NULL);
    zkr_ticket *t = hold(c, mutex_at(c, "/lock", NULL));
    const int64_t session = zkr_client_session_id(c);
    between.on_answer = demand_credentials;
    const int64_t until = zkf_now() / ZKR__MS + zkr_ticket_valid_for_ms(t);
    while (zkr_client_state(c) != ZKR_STATE_AUTH_FAILED) {
        zkf_pass(c, SECOND / 100);
    }
    ZKT_RC(zkr_ticket_error(ask(mutex_at(c, "/other", NULL), ZKR_FOREVER)), ZKR_EAUTH);
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_LOST);
    zkf_pass(c, until - zkf_now() / ZKR__MS - 1);
    assert_true(zkf_session_alive(session));
    zkf_pass(c, ZKF_SESSION_MS / 2);
    assert_false(zkf_session_alive(session));
}

static int creates; /* number of requests that create several nodes */

static void end_ticket_of(zkr_multi_lock *both, zkr_ticket *t)
{
    (void)zkr_ticket_release(t);
    ZKT_MUST(zkr_ticket_destroy(t));
    ZKT_MUST(zkr_multi_lock_destroy(both));
}

static void count_creates(struct zkr__op *op)
{
    creates += op->kind == ZKR__OP_CREATES;
}

static zkr_ticket *ask_for_two(zkr_client *c, zkr_multi_lock **both)
{
    zkr_ticket *t = NULL;
    ZKT_MUST(
        zkr_multi_lock_create(both, c, (const char *const[]){"/one", "/two"}, 2, NULL));
    ZKT_MUST(zkr_multi_lock_request(*both, ZKR_FOREVER, NULL, NULL, &t));
    return t;
}

static int singles, containers;

static void count_kinds(struct zkr__op *op)
{
    creates += op->kind == ZKR__OP_CREATES;
    singles += op->kind == ZKR__OP_CREATE;
    containers += op->kind == ZKR__OP_PARENT && op->container;
}

/*
 * Two closed connections, or one refusal, show that an operation is missing. Parents whose answers were lost are
 * created again at once.
 */
ZKT_UNIT_CASE(what_servers_lack_is_asked_for_no_more)
{
    static const unsigned lacks[] = {ZKF_LACKS_CREATE2, ZKF_LACKS_CONTAINERS};
    for (unsigned i = 0; i < 4; i++) {
        zkr_client *c = open_client(NULL);
        zkf_lack(lacks[i % 2] | (i / 2 ? ZKF_REFUSES : 0));
        between.on_submit = count_kinds;
        creates = singles = containers = 0;
        zkr_ticket *t = ask(mutex_at(c, "/deep/lock", NULL), ZKR_FOREVER);
        zkf_pass_to(c, SECOND + SECOND / 2, t, ZKR_TICKET_HELD);
        assert_true(containers <= 4); /* two attempts at two levels */
        end(t);
        singles = containers = 0;
        t = ask(mutex_at(c, "/other/lock", NULL), ZKR_FOREVER);
        zkf_pass_to(c, SECOND, t, ZKR_TICKET_HELD);
        assert_int_equal(singles > 0, i % 2 == 1);
        assert_int_equal(containers, 0);
        end(t);
    }
}

/* A single node is created by a transaction only where a try of create2 could cost holds, as on ClickHouse Keeper. */
ZKT_UNIT_CASE(create2_is_used_beside_a_hold)
{
    for (int keeper = 0; keeper < 2; keeper++) {
        zkr_multi_lock *both;
        zkr_client *c = open_client(NULL);
        if (keeper) {
            assert_true(zkf_stranger_create("/keeper", false));
            assert_true(zkf_stranger_create("/keeper/api_version", false));
            zkf_expire(c->session_id);
            zkf_pass(c, SECOND);
        }
        between.on_submit = count_kinds;
        creates = singles = 0;
        zkr_ticket *t = ask_for_two(c, &both);
        zkf_pass_to(c, SECOND, t, ZKR_TICKET_HELD);
        int before = creates;
        zkr_ticket *one = ask(mutex_at(c, "/lock", NULL), ZKR_FOREVER);
        zkf_pass_to(c, SECOND, one, ZKR_TICKET_HELD);
        end(one);
        assert_int_equal(singles > 0, !keeper);
        assert_int_equal(creates > before, keeper);
        end_ticket_of(both, t);
    }
}

/* A follower reports a living session as expired. The second report is sufficient to fail the hold. */
ZKT_UNIT_CASE(a_local_session_fails_a_hold)
{
    for (int follower = 0; follower < 2; follower++) {
        zkr_multi_lock *both;
        zkr_client *c = open_client(NULL);
        zkf_local_sessions(follower ? ZSESSIONEXPIRED : ZEPHEMERALONLOCALSESSION);
        between.on_submit = count_creates;
        creates = 0;
        zkr_ticket *t = ask_for_two(c, &both);
        zkr_ticket *one = ask(mutex_at(c, "/one", NULL), ZKR_FOREVER);
        zkf_pass(c, 10 * SECOND);
        ZKT_RC(zkr_ticket_error(t), ZKR_EZK(ZEPHEMERALONLOCALSESSION));
        ZKT_RC(zkr_ticket_error(one), ZKR_EZK(ZEPHEMERALONLOCALSESSION));
        ZKT_IN_RANGE(creates, 1, 1 + follower);
        assert_int_equal(stats_of(c).expirations, 0);
        end_ticket_of(both, t);
    }
}

static zkr_client *expiring;

static void expire_late(struct zkr__op *op)
{
    creates += op->kind == ZKR__OP_CREATES;
    if (op->kind == ZKR__OP_CREATES && creates <= 2) {
        zkf_local_sessions(creates == 1 ? ZSESSIONEXPIRED : 0);
    }
    if (op->kind == ZKR__OP_CREATES && creates == 2) {
        zkf_expire(expiring->session_id);
    }
}

/* A single such report may be true. The wait goes on in the next session. */
ZKT_UNIT_CASE(one_report_of_an_expired_session_fails_no_hold)
{
    zkr_multi_lock *both;
    expiring = open_client(NULL);
    between.on_submit = expire_late;
    creates = 0;
    zkr_ticket *t = ask_for_two(expiring, &both);
    zkf_pass_to(expiring, 60 * SECOND, t, ZKR_TICKET_HELD);
    assert_int_equal(stats_of(expiring).expirations, 1);
    end_ticket_of(both, t);
}

/* The code of the refused parent counts, and not that of the create that was sent after it, which found no parent. */
ZKT_UNIT_CASE(the_code_of_refused_parents_is_told)
{
    static const struct {
        unsigned perms;
        int zk_rc;
    } rows[] = {{ZKF_QUOTA, -125}, {ZKF_CREATE, ZNOAUTH}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        zkr_client *c = open_client(NULL);
        assert_true(zkf_stranger_create("/full", false));
        assert_true(zkf_forbid("/full", rows[i].perms));
        zkr_ticket *t = ask(mutex_at(c, "/full/deep/lock", NULL), ZKR_FOREVER);
        zkf_pass_to(c, SECOND, t, ZKR_TICKET_FAILED);
        ZKT_RC(zkr_ticket_error(t), zkr__zk_code(rows[i].zk_rc));
        assert_int_equal(zkr_last_error()->zk_rc, rows[i].zk_rc);
        end(t);
    }
}

static int to_lose;

/* Hold up the create, so that it does not arrive. */
static void hold_up_create(struct zkr__op *op)
{
    bool creates_one = op->kind == ZKR__OP_CREATE || op->kind == ZKR__OP_CREATES;
    if (creates_one && creates++ < to_lose) {
        zkf_blackhole(0, true);
    }
}

enum { CREATES_MOST = 30 };

/*
 * Break the first @to_lose connections, each with a create on its way, until @t holds. Returns the duration in
 * ms, or @most.
 */
static int64_t lose_creates(zkr_client *c, zkr_ticket *t, int64_t most)
{
    int64_t ms = 0;
    for (int lost = 0; zkr_ticket_state(t) == ZKR_TICKET_WAITING && ms < most &&
                       creates <= CREATES_MOST;
         ms++) {
        if (creates > lost && lost < to_lose) {
            assert_true(zkf_cut(0, ZKF_CUT_REQUESTS));
            zkf_blackhole(0, false);
            lost++;
        }
        zkf_pass(c, 1);
    }
    return ms;
}

enum { A_LOCK, TWO_LOCKS, PERMITS, WAYS };

/* The objects of a client whose first @to_lose creates are lost. */
static struct {
    zkr_client *c;
    zkr_multi_lock *both;
    zkr_semaphore *s;
    zkr_ticket *t;
} losing;

static void ask_losing(int way)
{
    zkr_client *c = losing.c = open_client(NULL);
    losing.both = NULL;
    losing.s = NULL;
    zkf_pass(c, SECOND);
    between.on_submit = hold_up_create;
    creates = 0;
    if (way == A_LOCK) {
        losing.t = ask(mutex_at(c, "/lock", NULL), ZKR_FOREVER);
    } else if (way == TWO_LOCKS) {
        losing.t = ask_for_two(c, &losing.both);
    } else {
        ZKT_MUST(zkr_semaphore_create(&losing.s, c, "/permits", 2, NULL));
        ZKT_MUST(
            zkr_semaphore_request(losing.s, 2, ZKR_FOREVER, NULL, NULL, &losing.t));
    }
}

static void end_losing(void)
{
    if (losing.both) {
        end_ticket_of(losing.both, losing.t);
        return;
    }
    end(losing.t);
    if (losing.s) {
        ZKT_MUST(zkr_semaphore_destroy(losing.s));
    }
}

/*
 * The fake accepts the next connection at once, and each list shows that there is no node. Therefore there are
 * no pauses.
 */
ZKT_UNIT_CASE(lost_creates_are_repeated_without_a_pause)
{
    static const int losses[] = {3, 4, 8};
    for (int i = 0; i < WAYS * 3; i++) {
        to_lose = losses[i / WAYS];
        ask_losing(i % WAYS);
        ZKT_IN_RANGE(lose_creates(losing.c, losing.t, SECOND), to_lose, SECOND / 10);
        assert_int_equal(zkr_ticket_state(losing.t), ZKR_TICKET_HELD);
        end_losing();
    }
}

/* Servers close the connection at a create that they do not accept. */
ZKT_UNIT_CASE(creates_that_are_always_lost_come_seldom)
{
    for (int way = 0; way < WAYS; way++) {
        to_lose = INT_MAX;
        ask_losing(way);
        (void)lose_creates(losing.c, losing.t, 60 * SECOND);
        ZKT_IN_RANGE(creates, 10, CREATES_MOST);
        to_lose = 0;
        zkf_cut(0, ZKF_CUT_REQUESTS);
        zkf_blackhole(0, false);
        zkf_pass_to(losing.c, 10 * SECOND, losing.t, ZKR_TICKET_HELD);
        end_losing();
    }
}

static void expire_at_each_create(struct zkr__op *op)
{
    enum { MOST = 100 };
    bool creates_one = op->kind == ZKR__OP_CREATE || op->kind == ZKR__OP_CREATES;
    if (creates_one && creates++ < MOST) {
        zkf_expire(expiring->session_id);
    }
}

/*
 * A server that lacks an operation closes the connection, and may give the next connection a new session. Each session
 * is a write for an ensemble, so the pauses between sessions grow until a write is answered.
 */
ZKT_UNIT_CASE(sessions_that_answer_no_write_come_seldom)
{
    zkr_multi_lock *both;
    for (int several = 0; several < 2; several++) {
        expiring = open_client(NULL);
        between.on_submit = expire_at_each_create;
        creates = 0;
        zkr_ticket *t = several ? ask_for_two(expiring, &both)
                                : ask(mutex_at(expiring, "/lock", NULL), ZKR_FOREVER);
        zkf_pass(expiring, 10 * SECOND);
        ZKT_IN_RANGE(stats_of(expiring).sessions, 4, 16);
        between.on_submit = NULL;
        zkf_pass_to(expiring, 10 * SECOND, t, ZKR_TICKET_HELD);
        int64_t before = stats_of(expiring).sessions;
        zkf_expire(expiring->session_id);
        zkf_pass(expiring, SECOND / 4);
        assert_int_equal(stats_of(expiring).sessions, before + 1);
        if (several) {
            end_ticket_of(both, t);
        } else {
            end(t);
        }
    }
}

enum { FRUITLESS_TOLD = 4 };
static int fruitless_lines;

static void count_fruitless_lines(int level, const char *line, void *ctx)
{
    fruitless_lines += level == ZKR_LOG_WARN && strstr(line, "sessions_fruitless");
}

static void expire_then_vanish(struct zkr__op *op)
{
    bool creates_one = op->kind == ZKR__OP_CREATE || op->kind == ZKR__OP_CREATES;
    if (creates_one && creates++ < FRUITLESS_TOLD) {
        zkf_expire(expiring->session_id);
        zkf_blackhole(0, creates == FRUITLESS_TOLD);
    }
}

/* A handle that gets no session does not count as another session without an answered write, and repeats no warning. */
ZKT_UNIT_CASE(sessions_that_answer_no_write_are_reported_once)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = ZKF_SESSION_MS;
    o.log = count_fruitless_lines;
    fruitless_lines = creates = 0;
    expiring = open_client(&o);
    between.on_submit = expire_then_vanish;
    zkr_ticket *t = ask(mutex_at(expiring, "/lock", NULL), ZKR_FOREVER);
    zkf_pass(expiring, 10 * ZKF_SESSION_MS);
    zkf_call_back(expiring);
    assert_int_equal(stats_of(expiring).sessions, FRUITLESS_TOLD);
    assert_int_equal(fruitless_lines, 1);
    zkf_blackhole(0, false);
    zkf_pass_to(expiring, 3 * ZKF_SESSION_MS, t, ZKR_TICKET_HELD);
    end(t);
}

/* Step until the client learns of its next connection. No request on this connection has been answered yet. */
static void pass_until_up(zkr_client *c)
{
    const int64_t before = stats_of(c).reconnects;
    while (stats_of(c).reconnects == before) {
        assert_true(zkf_step(zkf_now() + SECOND * ZKR__MS));
    }
}

/* Break the connection, and let the client connect again. With @late, the thread that reports the events is held up. */
static void connect_anew(zkr_client *c, bool late)
{
    teller.slow = late;
    assert_true(zkf_cut(0, ZKF_CUT_REQUESTS));
    if (late) {
        zkf_pass(c, SECOND / 4);
    } else {
        pass_until_up(c);
    }
}

/*
 * The client reads the granted timeout when it learns of the connection. If libzookeeper has the next connection by
 * then, the timeout may belong to that one, even if it is the same.
 */
ZKT_UNIT_CASE(a_session_whose_first_timeout_is_unknown_is_given_up)
{
    for (int late = 0; late < 2; late++) {
        teller.handles = 0;
        zkr_client *c = open_client_by(late ? open_and_cut : open_told_late, NULL);
        if (!late) {
            connect_anew(c, false);
        }
        zkf_pass(c, SECOND);
        assert_int_equal(stats_of(c).sessions, 1 + late);
        end(hold(c, mutex_at(c, "/lock", NULL)));
    }
}

/*
 * A shorter timeout counts even if its connection is reported after it has broken, because the next connection requests
 * the same timeout.
 */
ZKT_UNIT_CASE(connections_that_are_told_late_cost_no_hold)
{
    enum { SHORTER_MS = ZKF_SESSION_MS / 2 };
    for (int i = 0; i < 4; i++) {
        const bool late = i % 2 == 1, shorter = i / 2 == 1;
        zkr_client *c = open_client_by(open_told_late, NULL);
        const int64_t asked = ZKF_SESSION_MS;
        zkr_ticket *t = hold(c, mutex_at(c, "/lock", NULL));
        const int64_t session = zkr_client_session_id(c);
        if (shorter) {
            zkf_limits(0, SHORTER_MS * ZKR__MS, SHORTER_MS * ZKR__MS);
        }
        connect_anew(c, late);
        zkf_limits(0, SECOND * ZKR__MS, asked * ZKR__MS);
        connect_anew(c, late);
        tell_now();
        zkf_pass(c, SECOND);
        assert_int_equal(zkr_client_session_id(c), session);
        assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_HELD);
        assert_int_equal(zkr_client_session_timeout_ms(c),
                         shorter ? SHORTER_MS : ZKF_SESSION_MS);
        end(t);
    }
}

/*
 * A shorter session timeout ends the lease before the promised validity is over. The session remains until then,
 * whether the service or the holder notices first.
 */
ZKT_UNIT_CASE(what_the_lease_told_outlives_a_shorter_timeout)
{
    const int64_t shorter = ZKF_SESSION_MS / 5 * ZKR__MS;
    for (int asked = 0; asked < 2; asked++) {
        zkr_client *c = open_client(NULL);
        zkr_ticket *t = hold(c, mutex_at(c, "/lock", NULL));
        const int64_t first = zkr_client_session_id(c);
        zkf_blackhole(0, true);
        const int64_t until = zkf_now() / ZKR__MS + zkr_ticket_valid_for_ms(t);
        zkf_pass(c, ZKF_SESSION_MS / 3);
        zkf_limits(0, shorter, shorter);
        assert_true(zkf_cut(0, ZKF_CUT_REQUESTS));
        zkf_blackhole(0, false);
        pass_until_up(c);
        ZKT_IN_RANGE(until, zkf_now() / ZKR__MS + SECOND, INT64_MAX);
        if (asked) {
            assert_int_equal(zkr_ticket_valid_for_ms(t), 0);
        }
        zkf_pass_to(c, 1, t, ZKR_TICKET_LOST);
        zkf_pass(c, until - zkf_now() / ZKR__MS);
        assert_true(zkf_session_alive(first));
        assert_non_null(only_node("/lock"));
        zkf_pass(c, SECOND);
        assert_false(zkf_session_alive(first));
    }
}

static void fail_reads(enum zkr__op_kind kind, struct zkr__answer *answer)
{
    if (kind == ZKR__OP_EXISTS) {
        *answer = (struct zkr__answer){
            .code = ZKR_ESYS, .zk_rc = ZSYSTEMERROR, .failed_at = SIZE_MAX};
    }
}

static zkr_client *open_with_credentials(void)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = ZKF_SESSION_MS;
    o.auth_scheme = "digest";
    o.auth_cert = "user:word";
    o.auth_cert_len = 9;
    return open_client(&o);
}

/* It is unknown whether the next connection has the credentials. The promised validity still counts. */
ZKT_UNIT_CASE(a_session_without_its_credentials_is_given_up)
{
    zkr_client *c = open_with_credentials();
    zkr_ticket *t = hold(c, mutex_at(c, "/lock", NULL));
    const int64_t first = zkr_client_session_id(c);
    const int64_t until = zkf_now() / ZKR__MS + zkr_ticket_valid_for_ms(t);
    between.on_answer = fail_reads;
    assert_true(zkf_cut(0, ZKF_CUT_REQUESTS));
    zkf_pass(c, SECOND);
    between.on_answer = NULL;
    assert_true(zkr_client_session_id(c) != first);
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_LOST);
    zkf_pass(c, until - zkf_now() / ZKR__MS);
    assert_true(zkf_session_alive(first));
    zkf_pass(c, SECOND);
    assert_false(zkf_session_alive(first));
}

/* Each attempt is a session at the servers, so the pauses between attempts grow. */
ZKT_UNIT_CASE(credentials_that_cannot_be_sent_are_sent_again_after_a_pause)
{
    enum { FEW = 15 };
    const struct zkf_door_faults fault = {.add_auth = 1};
    zkr_client *c = open_with_credentials();
    zkf_pass(c, SECOND);
    zkf_door_faults(&fault);
    zkf_expire(zkr_client_session_id(c));
    for (int ms = 0; ms < 2 * SECOND && stats_of(c).sessions < FEW; ms++) {
        zkf_pass(c, 1);
    }
    ZKT_IN_RANGE(stats_of(c).sessions, 3, FEW - 1);
    zkf_door_faults(NULL);
    zkf_pass(c, ZKF_SESSION_MS);
    assert_int_equal(zkr_client_state(c), ZKR_STATE_CONNECTED);
}

static int reads;
static int64_t longest_idle, last_read;

static void note_read(struct zkr__op *op)
{
    int64_t idle = zkf_now() - last_read;
    reads += op->kind == ZKR__OP_EXISTS;
    longest_idle = idle > longest_idle ? idle : longest_idle;
    last_read = zkf_now();
}

/*
 * With a longer granted session timeout, libzookeeper's pings follow that timeout. The lease counts with the shorter
 * one, so an idle session sends reads as often as the shorter timeout requires. While both are the same, it sends none.
 */
ZKT_UNIT_CASE(an_idle_session_is_heard_of_as_the_lease_needs)
{
    enum { TIMEOUTS = 6 };
    const int64_t session = ZKF_SESSION_MS * ZKR__MS;
    zkr_client *c = open_client(NULL);
    between.on_submit = note_read;
    zkf_pass(c, ZKF_SESSION_MS); /* connected */
    reads = 0;
    zkf_pass(c, TIMEOUTS * ZKF_SESSION_MS);
    assert_int_equal(reads, 0);
    zkf_limits(0, 3 * session, 3 * session);
    assert_true(zkf_cut(0, ZKF_CUT_ANSWERS));
    zkf_pass(c, SECOND);
    longest_idle = 0;
    last_read = zkf_now();
    zkf_pass(c, TIMEOUTS * ZKF_SESSION_MS);
    ZKT_IN_RANGE(reads, 3 * (TIMEOUTS - 1), 3 * TIMEOUTS + 1);
    assert_true(longest_idle <= session / 3 + session / 100);
    assert_int_equal(zkr_client_session_timeout_ms(c), ZKF_SESSION_MS);
}

/* Let the client connect again, and be granted a timeout three times as long. */
static void lengthen_timeout(zkr_client *c)
{
    const int64_t longer = 3 * ZKF_SESSION_MS * ZKR__MS;
    zkf_limits(0, longer, longer);
    assert_true(zkf_cut(0, ZKF_CUT_ANSWERS));
    zkf_pass(c, SECOND);
    assert_int_equal(zkr_client_session_timeout_ms(c), ZKF_SESSION_MS);
}

/* Without a server, the session may live for the timeout that was granted last, although the lease counts with a
   shorter one. */
ZKT_UNIT_CASE(a_session_of_a_longer_timeout_is_given_up_later)
{
    zkr_client *c = open_client(NULL);
    const int64_t session = zkr_client_session_id(c);
    lengthen_timeout(c);
    zkf_blackhole(0, true);
    while (zkr_client_state(c) == ZKR_STATE_CONNECTED) {
        zkf_pass(c, SECOND / 10);
    }
    zkf_pass(c, 2 * ZKF_SESSION_MS);
    assert_int_equal(zkr_client_state(c), ZKR_STATE_SUSPENDED);
    assert_int_equal(zkr_client_session_id(c), session);
    zkf_pass(c, 2 * ZKF_SESSION_MS);
    assert_int_equal(zkr_client_session_id(c), 0);
    zkf_blackhole(0, false);
    zkf_pass(c, ZKF_SESSION_MS);
    assert_int_equal(stats_of(c).sessions, 2);
}

/* The metrics show the timeout that the lease counts with. */
ZKT_UNIT_CASE(the_shortest_timeout_is_measured)
{
    static char text[1 << 16];
    zkr_client *c = open_client(NULL);
    lengthen_timeout(c);
    ZKT_MUST(zkr_client_metrics(c, text, sizeof(text), NULL));
    assert_non_null(strstr(text, "\nzkr_session_timeout_seconds 10.000000000\n"));
}

/* While a request waits, the pauses between reads grow only to what the lease needs. */
ZKT_UNIT_CASE(a_request_that_waits_is_nudged_as_the_lease_needs)
{
    const int64_t most = ZKF_SESSION_MS * ZKR__MS / 10;
    zkr_client *c = open_client(NULL);
    end(hold(c, mutex_at(c, "/lock", NULL)));
    zkf_pass(c, SECOND);
    zkf_blackhole(0, true);
    (void)ask(mutex_at(c, "/other", NULL), ZKR_FOREVER);
    between.on_submit = note_read;
    reads = 0;
    longest_idle = 0;
    last_read = zkf_now();
    while (zkr_client_state(c) == ZKR_STATE_CONNECTED) {
        zkf_pass(c, SECOND / 10);
    }
    assert_true(reads > 3);
    assert_true(longest_idle <= most + most / 10);
    between.on_submit = NULL;
    zkf_blackhole(0, false);
}

/* A slow answer counts for half of a session timeout. */
ZKT_UNIT_CASE(a_slow_answer_is_forgotten)
{
    enum { SLOW_MS = ZKF_SESSION_MS / 5 };
    zkr_client *c = open_client(NULL);
    zkr_ticket *t = hold(c, mutex_at(c, "/lock", NULL));
    zkf_blackhole(0, true);
    end(t);
    zkf_pass(c, SLOW_MS);
    zkf_blackhole(0, false);
    zkf_pass(c, SECOND);
    ZKT_IN_RANGE(stats_of(c).slow_answer_ms, SLOW_MS, SLOW_MS + SECOND / 10);
    zkf_pass(c, ZKF_SESSION_MS / 2);
    assert_int_equal(stats_of(c).slow_answer_ms, 0);
}

static enum zkr__op_kind forbidden;
static int refusals;

static void forbid(enum zkr__op_kind kind, struct zkr__answer *answer)
{
    if (kind == forbidden) {
        refusals++;
        answer->zk_rc = ZNOAUTH;
        answer->code = ZKR_EAUTH;
    }
}

static char logged[512];

static void note_line(int level, const char *line, void *ctx)
{
    if (level == ZKR_LOG_ERROR) {
        (void)snprintf(logged, sizeof(logged), "%s", line);
    }
}

/* A forbidden delete is reported once. It is repeated, less and less often, until it is allowed. */
ZKT_UNIT_CASE(a_forbidden_delete_is_said)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.log = note_line;
    zkr_client *c = open_client(&o);
    zkr_ticket *t = hold(c, mutex_at(c, "/lock", NULL));
    forbidden = ZKR__OP_DELETE;
    between.on_answer = forbid;
    end(t);
    zkf_pass(c, 10 * SECOND);
    zkf_call_back(c);
    ZKT_IN_RANGE(refusals, 2, 20);
    assert_non_null(strstr(logged, "delete_refused"));
    assert_int_equal(stats_of(c).pending_deletes, 1);
    logged[0] = '\0';
    zkf_pass(c, 20 * SECOND);
    zkf_call_back(c);
    assert_null(strstr(logged, "delete_refused"));
    between.on_answer = NULL;
    zkf_pass(c, 10 * SECOND);
    assert_int_equal(stats_of(c).pending_deletes, 0);
}

/* A flush reports a forbidden delete. A client that is shut down reports that instead, and its deletes go on. */
ZKT_UNIT_CASE(a_flush_after_the_shutdown_says_so)
{
    zkr_client *c = open_client(NULL);
    zkr_ticket *t = hold(c, mutex_at(c, "/lock", NULL));
    forbidden = ZKR__OP_DELETE;
    between.on_answer = forbid;
    end(t);
    zkf_pass(c, SECOND);
    ZKT_RC(zkr_client_flush(c, 0), ZKR_ETIMEDOUT);
    assert_int_equal(zkr_last_error()->zk_rc, ZNOAUTH);
    ZKT_MUST(zkr_client_shutdown(c));
    ZKT_RC(zkr_client_flush(c, 0), ZKR_ECLOSED);
    between.on_answer = NULL;
    zkf_pass(c, 10 * SECOND);
    ZKT_MUST(zkr_client_flush(c, 0));
}

/* --- retries --- */

static int lists_lost, most_lost;

static void lose_lists(enum zkr__op_kind kind, struct zkr__answer *answer)
{
    if (kind == ZKR__OP_CHILDREN && lists_lost < most_lost) {
        lists_lost++;
        *answer = (struct zkr__answer){.code = ZKR_ECONNLOSS};
    }
}

/* The client makes exactly the allowed number of retries. */
ZKT_UNIT_CASE(retries_are_counted)
{
    for (int64_t attempts = 1; attempts <= 3; attempts++) {
        zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
        o.retry_attempts = attempts;
        zkr_client *c = open_client(&o);
        zkr_mutex *m = mutex_at(c, "/lock", NULL);
        end(hold(c, m)); /* creates the path */
        zkf_pass(c, SECOND);
        lists_lost = 0;
        most_lost = INT_MAX;
        between.on_answer = lose_lists;
        zkr_ticket *t = ask(m, ZKR_FOREVER);
        zkf_pass(c, 60 * SECOND);
        ZKT_RC(zkr_ticket_error(t), ZKR_ECONNLOSS);
        assert_int_equal(lists_lost, 1 + attempts);
        between.on_answer = NULL;
        end(t);
        end(hold(c, m));
    }
}

/* --- a write --- */

static int lists;

static void count_lists(struct zkr__op *op)
{
    lists += op->kind == ZKR__OP_CHILDREN;
}

/*
 * A client knows the contenders, so its next ticket needs no list. It needs one if the hold before it is released while
 * a write is in flight: only a list that is sent behind the write shows that the servers have executed both.
 */
ZKT_UNIT_CASE(a_ticket_behind_a_write_in_flight_needs_a_list)
{
    zoo_op_t op;
    zoo_op_result_t result;
    for (int writes = 0; writes < 2; writes++) {
        zkr_client *c = open_client(NULL);
        zkr_mutex *m = mutex_at(c, "/lock", NULL);
        for (int i = 0; i < 2; i++) {
            end(hold(c, m));
            zkf_pass(c, SECOND);
        }
        zkr_ticket *first = hold(c, m);
        between.on_submit = count_lists;
        lists = 0;
        zkr_ticket *second = ask(m, ZKR_FOREVER);
        if (writes) {
            zoo_set_op_init(&op, "/lock", "x", 1, -1, NULL);
            zkf_hurry(true);
            ZKT_RC(zkr_ticket_multi(first, 1, &op, &result, 1), ZKR_ECONNLOSS);
            zkf_hurry(false);
        }
        end(first);
        zkf_pass_to(c, SECOND, second, ZKR_TICKET_HELD);
        assert_int_equal(lists > 0, writes);
        end(second);
    }
}

/* --- a watched node --- */

enum { TURN = 10 };

/*
 * With watch_node, the deletion of a node is noticed from the grant on. Without it, it is noticed once the hold has
 * lasted for a while.
 */
ZKT_UNIT_CASE(a_watched_node_is_missed_at_once)
{
    for (int watched = 0; watched < 2; watched++) {
        zkr_client *c = open_client(NULL);
        zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
        o.watch_node = watched;
        zkr_ticket *t = ask(mutex_at(c, "/lock", &o), ZKR_FOREVER);
        while (zkr_ticket_state(t) == ZKR_TICKET_WAITING) {
            zkf_pass(c, TURN);
        }
        zkf_pass(c, TURN);
        assert_true(zkf_stranger_delete(only_node("/lock")->path));
        zkf_pass(c, TURN);
        assert_int_equal(zkr_ticket_state(t),
                         watched ? ZKR_TICKET_LOST : ZKR_TICKET_HELD);
    }
}

static void count_change(void *ctx, int64_t number)
{
    ++*(int *)ctx;
}

/* The caller's list is older than the number of the watch, so the client reads the children again. */
ZKT_UNIT_CASE(a_list_that_differs_from_the_watch_is_checked)
{
    int changes = 0;
    struct zkr__node_watch *w = NULL;
    zkr_client *c = open_client(NULL);
    assert_true(zkf_stranger_create("/lock", false));
    assert_true(zkf_stranger_create("/lock/x-lock-", true));
    zkr__lock(c);
    ZKT_MUST(zkr__node_watch_create(&w, c, "/lock", ZKR__FOLLOW_CONTENDERS,
                                    count_change, &changes));
    zkr__unlock(c);
    zkf_pass(c, SECOND);
    zkr__lock(c);
    const int64_t number = zkr__node_watch_number(w);
    const int64_t nobody = zkr__fingerprint_begin(false);
    assert_true(number > 0 && number != nobody);
    zkr__node_watch_know(w, nobody);
    zkr__unlock(c);
    changes = 0;
    zkf_pass(c, SECOND);
    zkr__lock(c);
    assert_true(zkr__node_watch_number(w) == number);
    assert_int_equal(changes, 1);
    zkr__node_watch_end(w);
    zkr__unlock(c);
}

/* --- permits --- */

/* Returns the number of requests until a permit is held. */
static int64_t cost_of_permit(zkr_client *c, zkr_semaphore *s)
{
    zkr_ticket *t = NULL;
    int64_t before = c->stats.requests;
    ZKT_MUST(zkr_semaphore_request(s, 1, ZKR_FOREVER, NULL, NULL, &t));
    while (zkr_ticket_state(t) == ZKR_TICKET_WAITING) {
        zkf_pass(c, TURN);
    }
    int64_t cost = c->stats.requests - before;
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
    zkf_pass(c, SECOND);
    return cost;
}

/* The first request after a shortage queues in PATH/locks, and later requests do not. */
ZKT_UNIT_CASE(a_shortage_is_forgotten)
{
    zkr_client *c = open_client(NULL);
    zkr_semaphore *s = NULL;
    zkr_ticket *all = NULL, *waits = NULL;
    ZKT_MUST(zkr_semaphore_create(&s, c, "/permits", 2, NULL));
    ZKT_MUST(zkr_semaphore_request(s, 2, ZKR_FOREVER, NULL, NULL, &all));
    ZKT_MUST(zkr_semaphore_request(s, 2, ZKR_FOREVER, NULL, NULL, &waits));
    zkf_pass(c, SECOND);
    ZKT_MUST(zkr_ticket_release(all));
    zkf_pass(c, SECOND);
    ZKT_MUST(zkr_ticket_release(waits));
    zkf_pass(c, SECOND);
    int64_t first = cost_of_permit(c, s), second = cost_of_permit(c, s);
    assert_true(first > second);
    assert_int_equal(cost_of_permit(c, s), second);
    ZKT_MUST(zkr_ticket_destroy(all));
    ZKT_MUST(zkr_ticket_destroy(waits));
    ZKT_MUST(zkr_semaphore_destroy(s));
}

/* --- kept nodes --- */

static zkr_mutex *keeper(zkr_client *c, int64_t keep_ms)
{
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.keep_ms = keep_ms;
    return mutex_at(c, "/lock", &o);
}

/* Returns how long the node of a hold remains after the release. */
static int64_t kept_for(zkr_client *c, zkr_mutex *m)
{
    zkr_ticket *t = ask(m, ZKR_FOREVER);
    while (zkr_ticket_state(t) == ZKR_TICKET_WAITING) {
        zkf_pass(c, TURN);
    }
    int64_t before = zkf_now();
    end(t);
    while (zkf_find("/lock")->children > 0) {
        zkf_pass(c, TURN);
    }
    return (zkf_now() - before) / ZKR__MS;
}

/*
 * A node is kept for keep_ms, but no longer than the client relies on a watch. This time is four to eight session
 * timeouts.
 */
ZKT_UNIT_CASE(a_node_is_kept_no_longer_than_that)
{
    static const int64_t rows[][3] = {
        {0, 0, SECOND / 10},
        {500, 500, 500 + SECOND / 10},
        {4 * ZKF_SESSION_MS, 4 * ZKF_SESSION_MS, 4 * ZKF_SESSION_MS + SECOND / 10},
        {100 * ZKF_SESSION_MS, 4 * ZKF_SESSION_MS, 8 * ZKF_SESSION_MS + SECOND / 10}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        zkr_client *c = open_client(NULL);
        ZKT_IN_RANGE(kept_for(c, keeper(c, rows[i][0])), rows[i][1], rows[i][2]);
    }
}

/* The lease is renewed as well, so that the next contender holds at once. */
ZKT_UNIT_CASE(a_kept_node_serves_after_any_pause)
{
    zkr_client *c = open_client(NULL);
    zkr_mutex *m = keeper(c, 4 * ZKF_SESSION_MS);
    end(hold(c, m));
    zkf_pass(c, 3 * ZKF_SESSION_MS);
    zkr_ticket *t = ask(m, ZKR_FOREVER);
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_HELD);
    assert_true(zkr_ticket_valid_for_ms(t) > 0);
    end(t);
}

/* A node is not kept within a second after another client contended. */
ZKT_UNIT_CASE(a_node_is_not_kept_from_others)
{
    static const int64_t after[][2] = {{0, 0}, {800, 0}, {1100, 1}};
    for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++) {
        zkr_client *c = open_client(NULL);
        zkr_mutex *m = keeper(c, 5 * SECOND);
        end(hold(c, m));
        zkf_pass(c, SECOND); /* so that the node is kept */
        assert_int_equal(zkf_find("/lock")->children, 1);
        assert_true(zkf_stranger_create("/lock/x-lock-", true));
        while (zkf_find("/lock")->children > 1) {
            zkf_pass(c, TURN);
        }
        assert_true(zkf_stranger_delete(only_node("/lock")->path));
        zkf_pass(c, after[i][0]);
        assert_int_equal(kept_for(c, m) >= 5 * SECOND, after[i][1]);
    }
}

static int64_t trip;

static void take_long(enum zkr__op_kind kind, struct zkr__answer *answer)
{
    (void)kind;
    (void)answer;
    between.asleep += trip;
}

/* Looking ahead is worthwhile if the servers are far away. */
ZKT_UNIT_CASE(only_far_servers_make_a_waiter_look_ahead)
{
    static const struct {
        int64_t look_ahead, before, trip; /* 0 = no read before */
        bool looks;
    } rows[] = {{-1, 0, 50 * ZKR__MS, false},
                {0, 0, 50 * ZKR__MS, true},
                {0, 0, ZKR__MS / 10, false},
                {0, 50 * ZKR__MS, ZKR__MS / 10, false},
                {0, ZKR__MS / 10, 50 * ZKR__MS, false}, /* one slow answer */
                {1, 0, ZKR__MS / 10, true}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
        o.look_ahead = rows[i].look_ahead;
        zkr_client *c = open_client(&o);
        assert_true(zkf_stranger_create("/lock", false));
        for (int ahead = 0; ahead < 2; ahead++) {
            assert_true(zkf_stranger_create("/lock/x-lock-", true));
        }
        trip = rows[i].trip;
        between.on_answer = take_long;
        c->shortest_trip = rows[i].before;
        (void)ask(mutex_at(c, "/lock", NULL), ZKR_FOREVER);
        zkf_pass(c, SECOND);
        const struct zkr__engine *engine = c->engine;
        assert_int_equal(engine->claims->k.phase, ZKR__PARKED);
        assert_int_equal(engine->claims->k.look,
                         rows[i].looks ? ZKR__BEHIND_TWO : ZKR__LOOKS_NOT);
    }
}

static void count_call(zkr_leader_latch *l, void *ctx)
{
    ++*(int *)ctx;
}

/* A latch that watches the contenders lists again after an answer was lost on a connection that remains. */
ZKT_UNIT_CASE(a_lookout_looks_again)
{
    int calls = 0;
    zkr_client *c = open_client(NULL);
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    o.on_contenders = count_call;
    o.ctx = &calls;
    assert_true(zkf_stranger_create("/latch", false));
    most_lost = 2;
    between.on_answer = lose_lists;
    (void)latch_with(c, &o);
    zkf_pass(c, 10 * SECOND);
    assert_int_equal(lists_lost, 2);
    assert_true(zkf_stranger_create("/latch/x-latch-", true));
    zkf_pass(c, SECOND);
    zkf_call_back(c);
    assert_int_equal(calls, 1);
}

/* --- callbacks that are dropped --- */

static void count_gain(zkr_leader_latch *l, int64_t token, void *ctx)
{
    ++*(int *)ctx;
}

static void count_report(zkr_ticket *t, int state, void *ctx)
{
    ++*(int *)ctx;
}

/* Pending callbacks are dropped when their object is destroyed. */
ZKT_UNIT_CASE(what_is_destroyed_calls_nobody)
{
    int calls = 0;
    zkr_client *c = open_client(NULL);
    zkr_mutex *m = mutex_at(c, "/lock", NULL);
    zkr_ticket *t = NULL;
    zkr_leader_latch *l = NULL;
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    o.on_gain = count_gain;
    o.ctx = &calls;
    ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, count_report, &calls, &t));
    ZKT_MUST(zkr_leader_latch_create(&l, c, "/latch", "x", &o));
    ZKT_MUST(zkr_leader_latch_start(l));
    zkf_pass(c, SECOND);
    assert_non_null(c->dispatch.head->next); /* callbacks of both objects */
    end(t);
    ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_SILENT));
    ZKT_MUST(zkr_leader_latch_destroy(l));
    assert_null(c->dispatch.head);
    zkf_call_back(c);
    assert_int_equal(calls, 0);
}

static void count_failure(zkr_leader_latch *l, int code, void *ctx)
{
    assert_int_equal(code, ZKR_EAUTH);
    ++*(int *)ctx;
}

/* A failure is reported, unless the candidacy has ended by then. */
ZKT_UNIT_CASE(a_candidacy_that_was_ended_has_not_failed)
{
    int failures[2] = {0};
    for (int stopped = 0; stopped < 2; stopped++) {
        zkr_client *c = open_client(NULL);
        zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
        o.on_failed = count_failure;
        o.ctx = &failures[stopped];
        forbidden = ZKR__OP_CREATE;
        between.on_answer = forbid;
        zkr_leader_latch *l = latch_with(c, &o);
        ZKT_MUST(zkr_leader_latch_start(l));
        zkf_pass(c, SECOND);
        if (stopped) {
            ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_NOTIFY));
        }
        zkf_call_back(c);
        assert_int_equal(failures[stopped], !stopped);
    }
}

/* A latch leaves its hold in the callback, while the client iterates over its claims. */
ZKR__TSA(no_thread_safety_analysis)
ZKT_UNIT_CASE(a_fault_ends_one_that_leads)
{
    zkr_client *c = open_client(NULL);
    zkr_leader_latch *l = latch_with(c, NULL);
    zkr__must_aborts = false;
    ZKT_MUST(zkr_leader_latch_start(l));
    zkf_pass(c, SECOND);
    assert_true(zkr_leader_latch_has_leadership(l));
    zkr__lock(c);
    ZKR__MUST(c, c == NULL);
    zkr__unlock(c);
    zkf_pass(c, SECOND);
    assert_false(zkr_leader_latch_has_leadership(l));
    assert_true(c->shut);
    zkr__must_aborts = true;
}
