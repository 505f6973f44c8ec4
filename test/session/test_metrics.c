/* SPDX-License-Identifier: Apache-2.0 */
/* zkr_client_metrics(): the counts, and the OpenMetrics format. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../recipes/latches.h"
#include "../recipes/rwlocks.h"
#include "../recipes/semaphores.h"
#include "openmetrics.h"
#include "session/meter.h"

enum { SHORT_MS = 4000 };

/* Returns the text, which was checked. It is valid until the next call. */
static char *metrics(zkr_client *c)
{
    static char *text;
    size_t needed = 0;
    int rc;
    do {
        text = realloc(text, needed + 4096);
        assert_non_null(text);
        rc = zkr_client_metrics(c, text, needed + 4096, &needed);
    } while (rc == ZKR_EINVAL);
    ZKT_MUST(rc);
    assert_int_equal(strlen(text) + 1, needed);
    const char *fault = zkt_openmetrics_fault(text);
    if (fault) {
        fail_msg("%s", fault);
    }
    return text;
}

/* Returns the value of a sample. PATH in @format stands for the label with the path of the test. */
static double value(zkr_client *c, const char *format)
{
    char name[256], label[128];
    char *text = metrics(c);
    (void)snprintf(label, sizeof(label), "path=\"%s\"", zkt_path());
    const char *mark = strstr(format, "PATH");
    (void)snprintf(name, sizeof(name), "%.*s%s%s",
                   mark ? (int)(mark - format) : (int)strlen(format), format,
                   mark ? label : "", mark ? mark + 4 : "");
    return zkt_openmetrics_value(text, name);
}

#define EXPECT(c, name, number) assert_int_equal((int)value((c), (name)), (number))

#define EXPECT_THERE(c, ...) expect_there((c), (const char *const[]){__VA_ARGS__, NULL})
static void expect_there(zkr_client *c, const char *const *names)
{
    for (; *names; names++) {
        if (value(c, *names) < 0) {
            fail_msg("there is no %s", *names);
        }
    }
}

/* Each family of the client exists from the start, and each family of a path from the first use of the path. */
ZKT_CASE(all_is_there_from_the_start)
{
    zkr_client *c = zkt_client(zkt_servers(), SHORT_MS);
    zkr_mutex *m = zkt_mutex(c);
    EXPECT_THERE(c, "zkr_connected", "zkr_sessions_total", "zkr_expirations_total",
                 "zkr_reconnects_total", "zkr_requests_total", "zkr_probes_total",
                 "zkr_pending_deletes", "zkr_news_ignored_total",
                 "zkr_dropped_log_lines_total", "zkr_session_timeout_seconds",
                 "zkr_lease_bound_seconds", "zkr_probe_round_trip_seconds_count");
    assert_true(value(c, "zkr_waiting{PATH}") < 0);
    zkt_in_and_out(m);
    EXPECT_THERE(
        c, "zkr_waiting{PATH}", "zkr_held{PATH}", "zkr_acquired_total{PATH}",
        "zkr_contended_total{PATH}", "zkr_timed_out_total{PATH}",
        "zkr_canceled_total{PATH}", "zkr_failed_total{PATH}",
        "zkr_reentries_total{PATH}", "zkr_lost_total{PATH,reason=\"session\"}",
        "zkr_lost_total{PATH,reason=\"node\"}", "zkr_lost_total{PATH,reason=\"lease\"}",
        "zkr_lost_total{PATH,reason=\"stopped\"}",
        "zkr_hand_overs_total{PATH,kind=\"local\"}",
        "zkr_hand_overs_total{PATH,kind=\"nearby\"}",
        "zkr_hand_overs_total{PATH,kind=\"event\"}",
        "zkr_hand_overs_total{PATH,kind=\"prepared\"}",
        "zkr_hand_overs_total{PATH,kind=\"list\"}", "zkr_wait_seconds_count{PATH}",
        "zkr_hold_seconds_bucket{PATH,le=\"+Inf\"}");
    EXPECT(c, "zkr_sessions_total", 1);
    EXPECT(c, "zkr_session_timeout_seconds", SHORT_MS / 1000);
}

/* A client that waits for a server is not connected, although it has a session. */
ZKT_CASE(a_suspended_client_is_not_connected)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SHORT_MS);
    EXPECT(c, "zkr_connected", 1);
    zkt_proxy_cut(p);
    ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
    EXPECT(c, "zkr_connected", 0);
    zkt_proxy_heal(p);
}

enum { HELD_MS = 120 };

/* Check that one hold lasted at least HELD_MS, and not much longer than @took. */
static void expect_one_hold(zkr_client *c, int64_t took)
{
    EXPECT(c, "zkr_hold_seconds_count{PATH}", 1);
    double sum = value(c, "zkr_hold_seconds_sum{PATH}");
    assert_true(sum >= HELD_MS / 1000.0 && sum < (double)(took + 1000) / 1000);
}

/* A thread acquires, acquires again, and releases. The metrics show its counts and times. */
ZKT_CASE(a_hold_is_measured)
{
    zkr_client *c = zkt_client(zkt_servers(), SHORT_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    EXPECT(c, "zkr_held{PATH}", 1);
    EXPECT(c, "zkr_waiting{PATH}", 0);
    zkt_in_and_out(m);
    EXPECT(c, "zkr_held{PATH}", 1);
    int64_t began = zkt_now_ms();
    zkt_sleep_ms(HELD_MS);
    ZKT_MUST(zkr_mutex_release(m));
    int64_t took = zkt_now_ms() - began;
    EXPECT(c, "zkr_held{PATH}", 0);
    EXPECT(c, "zkr_acquired_total{PATH}", 1);
    EXPECT(c, "zkr_reentries_total{PATH}", 1);
    EXPECT(c, "zkr_contended_total{PATH}", 0);
    EXPECT(c, "zkr_wait_seconds_count{PATH}", 1);
    EXPECT(c, "zkr_hold_seconds_bucket{PATH,le=\"0.1\"}", 0);
    expect_one_hold(c, took);
}

/* If a writer becomes a reader, its hold counts from the grant of the writer on. */
ZKT_CASE(a_downgrade_goes_on_with_the_hold)
{
    zkr_client *c = zkt_client(zkt_servers(), SHORT_MS);
    struct sides s = sides_of(c);
    int64_t began = zkt_now_ms();
    ZKT_MUST(zkr_mutex_acquire(s.w, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_acquire(s.r, PATIENCE_MS));
    zkt_sleep_ms(HELD_MS);
    ZKT_MUST(zkr_mutex_release(s.w));
    ZKT_MUST(zkr_mutex_release(s.r));
    expect_one_hold(c, zkt_now_ms() - began);
}

/* The attempts end at their timeout, by a cancel, by a release while they wait, and by a failure. */
ZKT_CASE(each_way_to_give_up_has_its_counter)
{
    zkr_client *c = zkt_client(zkt_servers(), SHORT_MS);
    zkr_mutex *m = zkt_mutex(c),
              *theirs = zkt_mutex(zkt_client(zkt_servers(), SHORT_MS));
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_mutex_acquire(theirs, PATIENCE_MS));
    ZKT_RC(zkr_mutex_acquire(m, 0), ZKR_ETIMEDOUT);
    assert_true(zkt_timed_out(zkr_mutex_acquire(m, 50)));
    EXPECT(c, "zkr_timed_out_total{PATH}", 2);
    ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, NULL, NULL, &t));
    EXPECT(c, "zkr_waiting{PATH}", 1);
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
    EXPECT(c, "zkr_waiting{PATH}", 0);
    EXPECT(c, "zkr_canceled_total{PATH}", 1);
    ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, NULL, NULL, &t));
    ZKT_MUST(zkr_client_shutdown(c));
    ZKT_RC(zkr_ticket_wait(t, PATIENCE_MS), ZKR_ECLOSED);
    ZKT_MUST(zkr_ticket_destroy(t));
    EXPECT(c, "zkr_canceled_total{PATH}", 2);
    ZKT_MUST(zkr_mutex_release(theirs));
    EXPECT(c, "zkr_acquired_total{PATH}", 0);
    EXPECT(c, "zkr_failed_total{PATH}", 0);
}

/*
 * A hand-over comes from a claim of this client, or by the event of the first node. After a node in the middle, it
 * comes by the event of that node or, without look-ahead, by a list.
 */
ZKT_CASE_WAYS(hand_overs,
              {"hand_overs_are_told_apart", hand_overs, 1, NULL},
              {"a_hand_over_by_a_list_is_counted_as_such", hand_overs, -1, NULL})
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    const int look_ahead = zkt_way();
    o.session_timeout_ms = SHORT_MS;
    o.look_ahead = look_ahead;
    zkr_client *c = zkt_client_with(zkt_servers(), &o);
    zkr_mutex *m = zkt_mutex(c),
              *theirs = zkt_mutex(zkt_client(zkt_servers(), SHORT_MS));
    zkr_ticket *first = NULL, *second = NULL, *third = NULL;
    ZKT_MUST(zkr_mutex_acquire(theirs, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, NULL, NULL, &first));
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, NULL, NULL, &second));
    ZKT_BECOMES(zkt_nodes(), 3, PATIENCE_MS);
    ZKT_EVENTUALLY(zkt_watches() >= 3, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(theirs));
    ZKT_MUST(zkr_ticket_wait(first, PATIENCE_MS));
    EXPECT(c, "zkr_hand_overs_total{PATH,kind=\"event\"}", 1);
    ZKT_MUST(zkr_ticket_release(first));
    ZKT_MUST(zkr_ticket_wait(second, PATIENCE_MS));
    EXPECT(c, "zkr_hand_overs_total{PATH,kind=\"local\"}", 1);
    /* The middle node waits behind the holder, and its wait ends. */
    zkr_ticket *middle = NULL;
    ZKT_MUST(zkr_mutex_request(theirs, ZKR_FOREVER, NULL, NULL, &middle));
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, NULL, NULL, &third));
    ZKT_BECOMES(zkt_nodes(), 3, PATIENCE_MS);
    ZKT_BECOMES(zkt_watches(), 5, PATIENCE_MS);
    ZKT_MUST(zkr_ticket_release(second));
    ZKT_MUST(zkr_ticket_wait(middle, PATIENCE_MS));
    ZKT_MUST(zkr_ticket_release(middle));
    ZKT_MUST(zkr_ticket_wait(third, PATIENCE_MS));
    EXPECT(c, "zkr_hand_overs_total{PATH,kind=\"list\"}", look_ahead < 0);
    EXPECT(c, "zkr_hand_overs_total{PATH,kind=\"prepared\"}", look_ahead > 0);
    EXPECT(c, "zkr_contended_total{PATH}", 3);
    ZKT_MUST(zkr_ticket_release(third));
    zkr_ticket *const all[] = {first, second, third, middle};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        ZKT_MUST(zkr_ticket_destroy(all[i]));
    }
}

/* Losses by a deleted node and by the end of the session, of a lock and of a leadership. */
ZKT_CASE(losses_are_told_apart)
{
    char node[256];
    zkr_client *c = zkt_client(zkt_servers(), SHORT_MS);
    zkr_mutex *m = zkt_mutex(c);
    zkr_leader_latch *latch = zkt_latch(c, "me", NULL);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    assert_int_equal(zkt_delete(zkt_servers(), node), ZKT_OK);
    ZKT_BECOMES((int64_t)value(c, "zkr_lost_total{PATH,reason=\"node\"}"), 1,
                PATIENCE_MS);
    EXPECT(c, "zkr_held{PATH}", 0);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    ZKT_MUST(zkr_leader_latch_start(latch));
    ZKT_MUST(zkr_leader_latch_await(latch, PATIENCE_MS));
    EXPECT(c, "zkr_held{PATH}", 1);
    EXPECT(c, "zkr_acquired_total{PATH}", 2);
    zkt_expire(c);
    ZKT_BECOMES((int64_t)value(c, "zkr_expirations_total"), 1, PATIENCE_MS);
    /* The server decides which of the two is reported first. */
    ZKT_BECOMES((int64_t)(value(c, "zkr_lost_total{PATH,reason=\"session\"}") +
                          value(c, "zkr_lost_total{PATH,reason=\"node\"}")),
                2, PATIENCE_MS);
    ZKT_MUST(zkr_leader_latch_await(latch, PATIENCE_MS));
    EXPECT(c, "zkr_acquired_total{PATH}", 3);
    ZKT_MUST(zkr_leader_latch_stop(latch, ZKR_LATCH_SILENT));
    EXPECT(c, "zkr_held{PATH}", 0);
    EXPECT(c, "zkr_waiting{PATH}", 0);
    EXPECT(c, "zkr_hold_seconds_count{PATH}", 3);
}

/* A semaphore is one path. Permits that are acquired together count as one hold. */
ZKT_CASE(a_semaphore_is_one_path)
{
    zkr_client *c = zkt_client(zkt_servers(), SHORT_MS);
    zkr_ticket *t = take(semaphore(c, 3), 2);
    EXPECT(c, "zkr_held{PATH}", 1);
    EXPECT(c, "zkr_acquired_total{PATH}", 1);
    ZKT_EVENTUALLY(value(c, "zkr_probe_round_trip_seconds_count") > 0, PATIENCE_MS);
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    EXPECT(c, "zkr_held{PATH}", 0);
    char *text = metrics(c);
    assert_null(strstr(text, "/leases"));
    assert_null(strstr(text, "/locks\""));
}

/* Past the lease bound, a leader is lost, and waits. It counts as holding or as waiting, whether its session continues
   or ends. */
ZKT_CASE(a_leader_in_doubt_waits)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SHORT_MS);
    zkr_leader_latch *l = zkt_latch(c, "a", NULL);
    ZKT_MUST(zkr_leader_latch_start(l));
    ZKT_MUST(zkr_leader_latch_await(l, PATIENCE_MS));
    for (int losses = 1; losses <= 2; losses++) {
        EXPECT(c, "zkr_held{PATH}", 1);
        EXPECT(c, "zkr_waiting{PATH}", 0);
        zkt_proxy_blackhole(p);
        ZKT_BECOMES(zkr_leader_latch_state(l), ZKR_LATCH_WAITING, PATIENCE_MS);
        EXPECT(c, "zkr_held{PATH}", 0);
        EXPECT(c, "zkr_waiting{PATH}", 1);
        if (losses == 2) {
            ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
        }
        zkt_proxy_heal(p);
        ZKT_MUST(zkr_leader_latch_await(l, PATIENCE_MS));
        /* On a machine that is too busy, this process counts as stopped. */
        assert_int_equal((int)(value(c, "zkr_lost_total{PATH,reason=\"lease\"}") +
                               value(c, "zkr_lost_total{PATH,reason=\"stopped\"}")),
                         losses);
    }
    EXPECT(c, "zkr_held{PATH}", 1);
    EXPECT(c, "zkr_waiting{PATH}", 0);
    ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_SILENT));
    EXPECT(c, "zkr_held{PATH}", 0);
    EXPECT(c, "zkr_waiting{PATH}", 0);
}

/* In OpenMetrics, the bound of a bucket belongs to the bucket. */
ZKT_CASE(a_bucket_ends_with_its_bound)
{
    for (int i = 0; i < ZKR__BOUNDS; i++) {
        struct zkr__histogram h = {.sum_ns = 0};
        int64_t ns = (int64_t)(strtod(zkr__histogram_bound(i), NULL) * 1e9 + 0.5);
        zkr__histogram_add(&h, ns);
        assert_int_equal(h.counts[i], 1);
        zkr__histogram_add(&h, ns + 1);
        assert_int_equal(h.counts[i + 1], 1);
    }
}

/* Beyond a thousand paths, all others share one label. */
ZKT_CASE(there_is_a_limit_of_paths)
{
    enum { LIMIT = 1000, MORE = 7 };
    char path[256];
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = SHORT_MS;
    zkr_client *c = NULL;
    /* No server answers at this address, so the requests wait until they are given up. */
    ZKT_MUST(zkr_client_open(&c, "127.0.0.1:9", &o));
    for (int i = 0; i < LIMIT + MORE; i++) {
        zkr_mutex *m = NULL;
        zkr_ticket *t = NULL;
        (void)snprintf(path, sizeof(path), "/many/%d", i);
        ZKT_MUST(zkr_mutex_create(&m, c, path, NULL));
        ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, NULL, NULL, &t));
        ZKT_MUST(zkr_ticket_release(t));
        ZKT_MUST(zkr_ticket_destroy(t));
        zkt_destroy(m);
    }
    char *text = metrics(c);
    assert_int_equal(
        (int)zkt_openmetrics_value(text, "zkr_canceled_total{path=\"/many/999\"}"), 1);
    assert_true(zkt_openmetrics_value(text, "zkr_canceled_total{path=\"/many/1000\"}") <
                0);
    assert_int_equal(
        (int)zkt_openmetrics_value(text, "zkr_canceled_total{path=\"other\"}"), MORE);
    zkt_close(c);
}

static zkr_client *metered;
static int lives;

/* Turn a writer into a reader, at a path that has no meter yet. */
static void downgrade_at_a_new_path(void)
{
    char path[256];
    zkr_rwlock *l = NULL;
    (void)snprintf(path, sizeof(path), "%s/%d", zkt_path(), lives++);
    if (zkr_rwlock_create(&l, metered, path, NULL) != ZKR_OK) {
        return;
    }
    zkr_mutex *sides[] = {zkr_rwlock_writer(l), zkr_rwlock_reader(l)};
    bool held[2];
    for (int i = 0; i < 2; i++) {
        held[i] = zkr_mutex_acquire(sides[i], PATIENCE_MS) == ZKR_OK;
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(zkr_mutex_release(sides[i]), held[i] ? ZKR_OK : ZKR_ENOTOWNER);
    }
    ZKT_MUST(zkr_rwlock_destroy(l));
}

/* Without memory for a meter, one side uses the meter of all other paths. The downgrade moves the hold from one meter
   to the other. */
ZKT_CASE(a_downgrade_from_one_meter_to_another_counts)
{
    metered = zkt_client(zkt_servers(), SHORT_MS);
    zkt_each_allocation_fails(10, downgrade_at_a_new_path);
    char *text = metrics(metered);
    assert_non_null(strstr(text, "} 0\n"));
    assert_null(strstr(text, "} -")); /* no gauge is negative */
}

/* The path contains quotes and backslashes, and the locale writes decimal commas. */
ZKT_CASE(labels_and_numbers_are_escaped)
{
    zkr_client *c = NULL;
    zkr_mutex *m = NULL;
    ZKT_MUST(zkr_client_open(&c, "127.0.0.1:9", NULL));
    ZKT_MUST(zkr_mutex_create(&m, c, "/a \"quoted\\path\"", NULL));
    ZKT_RC(zkr_mutex_acquire(m, 0), ZKR_ENOANSWER);
    (void)setlocale(LC_ALL, "de_DE.UTF-8"); /* if this locale exists */
    char *text = metrics(c);
    (void)setlocale(LC_ALL, "C");
    assert_true(zkt_openmetrics_value(
                    text, "zkr_timed_out_total{path=\"/a \\\"quoted\\\\path\\\"\"}") ==
                1);
    zkt_destroy(m);
    zkt_close(c);
}

/* Without probes, there is no lease to report. The client only knows that it has a session. */
ZKT_CASE(no_bound_is_told_without_probes)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    zkr_client *c = NULL;
    o.lease_probe_ms = -1;
    ZKT_MUST(zkr_client_open(&c, "127.0.0.1:1", &o));
    assert_true(zkr_client_valid_for_ms(c) == 0);
    ZKT_MUST(zkr_client_set_servers(c, zkt_servers()));
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    assert_true(zkr_client_valid_for_ms(c) == ZKR_UNKNOWN);
    assert_true(value(c, "zkr_lease_bound_seconds") < 0);
    zkt_close(c);
}

/*
 * One of three permits is free, but the first waiter wants two. The next waiter waits for its turn in PATH/locks, so
 * its wait is contended.
 */
ZKT_CASE(a_wait_at_the_gate_is_contended)
{
    zkr_client *c[2] = {zkt_client(zkt_servers(), SHORT_MS),
                        zkt_client(zkt_servers(), SHORT_MS)};
    static const int wanted[3] = {2, 2, 1};
    zkr_semaphore *s[2] = {semaphore(c[0], 3), semaphore(c[1], 3)};
    zkr_ticket *t[3];
    for (int i = 0; i < 3; i++) {
        t[i] = ask_for(s[i / 2], wanted[i], NULL);
        ZKT_EVENTUALLY(i == 0 ? zkr_ticket_state(t[i]) == ZKR_TICKET_HELD
                              : at_gate() == i,
                       PATIENCE_MS);
        ZKT_EVENTUALLY(zkt_all_answered(c[i / 2]), PATIENCE_MS);
    }
    EXPECT(c[0], "zkr_contended_total{PATH}", 0);
    ZKT_MUST(zkr_ticket_release(t[1]));
    ZKT_MUST(zkr_ticket_wait(t[2], PATIENCE_MS));
    EXPECT(c[1], "zkr_contended_total{PATH}", 1);
    for (int i = 0; i < 3; i++) {
        (void)zkr_ticket_release(t[i]);
        ZKT_MUST(zkr_ticket_destroy(t[i]));
    }
}

/* If the buffer is too small, the call reports the needed size, and the buffer contains a string. */
ZKT_CASE(a_small_buffer_is_refused)
{
    zkr_client *c = zkt_client(zkt_servers(), SHORT_MS);
    char small[64];
    size_t needed = 0;
    (void)memset(small, 'x', sizeof(small));
    ZKT_RC(zkr_client_metrics(c, small, sizeof(small), &needed), ZKR_EINVAL);
    assert_true(needed > sizeof(small));
    assert_int_equal(strlen(small), sizeof(small) - 1);
    /* A buffer that is one byte short is too small. The reported size is enough. */
    char *text = calloc(1, 2 * needed);
    assert_non_null(text);
    for (int more = -1; more <= 1;) {
        size_t size = needed + (size_t)more;
        (void)memset(text, 'x', size);
        int rc = zkr_client_metrics(c, text, size, &needed);
        ZKT_RC(rc, size < needed ? ZKR_EINVAL : ZKR_OK);
        assert_int_equal(strnlen(text, size), (size < needed ? size : needed) - 1);
        /* Otherwise the text has grown meanwhile. */
        more += size == needed + (size_t)more;
    }
    free(text);
}

/* The reader of this test detects faults. */
ZKT_CASE(the_reader_is_strict)
{
#define HEAD "# TYPE a counter\n"
#define HISTOGRAM "# TYPE h_seconds histogram\n# UNIT h_seconds seconds\n"
    static const struct {
        const char *text;
        bool good;
    } rows[] = {
        {HEAD "a_total 1\n# EOF\n", true},
        {HEAD "a_total{x=\"y\\\"\\\\\\n\",z=\"\"} 1.5\n# EOF\n", true},
        {HISTOGRAM "h_seconds_bucket{le=\"1.0\"} 1\nh_seconds_bucket{le=\"+Inf\"} 2\n"
                   "h_seconds_count 2\nh_seconds_sum 3.0\n# EOF\n",
         true},
        {HEAD "a_total 1\n", false},
        {HEAD "a_total 1\n# EOF", false},
        {HEAD "a_total 1\n# EOF\n\n", false},
        {HEAD "a 1\n# EOF\n", false},
        {HEAD "b_total 1\n# EOF\n", false},
        {HEAD "a_total{x=y} 1\n# EOF\n", false},
        {HEAD "a_total{x=\"\\y\"} 1\n# EOF\n", false},
        {HEAD "a_total{x=\"y\",} 1\n# EOF\n", false},
        {HEAD "a_total 1,5\n# EOF\n", false},
        {HEAD "a_total -1\n# EOF\n", false},
        {HEAD "a_total 1\n" HEAD "# EOF\n", false},
        {HEAD "a_total 1\n# HELP a late\n# EOF\n", false},
        {"# TYPE a_total counter\na_total 1\n# EOF\n", false},
        {"# TYPE a gauge\n# UNIT a seconds\na 1\n# EOF\n", false},
        {HISTOGRAM "h_seconds_bucket{le=\"1.0\"} 1\n# TYPE b gauge\n# EOF\n", false},
        {HISTOGRAM
         "h_seconds_bucket{le=\"1.0\"} 2\nh_seconds_bucket{le=\"+Inf\"} 1\n# EOF\n",
         false},
        {HISTOGRAM
         "h_seconds_bucket{le=\"2.0\"} 1\nh_seconds_bucket{le=\"1.0\"} 1\n# EOF\n",
         false},
        {HISTOGRAM "h_seconds_bucket{le=\"+Inf\"} 1\nh_seconds_count 2\n# EOF\n",
         false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *fault = zkt_openmetrics_fault(rows[i].text);
        if ((fault == NULL) != rows[i].good) {
            fail_msg("row %zu: %s", i, fault ? fault : "no fault seen");
        }
    }
}
