/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock on the ensemble of ./run cluster, while `docker kill` and `docker pause` take its
 * leader away. Run by ./run cluster test only.
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
    (void)argv;
    *status = 64;
    return getenv("ZKR_SERVERS") ? 0 : -1; /* for ./run cluster test only */
}

__attribute__((constructor)) static void register_it(void)
{
    zkt_at_start(look_for_the_cluster);
}

static void heal(void *unused)
{
    (void)unused;
    cluster_heal();
}

/* All servers run, and do so again at the end. */
static void begin(void)
{
    static int end;
    cluster_heal();
    zkt_keep(&end, heal);
}

/* A client connected to server @index, free to go to any. Which one is first is chance. */
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

/* The names in the queue, in its order, as one text. */
static void queue_text(char *text, size_t size)
{
    zkr_contenders *list = NULL;
    zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_contenders(m, &list));
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

/* ---- within the session ------------------------------------------------------------ */

/* Its hold goes on, by the same node, after @fault took the leader away from all three. */
static void expect_kept(void (*fault)(int leader))
{
    char before[512], after[512];
    int leader = cluster_leader(-1);
    struct holder *h = holder_begin(client_at(leader, LONG_MS), 0);
    struct holder *far =
        holder_begin(client_at((leader + 1) % CLUSTER_SIZE, LONG_MS), 1);
    struct holder *near = holder_begin(client_at(leader, LONG_MS), 2);
    queue_text(before, sizeof(before));
    fault(leader);
    /* A bound this late comes from writes sent after the fault, and answered. */
    const int64_t after_fault = zkt_now_ms();
    ZKT_EVENTUALLY(atomic_load(&h->sure_until) > after_fault + LONG_MS, PATIENCE_MS);
    queue_text(after, sizeof(after));
    assert_string_equal(before, after);
    assert_int_equal(atomic_load(&h->lost), 0);
    assert_true(atomic_load(&h->valid_for) > 0);
    assert_int_equal(atomic_load(&far->acquired), ZKT_NOT_YET);
    assert_int_equal(atomic_load(&near->acquired), ZKT_NOT_YET);
    assert_non_null(strstr(before, strrchr(h->node, '/') + 1));
    ZKT_MUST(holder_finish(h));
    expect_handed_over(h, far);
    ZKT_MUST(holder_finish(far));
    expect_handed_over(far, near);
    ZKT_MUST(holder_finish(near));
    holder_close(h);
    holder_close(far);
    holder_close(near);
}

static void kill_leader(int leader)
{
    cluster_kill(leader);
    int64_t start = zkt_now_ms();
    (void)cluster_leader(leader);
    print_message("new leader: %lld ms\n", (long long)(zkt_now_ms() - start));
}

/* The leader is killed: holder and waiters connect elsewhere and keep node, place and token. */
ZKT_CASE(the_death_of_the_leader_changes_nothing)
{
    begin();
    expect_kept(kill_leader);
}

static void pause_briefly(int leader)
{
    cluster_pause(leader);
    zkt_sleep_ms(SHORT_MS);
    cluster_unpause(leader);
    assert_int_equal(cluster_leader(-1), leader);
}

/* The leader stands still for less than the session: nothing is lost, nobody is granted. */
ZKT_CASE(a_pause_within_the_session_changes_nothing)
{
    begin();
    expect_kept(pause_briefly);
}

/* ---- beyond the session ------------------------------------------------------------ */

/* The hold ends before the next one begins, and never comes back, when @fault takes the leader
 * away for good from a holder that knows of no other server (@pinned), or that does. */
static void
expect_lost_in_time(void (*fault)(int index), void (*repair)(int index), bool pinned)
{
    int leader = cluster_leader(-1);
    struct holder *h = holder_begin(pinned ? zkt_client(cluster_host(leader), SHORT_MS)
                                           : client_at(leader, SHORT_MS),
                                    0);
    struct holder *next =
        holder_begin(client_at((leader + 1) % CLUSTER_SIZE, LONG_MS), 1);
    zkt_sleep_ms(SHORT_MS); /* some probes, so that the bound is not the first */
    const int64_t start = zkt_now_ms();
    fault(leader);
    holder_await_grant(next);
    const int64_t claimed = atomic_load(&h->sure_until);
    print_message("sure for %lld ms more, granted after %lld ms\n",
                  (long long)(claimed - start),
                  (long long)(atomic_load(&next->granted_at) - start));
    expect_handed_over(h, next);
    assert_int_equal(atomic_load(&h->lost), 1);
    assert_true(atomic_load(&h->lost_at) <= atomic_load(&next->granted_at));
    repair(leader);
    cluster_heal();
    ZKT_BECOMES(zkr_client_state(h->c), ZKR_STATE_CONNECTED, PATIENCE_MS);
    assert_int_equal(atomic_load(&h->sure_until), claimed);
    ZKT_RC(holder_finish(h), ZKR_ESESSION);
    assert_true(atomic_load(&next->valid_for) > 0);
    ZKT_MUST(holder_finish(next));
    ZKT_MUST(zkr_mutex_acquire(h->m, PATIENCE_MS));
    int64_t token = 0;
    ZKT_MUST(zkr_mutex_fencing_token(h->m, &token));
    assert_true(token > next->token);
    ZKT_MUST(zkr_mutex_release(h->m));
    holder_close(h);
    holder_close(next);
}

/* Killed together with the only way to the others: the next one waits for the session's end. */
ZKT_CASE(a_holder_whose_server_dies_is_sure_no_longer_than_its_session)
{
    begin();
    expect_lost_in_time(cluster_kill, cluster_start, true);
}

/* A leader that stands still and comes back when another leads makes nobody sure again. */
ZKT_CASE(a_holder_behind_a_paused_leader_is_not_sure_again)
{
    begin();
    expect_lost_in_time(cluster_pause, cluster_unpause, true);
}

/* No server answers for longer than the session: lost, though the session may live on. */
ZKT_CASE(a_pause_beyond_the_session_ends_the_hold_first)
{
    begin();
    expect_lost_in_time(cluster_pause, cluster_unpause, false);
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

/* Acquire, claim for a moment, release, again and again. */
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
        (void)zkr_mutex_release(h->m); /* ZKR_ESESSION when it was lost */
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

/* Leaders are killed and paused under a crowd: terms that were sure never overlap. */
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

/* ---- the command ------------------------------------------------------------------- */

/* zkr holds across the death of the leader: its command goes on, and another one is refused. */
ZKT_CASE(the_command_goes_on_without_the_leader)
{
    begin();
    struct cli c, s;
    CLI_START_PIPED(&c, "lock", "-i", "the-holder", zkt_path(), "cat");
    ZKT_BECOMES(cli_queue(), 1, PATIENCE_MS);
    int leader = cluster_leader(-1);
    cluster_kill(leader);
    (void)cluster_leader(leader);
    assert_int_equal(CLI("lock", "-n", zkt_path(), "true"), 1);
    assert_int_equal(CLI_RUN(&s, "status", zkt_path()), 0);
    assert_non_null(strstr(cli_out(&s), "the-holder"));
    zkt_put_byte(c.in, '!');
    ZKT_BECOMES(strcmp(cli_out(&c), "!"), 0, PATIENCE_MS);
    (void)close(c.in); /* the end of its input is the end of cat */
    c.in = -1;
    assert_int_equal(cli_wait(&c), 0);
    /* A release that no server answers before zkr ends is left to the end of the session. */
    int64_t start = zkt_now_ms();
    ZKT_BECOMES(cli_queue(), 0, PATIENCE_MS);
    print_message("node gone after %lld ms\n", (long long)(zkt_now_ms() - start));
}
