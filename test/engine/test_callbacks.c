/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What blocks is refused in a callback: on the fake, where a call that waits finds its time over at once. Here
 * is every function that says "Blocks: yes"; static.blocking compares it with the headers.
 */
#include <zkr/guard.h>
#include <zkr/survey.h>

#include "on_fake.h"
#include "recipes/leader_selector.h"

static zkr_client *c;
static zkr_mutex *m;
static zkr_ticket *t; /* held */
static zkr_leader_latch *l;
static zkr_leader_selector *s;
static zkr_semaphore *permits;
static zkr_multi_lock *both;

static int calls, checked, wrong;

static void check(int rc, const char *call)
{
    checked++;
    if (rc != ZKR_ESTATE || zkr_last_error()->code != ZKR_ESTATE) {
        print_error("%s is %s\n", call, zkr_err_name(rc));
        wrong++;
    }
}

#define REFUSED(call) check((call), #call)

static void call_of_client(void)
{
    zkr_node node;
    zkr_survey *found;
    REFUSED(zkr_client_wait_connected(c, SECOND));
    REFUSED(zkr_client_flush(c, SECOND));
    REFUSED(zkr_client_get(c, "/", NULL, 0, &node, sizeof(node)));
    REFUSED(zkr_client_dispatch(c, 0));
    REFUSED(zkr_client_close(c));
    REFUSED(zkr_survey_read(c, "/", 0, &found));
}

static void call_of_locks(void)
{
    zkr_contenders *list;
    zkr_ticket *another;
    REFUSED(zkr_mutex_acquire(m, SECOND));
    REFUSED(zkr_mutex_acquire(m, 0));
    REFUSED(zkr_mutex_contenders(m, &list));
    REFUSED(zkr_mutex_watch(m, SECOND));
    REFUSED(zkr_mutex_await_free(m, SECOND));
    REFUSED(zkr_mutex_revoke(m));
    REFUSED(zkr_mutex_revoke_node(m, "x-lock-0000000000"));
    REFUSED(zkr_mutex_evict(m, "x-lock-0000000000"));
    REFUSED(zkr_mutex_multi(m, 0, NULL, NULL, SECOND));
    REFUSED(zkr_mutex_release_multi(m, 0, NULL, NULL, SECOND));
    REFUSED(zkr_ticket_wait(t, SECOND));
    REFUSED(zkr_ticket_multi(t, 0, NULL, NULL, SECOND));
    REFUSED(zkr_ticket_release_multi(t, 0, NULL, NULL, SECOND));
    REFUSED(zkr_semaphore_acquire(permits, 1, SECOND, &another));
    REFUSED(zkr_semaphore_holders(permits, &list));
    REFUSED(zkr_multi_lock_acquire(both, SECOND, &another));
}

/* All but zkr_leader_selector_stop(), which a callback may call: it does not wait there. */
static void call_of_leaders(void)
{
    char text[64];
    zkr_contenders *list;
    REFUSED(zkr_leader_latch_await(l, SECOND));
    REFUSED(zkr_leader_latch_leader(l, text, sizeof(text)));
    REFUSED(zkr_leader_latch_participants(l, &list));
    REFUSED(zkr_leader_latch_watch(l, SECOND));
    REFUSED(zkr_leader_selector_leader(s, text, sizeof(text)));
    REFUSED(zkr_leader_selector_participants(s, &list));
    REFUSED(zkr_leadership_wait(&s->lead, SECOND));
}

/* What would wait here would wait for ever, were the time not over. */
static void call_all(zkr_ticket *ticket, int state, void *ctx)
{
    (void)ticket;
    (void)state;
    (void)ctx;
    calls++;
    zkf_hurry(true);
    call_of_client();
    call_of_locks();
    call_of_leaders();
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
    c = open_client(&o);
    assert_int_equal(zkr__dispatch_begin_by_hand(&c->dispatch), 0);
    m = mutex_at(c, "/lock", NULL);
    l = latch_with(c, NULL);
    ZKT_MUST(zkr_leader_latch_start(l));
    ZKT_MUST(zkr_leader_selector_create(&s, c, "/selector", "x", never, NULL, NULL));
    s->lead.s = s;
    ZKT_MUST(zkr_semaphore_create(&permits, c, "/permits", 1, NULL));
    ZKT_MUST(zkr_multi_lock_create(&both, c, (const char *const[]){"/one", "/two"}, 2,
                                   NULL));
}

static void close_all(void)
{
    end(t);
    ZKT_MUST(zkr_multi_lock_destroy(both));
    ZKT_MUST(zkr_semaphore_destroy(permits));
    ZKT_MUST(zkr_leader_selector_destroy(s));
}

ZKT_UNIT_CASE(what_blocks_is_refused_in_a_callback)
{
    open_all();
    ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, call_all, NULL, &t));
    zkf_pass(c, SECOND);
    assert_true(zkr_client_dispatch(c, 0) > 0);
    assert_int_equal(calls, 1);
    assert_true(checked > 0);
    assert_int_equal(wrong, 0);
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_HELD);
    close_all();
}
