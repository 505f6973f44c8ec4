/* SPDX-License-Identifier: Apache-2.0 */
/* The warning before a lease ends: when it comes, who gets it, and when there is none. */
#include <stdatomic.h>
#include <string.h>

#include "fixture.h"
#include "keep.h"

enum { SESSION_MS = 9000, SHORT_MS = 3000, WARN_MS = 2000, PATIENCE_MS = 30000 };

/* The reports of the callbacks for one hold after another. */
struct heard {
    atomic_int held, warned, lost;
    atomic_int wrong; /* calls out of order */
    _Atomic int64_t token, left_ms;
    const void *by;                    /* object of the last warning */
    void (*at_warning)(zkr_ticket *t); /* called on the dispatch thread */
};

static void note_warning(struct heard *h, const void *by, int64_t token, int64_t left)
{
    h->wrong += h->lost > 0 || left <= 0;
    h->by = by;
    h->token = token;
    h->left_ms = left;
    h->warned++;
}

static void on_warn(zkr_mutex *m, int64_t token, int64_t left_ms, void *ctx)
{
    note_warning(ctx, m, token, left_ms);
}

static void on_lost(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    ((struct heard *)ctx)->lost++;
}

static void on_ticket(zkr_ticket *t, int state, void *ctx)
{
    struct heard *h = ctx;
    if (state == ZKR_TICKET_WARNED) {
        int64_t token = 0;
        int64_t left = zkr_ticket_valid_for_ms(t);
        h->wrong += h->held != 1 || zkr_ticket_fencing_token(t, &token) != ZKR_OK;
        note_warning(h, t, token, left);
        if (h->at_warning) {
            h->at_warning(t);
        }
    }
    h->held += state == ZKR_TICKET_HELD;
    h->lost += state == ZKR_TICKET_LOST;
}

static void on_latch_gain(zkr_leader_latch *l, int64_t token, void *ctx)
{
    ((struct heard *)ctx)->held++;
}

static void on_latch_warn(zkr_leader_latch *l, int64_t token, int64_t left, void *ctx)
{
    struct heard *h = ctx;
    h->wrong += h->held != h->lost + 1;
    h->token = token;
    h->left_ms = left;
    h->warned++;
}

static void on_latch_loss(zkr_leader_latch *l, const zkr_lost *lost, void *ctx)
{
    ((struct heard *)ctx)->lost++;
}

static zkr_mutex *mutex_at(zkr_client *c, const char *name, int64_t ms, struct heard *h)
{
    return zkt_mutex_at(c, zkt_child(name),
                        &(const zkr_mutex_options){.size = sizeof(zkr_mutex_options),
                                                   .on_lost = on_lost,
                                                   .on_lost_ctx = h,
                                                   .warn_ms = ms,
                                                   .on_warn = ms > 0 ? on_warn : NULL,
                                                   .on_warn_ctx = h});
}

static zkr_ticket *ticket_of(zkr_mutex *m, struct heard *h)
{
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, on_ticket, h, &t));
    return t;
}

static void end_ticket(zkr_ticket *t)
{
    (void)zkr_ticket_release(t);
    ZKT_MUST(zkr_ticket_destroy(t));
}

static void expect_warned(struct heard *h, int64_t most_ms)
{
    ZKT_BECOMES(h->warned, 1, PATIENCE_MS);
    ZKT_IN_RANGE(h->left_ms, 1, most_ms);
    assert_int_equal(h->wrong, 0);
}

/* --- with a clock that stands still, and a server that is silent --- */

/* Stop the clock when this much of the lease is left. */
static void leave(zkr_client *c, int64_t left_ms)
{
    zkr__lock(c);
    zkt_door_stop_clock(c->lease.until - left_ms * ZKR__MS);
    zkr__wake_by(c, zkr__now(c));
    zkr__unlock(c);
}

/* Wait for the answers that are on their way, so that no later answer renews the lease, and silence the server. */
static void silence(zkt_proxy *p, zkr_client *c)
{
    ZKT_EVENTUALLY(zkr_client_valid_for_ms(c) > SESSION_MS / 2, PATIENCE_MS);
    zkt_proxy_blackhole(p);
    zkt_sleep_ms(20); /* for the data that the proxy had already read */
}

static void speak(zkt_proxy *p)
{
    zkt_door_stop_clock(0);
    zkt_proxy_heal(p);
}

/* Each hold is warned at its own warn_ms, and not earlier. */
ZKT_CASE(a_warning_comes_when_so_much_is_left)
{
    struct heard first = {0}, second = {0};
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_ticket *a = ticket_of(mutex_at(c, "a", WARN_MS, &first), &first);
    zkr_ticket *b = ticket_of(mutex_at(c, "b", WARN_MS / 2, &second), &second);
    ZKT_BECOMES(first.held + second.held, 2, PATIENCE_MS);
    silence(p, c);
    leave(c, WARN_MS + 1);
    zkt_sleep_ms(100);
    assert_int_equal(first.warned, 0);
    leave(c, WARN_MS);
    expect_warned(&first, WARN_MS);
    assert_int_equal(first.left_ms, WARN_MS);
    assert_int_equal(second.warned, 0);
    leave(c, WARN_MS / 2);
    expect_warned(&second, WARN_MS / 2);
    leave(c, 0);
    ZKT_BECOMES(first.lost + second.lost, 2, PATIENCE_MS);
    assert_int_equal(first.warned + second.warned, 2);
    speak(p);
    end_ticket(a);
    end_ticket(b);
}

/* The process is stopped until the lease has ended: only the loss is reported. */
ZKT_CASE(a_lease_that_has_ended_is_no_news)
{
    struct heard h = {0};
    int64_t token = 0;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = mutex_at(c, "a", WARN_MS, &h);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_fencing_token(m, &token));
    silence(p, c);
    leave(c, 0);
    ZKT_BECOMES(h.lost, 1, PATIENCE_MS);
    assert_int_equal(h.warned, 0);
    speak(p);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
}

/* If the lease is renewed after the warning, there is no second warning. The next hold is warned again. */
ZKT_CASE(a_hold_is_warned_once)
{
    struct heard h = {0};
    int64_t token = 0;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = mutex_at(c, "a", WARN_MS, &h);
    for (int hold = 1; hold <= 2; hold++) {
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        ZKT_MUST(zkr_mutex_fencing_token(m, &token));
        for (int again = 0; again < 2; again++) {
            silence(p, c);
            leave(c, WARN_MS / 2);
            ZKT_BECOMES(h.warned, hold, PATIENCE_MS);
            assert_int_equal(h.token, token);
            assert_ptr_equal(h.by, m);
            speak(p);
            ZKT_EVENTUALLY(zkr_mutex_valid_for_ms(m) > WARN_MS, PATIENCE_MS);
        }
        assert_int_equal(h.warned, hold);
        ZKT_MUST(zkr_mutex_release(m));
    }
    assert_int_equal(h.lost + h.wrong, 0);
}

/* A hold that reuses a kept node is warned as well. An unused node causes no warning. */
ZKT_CASE(each_hold_by_a_kept_node_is_warned)
{
    struct heard h = {0};
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = ZKT_MUTEX_WITH(c, .keep_ms = 2 * PATIENCE_MS, .warn_ms = WARN_MS,
                                  .on_warn = on_warn, .on_warn_ctx = &h);
    int64_t pass = 0;
    for (int hold = 1; hold <= 2; hold++) {
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        ZKT_MUST(zkr_mutex_pass(m, &pass));
        assert_int_equal(pass, hold);
        silence(p, c);
        leave(c, WARN_MS / 2);
        ZKT_BECOMES(h.warned, hold, PATIENCE_MS);
        speak(p);
        ZKT_EVENTUALLY(zkr_mutex_valid_for_ms(m) > WARN_MS, PATIENCE_MS);
        ZKT_EVENTUALLY(zkt_all_answered(c), PATIENCE_MS);
        ZKT_MUST(zkr_mutex_release(m));
    }
    leave(c, WARN_MS / 2);
    zkt_sleep_ms(100);
    assert_int_equal(h.warned, 2);
    zkt_door_stop_clock(0);
}

/*
 * A hand-over within a client needs no answer. The hold begins with less than warn_ms, and is warned when a sixth of
 * the session timeout is left.
 */
ZKT_CASE(a_hold_that_begins_with_little_is_warned_late)
{
    /* The clock that decides the beginning of a hold goes on, by less than a sixth of the session timeout. */
    enum { SIXTH_MS = SESSION_MS / 6 };
    struct heard first = {0}, second = {0};
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = mutex_at(c, "a", SESSION_MS / 3, &second);
    zkr_ticket *a = ticket_of(mutex_at(c, "a", 0, NULL), &first);
    ZKT_BECOMES(first.held, 1, PATIENCE_MS);
    zkr_ticket *b = ticket_of(m, &second);
    int64_t place = 0;
    ZKT_EVENTUALLY(zkr_ticket_position(b, &place) == ZKR_OK && zkt_all_answered(c),
                   PATIENCE_MS);
    zkt_sleep_ms(300); /* for the watch on its own node */
    silence(p, c);
    leave(c, SIXTH_MS + 10);
    ZKT_MUST(zkr_ticket_release(a));
    ZKT_BECOMES(second.held, 1, PATIENCE_MS);
    leave(c, SIXTH_MS + 1);
    zkt_sleep_ms(100);
    assert_int_equal(second.warned, 0);
    leave(c, SIXTH_MS);
    expect_warned(&second, SIXTH_MS);
    speak(p);
    end_ticket(a);
    end_ticket(b);
}

static void until_lost(zkr_ticket *t)
{
    ZKT_EVENTUALLY(zkr_ticket_valid_for_ms(t) == 0, PATIENCE_MS);
}

/*
 * Both warnings are due at the same time. The callback of one takes until the lease has ended, so the other
 * warning is dropped.
 */
ZKT_CASE(a_warning_that_comes_too_late_is_dropped)
{
    struct heard h[2] = {{.at_warning = until_lost}, {.at_warning = until_lost}};
    zkr_ticket *t[2];
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SHORT_MS);
    t[0] = ticket_of(mutex_at(c, "a", SHORT_MS / 4, &h[0]), &h[0]);
    t[1] = ticket_of(mutex_at(c, "b", SHORT_MS / 4, &h[1]), &h[1]);
    ZKT_BECOMES(h[0].held + h[1].held, 2, PATIENCE_MS);
    zkt_proxy_blackhole(p);
    ZKT_BECOMES(h[0].lost + h[1].lost, 2, PATIENCE_MS);
    assert_int_equal(h[0].warned + h[1].warned, 1);
    assert_int_equal(h[0].wrong + h[1].wrong, 0);
    zkt_proxy_heal(p);
    end_ticket(t[0]);
    end_ticket(t[1]);
}

static atomic_bool entered, go_on;

static void until_told(zkr_ticket *t)
{
    entered = true;
    ZKT_EVENTUALLY(go_on, PATIENCE_MS);
}

/* The lease ends before the service thread looks again. The dispatch thread itself notices, and drops the warning. */
ZKT_CASE(a_lease_that_has_just_ended_is_no_news)
{
    struct heard first = {.at_warning = until_told}, second = {0};
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_ticket *t = ticket_of(mutex_at(c, "a", WARN_MS, &first), &first);
    zkr_mutex *m = mutex_at(c, "b", WARN_MS, &second);
    ZKT_BECOMES(first.held, 1, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    silence(p, c);
    leave(c, WARN_MS / 2);
    ZKT_EVENTUALLY(entered, PATIENCE_MS);
    zkr__lock(c);
    zkt_door_stop_clock(c->lease.until);
    zkr__unlock(c);
    go_on = true;
    ZKT_BECOMES(second.lost, 1, PATIENCE_MS);
    assert_int_equal(second.warned + first.wrong, 0);
    speak(p);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    end_ticket(t);
}

/* Without lease probes, there is no lease to warn of. */
ZKT_CASE(a_warning_needs_probes)
{
    zkr_mutex *m = NULL;
    const zkr_mutex_options o = {.size = sizeof(o), .warn_ms = 1};
    zkr_client *quiet = ZKT_CLIENT_WITH(zkt_servers(), .lease_probe_ms = -1);
    ZKT_RC(zkr_mutex_create(&m, quiet, zkt_path(), &o), ZKR_EINVAL);
    assert_non_null(strstr(zkr_last_error()->message, "lease_probe_ms"));
}

/* --- every kind, while the clock runs --- */

static void destroy_rwlock(void *l)
{
    ZKT_MUST(zkr_rwlock_destroy(l));
}

static zkr_rwlock *rwlock_at(zkr_client *c, const char *name, struct heard *h)
{
    const zkr_rwlock_options o = {.size = sizeof(o),
                                  .on_lost = on_lost,
                                  .on_lost_ctx = h,
                                  .warn_ms = SHORT_MS / 4,
                                  .on_warn = on_warn,
                                  .on_warn_ctx = h};
    zkr_rwlock *l = NULL;
    ZKT_MUST(zkr_rwlock_create(&l, c, zkt_child(name), &o));
    zkt_keep(l, destroy_rwlock);
    return l;
}

static zkr_ticket *permits_of(zkr_semaphore **s, zkr_client *c, struct heard *h)
{
    const zkr_semaphore_options o = {.size = sizeof(o), .warn_ms = SHORT_MS / 4};
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_semaphore_create(s, c, zkt_child("permits"), 3, &o));
    ZKT_MUST(zkr_semaphore_request(*s, 2, ZKR_FOREVER, on_ticket, h, &t));
    return t;
}

static zkr_ticket *both_of(zkr_multi_lock **l, zkr_client *c, struct heard *h)
{
    const zkr_multi_lock_options o = {.size = sizeof(o), .warn_ms = SHORT_MS / 4};
    const char *const paths[] = {zkt_child("one"), zkt_child("two")};
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_multi_lock_create(l, c, paths, 2, &o));
    ZKT_MUST(zkr_multi_lock_request(*l, ZKR_FOREVER, on_ticket, h, &t));
    return t;
}

/* Each kind gets the warning, and then the loss. If a thread was a writer and reads on, the read side is warned. */
ZKT_CASE(every_kind_is_warned_and_then_lost)
{
    enum { THREAD, READER, WRITER, TICKET, PERMITS, BOTH, KINDS };
    struct heard h[KINDS] = {{0}};
    zkr_semaphore *s = NULL;
    zkr_multi_lock *l = NULL;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SHORT_MS);
    zkr_mutex *m = mutex_at(c, "thread", SHORT_MS / 4, &h[THREAD]);
    zkr_mutex *quiet = mutex_at(c, "released", SHORT_MS / 4, &h[THREAD]);
    zkr_rwlock *reads = rwlock_at(c, "reads", &h[READER]);
    zkr_rwlock *writes = rwlock_at(c, "writes", &h[WRITER]);
    zkr_mutex *r = zkr_rwlock_reader(reads), *w = zkr_rwlock_writer(writes);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_acquire(quiet, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_acquire(zkr_rwlock_writer(reads), PATIENCE_MS));
    ZKT_MUST(zkr_mutex_acquire(r, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_release(zkr_rwlock_writer(reads)));
    ZKT_MUST(zkr_mutex_acquire(w, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_acquire(zkr_rwlock_reader(writes), PATIENCE_MS));
    zkr_ticket *t[] = {
        ticket_of(mutex_at(c, "ticket", SHORT_MS / 4, &h[TICKET]), &h[TICKET]),
        permits_of(&s, c, &h[PERMITS]), both_of(&l, c, &h[BOTH])};
    ZKT_BECOMES(h[TICKET].held + h[PERMITS].held + h[BOTH].held, 3, PATIENCE_MS);
    ZKT_EVENTUALLY(zkt_all_answered(c), PATIENCE_MS);
    zkt_proxy_blackhole(p);
    ZKT_MUST(zkr_mutex_release(quiet));
    for (int i = 0; i < KINDS; i++) {
        expect_warned(&h[i], SHORT_MS / 4);
        ZKT_BECOMES(h[i].lost, i == WRITER ? 2 : 1, PATIENCE_MS);
        assert_int_equal(h[i].warned, 1);
    }
    assert_ptr_equal(h[READER].by, r);
    assert_ptr_equal(h[WRITER].by, w);
    zkt_proxy_heal(p);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    ZKT_RC(zkr_mutex_release(r), ZKR_ESESSION);
    ZKT_RC(zkr_mutex_release(zkr_rwlock_reader(writes)), ZKR_ESESSION);
    ZKT_RC(zkr_mutex_release(w), ZKR_ESESSION);
    for (int i = 0; i < 3; i++) {
        end_ticket(t[i]);
    }
    ZKT_MUST(zkr_semaphore_destroy(s));
    ZKT_MUST(zkr_multi_lock_destroy(l));
}

/* Each term of a latch is warned, between its gain and its loss. */
ZKT_CASE(each_term_is_warned)
{
    struct heard h = {0};
    const zkr_leader_latch_options o = {.size = sizeof(o),
                                        .on_gain = on_latch_gain,
                                        .on_loss = on_latch_loss,
                                        .ctx = &h,
                                        .warn_ms = SHORT_MS / 4,
                                        .on_warn = on_latch_warn};
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SHORT_MS);
    zkr_leader_latch *l = NULL;
    ZKT_MUST(zkr_leader_latch_create(&l, c, zkt_path(), "", &o));
    ZKT_MUST(zkr_leader_latch_start(l));
    for (int term = 1; term <= 2; term++) {
        ZKT_BECOMES(h.held, term, PATIENCE_MS);
        ZKT_EVENTUALLY(zkr_leader_latch_valid_for_ms(l) > SHORT_MS / 3, PATIENCE_MS);
        zkt_proxy_blackhole(p);
        ZKT_BECOMES(h.lost, term, PATIENCE_MS);
        assert_int_equal(h.warned, term);
        ZKT_IN_RANGE(h.left_ms, 1, SHORT_MS / 4);
        zkt_proxy_heal(p);
    }
    assert_int_equal(h.wrong, 0);
    ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_SILENT));
    ZKT_MUST(zkr_leader_latch_destroy(l));
}
