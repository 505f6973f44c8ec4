/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of locks on the ensemble of ./run cluster, while `docker kill` and `docker pause` take its leader away. Only
 * `./run cluster test` runs them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cli/cli.h"
#include "actor.h"
#include "fixture.h"
#include "fourlw.h"
#include "holder.h"
#include "keep.h"
#include "servers.h"

enum { SHORT_MS = 3000, LONG_MS = 10000, PATIENCE_MS = 60000 };

static int look_for_the_cluster(char **argv, int *status)
{
    *status = 64;
    return getenv("ZKR_SERVERS") ? 0 : -1; /* for ./run cluster test only */
}

__attribute__((constructor)) static void register_it(void)
{
    zkt_at_start(look_for_the_cluster);
}

static void heal(void *unused)
{
    cluster_heal();
}

/* Makes all servers run, now and at the end of the case. */
static void begin(void)
{
    static int end;
    cluster_heal();
    zkt_keep(&end, heal);
}

/*
 * Returns a client that is connected to server @index and may move to any other. Each client starts at a random server.
 */
static zkr_client *client_at(int index, int64_t session_ms)
{
    for (int tries = 0; tries < 200; tries++) {
        zkr_client *c = zkt_client(zkt_servers(), session_ms);
        if (zkt_cons_received(cluster_host(index), zkr_client_session_id(c)) >= 0) {
            return c;
        }
        zkt_close(c);
    }
    zkt_fail("none of 200 clients went to %s", cluster_host(index));
}

static void expect_handed_over(struct holder *from, struct holder *to)
{
    holder_await_grant(to);
    assert_true(atomic_load(&to->granted_at) >= atomic_load(&from->sure_until));
    assert_true(to->token > from->token);
}

/* Writes the names of the nodes in the queue, in order. */
static void queue_text(const char *path, char *text, size_t size)
{
    zkr_contenders *list = NULL;
    zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
    zkr_mutex *m = zkt_mutex_at(c, path, NULL);
    ZKT_MUST(zkr_mutex_contenders(zkt_settled(m), &list));
    text[0] = '\0';
    for (size_t i = 0; i < zkr_contenders_count(list); i++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, size - used, "%s ",
                       zkr_contenders_get(list, i)->node);
    }
    zkr_contenders_free(list);
    zkt_destroy(m);
    zkt_close(c);
}

/* ---- a hold that survives ---------------------------------------------------------- */

/* Sessions that outlive the fault. @h holds and @near waits, both at the leader; @far waits at another server. */
struct kept {
    const char *path;
    struct holder *h, *far, *near;
    char queue[512];
};

static void begin_kept(struct kept *k, int leader)
{
    k->path = zkt_child("kept");
    k->h = holder_begin(client_at(leader, LONG_MS), k->path, 0);
    k->far = holder_begin(client_at((leader + 1) % CLUSTER_SIZE, LONG_MS), k->path, 1);
    k->near = holder_begin(client_at(leader, LONG_MS), k->path, 2);
    queue_text(k->path, k->queue, sizeof(k->queue));
    assert_non_null(strstr(k->queue, strrchr(k->h->node, '/') + 1));
}

/* Expects the same nodes in the same order, and no grant to a waiter. Then each waiter gets the lock in turn. */
static void expect_kept(struct kept *k, int64_t after_fault)
{
    char queue[512];
    /* A bound this late proves that writes were sent and answered after the fault. */
    ZKT_EVENTUALLY(atomic_load(&k->h->sure_until) > after_fault + LONG_MS, PATIENCE_MS);
    queue_text(k->path, queue, sizeof(queue));
    assert_string_equal(k->queue, queue);
    assert_int_equal(atomic_load(&k->h->lost), 0);
    assert_true(atomic_load(&k->h->valid_for) > 0);
    assert_int_equal(atomic_load(&k->far->acquired), ZKT_NOT_YET);
    assert_int_equal(atomic_load(&k->near->acquired), ZKT_NOT_YET);
    ZKT_MUST(holder_finish(k->h));
    expect_handed_over(k->h, k->far);
    ZKT_MUST(holder_finish(k->far));
    expect_handed_over(k->far, k->near);
    ZKT_MUST(holder_finish(k->near));
    holder_close(k->h);
    holder_close(k->far);
    holder_close(k->near);
}

/* ---- a hold that is lost ----------------------------------------------------------- */

/* A holder that loses its hold because of the fault, and the next contender in the queue. */
struct lost {
    struct holder *h, *next;
};

/* If @pinned, the holder knows only the leader. Otherwise it knows all servers. */
static void begin_lost(struct lost *k, int leader, bool pinned)
{
    const char *path = zkt_child(pinned ? "pinned" : "free");
    k->h = holder_begin(pinned ? zkt_client(cluster_host(leader), SHORT_MS)
                               : client_at(leader, SHORT_MS),
                        path, 0);
    k->next = holder_begin(client_at((leader + 1) % CLUSTER_SIZE, LONG_MS), path, 1);
}

/* Expects that the promise of the hold ends, and that the loss is reported, before the next contender gets the lock. */
static void expect_lost(struct lost *k, int64_t fault)
{
    holder_await_grant(k->next);
    print_message("sure for %lld ms more, granted after %lld ms\n",
                  (long long)(atomic_load(&k->h->sure_until) - fault),
                  (long long)(atomic_load(&k->next->granted_at) - fault));
    expect_handed_over(k->h, k->next);
    assert_int_equal(atomic_load(&k->h->lost), 1);
    assert_true(atomic_load(&k->h->lost_at) <= atomic_load(&k->next->granted_at));
}

/*
 * Called when all servers are back. Expects that the hold stays lost, and that its client can acquire the lock again.
 */
static void expect_lost_for_good(struct lost *k)
{
    ZKT_BECOMES(zkr_client_state(k->h->c), ZKR_STATE_CONNECTED, PATIENCE_MS);
    assert_true(atomic_load(&k->h->sure_until) <= atomic_load(&k->next->granted_at));
    ZKT_RC(holder_finish(k->h), ZKR_ESESSION);
    assert_true(atomic_load(&k->next->valid_for) > 0);
    ZKT_MUST(holder_finish(k->next));
    ZKT_MUST(zkr_mutex_acquire(k->h->m, PATIENCE_MS));
    int64_t token = 0;
    ZKT_MUST(zkr_mutex_fencing_token(k->h->m, &token));
    assert_true(token > k->next->token);
    ZKT_MUST(zkr_mutex_release(k->h->m));
    holder_close(k->h);
    holder_close(k->next);
}

/* ---- the command ------------------------------------------------------------------- */

static const char *begin_command(struct cli *c)
{
    const char *path = zkt_child("command");
    CLI_START_PIPED(c, "lock", "-i", "the-holder", path, "cat");
    ZKT_BECOMES(zkt_children_count(zkt_servers(), path), 1, PATIENCE_MS);
    return path;
}

/* Expects that the command still runs under the lock, and that another zkr gets no lock. Then ends the command. */
static void expect_command(struct cli *c, const char *path)
{
    struct cli s;
    assert_int_equal(CLI("lock", "-n", path, "true"), 1);
    assert_int_equal(CLI_RUN(&s, "status", path), 0);
    assert_non_null(strstr(cli_out(&s), "the-holder"));
    zkt_put_byte(c->in, '!');
    ZKT_BECOMES(strcmp(cli_out(c), "!"), 0, PATIENCE_MS);
    (void)close(c->in); /* cat ends at the end of its input */
    c->in = -1;
    assert_int_equal(cli_wait(c), 0);
    /* If no server answers the release before zkr ends, the node stays until the session ends. */
    int64_t start = zkt_now_ms();
    ZKT_BECOMES(zkt_children_count(zkt_servers(), path), 0, PATIENCE_MS);
    print_message("node gone after %lld ms\n", (long long)(zkt_now_ms() - start));
}

/* ---- the leader -------------------------------------------------------------------- */

/*
 * The leader is killed. Clients that know all servers reconnect, and keep their nodes, places and tokens. A holder that
 * knows no other server loses its hold before the next contender gets the lock.
 */
ZKT_CASE(the_death_of_the_leader_costs_those_who_know_no_other)
{
    begin();
    int leader = cluster_leader(-1);
    struct kept kept;
    struct lost lost;
    struct cli c;
    begin_lost(&lost, leader, true);
    begin_kept(&kept, leader);
    const char *path = begin_command(&c);
    zkt_sleep_ms(SHORT_MS); /* until probes have extended the first bound */
    const int64_t start = zkt_now_ms();
    cluster_kill(leader);
    (void)cluster_leader(leader);
    const int64_t after_fault = zkt_now_ms();
    print_message("new leader: %lld ms\n", (long long)(after_fault - start));
    expect_command(&c, path);
    expect_kept(&kept, after_fault);
    expect_lost(&lost, start);
    cluster_heal();
    expect_lost_for_good(&lost);
}

/* The leader is paused for less than the session timeout. No hold is lost, and no waiter gets the lock. */
ZKT_CASE(a_pause_within_the_session_changes_nothing)
{
    begin();
    int leader = cluster_leader(-1);
    struct kept kept;
    begin_kept(&kept, leader);
    cluster_pause(leader);
    zkt_sleep_ms(SHORT_MS);
    cluster_unpause(leader);
    assert_int_equal(cluster_leader(-1), leader);
    expect_kept(&kept, zkt_now_ms());
}

/*
 * The leader is paused for longer than the session timeout, while another server becomes the leader. A holder loses its
 * hold before the next contender gets the lock, even if the holder knows all servers. When the old leader runs again,
 * it does not restore a hold.
 */
ZKT_CASE(a_pause_beyond_the_session_ends_the_hold_first)
{
    begin();
    int leader = cluster_leader(-1);
    struct lost pinned, free_to_go;
    begin_lost(&pinned, leader, true);
    begin_lost(&free_to_go, leader, false);
    zkt_sleep_ms(SHORT_MS);
    const int64_t start = zkt_now_ms();
    cluster_pause(leader);
    expect_lost(&pinned, start);
    expect_lost(&free_to_go, start);
    cluster_heal();
    expect_lost_for_good(&pinned);
    expect_lost_for_good(&free_to_go);
}

/* ---- many -------------------------------------------------------------------------- */

enum { CROWD = 4, ROUNDS = 3, HOLDS_MAX = 100000, HOLD_MS = 5 };

struct term {
    int64_t token, from, until;
};

static struct {
    atomic_bool stop;
    atomic_int failed;
    atomic_int count;
    struct term terms[HOLDS_MAX];
} crowd;

/* Acquires the lock, holds it for a moment and releases it, until the test stops. */
static void *take_turns(void *arg)
{
    struct holder *h = arg;
    while (!atomic_load(&crowd.stop)) {
        struct term t = {0};
        if (zkr_mutex_acquire(h->m, ZKR_FOREVER) != ZKR_OK) {
            atomic_fetch_add(&crowd.failed, 1);
            break;
        }
        t.from = zkt_now_ms();
        atomic_store(&h->sure_until, 0);
        (void)zkr_mutex_fencing_token(h->m, &t.token);
        bool sure = holder_look(h);
        for (int64_t end = t.from + HOLD_MS; sure && zkt_now_ms() < end;) {
            zkt_sleep_ms(1);
            sure = holder_look(h);
        }
        t.until = sure ? zkt_now_ms() : atomic_load(&h->sure_until);
        (void)zkr_mutex_release(h->m); /* returns ZKR_ESESSION if the hold was lost */
        int i = atomic_fetch_add(&crowd.count, 1);
        if (t.until > 0 && i < HOLDS_MAX) {
            crowd.terms[i] = t;
        }
    }
    return NULL;
}

static int by_token(const void *a, const void *b)
{
    const struct term *x = a, *y = b;
    return (x->token > y->token) - (x->token < y->token);
}

static void expect_no_overlap(int count)
{
    int sure = 0;
    qsort(crowd.terms, (size_t)count, sizeof(crowd.terms[0]), by_token);
    for (int i = 0; i + 1 < count; i++) {
        const struct term *t = &crowd.terms[i];
        if (t->token > 0) {
            sure++;
            assert_true(t[1].token > t->token);
            assert_true(t[1].from >= t->until);
        }
    }
    print_message("%d terms, %d of them sure\n", count, sure);
    assert_true(sure > 100);
}

/* Leaders are killed and paused while many clients compete. Terms, each up to the end of its promise, never overlap. */
ZKT_CASE(a_crowd_never_has_two_sure_holders)
{
    begin();
    struct holder *h[CROWD];
    for (int i = 0; i < CROWD; i++) {
        h[i] = holder_new(client_at(i % CLUSTER_SIZE, SHORT_MS));
        h[i]->m = zkt_mutex(h[i]->c);
        assert_int_equal(pthread_create(&h[i]->thread, NULL, take_turns, h[i]), 0);
    }
    for (int round = 0; round < ROUNDS; round++) {
        int leader = cluster_leader(-1);
        int before = atomic_load(&crowd.count);
        (round % 2 == 0 ? cluster_kill : cluster_pause)(leader);
        (void)cluster_leader(leader);
        ZKT_EVENTUALLY(atomic_load(&crowd.count) > before + CROWD, PATIENCE_MS);
        cluster_heal();
    }
    int before = atomic_load(&crowd.count);
    ZKT_EVENTUALLY(atomic_load(&crowd.count) > before + 10 * CROWD, PATIENCE_MS);
    atomic_store(&crowd.stop, true);
    for (int i = 0; i < CROWD; i++) {
        pthread_join(h[i]->thread, NULL);
        holder_close(h[i]);
    }
    assert_int_equal(atomic_load(&crowd.failed), 0);
    assert_true(atomic_load(&crowd.count) < HOLDS_MAX);
    expect_no_overlap(atomic_load(&crowd.count));
}
