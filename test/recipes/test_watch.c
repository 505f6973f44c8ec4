/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting until a contender joins or leaves a queue. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor.h"
#include "fixture.h"
#include "fourlw.h"
#include "keep.h"
#include "rwlocks.h"

enum { SESSION_MS = 3000, PATIENCE_MS = 20000, SHORT_MS = 100, LONG_MS = 250 };

/* A watcher with its own client and thread, which counts the changes. */
struct watcher {
    zkr_client *c;
    zkr_mutex *m;
    pthread_t thread;
    atomic_int news;
    atomic_int code; /* the code that ended the watcher; 0 = none */
    atomic_bool over;
};

static void *watch(void *arg)
{
    struct watcher *w = arg;
    while (!atomic_load(&w->over) && atomic_load(&w->code) == 0) {
        int rc = zkr_mutex_watch(w->m, SHORT_MS);
        atomic_fetch_add(&w->news, rc == ZKR_OK);
        if (rc != ZKR_OK && rc != ZKR_ETIMEDOUT) {
            atomic_store(&w->code, rc);
        }
    }
    return NULL;
}

static void *watch_once(void *arg)
{
    struct watcher *w = arg;
    atomic_store(&w->code, zkr_mutex_watch(w->m, ZKR_FOREVER));
    return NULL;
}

static void end(void *watcher)
{
    struct watcher *w = watcher;
    atomic_store(&w->over, true);
    pthread_join(w->thread, NULL);
    free(w);
}

static struct watcher *begin(const char *hosts)
{
    struct watcher *w = calloc(1, sizeof(*w));
    assert_non_null(w);
    w->c = zkt_client(hosts, SESSION_MS);
    w->m = zkt_mutex(w->c);
    ZKT_RC(zkr_mutex_watch(w->m, SHORT_MS), ZKR_ETIMEDOUT);
    assert_int_equal(pthread_create(&w->thread, NULL, watch, w), 0);
    zkt_keep(w, end);
    return w;
}

static const char *child(const char *name)
{
    static char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s", zkt_path(), name);
    return path;
}

/* Each join and each leave is a change, even if the path does not exist at first. */
ZKT_CASE(joining_and_leaving_is_news)
{
    zkr_mutex *m = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    struct watcher *w = begin(zkt_servers());
    for (int i = 1; i <= 10; i += 2) {
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        ZKT_BECOMES(atomic_load(&w->news), i, PATIENCE_MS);
        ZKT_MUST(zkr_mutex_release(m));
        ZKT_BECOMES(atomic_load(&w->news), i + 1, PATIENCE_MS);
    }
    zkt_sleep_ms(LONG_MS);
    assert_int_equal(atomic_load(&w->news), 10);
}

/* Other children are no change. */
ZKT_CASE(strangers_are_no_news)
{
    zkt_create_path(zkt_servers(), zkt_path());
    struct watcher *w = begin(zkt_servers());
    zkt_create(zkt_servers(), child("config"), "", 0);
    zkt_set(zkt_servers(), child("config"), "x");
    zkt_delete(zkt_servers(), child("config"));
    zkt_sleep_ms(LONG_MS);
    assert_int_equal(atomic_load(&w->news), 0);
    assert_int_equal(atomic_load(&w->code), 0);
}

/* A child whose number the server has not assigned is no change, either. Lists, watches and waits agree on that. */
ZKT_CASE(made_up_numbers_are_no_news)
{
    zkr_mutex *m = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    zkt_create_path(zkt_servers(), zkt_path());
    zkt_create(zkt_servers(), child("host,16020,1732795200123"), "", 0);
    assert_int_equal(zkr_contenders_count(zkt_contenders(m)), 0);
    ZKT_RC(zkr_mutex_watch(m, SHORT_MS), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_mutex_await_free(m, 0));
    zkt_create(zkt_servers(), child("_c_x-lock-0000000001"), "", 0);
    ZKT_MUST(zkr_mutex_watch(m, PATIENCE_MS));
    ZKT_RC(zkr_mutex_await_free(m, 0), ZKR_ETIMEDOUT);
}

/*
 * A path that is itself an ephemeral node counts as held while it exists. That is no change. Its deletion ends
 * the waits.
 */
ZKT_CASE(an_ephemeral_path_is_no_news)
{
    const zkt_node node = {.path = child("leader"), .flags = ZKT_EPHEMERAL};
    zkr_mutex *m = zkt_mutex_at(zkt_client(zkt_servers(), SESSION_MS), node.path, NULL);
    zkt_create_path(zkt_servers(), zkt_path());
    zkt_raw *s = zkt_raw_open(zkt_servers(), SESSION_MS);
    assert_non_null(s);
    assert_int_equal(zkt_raw_create(s, &node, NULL, 0), ZKT_OK);
    assert_int_equal(zkr_contenders_count(zkt_contenders(m)), 0);
    ZKT_RC(zkr_mutex_watch(m, SHORT_MS), ZKR_ETIMEDOUT);
    (void)zkt_raw_close(s);
    ZKT_MUST(zkr_mutex_watch(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_await_free(m, PATIENCE_MS));
}

/* The path is deleted and created again. Repeated calls keep a single watch on the missing path. */
ZKT_CASE(a_path_may_go_and_come_back)
{
    zkt_create_path(zkt_servers(), zkt_path());
    struct watcher *w = begin(zkt_servers());
    zkt_delete(zkt_servers(), zkt_path());
    zkt_sleep_ms(LONG_MS);
    assert_int_equal(atomic_load(&w->news), 0);
    ZKT_BECOMES(zkt_watches_under(zkt_servers(), zkt_path()), 1, PATIENCE_MS);
    zkt_create_path(zkt_servers(), zkt_path());
    zkt_create(zkt_servers(), child("_c_x-lock-0000000001"), "", 0);
    ZKT_BECOMES(atomic_load(&w->news), 1, PATIENCE_MS);
    zkt_delete(zkt_servers(), child("_c_x-lock-0000000001"));
    ZKT_BECOMES(atomic_load(&w->news), 2, PATIENCE_MS);
}

/* A change between a list and the watch is not lost, and a change before the list is not reported. */
ZKT_CASE(nothing_is_lost_between_reading_and_waiting)
{
    zkr_mutex *m = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    zkt_create_path(zkt_servers(), zkt_path());
    (void)zkt_contenders(m);
    zkt_create(zkt_servers(), child("_c_x-lock-0000000001"), "", 0);
    ZKT_MUST(zkr_mutex_watch(m, PATIENCE_MS));
    ZKT_RC(zkr_mutex_watch(m, SHORT_MS), ZKR_ETIMEDOUT);
    zkt_delete(zkt_servers(), child("_c_x-lock-0000000001"));
    zkt_sleep_ms(SHORT_MS); /* the event arrives while nobody waits */
    assert_int_equal(zkr_contenders_count(zkt_contenders(m)), 0);
    ZKT_RC(zkr_mutex_watch(m, SHORT_MS), ZKR_ETIMEDOUT);
}

/* A change that the list has shown is not reported, even if its event arrived during an earlier wait that timed out. */
ZKT_CASE(what_the_list_has_shown_is_no_news)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    zkt_create_path(zkt_servers(), zkt_path());
    ZKT_RC(zkr_mutex_watch(m, SHORT_MS), ZKR_ETIMEDOUT);
    zkt_proxy_freeze(p, ZKT_TO_SERVER);
    zkt_create(zkt_servers(), child("_c_x-lock-0000000001"), "", 0);
    ZKT_RC(zkr_mutex_watch(m, LONG_MS),
           ZKR_ETIMEDOUT); /* the event arrived, and caused a read */
    zkt_proxy_thaw(p, ZKT_TO_SERVER);
    ZKT_EVENTUALLY(zkt_all_answered(c), PATIENCE_MS);
    assert_int_equal(zkr_contenders_count(zkt_contenders(m)), 1);
    ZKT_RC(zkr_mutex_watch(m, SHORT_MS), ZKR_ETIMEDOUT);
    zkt_delete(zkt_servers(), child("_c_x-lock-0000000001"));
    ZKT_MUST(zkr_mutex_watch(m, PATIENCE_MS));
}

/* The first watch takes one round trip, further calls take none, and each event costs one. */
ZKT_CASE(a_watch_costs_one_round_trip)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    zkt_create_path(zkt_servers(), zkt_path());
    zkt_door_focus(c);
    ZKT_RC(zkr_mutex_watch(m, SHORT_MS), ZKR_ETIMEDOUT);
    ZKT_RC(zkr_mutex_watch(m, SHORT_MS), ZKR_ETIMEDOUT);
    ZKT_RC(zkr_mutex_watch(m, 0), ZKR_ETIMEDOUT);
    assert_int_equal(zkt_door_total(), 1);
    zkt_create(zkt_servers(), child("_c_x-lock-0000000001"), "", 0);
    ZKT_MUST(zkr_mutex_watch(m, PATIENCE_MS));
    assert_int_equal(zkt_door_total(), 2);
    zkt_delete(zkt_servers(), child("_c_x-lock-0000000001"));
}

/* Cuts and ends of sessions lose no changes. */
ZKT_CASE(news_survives_cuts_and_sessions)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkt_create_path(zkt_servers(), zkt_path());
    struct watcher *w = begin(zkt_proxy_host(p));
    for (int i = 1; i <= 4; i += 2) {
        zkt_note_session(w->c);
        zkt_proxy_cut(p);
        zkt_create(zkt_servers(), child("_c_x-lock-0000000001"), "", 0);
        if (i > 1) {
            zkt_expire_noted(NULL);
        }
        zkt_proxy_heal(p);
        if (i > 1) {
            zkt_await_next_session(w->c);
        }
        ZKT_BECOMES(atomic_load(&w->news), i, PATIENCE_MS);
        zkt_delete(zkt_servers(), child("_c_x-lock-0000000001"));
        ZKT_BECOMES(atomic_load(&w->news), i + 1, PATIENCE_MS);
    }
}

/* Without permission to list the path, the call fails. */
ZKT_CASE(a_missing_right_is_reported)
{
    zkr_mutex *m = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL & ~ZKT_READ), 0);
    ZKT_RC(zkr_mutex_watch(m, PATIENCE_MS), ZKR_EAUTH);
    zkt_delete(zkt_servers(), zkt_path());
    ZKT_RC(zkr_mutex_watch(m, SHORT_MS), ZKR_ETIMEDOUT);
}

/* If one of two contenders cannot be read, the list is not reduced to the other one. */
ZKT_CASE(a_list_is_whole_or_an_error)
{
    char nodes[2][256];
    zkr_contenders *list = NULL;
    zkr_mutex *m = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(nodes[i], sizeof(nodes[i]), "%s/x-lock-000000000%d", zkt_path(),
                       i);
        assert_int_equal(zkt_create_path(zkt_servers(), nodes[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(zkt_set_acl(zkt_servers(), nodes[i], ZKT_ALL & ~ZKT_READ), 0);
        ZKT_RC(zkr_mutex_contenders(m, &list), ZKR_EAUTH);
        assert_int_equal(zkt_set_acl(zkt_servers(), nodes[i], ZKT_ALL), 0);
    }
    assert_int_equal(zkr_contenders_count(zkt_contenders(m)), 2);
}

static void delete_first(void *node)
{
    (void)zkt_delete(zkt_servers(), node);
}

/* A survey ignores a node below its path that is deleted while it is read. */
ZKT_CASE(a_survey_leaves_out_what_goes_meanwhile)
{
    char first[256], second[256];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_survey *survey = NULL;
    (void)snprintf(first, sizeof(first), "%s/a", zkt_path());
    (void)snprintf(second, sizeof(second), "%s/b", zkt_path());
    assert_int_equal(zkt_create_path(zkt_servers(), first), 0);
    assert_int_equal(zkt_create_path(zkt_servers(), second), 0);
    zkt_door_focus(c);
    zkt_door_before(2, delete_first, first);
    ZKT_MUST(zkr_survey_read(c, zkt_path(), 0, &survey));
    assert_true(zkt_door_fired());
    zkr_survey_free(survey);
}

/* A writer waits behind two readers. */
ZKT_CASE(a_survey_tells_since_when_the_first_waits)
{
    zkr_survey *survey = NULL;
    const struct sides one = new_sides(), two = new_sides();
    ZKT_MUST(zkr_mutex_acquire(one.r, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_acquire(two.r, PATIENCE_MS));
    zkt_sleep_ms(SHORT_MS); /* so that the times differ */
    (void)zkt_ticket(one.w);
    ZKT_BECOMES(zkt_nodes(), 3, PATIENCE_MS);
    ZKT_MUST(zkr_survey_read(one.c, zkt_path(), 0, &survey));
    const zkr_survey_entry *entry = zkr_survey_get(survey, 0);
    assert_int_equal(entry->held, 2);
    assert_int_equal(entry->waiting, 1);
    assert_int_equal(entry->waiting_since_ms,
                     zkr_contenders_get(zkt_contenders(one.w), 2)->created_ms);
    zkr_survey_free(survey);
    ZKT_MUST(zkr_mutex_release(one.r));
    ZKT_MUST(zkr_mutex_release(two.r));
}

/* Beside the items of a queue, an ephemeral node is no contender, even if its name ends in a number. */
ZKT_CASE(a_survey_tells_of_a_node_beside_items)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_survey *survey = NULL;
    zkt_create_path(zkt_servers(), zkt_path());
    zkt_create(zkt_servers(), child("item-"), "x", ZKT_SEQUENCE);
    const zkt_node node = {.path = child("member-"),
                           .flags = ZKT_EPHEMERAL | ZKT_SEQUENCE};
    zkt_raw *s = zkt_raw_open(zkt_servers(), SESSION_MS);
    assert_non_null(s);
    assert_int_equal(zkt_raw_create(s, &node, NULL, 0), ZKT_OK);
    ZKT_MUST(zkr_survey_read(c, zkt_path(), ZKR_SURVEY_NODES, &survey));
    assert_int_equal(zkr_survey_count(survey), 1);
    assert_int_equal(zkr_survey_get(survey, 0)->kind, ZKR_KIND_NODE);
    zkr_survey_free(survey);
    assert_int_equal(zkt_raw_close(s), ZKT_OK);
}

/* Credentials are refused during a wait for the connection, and before it. */
ZKT_CASE(refused_credentials_end_the_wait)
{
    zkr_client *c = NULL;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    for (int late = 0; late < 2; late++) {
        pthread_t thread;
        struct watcher w = {0};
        if (!late) {
            zkt_proxy_cut(p);
        }
        ZKT_MUST(zkr_client_open(&c, zkt_proxy_host(p), &zkt_bad_credentials));
        w.m = zkt_mutex(c);
        if (late) {
            ZKT_RC(zkr_client_wait_connected(c, PATIENCE_MS), ZKR_EAUTH);
        }
        assert_int_equal(pthread_create(&thread, NULL, watch_once, &w), 0);
        ZKT_RC(zkr_client_wait_connected(c, late ? 0 : SHORT_MS),
               late ? ZKR_EAUTH : ZKR_ETIMEDOUT);
        zkt_proxy_heal(p);
        ZKT_BECOMES(atomic_load(&w.code), ZKR_EAUTH, PATIENCE_MS);
        assert_int_equal(pthread_join(thread, NULL), 0);
        zkt_destroy(w.m);
        zkt_close(c);
    }
}

/* --- until it is free --- */

static void *await_free(void *m)
{
    ZKT_MUST(zkr_mutex_await_free(m, PATIENCE_MS));
    return NULL;
}

/* The path is free if no client holds or waits. */
ZKT_CASE(it_is_free_when_the_last_has_left)
{
    struct zkt_actor holder, waiter;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *other = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c), *theirs = zkt_mutex(other);
    pthread_t thread;
    ZKT_MUST(zkr_mutex_await_free(m, 0)); /* nobody ever joined */
    zkt_actor_queue(&holder, other, theirs, NULL);
    zkt_actor_queue(&waiter, other, theirs, NULL);
    ZKT_RC(zkr_mutex_await_free(zkt_settled(m), 0), ZKR_ETIMEDOUT);
    assert_true(zkt_timed_out(zkr_mutex_await_free(m, SHORT_MS)));
    assert_int_equal(pthread_create(&thread, NULL, await_free, m), 0);
    ZKT_MUST(zkt_actor_end(&holder));
    ZKT_MUST(zkt_actor_acquired(&waiter));
    assert_true(zkt_timed_out(zkr_mutex_await_free(m, SHORT_MS)));
    ZKT_MUST(zkt_actor_end(&waiter));
    pthread_join(thread, NULL);
    ZKT_MUST(zkr_mutex_await_free(m, 0)); /* the directory exists, and is empty */
}

/* With a timeout of 0, the call reads once, no matter how long a connection may take. */
ZKT_CASE(a_look_does_not_wait_for_the_holder)
{
    zkr_client *c = ZKT_CLIENT_WITH(zkt_servers(), .session_timeout_ms = SESSION_MS,
                                    .connect_timeout_ms = PATIENCE_MS);
    zkr_mutex *held = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    ZKT_MUST(zkr_mutex_acquire(held, PATIENCE_MS));
    const int64_t before = zkt_now_ms();
    ZKT_RC(zkr_mutex_await_free(zkt_mutex(c), 0), ZKR_ETIMEDOUT);
    assert_true(zkt_now_ms() - before < PATIENCE_MS / 2);
    ZKT_MUST(zkr_mutex_release(held));
}

/* Without an answer, the path is not reported as free. */
ZKT_CASE(what_cannot_be_seen_is_not_free)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_mutex *m = zkt_mutex(zkt_client(zkt_proxy_host(p), SESSION_MS));
    ZKT_MUST(zkr_mutex_await_free(m, 0));
    zkt_proxy_blackhole(p);
    ZKT_RC(zkr_mutex_await_free(m, SHORT_MS), ZKR_ENOANSWER);
    zkt_proxy_heal(p);
    ZKT_MUST(zkr_mutex_await_free(m, PATIENCE_MS));
}

/* --- who waits for news --- */

struct asker {
    zkr_mutex *m;
    int (*wait)(zkr_mutex *m, int64_t timeout_ms);
};

static void *ask(void *asker)
{
    const struct asker *a = asker;
    ZKT_MUST(a->wait(a->m, PATIENCE_MS));
    return NULL;
}

ZKT_CASE(a_mutex_is_not_destroyed_under_one_who_waits)
{
    static int (*const waits[])(zkr_mutex * m, int64_t timeout_ms) = {
        zkr_mutex_watch, zkr_mutex_await_free};
    zkr_mutex *held = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        pthread_t thread;
        zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
        struct asker a = {zkt_mutex(c), waits[i]};
        ZKT_MUST(zkr_mutex_acquire(held, PATIENCE_MS));
        zkt_door_focus(c);
        assert_int_equal(pthread_create(&thread, NULL, ask, &a), 0);
        ZKT_EVENTUALLY(zkt_door_total() > 0, PATIENCE_MS);
        ZKT_RC(zkr_mutex_destroy(a.m), ZKR_EBUSY);
        ZKT_EVENTUALLY(zkt_all_answered(c), PATIENCE_MS);
        ZKT_MUST(zkr_mutex_release(held));
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
}
