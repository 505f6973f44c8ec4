/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting until somebody joins or leaves a queue, whoever it is. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"

enum { SESSION_MS = 3000, PATIENCE_MS = 20000, SHORT_MS = 100, LONG_MS = 250 };

/* A watcher on its own client and thread: counts how often the wait was worth it. */
struct watcher {
    zkr_client *c;
    zkr_mutex *m;
    pthread_t thread;
    atomic_int news;
    atomic_int code; /* that ended it; 0 = none yet */
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

static void begin(struct watcher *w, const char *hosts)
{
    memset(w, 0, sizeof(*w));
    w->c = zkt_client(hosts, SESSION_MS);
    w->m = zkt_mutex(w->c);
    assert_int_equal(zkr_mutex_watch(w->m, SHORT_MS), ZKR_ETIMEDOUT);
    assert_int_equal(pthread_create(&w->thread, NULL, watch, w), 0);
}

static void finish(struct watcher *w)
{
    atomic_store(&w->over, true);
    pthread_join(w->thread, NULL);
    zkt_destroy(w->m);
    zkt_close(w->c);
}

static const char *child(const char *name)
{
    static char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s", zkt_path(), name);
    return path;
}

/* Each join and each leave is news, on a path that does not exist at first, too. */
static void joining_and_leaving_is_news(void **state)
{
    (void)state;
    struct watcher w;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    begin(&w, zkt_servers());
    for (int i = 1; i <= 10; i += 2) {
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        ZKT_EVENTUALLY(atomic_load(&w.news) == i, PATIENCE_MS);
        ZKT_MUST(zkr_mutex_release(m));
        ZKT_EVENTUALLY(atomic_load(&w.news) == i + 1, PATIENCE_MS);
    }
    zkt_sleep_ms(LONG_MS);
    assert_int_equal(atomic_load(&w.news), 10);
    finish(&w);
    zkt_destroy(m);
    zkt_close(c);
}

/* Children that are no contenders are not. */
static void strangers_are_no_news(void **state)
{
    (void)state;
    struct watcher w;
    zkt_create_path(zkt_servers(), zkt_path());
    begin(&w, zkt_servers());
    zkt_create(zkt_servers(), child("config"), "", 0);
    zkt_set(zkt_servers(), child("config"), "x");
    zkt_delete(zkt_servers(), child("config"));
    zkt_sleep_ms(LONG_MS);
    assert_int_equal(atomic_load(&w.news), 0);
    assert_int_equal(atomic_load(&w.code), 0);
    finish(&w);
}

/* The path goes and comes back; the one watch on a missing path is not doubled by more waiting. */
static void a_path_may_go_and_come_back(void **state)
{
    (void)state;
    struct watcher w;
    zkt_create_path(zkt_servers(), zkt_path());
    begin(&w, zkt_servers());
    zkt_delete(zkt_servers(), zkt_path());
    zkt_sleep_ms(LONG_MS);
    assert_int_equal(atomic_load(&w.news), 0);
    assert_int_equal(zkt_watches(), 1);
    zkt_create_path(zkt_servers(), zkt_path());
    zkt_create(zkt_servers(), child("_c_x-lock-0000000001"), "", 0);
    ZKT_EVENTUALLY(atomic_load(&w.news) == 1, PATIENCE_MS);
    zkt_delete(zkt_servers(), child("_c_x-lock-0000000001"));
    ZKT_EVENTUALLY(atomic_load(&w.news) == 2, PATIENCE_MS);
    finish(&w);
}

/* A change between a reading and the wait is not lost; one before the reading is no news. */
static void nothing_is_lost_between_reading_and_waiting(void **state)
{
    (void)state;
    zkr_contenders *list = NULL;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    zkt_create_path(zkt_servers(), zkt_path());
    ZKT_MUST(zkr_mutex_contenders(m, &list));
    zkr_contenders_free(list);
    zkt_create(zkt_servers(), child("_c_x-lock-0000000001"), "", 0);
    ZKT_MUST(zkr_mutex_watch(m, PATIENCE_MS));
    assert_int_equal(zkr_mutex_watch(m, SHORT_MS), ZKR_ETIMEDOUT);
    zkt_delete(zkt_servers(), child("_c_x-lock-0000000001"));
    zkt_sleep_ms(SHORT_MS); /* the event comes while nobody waits */
    ZKT_MUST(zkr_mutex_contenders(m, &list));
    assert_int_equal(zkr_contenders_count(list), 0);
    zkr_contenders_free(list);
    assert_int_equal(zkr_mutex_watch(m, SHORT_MS), ZKR_ETIMEDOUT);
    zkt_destroy(m);
    zkt_close(c);
}

/* One round trip to arm, none while the watch stands, one after an event. */
static void a_watch_costs_one_round_trip(void **state)
{
    (void)state;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    zkt_create_path(zkt_servers(), zkt_path());
    zkt_door_focus(c);
    assert_int_equal(zkr_mutex_watch(m, SHORT_MS), ZKR_ETIMEDOUT);
    assert_int_equal(zkr_mutex_watch(m, SHORT_MS), ZKR_ETIMEDOUT);
    assert_int_equal(zkr_mutex_watch(m, 0), ZKR_ETIMEDOUT);
    assert_int_equal(zkt_door_total(), 1);
    zkt_create(zkt_servers(), child("_c_x-lock-0000000001"), "", 0);
    ZKT_MUST(zkr_mutex_watch(m, PATIENCE_MS));
    assert_int_equal(zkt_door_total(), 2);
    zkt_delete(zkt_servers(), child("_c_x-lock-0000000001"));
    zkt_destroy(m);
    zkt_close(c);
}

/* Cuts and ends of sessions lose no news. */
static void news_survives_cuts_and_sessions(void **state)
{
    (void)state;
    struct watcher w;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkt_create_path(zkt_servers(), zkt_path());
    begin(&w, zkt_proxy_host(p));
    for (int i = 1; i <= 4; i += 2) {
        zkt_proxy_cut(p);
        zkt_create(zkt_servers(), child("_c_x-lock-0000000001"), "", 0);
        if (i > 1) {
            zkt_expire_start(w.c);
        }
        zkt_proxy_heal(p);
        ZKT_EVENTUALLY(atomic_load(&w.news) == i, PATIENCE_MS);
        zkt_delete(zkt_servers(), child("_c_x-lock-0000000001"));
        ZKT_EVENTUALLY(atomic_load(&w.news) == i + 1, PATIENCE_MS);
    }
    finish(&w);
    zkt_proxy_stop(p);
}

/* Where we may not list, the wait says so. */
static void a_missing_right_is_reported(void **state)
{
    (void)state;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    zkt_create_path(zkt_servers(), "/t");
    zkt_raw *raw = zkt_raw_open(zkt_servers(), 10000);
    struct zkt_node node = {.path = zkt_path(), .perms = ZKT_CREATE | ZKT_DELETE};
    assert_int_equal(zkt_raw_create(raw, &node, NULL, 0), ZKT_OK);
    zkt_raw_close(raw);
    assert_int_equal(zkr_mutex_watch(m, PATIENCE_MS), ZKR_EAUTH);
    zkt_delete(zkt_servers(), zkt_path());
    assert_int_equal(zkr_mutex_watch(m, SHORT_MS), ZKR_ETIMEDOUT);
    assert_int_equal(zkr_mutex_watch(m, -2), ZKR_EINVAL);
    assert_int_equal(zkr_mutex_watch(NULL, 0), ZKR_EINVAL);
    zkt_destroy(m);
    zkt_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ZKT_TEST(joining_and_leaving_is_news),
        ZKT_TEST(strangers_are_no_news),
        ZKT_TEST(a_path_may_go_and_come_back),
        ZKT_TEST(nothing_is_lost_between_reading_and_waiting),
        ZKT_TEST(a_watch_costs_one_round_trip),
        ZKT_TEST(news_survives_cuts_and_sessions),
        ZKT_TEST(a_missing_right_is_reported),
    };
    return cmocka_run_group_tests(tests, zkt_group_setup, zkt_group_teardown);
}
