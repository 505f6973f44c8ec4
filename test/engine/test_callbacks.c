/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What blocks is refused in a callback: on the fake, where a call that waits finds its time over at once. The table
 * has every function that says "Blocks: yes"; static.blocking compares it with the headers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include <zkr/guard.h>
#include <zkr/survey.h>

#include "by_hand.h"
#include "expect.h"
#include "recipes/leader_selector.h"
#include "runner.h"

enum { SECOND = 1000 };

static zkr_client *c;
static zkr_mutex *m;
static zkr_ticket *t; /* held */
static zkr_leader_latch *l;
static zkr_leader_selector *s;
static zkr_semaphore *permits;
static zkr_multi_lock *both;
static zkr_ticket *another;
static zkr_contenders *list;
static char text[64];

static int client_wait_connected(void)
{
    return zkr_client_wait_connected(c, SECOND);
}

static zkr_survey *found;

static int client_get(void)
{
    zkr_node node;
    return zkr_client_get(c, "/", NULL, 0, &node, sizeof(node));
}

static int survey_read(void)
{
    return zkr_survey_read(c, "/", 0, &found);
}

static int client_flush(void)
{
    return zkr_client_flush(c, SECOND);
}

static int client_dispatch(void)
{
    return zkr_client_dispatch(c, 0);
}

static int client_close(void)
{
    return zkr_client_close(c);
}

static int mutex_acquire(void)
{
    return zkr_mutex_acquire(m, SECOND);
}

static int mutex_try(void)
{
    return zkr_mutex_acquire(m, 0);
}

static int mutex_contenders(void)
{
    return zkr_mutex_contenders(m, &list);
}

static int mutex_await_free(void)
{
    return zkr_mutex_await_free(m, SECOND);
}

static int mutex_watch(void)
{
    return zkr_mutex_watch(m, SECOND);
}

static int mutex_revoke(void)
{
    return zkr_mutex_revoke(m);
}

static int mutex_revoke_node(void)
{
    return zkr_mutex_revoke_node(m, "x-lock-0000000000");
}

static int mutex_evict(void)
{
    return zkr_mutex_evict(m, "x-lock-0000000000");
}

static int mutex_multi(void)
{
    return zkr_mutex_multi(m, 0, NULL, NULL, SECOND);
}

static int mutex_release_multi(void)
{
    return zkr_mutex_release_multi(m, 0, NULL, NULL, SECOND);
}

static int ticket_wait(void)
{
    return zkr_ticket_wait(t, SECOND);
}

static int ticket_multi(void)
{
    return zkr_ticket_multi(t, 0, NULL, NULL, SECOND);
}

static int ticket_release_multi(void)
{
    return zkr_ticket_release_multi(t, 0, NULL, NULL, SECOND);
}

static int leader_latch_await(void)
{
    return zkr_leader_latch_await(l, SECOND);
}

static int leader_latch_leader(void)
{
    return zkr_leader_latch_leader(l, text, sizeof(text));
}

static int leader_latch_participants(void)
{
    return zkr_leader_latch_participants(l, &list);
}

static int leader_latch_watch(void)
{
    return zkr_leader_latch_watch(l, SECOND);
}

static int leader_selector_leader(void)
{
    return zkr_leader_selector_leader(s, text, sizeof(text));
}

static int leader_selector_participants(void)
{
    return zkr_leader_selector_participants(s, &list);
}

static int leadership_wait(void)
{
    return zkr_leadership_wait(&s->lead, SECOND);
}

static int semaphore_acquire(void)
{
    return zkr_semaphore_acquire(permits, 1, SECOND, &another);
}

static int semaphore_holders(void)
{
    return zkr_semaphore_holders(permits, &list);
}

static int multi_lock_acquire(void)
{
    return zkr_multi_lock_acquire(both, SECOND, &another);
}

/* All but zkr_leader_selector_stop(), which a callback may call: it does not wait there. */
static const struct {
    const char *name;
    int (*call)(void);
} blocking[] = {
    {"zkr_client_wait_connected", client_wait_connected},
    {"zkr_client_flush", client_flush},
    {"zkr_client_get", client_get},
    {"zkr_client_dispatch", client_dispatch},
    {"zkr_client_close", client_close},
    {"zkr_mutex_acquire", mutex_acquire},
    {"zkr_mutex_acquire", mutex_try},
    {"zkr_survey_read", survey_read},
    {"zkr_mutex_contenders", mutex_contenders},
    {"zkr_mutex_watch", mutex_watch},
    {"zkr_mutex_await_free", mutex_await_free},
    {"zkr_mutex_revoke", mutex_revoke},
    {"zkr_mutex_revoke_node", mutex_revoke_node},
    {"zkr_mutex_evict", mutex_evict},
    {"zkr_mutex_multi", mutex_multi},
    {"zkr_mutex_release_multi", mutex_release_multi},
    {"zkr_ticket_wait", ticket_wait},
    {"zkr_ticket_multi", ticket_multi},
    {"zkr_ticket_release_multi", ticket_release_multi},
    {"zkr_leader_latch_await", leader_latch_await},
    {"zkr_leader_latch_leader", leader_latch_leader},
    {"zkr_leader_latch_participants", leader_latch_participants},
    {"zkr_leader_latch_watch", leader_latch_watch},
    {"zkr_leader_selector_leader", leader_selector_leader},
    {"zkr_leader_selector_participants", leader_selector_participants},
    {"zkr_leadership_wait", leadership_wait},
    {"zkr_semaphore_acquire", semaphore_acquire},
    {"zkr_semaphore_holders", semaphore_holders},
    {"zkr_multi_lock_acquire", multi_lock_acquire},
};
enum { BLOCKING = sizeof(blocking) / sizeof(blocking[0]) };

static int told[BLOCKING], calls, messages;

/* What would wait here would wait for ever, were the time not over. */
static void call_all(zkr_ticket *ticket, int state, void *ctx)
{
    (void)ticket;
    (void)state;
    (void)ctx;
    calls++;
    zkf_hurry(true);
    for (size_t i = 0; i < BLOCKING; i++) {
        told[i] = blocking[i].call();
        messages += told[i] == ZKR_ESTATE && zkr_last_error()->code == ZKR_ESTATE;
    }
    zkf_hurry(false);
}

static void never(zkr_leadership *lead, void *ctx)
{
    (void)lead;
    (void)ctx;
}

static void open_all(void)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.dispatch_by_application = 1;
    c = zkf_open(NULL, &o);
    assert_int_equal(zkr__dispatch_begin_by_hand(&c->dispatch), 0);
    ZKT_MUST(zkr_mutex_create(&m, c, "/lock", NULL));
    ZKT_MUST(zkr_leader_latch_create(&l, c, "/latch", "x", NULL));
    ZKT_MUST(zkr_leader_latch_start(l));
    ZKT_MUST(zkr_leader_selector_create(&s, c, "/selector", "x", never, NULL, NULL));
    s->lead.s = s;
    ZKT_MUST(zkr_semaphore_create(&permits, c, "/permits", 1, NULL));
    ZKT_MUST(zkr_multi_lock_create(&both, c, (const char *const[]){"/one", "/two"}, 2,
                                   NULL));
}

static void close_all(void)
{
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
    ZKT_MUST(zkr_multi_lock_destroy(both));
    ZKT_MUST(zkr_semaphore_destroy(permits));
    ZKT_MUST(zkr_leader_selector_destroy(s));
    ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_SILENT));
    ZKT_MUST(zkr_leader_latch_destroy(l));
    ZKT_MUST(zkr_mutex_destroy(m));
    zkf_close(c);
}

static void what_blocks_is_refused_in_a_callback(void **state)
{
    (void)state;
    open_all();
    ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, call_all, NULL, &t));
    zkf_pass(c, SECOND);
    assert_true(zkr_client_dispatch(c, 0) > 0);
    assert_int_equal(calls, 1);
    for (size_t i = 0; i < BLOCKING; i++) {
        if (told[i] != ZKR_ESTATE) {
            print_error("%s(): %s\n", blocking[i].name, zkr_err_name(told[i]));
        }
    }
    assert_int_equal(messages, BLOCKING);
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_HELD);
    close_all();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_blocks_is_refused_in_a_callback),
    };
    return zkt_run(argc, argv, tests, NULL, NULL);
}
