/* SPDX-License-Identifier: Apache-2.0 */
/* Curator's read-write lock and ours on one path, in both directions. Argument: curator_peer.bsh. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "actor.h"
#include "fixture.h"
#include "peer.h"
#include "rwlocks.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000 };

/* Curator's readers admit our readers and block our writers. Its writers block both. */
ZKT_CASE(we_respect_curators_sides)
{
    struct peer *p = peer_start(CURATOR);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = sides_of(c);
    struct zkt_actor writer, reader;
    peer_ask(p, "side read", "ok");
    peer_ask(p, "acquire 5000", "true");
    ZKT_MUST(zkr_mutex_acquire(s.r, 0));
    ZKT_MUST(zkr_mutex_release(s.r));
    ZKT_RC(zkr_mutex_acquire(s.w, 0), ZKR_ETIMEDOUT);
    zkt_actor_queue(&writer, c, s.w, NULL);
    peer_ask(p, "release", "ok");
    zkt_actor_is_served(&writer);
    peer_ask(p, "side write", "ok");
    peer_ask(p, "acquire 5000", "true");
    ZKT_RC(zkr_mutex_acquire(s.r, 0), ZKR_ETIMEDOUT);
    ZKT_RC(zkr_mutex_acquire(s.w, 0), ZKR_ETIMEDOUT);
    zkt_actor_queue(&reader, c, s.r, NULL);
    zkt_actor_queue(&writer, c, s.w, NULL);
    peer_ask(p, "release", "ok");
    ZKT_MUST(zkt_actor_acquired(&reader));
    assert_int_equal(atomic_load(&writer.acquired), ZKT_NOT_YET);
    ZKT_MUST(zkt_actor_end(&reader));
    zkt_actor_is_served(&writer);
}

/* The same in the other direction. */
ZKT_CASE(curator_respects_our_sides)
{
    struct peer *p = peer_start(CURATOR);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = sides_of(c);
    ZKT_MUST(zkr_mutex_acquire(s.r, PATIENCE_MS));
    peer_ask(p, "side read", "ok");
    peer_ask(p, "acquire 5000", "true");
    peer_ask(p, "release", "ok");
    peer_ask(p, "side write", "ok");
    peer_ask(p, "acquire 300", "false");
    ZKT_MUST(zkr_mutex_release(s.r));
    ZKT_MUST(zkr_mutex_acquire(s.w, PATIENCE_MS));
    peer_ask(p, "acquire 300", "false");
    peer_ask(p, "side read", "ok");
    peer_ask(p, "acquire 300", "false");
    peer_say(p, "acquire 20000");
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(s.w));
    peer_expect(p, "true");
    peer_ask(p, "release", "ok");
}

/*
 * The queue is common: our reader does not overtake Curator's waiting writer, and Curator's reader does not
 * overtake ours.
 */
ZKT_CASE(the_queue_of_both_sides_is_one)
{
    struct peer *p = peer_start(CURATOR);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = sides_of(c);
    struct zkt_actor reader, writer;
    ZKT_MUST(zkr_mutex_acquire(s.r, PATIENCE_MS));
    peer_ask(p, "side write", "ok");
    peer_say(p, "acquire 20000");
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    zkt_actor_queue(&reader, c, s.r, NULL);
    assert_int_equal(zkt_waiting(c), 1);
    ZKT_MUST(zkr_mutex_release(s.r));
    peer_expect(p, "true");
    assert_int_equal(zkt_waiting(c), 1);
    peer_ask(p, "release", "ok");
    ZKT_MUST(zkt_actor_acquired(&reader));
    zkt_actor_queue(&writer, c, s.w, NULL);
    peer_ask(p, "side read", "ok");
    peer_say(p, "acquire 20000");
    ZKT_BECOMES(zkt_nodes(), 3, PATIENCE_MS);
    assert_true(peer_is_silent(p));
    ZKT_MUST(zkt_actor_end(&reader));
    ZKT_MUST(zkt_actor_acquired(&writer));
    assert_true(peer_is_silent(p));
    ZKT_MUST(zkt_actor_end(&writer));
    peer_expect(p, "true");
    peer_ask(p, "release", "ok");
}

/* Our downgrade admits Curator's readers, but not its writer, which waited before. */
ZKT_CASE(curator_respects_our_downgrade)
{
    static const char *const sides[] = {"side read", "side write"};
    struct peer *p = peer_start(CURATOR);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = sides_of(c);
    for (int writes = 0; writes < 2; writes++) {
        peer_ask(p, sides[writes], "ok");
        ZKT_MUST(zkr_mutex_acquire(s.w, PATIENCE_MS));
        ZKT_MUST(zkr_mutex_acquire(s.r, 0));
        peer_say(p, "acquire 20000");
        ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
        assert_true(peer_is_silent(p));
        ZKT_MUST(zkr_mutex_release(s.w));
        if (writes) {
            assert_true(peer_is_silent(p));
            ZKT_MUST(zkr_mutex_release(s.r));
            peer_expect(p, "true");
        } else {
            peer_expect(p, "true");
            assert_true(zkr_mutex_is_held(s.r));
            ZKT_MUST(zkr_mutex_release(s.r));
        }
        peer_ask(p, "release", "ok");
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    }
}

/* Curator's downgrade as in 5.4: a READ node with its own number. */
ZKT_CASE(we_respect_curators_downgrade)
{
    struct peer *p = peer_start(CURATOR);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = sides_of(c);
    struct zkt_actor writer;
    peer_ask(p, "side write", "ok");
    peer_ask(p, "acquire 5000", "true");
    peer_ask(p, "side read", "ok");
    peer_ask(p, "acquire 5000", "true");
    zkt_actor_queue(&writer, c, s.w, NULL);
    peer_ask(p, "side write", "ok");
    peer_ask(p, "release", "ok");
    ZKT_RC(zkr_mutex_acquire(s.w, 0), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(atomic_load(&writer.acquired), ZKT_NOT_YET);
    peer_ask(p, "side read", "ok");
    peer_ask(p, "release", "ok");
    zkt_actor_is_served(&writer);
}

/* --- together --- */

enum { FORKED = 3, CYCLES = 40, KILLS = 4, SHORT_MS = 6000 };

static char counter[256];

static int number(void)
{
    char text[32] = "";
    return zkt_get(zkt_servers(), counter, text, sizeof(text), NULL) == 0 ? atoi(text)
                                                                          : -1;
}

static bool add_one(void)
{
    char text[32];
    int seen = number();
    (void)snprintf(text, sizeof(text), "%d", seen + 1);
    return zkt_set(zkt_servers(), counter, text) == 0 && number() == seen + 1;
}

/* Does the same as curator_peer.bsh, with some downgrades. Runs forever if it will be killed. */
static int soak(void *for_ever)
{
    zkr_client *c = zkt_client(zkt_servers(), SHORT_MS);
    struct sides s = sides_of(c);
    bool right = true;
    for (int i = 0; right && (for_ever || i < CYCLES); i++) {
        bool writes = i % 3 == 0, stays = writes && i % 2 == 0;
        right = zkr_mutex_acquire(writes ? s.w : s.r, PATIENCE_MS) == ZKR_OK;
        right = right && (!writes || add_one());
        if (stays) {
            ZKT_MUST(zkr_mutex_acquire(s.r, 0));
            ZKT_MUST(zkr_mutex_release(s.w));
        }
        int seen = number();
        right = right && seen >= 0 && number() == seen;
        ZKT_MUST(zkr_mutex_release(writes && !stays ? s.w : s.r));
    }
    end_sides(&s);
    zkt_close(c);
    return right ? 0 : 1;
}

/*
 * Both libraries count under the write side and read under the read side, while holders of ours are killed. No count is
 * lost, which the version of the node shows, and no reader sees the number change.
 */
ZKT_CASE(both_count_exactly_while_holders_are_killed)
{
    static int for_ever = 1;
    char line[300];
    pid_t ours[FORKED];
    zkt_stat stat;
    (void)snprintf(counter, sizeof(counter), "%s", zkt_unique_path("counter"));
    assert_int_equal(zkt_create_path(zkt_servers(), counter), 0);
    assert_int_equal(zkt_set(zkt_servers(), counter, "1"), 0);
    struct peer *p = peer_start(CURATOR);
    for (int i = 0; i < FORKED; i++) {
        ours[i] = zkt_fork(soak, NULL);
    }
    (void)snprintf(line, sizeof(line), "read-write %d %s", CYCLES, counter);
    peer_say(p, line);
    for (int i = 0; i < KILLS; i++) {
        int before = number();
        pid_t doomed = zkt_fork(soak, &for_ever);
        ZKT_EVENTUALLY(number() > before, PATIENCE_MS);
        zkt_sleep_ms(200);
        assert_int_equal(kill(doomed, SIGKILL), 0);
        assert_int_equal(zkt_join(doomed, PATIENCE_MS), 128 + SIGKILL);
    }
    for (int i = 0; i < FORKED; i++) {
        assert_int_equal(zkt_join(ours[i], 3 * PATIENCE_MS), 0);
    }
    peer_expect(p, "true");
    char text[32] = "";
    assert_int_equal(zkt_get(zkt_servers(), counter, text, sizeof(text), &stat), 0);
    assert_int_equal(atoi(text), stat.version);
    assert_true(stat.version > CYCLES);
    printf("%d counts\n", stat.version);
    assert_int_equal(zkt_delete(zkt_servers(), counter), 0);
}
