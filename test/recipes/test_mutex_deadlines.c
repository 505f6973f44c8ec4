/* SPDX-License-Identifier: Apache-2.0 */
/* Time-outs are kept on good days and bad ones. Runs alone: the bound is tight. */
#include "lock.h"

#ifdef ZKT_SLOWED_DOWN
enum { SLACK_MS = 500 };
#else
enum { SLACK_MS = 50 };
#endif
enum { SESSION_MS = 3000, PATIENCE_MS = 30000 };

/* The deadline binds the whole call, within SLACK_MS. */
static void a_time_out_is_kept(void **state)
{
    (void)state;
    static const int64_t limits[] = {1, 20, 300};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *held = zkt_mutex(c);
    zkr_mutex *other = zkt_mutex(c);
    ZKT_MUST(zkt_acquire(held, 5000));
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        int64_t before = zkt_now_ms();
        int rc = zkt_acquire(other, limits[i]);
        assert_true(ZKT_TIMED_OUT(rc));
        int64_t took = zkt_now_ms() - before;
        assert_in_range(took, limits[i] - 1, limits[i] + SLACK_MS);
    }
    ZKT_MUST(zkt_release(held));
    zkt_destroy(held);
    zkt_destroy(other);
    zkt_close(c);
}

static void expect_prompt_time_out(zkr_mutex *m)
{
    for (int i = 0; i < 3; i++) {
        int64_t before = zkt_now_ms();
        assert_int_equal(zkt_acquire(m, 100), ZKR_ENOANSWER);
        assert_in_range(zkt_now_ms() - before, 99, 100 + SLACK_MS);
    }
}

/* acquire(100) returns in time when the server is frozen, dead, or silent. */
static void a_deadline_holds_without_a_server(void **state)
{
    (void)state;
    zkt_server *s = zkt_server_start(NULL);
    zkt_proxy *p = zkt_proxy_start(zkt_server_host(s));
    zkr_client *direct = zkt_client(zkt_server_host(s), SESSION_MS);
    zkr_client *through = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *one = zkt_mutex(direct);
    zkr_mutex *two = zkt_mutex(through);
    zkt_proxy_blackhole(p);
    expect_prompt_time_out(two);
    zkt_proxy_heal(p);
    zkt_server_freeze(s);
    expect_prompt_time_out(one);
    zkt_server_thaw(s);
    zkt_server_kill(s);
    expect_prompt_time_out(one);
    assert_int_equal(zkt_acquire(one, 0), ZKR_ENOANSWER);
    zkt_server_restart(s, false);
    ZKT_MUST(zkt_acquire(one, PATIENCE_MS));
    ZKT_MUST(zkt_release(one));
    ZKT_MUST(zkt_acquire(two, PATIENCE_MS));
    ZKT_MUST(zkt_release(two));
    ZKT_MUST(zkr_client_flush(direct, PATIENCE_MS));
    ZKT_MUST(zkr_client_flush(through, PATIENCE_MS));
    ZKT_EVENTUALLY(zkt_children_count(zkt_server_host(s), zkt_path()) == 0,
                   PATIENCE_MS);
    zkt_destroy(one);
    zkt_destroy(two);
    zkt_close(direct);
    zkt_close(through);
    zkt_proxy_stop(p);
    zkt_server_stop(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ZKT_BOTH(a_time_out_is_kept),
        ZKT_BOTH(a_deadline_holds_without_a_server),
    };
    return cmocka_run_group_tests(tests, zkt_group_setup, zkt_group_teardown);
}
