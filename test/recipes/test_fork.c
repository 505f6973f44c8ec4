/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forked children: every public function refuses what they inherited, and nothing that they do, their
 * end included, touches what the parent holds.
 */
#define THREADED /* zoo_multi(), for the guard */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include <zkr/guard.h>

#include "latches.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 20000 };

/* All that a child inherits, in use. */
struct inherited {
    zkr_client *c;
    zkr_mutex *m;
    zkr_leader_latch *l;
    zkr_leader_selector *s;
    zkr_leadership *lead;
    zkr_contenders *list;
};

static int wrong; /* in the child */

static void expect(int64_t got, int64_t wanted, const char *call)
{
    if (got != wanted) {
        (void)fprintf(stderr, "in the child: %s: %lld, not %lld\n", call,
                      (long long)got, (long long)wanted);
        wrong++;
    }
}

#define REFUSED(call) expect((call), ZKR_ESTATE, #call)
#define IS(call, value) expect((int64_t)(call), (value), #call)

static int use_mutex(void *arg)
{
    const struct inherited *in = arg;
    zkr_mutex *m = in->m;
    char text[256];
    int64_t token;
    zkr_contenders *list;
    struct zoo_op op;
    REFUSED(zkr_mutex_create(&m, in->c, "/x", NULL));
    REFUSED(zkr_mutex_acquire(m, 0));
    REFUSED(zkr_mutex_acquire(m, ZKR_FOREVER));
    REFUSED(zkr_mutex_release(m));
    REFUSED(zkr_mutex_cancel(m));
    REFUSED(zkr_mutex_fencing_token(m, &token));
    REFUSED(zkr_mutex_node(m, text, sizeof(text)));
    REFUSED(zkr_mutex_guard(m, &op));
    REFUSED(zkr_mutex_contenders(m, &list));
    REFUSED(zkr_mutex_watch(m, 0));
    REFUSED(zkr_mutex_destroy(m));
    IS(zkr_mutex_is_held(m), false);
    IS(zkr_mutex_is_held_in_process(m), false);
    IS(zkr_mutex_depth(m), 0);
    IS(zkr_mutex_valid_for_ms(m), 0);
    return wrong;
}

static int use_client(void *arg)
{
    const struct inherited *in = arg;
    zkr_client *c = in->c;
    zkr_stats stats;
    REFUSED(zkr_client_wait_connected(c, 0));
    REFUSED(zkr_client_flush(c, 0));
    REFUSED(zkr_client_stats(c, &stats, sizeof(stats)));
    REFUSED(zkr_client_close(c));
    IS(zkr_client_state(c), ZKR_STATE_CLOSED);
    IS(zkr_client_session_id(c), 0);
    IS(zkr_client_session_timeout_ms(c), 0);
    IS(zkr_client_valid_for_ms(c), 0);
    return wrong;
}

static int use_latch(void *arg)
{
    const struct inherited *in = arg;
    zkr_leader_latch *l = in->l;
    char text[256];
    int64_t token;
    zkr_contenders *list;
    REFUSED(zkr_leader_latch_create(&l, in->c, "/x", "", NULL));
    REFUSED(zkr_leader_latch_start(l));
    REFUSED(zkr_leader_latch_stop(l, ZKR_LATCH_NOTIFY));
    REFUSED(zkr_leader_latch_await(l, ZKR_FOREVER));
    REFUSED(zkr_leader_latch_state(l));
    REFUSED(zkr_leader_latch_fencing_token(l, &token));
    REFUSED(zkr_leader_latch_node(l, text, sizeof(text)));
    REFUSED(zkr_leader_latch_leader(l, text, sizeof(text)));
    REFUSED(zkr_leader_latch_participants(l, &list));
    REFUSED(zkr_leader_latch_watch(l, 0));
    REFUSED(zkr_leader_latch_destroy(l));
    IS(zkr_leader_latch_has_leadership(l), false);
    IS(zkr_leader_latch_valid_for_ms(l), 0);
    IS(zkr_leader_latch_term_valid_for_ms(l, 1), 0);
    return wrong;
}

static void never(zkr_leadership *lead, void *ctx)
{
    (void)lead;
    (void)ctx;
}

static int use_selector(void *arg)
{
    const struct inherited *in = arg;
    zkr_leader_selector *s = in->s;
    char text[256];
    zkr_contenders *list;
    REFUSED(zkr_leader_selector_create(&s, in->c, "/x", "", never, NULL, NULL));
    REFUSED(zkr_leader_selector_start(s));
    REFUSED(zkr_leader_selector_requeue(s));
    REFUSED(zkr_leader_selector_interrupt(s));
    REFUSED(zkr_leader_selector_stop(s, 0));
    REFUSED(zkr_leader_selector_state(s));
    REFUSED(zkr_leader_selector_leader(s, text, sizeof(text)));
    REFUSED(zkr_leader_selector_participants(s, &list));
    REFUSED(zkr_leader_selector_destroy(s));
    IS(zkr_leader_selector_has_leadership(s), false);
    REFUSED(zkr_leadership_wait(in->lead, ZKR_FOREVER));
    REFUSED(zkr_leadership_node(in->lead, text, sizeof(text)));
    IS(zkr_leadership_valid_for_ms(in->lead), 0);
    IS(zkr_leadership_fencing_token(in->lead), 0);
    return wrong;
}

/* A list belongs to nobody: a child may read and free its copy. */
static int use_list(void *arg)
{
    const struct inherited *in = arg;
    IS(zkr_contenders_count(in->list), 1);
    IS(zkr_contenders_get(in->list, 0)->fencing_token > 0, true);
    zkr_contenders_free(in->list);
    return wrong;
}

static pthread_key_t last;
static int rounds;

/* The second round of destructors comes when all of the first are done. */
static void end_process(void *arg)
{
    if (rounds++ > 0) {
        _exit(0);
    }
    (void)pthread_setspecific(last, arg);
}

/* In the child the copy of the thread that holds ends, and with it the process. */
static int end_thread(void *arg)
{
    if (pthread_key_create(&last, end_process) != 0 ||
        pthread_setspecific(last, arg) != 0) {
        return 1;
    }
    pthread_exit(NULL);
}

/* Some thread of the parent may have the client's lock at that moment: then it is never free here. */
static void in_child(int (*fn)(void *arg), struct inherited *in)
{
    zkr__lock(in->c);
    pid_t pid = zkt_fork(fn, in);
    zkr__unlock(in->c);
    assert_int_equal(zkt_join(pid, PATIENCE_MS), 0);
}

/* A child neither uses nor releases a mutex that it inherits. */
ZKT_CASE(a_mutex_is_the_parents)
{
    struct inherited in = {.c = zkt_client(zkt_servers(), SESSION_MS)};
    int64_t before, after;
    in.m = zkt_mutex(in.c);
    ZKT_MUST(zkr_mutex_acquire(in.m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_fencing_token(in.m, &before));
    in.list = zkt_contenders(in.m);
    in_child(use_client, &in);
    in_child(use_mutex, &in);
    in_child(use_list, &in);
    in_child(end_thread, &in);
    ZKT_MUST(zkr_mutex_fencing_token(in.m, &after));
    assert_int_equal(after, before);
    assert_true(zkr_mutex_is_held(in.m));
    assert_int_equal(zkr_mutex_depth(in.m), 1);
    assert_int_equal(zkt_nodes(), 1);
    ZKT_MUST(zkr_mutex_release(in.m));
}

/* Nor leads it by a latch. */
ZKT_CASE(a_latch_is_the_parents)
{
    struct inherited in = {.c = zkt_client(zkt_servers(), SESSION_MS)};
    in.l = zkt_latch(in.c, "parent", NULL);
    zkt_lead(in.l);
    in_child(use_client, &in);
    in_child(use_latch, &in);
    in_child(end_thread, &in);
    assert_true(zkr_leader_latch_has_leadership(in.l));
    assert_int_equal(zkt_nodes(), 1);
}

static _Atomic(zkr_leadership *) leading;

static void take_leadership(zkr_leadership *lead, void *ctx)
{
    (void)ctx;
    atomic_store(&leading, lead);
    (void)zkr_leadership_wait(lead, ZKR_FOREVER);
    atomic_store(&leading, NULL);
}

/* Nor by a selector, whose thread it does not have. */
ZKT_CASE(a_selector_is_the_parents)
{
    struct inherited in = {.c = zkt_client(zkt_servers(), SESSION_MS)};
    ZKT_MUST(zkr_leader_selector_create(&in.s, in.c, zkt_path(), "parent",
                                        take_leadership, NULL, NULL));
    ZKT_MUST(zkr_leader_selector_start(in.s));
    ZKT_EVENTUALLY(atomic_load(&leading), PATIENCE_MS);
    in.lead = atomic_load(&leading);
    in_child(use_client, &in);
    in_child(use_selector, &in);
    in_child(end_thread, &in);
    assert_true(zkr_leader_selector_has_leadership(in.s));
    assert_int_equal(zkt_nodes(), 1);
    ZKT_MUST(zkr_leader_selector_stop(in.s, PATIENCE_MS));
    ZKT_MUST(zkr_leader_selector_destroy(in.s));
}
