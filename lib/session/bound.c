/* SPDX-License-Identifier: Apache-2.0 */
#include "session/bound.h"

#include "session/wake.h"

int64_t zkr__from_boot(const zkr_client *c, int64_t boot)
{
    return boot == ZKR__NEVER ? ZKR__NEVER : zkr__now(c) + (boot - c->door->boot());
}

bool zkr__sure(zkr_client *c)
{
    return c->options.lease_probe_ms < 0 ||
           zkr__lease_alive(&c->lease, c->door->boot());
}

bool zkr__amply_sure(zkr_client *c)
{
    int64_t margin = c->session_ms * ZKR__MS / 6;
    return c->options.lease_probe_ms < 0 ||
           zkr__lease_alive(&c->lease, c->door->boot() + margin);
}

int64_t zkr__valid_for_ms(zkr_client *c)
{
    if (c->options.lease_probe_ms < 0) {
        return c->session_id != 0 ? ZKR_UNKNOWN : 0;
    }
    int64_t left = (c->lease.until - c->door->boot()) / ZKR__MS;
    return left > 0 ? left : 0;
}

void zkr__probe_done(zkr_client *c, bool answered)
{
    enum { MOST = 3 };
    c->probing = false;
    c->probe_failures = answered                   ? 0
                        : c->probe_failures < MOST ? c->probe_failures + 1
                                                   : MOST;
    /* After the first failure S/32, then S/16 and S/8. */
    int64_t pause = c->session_ms * ZKR__MS / 64 << c->probe_failures;
    c->probe_after = answered ? 0 : c->door->boot() + pause;
    zkr__wake_by(c, zkr__now(c));
}

void zkr__probe_soon(zkr_client *c)
{
    c->probe_wanted = true;
    zkr__wake_by(c, zkr__now(c));
}

int64_t zkr__probe_due(const zkr_client *c)
{
    return zkr__from_boot(c, zkr__lease_probe_at(&c->lease));
}
