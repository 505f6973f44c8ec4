/* SPDX-License-Identifier: Apache-2.0 */
#include "by_hand.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "session/service.h"

enum { SECOND = 1000 };

static void run_service(zkr_client *c)
{
    zkr__lock(c);
    zkr__service_run(c);
    zkr__unlock(c);
}

/* Returns the time in true time. */
static int64_t service_at(const zkr_client *c)
{
    return c->service_at == ZKR__NEVER ? ZKR__NEVER
                                       : zkf_now() + (c->service_at - zkr__now(c));
}

void zkf_pass(zkr_client *c, int64_t ms)
{
    int64_t until = zkf_now() + ms * ZKR__MS;
    for (bool on = true; on;) {
        int64_t service = service_at(c);
        if (service <= zkf_now()) {
            run_service(c);
        } else {
            on = zkf_step(service < until ? service : until) || zkf_now() < until;
        }
    }
}

void zkf_call_back(zkr_client *c)
{
    while (zkr__dispatch_run_one(&c->dispatch)) {
    }
}

zkr_client *zkf_open(const struct zkr__door *door, const zkr_client_options *more)
{
    const struct zkf_config config = {.seed = 1,
                                      .servers = 1,
                                      .tick = 2 * SECOND * ZKR__MS,
                                      .patience = 10 * SECOND * ZKR__MS,
                                      .calm = true,
                                      .hushes = true};
    const struct zkr__env env = {.door = door ? door : &zkf_door, .no_threads = true};
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    zkr_client *c = NULL;
    o = more ? *more : o;
    o.session_timeout_ms = ZKF_SESSION_MS;
    zkf_begin(&config);
    zkf_enter(0);
    assert_int_equal(zkr__client_open(&c, "127.0.0.1:1", &o, &env), ZKR_OK);
    c->service_at = 0;
    zkf_pass(c, SECOND);
    assert_int_equal(zkr_client_state(c), ZKR_STATE_CONNECTED);
    return c;
}

void zkf_pass_to(zkr_client *c, int64_t ms, zkr_ticket *t, int state)
{
    zkf_pass(c, ms);
    assert_int_equal(zkr_ticket_state(t), state);
}

void zkf_close(zkr_client *c)
{
    zkr_stats stats;
    zkf_pass(c, SECOND);
    assert_int_equal(zkr_client_stats(c, &stats, sizeof(stats)), ZKR_OK);
    assert_int_equal(stats.held + stats.waiting + stats.pending_deletes, 0);
    zkf_hurry(true);
    assert_int_equal(zkr_client_close(c), ZKR_OK);
    zkf_hurry(false);
    zkf_end();
}
