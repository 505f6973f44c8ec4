/* SPDX-License-Identifier: Apache-2.0 */
/* What a loss reports: a deleted node, a lost quorum, a stopped process, a cut connection. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "actor.h"
#include "fixture.h"

enum { SESSION_MS = 3000, PATIENCE_MS = 30000 };

/* In memory that forked processes share. */
struct told {
    atomic_int count, held, suspended;
    zkr_lost lost;
    char text[256], line[1024], metrics[32768];
};

static void on_lost(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    struct told *told = ctx;
    told->lost = *lost;
    (void)snprintf(told->text, sizeof(told->text), "%s", lost->text);
    atomic_fetch_add(&told->count, 1);
}

static void on_log(int level, const char *line, void *ctx)
{
    struct told *told = ctx;
    if (strncmp(line, "event=lost ", 11) == 0) {
        (void)snprintf(told->line, sizeof(told->line), "%s", line);
    }
}

static zkr_client *client(const char *hosts, struct told *told)
{
    return ZKT_CLIENT_WITH(hosts, .session_timeout_ms = SESSION_MS, .log = on_log,
                           .log_ctx = told);
}

static zkr_mutex *held_mutex(zkr_client *c, struct told *told)
{
    zkr_mutex *m = ZKT_MUTEX_WITH(c, .on_lost = on_lost, .on_lost_ctx = told);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    return m;
}

static void expect_text(const char *text, const char *part)
{
    if (!strstr(text, part)) {
        fail_msg("'%s' does not say '%s'", text, part);
    }
}

/* Check that the text contains @words, followed by this time. */
static void expect_seconds(const struct told *told, const char *words, int64_t ms)
{
    char part[128];
    (void)snprintf(part, sizeof(part), "%s%.1f s", words, (double)ms / 1000);
    expect_text(told->text, part);
}

static void end(zkr_client *c, zkr_mutex *m)
{
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    zkt_destroy(m);
    zkt_close(c);
}

/*
 * Usually, the lease ends before the session does. On a busy machine, the client may notice only the end of the
 * session, and this process may even count as stopped.
 */
static void expect_why(const struct told *told, const char *why, int64_t ms)
{
    bool stopped = told->lost.stopped_ms > 0;
    assert_true(told->lost.reason == ZKR_LOST_LEASE ||
                told->lost.reason == ZKR_LOST_SESSION);
    expect_text(told->text, zkr_lost_reason_name((int)told->lost.reason));
    expect_seconds(told, stopped ? "this process did not run for " : why,
                   stopped ? told->lost.stopped_ms : ms);
    expect_seconds(told, "the last answered write was sent ", told->lost.last_write_ms);
}

/* Somebody deletes the node. The text gives no other reason. */
ZKT_CASE(a_deleted_node)
{
    struct told told = {.count = 0};
    char node[256], line[512];
    zkr_client *c = client(zkt_servers(), &told);
    zkr_mutex *m = held_mutex(c, &told);
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    int64_t session = zkr_client_session_id(c);
    zkt_sleep_ms(300);
    assert_int_equal(zkt_delete(zkt_servers(), node), ZKT_OK);
    ZKT_BECOMES(atomic_load(&told.count), 1, PATIENCE_MS);
    assert_int_equal(told.lost.reason, ZKR_LOST_NODE);
    assert_string_equal(told.text, "node deleted");
    assert_int_equal(told.lost.session_id, session);
    assert_true(told.lost.held_ms >= 300);
    ZKT_IN_RANGE(told.lost.last_write_ms, 0, 2 * SESSION_MS);
    assert_int_equal(told.lost.disconnected_ms, 0);
    ZKT_EVENTUALLY(told.line[0] != '\0', PATIENCE_MS);
    (void)snprintf(line, sizeof(line),
                   "event=lost path=%s node=%s session=0x%llx epoch=1 ", zkt_path(),
                   strrchr(node, '/') + 1, (unsigned long long)session);
    expect_text(told.line, line);
    expect_text(told.line, " reason=\"node deleted\"");
    end(c, m);
}

/* The server does not answer, as behind a lost quorum. */
ZKT_CASE(a_silent_server)
{
    struct told told = {.count = 0};
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = client(zkt_proxy_host(p), &told);
    zkr_mutex *m = held_mutex(c, &told);
    zkt_proxy_blackhole(p);
    ZKT_BECOMES(atomic_load(&told.count), 1, PATIENCE_MS);
    /* libzookeeper gives the connection up after two thirds of the session timeout. */
    assert_true(told.lost.silent_ms > 0 || told.lost.disconnected_ms > 0);
    assert_true(told.lost.last_write_ms >= SESSION_MS / 2);
    if (told.lost.disconnected_ms > 0) {
        expect_why(&told, "no connection for ", told.lost.disconnected_ms);
    } else {
        expect_why(&told, "no answer from a quorum for ", told.lost.silent_ms);
    }
    zkt_proxy_heal(p);
    end(c, m);
}

/* A server replaces the session, or somebody ends it. A longer session timeout would not help in either case. */
ZKT_CASE(a_session_that_ends_early)
{
    for (int by_server = 0; by_server < 2; by_server++) {
        struct told told = {.count = 0};
        zkt_proxy *p = zkt_proxy_start(zkt_servers());
        zkr_client *c = client(zkt_proxy_host(p), &told);
        zkr_mutex *m = held_mutex(c, &told);
        if (by_server) {
            zkt_proxy_habits(p, ZKR_TEST_NEW_SESSIONS);
            zkt_proxy_drop_connections(p);
        } else {
            zkt_expire_start(c);
        }
        ZKT_BECOMES(atomic_load(&told.count), 1, PATIENCE_MS);
        if (told.lost.reason == ZKR_LOST_SESSION) {
            expect_text(told.text,
                        "session expired: a server gave a new session before "
                        "the timeout of the old one, or somebody ended");
        } else { /* the event of the node arrived first */
            assert_int_equal(told.lost.reason, ZKR_LOST_NODE);
            assert_false(by_server);
        }
        end(c, m);
        zkt_proxy_stop(p);
    }
}

/* Every answer arrives, but takes almost half of the session timeout. */
ZKT_CASE(slow_answers)
{
    struct told told = {.count = 0};
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = client(zkt_proxy_host(p), &told);
    zkr_mutex *m = held_mutex(c, &told);
    zkt_proxy_delay(p, ZKT_TO_CLIENT, SESSION_MS * 2 / 5);
    ZKT_EVENTUALLY(zkt_stats(c).slow_answer_ms >= SESSION_MS / 4, PATIENCE_MS);
    ZKT_BECOMES(atomic_load(&told.count), 1, PATIENCE_MS);
    assert_int_equal(told.lost.reason, ZKR_LOST_LEASE);
    expect_text(
        told.text,
        told.lost.stopped_ms > 0
            ? "this process did not run for "
            : "the servers answer too slowly for this session timeout: a write took ");
    zkt_proxy_heal(p);
    end(c, m);
}

/* Nobody accepts connections any more. */
ZKT_CASE(a_cut_connection)
{
    struct told told = {.count = 0};
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = client(zkt_proxy_host(p), &told);
    zkr_mutex *m = held_mutex(c, &told);
    zkt_proxy_cut(p);
    ZKT_BECOMES(atomic_load(&told.count), 1, PATIENCE_MS);
    assert_true(told.lost.disconnected_ms > SESSION_MS / 4);
    expect_why(&told, "no connection for ", told.lost.disconnected_ms);
    zkt_proxy_heal(p);
    end(c, m);
}

/* --- a process that is stopped --- */

static char child_hosts[256];

static int hold(void *arg)
{
    struct told *told = arg;
    zkr_client *c = client(child_hosts, told);
    zkr_mutex *m = held_mutex(c, told);
    atomic_store(&told->held, 1);
    int64_t until = zkt_now_ms() + PATIENCE_MS;
    while (atomic_load(&told->count) == 0 && zkt_now_ms() < until) {
        atomic_store(&told->suspended, zkr_client_state(c) == ZKR_STATE_SUSPENDED);
        zkt_sleep_ms(10);
    }
    (void)zkr_mutex_release(m);
    (void)zkr_client_metrics(c, told->metrics, sizeof(told->metrics), NULL);
    zkt_destroy(m);
    zkt_close(c);
    return 0;
}

enum { STOP_MS = 2 * SESSION_MS };

/*
 * Stop a process that holds the lock, until its session has ended. @server is stopped before that; NULL = the shared
 * server, which goes on.
 */
static struct told *stop_one(zkt_server *server)
{
    struct told *told = zkt_shared(sizeof(*told));
    (void)snprintf(child_hosts, sizeof(child_hosts), "%s",
                   server ? zkt_server_host(server) : zkt_servers());
    pid_t pid = zkt_fork(hold, told);
    ZKT_BECOMES(atomic_load(&told->held), 1, PATIENCE_MS);
    if (server) {
        zkt_server_stop(server);
        ZKT_BECOMES(atomic_load(&told->suspended), 1, PATIENCE_MS);
    }
    assert_int_equal(kill(pid, SIGSTOP), 0);
    zkt_sleep_ms(STOP_MS);
    assert_int_equal(kill(pid, SIGCONT), 0);
    ZKT_BECOMES(atomic_load(&told->count), 1, PATIENCE_MS);
    assert_int_equal(zkt_join(pid, PATIENCE_MS), 0);
    return told;
}

/* The loss gives the duration of the stop, whatever the process notices first when it continues. */
ZKT_CASE(a_stopped_process)
{
    struct told *told = stop_one(NULL);
    if (told->lost.reason !=
        ZKR_LOST_NODE) { /* the event of the node may be read first */
        expect_seconds(told, "this process did not run for ", told->lost.stopped_ms);
    }
    assert_non_null(strstr(told->metrics, "\nzkr_lost_total{"));
    assert_null(strstr(told->metrics, "reason=\"lease\"} 1"));
    ZKT_IN_RANGE(told->lost.stopped_ms, STOP_MS / 2, STOP_MS + PATIENCE_MS);
}

/* Both numbers are set, and the text gives only the stop as the reason. */
ZKT_CASE(a_stopped_process_without_a_connection)
{
    struct told *told = stop_one(zkt_server_start(NULL));
    ZKT_IN_RANGE(told->lost.stopped_ms, STOP_MS / 2, STOP_MS + PATIENCE_MS);
    assert_true(told->lost.disconnected_ms >= told->lost.stopped_ms);
    expect_seconds(told, "this process did not run for ", told->lost.stopped_ms);
}

/* --- asked by a ticket --- */

ZKT_CASE(a_ticket_can_be_asked)
{
    char node[256];
    zkr_mutex *m = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    zkr_ticket *t = NULL;
    zkr_lost lost;
    int64_t token = 0;
    ZKT_MUST(zkr_mutex_request(m, PATIENCE_MS, NULL, NULL, &t));
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    ZKT_MUST(zkr_ticket_node(t, node, sizeof(node)));
    ZKT_MUST(zkr_ticket_fencing_token(t, &token));
    ZKT_RC(zkr_ticket_lost(t, &lost, sizeof(lost)), ZKR_ESTATE);
    assert_int_equal(zkt_delete(zkt_servers(), node), ZKT_OK);
    ZKT_BECOMES(zkr_ticket_state(t), ZKR_TICKET_LOST, PATIENCE_MS);
    ZKT_MUST(zkr_ticket_lost(t, &lost, sizeof(lost)));
    assert_int_equal(lost.reason, ZKR_LOST_NODE);
    assert_int_equal(lost.fencing_token, token);
    assert_string_equal(lost.node, node);
    assert_string_equal(lost.text, "node deleted");
    lost.node = "untouched";
    /* An older program has a shorter struct. */
    ZKT_MUST(zkr_ticket_lost(t, &lost, offsetof(zkr_lost, node)));
    assert_string_equal(lost.node, "untouched");
    struct {
        zkr_lost lost;
        int64_t more; /* a field that only a newer program knows */
    } larger = {.more = 1};
    ZKT_MUST(zkr_ticket_lost(t, &larger.lost, sizeof(larger)));
    assert_int_equal(larger.more, 0);
    ZKT_MUST(zkr_ticket_lost(t, &lost, sizeof(lost)));
    ZKT_RC(zkr_ticket_lost(t, NULL, sizeof(lost)), ZKR_EINVAL);
    ZKT_RC(zkr_ticket_lost(t, &lost, 0), ZKR_EINVAL);
    ZKT_RC(zkr_ticket_release(t), ZKR_ESESSION);
    /* The strings live as long as the ticket. */
    assert_string_equal(lost.node, node);
    assert_string_equal(lost.text, "node deleted");
    ZKT_RC(zkr_ticket_lost(t, &lost, sizeof(lost)), ZKR_ESTATE);
    ZKT_MUST(zkr_ticket_destroy(t));
}

/* Each reason has its own name, and other numbers have the name "?". */
ZKT_CASE(every_reason_has_a_name)
{
    static const int reasons[] = {ZKR_LOST_SESSION, ZKR_LOST_LEASE, ZKR_LOST_NODE,
                                  ZKR_LOST_STOPPED, ZKR_LOST_SUSPENDED};
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        const char *name = zkr_lost_reason_name(reasons[i]);
        assert_string_not_equal(name, "?");
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(name, zkr_lost_reason_name(reasons[j]));
        }
    }
    assert_string_equal(zkr_lost_reason_name(0), "?");
    assert_string_equal(zkr_lost_reason_name(-1), "?");
}
