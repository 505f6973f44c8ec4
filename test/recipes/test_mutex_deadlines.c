/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time-outs are kept on good days and bad ones: no call ends early, and a busy machine may be late now and
 * then, but not always.
 */
#include "lock.h"

#ifdef ZKT_SLOWED_DOWN
enum { SLACK_MS = 500 };
#else
enum { SLACK_MS = 50 };
#endif
enum { SESSION_MS = 3000, PATIENCE_MS = 30000, TRIES = 20 };

/* Whether acquire(@limit) ends with @code in its time; for ZKR_ETIMEDOUT, or without an answer. */
static bool is_prompt(zkr_mutex *m, int64_t limit, int code)
{
    int64_t before = zkt_now_ms();
    int rc = zkt_acquire(m, limit);
    int64_t took = zkt_now_ms() - before;
    assert_true(ZKT_TIMED_OUT(rc) && (code == ZKR_ETIMEDOUT || rc == code));
    assert_true(took >= limit - 1);
    return took <= limit + SLACK_MS;
}

static void expect_prompt_time_out(zkr_mutex *m, int64_t limit, int code)
{
    bool prompt = false;
    for (int i = 0; i < TRIES && !prompt; i++) {
        prompt = is_prompt(m, limit, code);
    }
    assert_true(prompt);
}

/* The deadline binds the whole call, within SLACK_MS. */
ZKT_BOTH_CASE(a_time_out_is_kept)
{
    static const int64_t limits[] = {1, 20, 300};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *held = zkt_mutex(c);
    zkr_mutex *other = zkt_mutex(c);
    ZKT_MUST(zkt_acquire(held, 5000));
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        expect_prompt_time_out(other, limits[i], ZKR_ETIMEDOUT);
    }
    ZKT_MUST(zkt_release(held));
}

/* acquire(100) returns in time when the server is frozen, dead, or silent. */
ZKT_BOTH_CASE(a_deadline_holds_without_a_server)
{
    zkt_server *s = zkt_server_start(NULL);
    zkt_proxy *p = zkt_proxy_start(zkt_server_host(s));
    zkr_client *direct = zkt_client(zkt_server_host(s), SESSION_MS);
    zkr_client *through = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *one = zkt_mutex(direct);
    zkr_mutex *two = zkt_mutex(through);
    zkt_proxy_blackhole(p);
    expect_prompt_time_out(two, 100, ZKR_ENOANSWER);
    zkt_proxy_heal(p);
    zkt_server_freeze(s);
    expect_prompt_time_out(one, 100, ZKR_ENOANSWER);
    zkt_server_thaw(s);
    zkt_server_kill(s);
    expect_prompt_time_out(one, 100, ZKR_ENOANSWER);
    ZKT_RC(zkt_acquire(one, 0), ZKR_ENOANSWER);
    zkt_server_restart(s, false);
    ZKT_MUST(zkt_acquire(one, PATIENCE_MS));
    ZKT_MUST(zkt_release(one));
    ZKT_MUST(zkt_acquire(two, PATIENCE_MS));
    ZKT_MUST(zkt_release(two));
    ZKT_MUST(zkr_client_flush(direct, PATIENCE_MS));
    ZKT_MUST(zkr_client_flush(through, PATIENCE_MS));
    ZKT_BECOMES(zkt_children_count(zkt_server_host(s), zkt_path()), 0, PATIENCE_MS);
}
