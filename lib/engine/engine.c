/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine.h"

#include "base/table.h"
#include "session/retry.h"
#include "session/wake.h"

void zkr__engine_timer(struct zkr__engine *engine, struct zkr__timer *timer, int64_t at)
{
    zkr__timer_set(&engine->timers, timer, at);
    zkr__wake_by(engine->c, at);
}

int64_t zkr__engine_doubts_at(const struct zkr__engine *engine)
{
    enum { TIMES = 4 };
    zkr_client *c = engine->c;
    int64_t least = TIMES * c->session_ms * ZKR__MS;
    uint64_t later = zkr__retry_random(&c->random) % (uint64_t)(least + 1);
    return zkr__now(c) + least + (int64_t)later;
}

void zkr__engine_listen(struct zkr__engine *engine,
                        struct zkr__session_listener *listener)
{
    DL_APPEND(engine->listeners, listener);
}

void zkr__engine_unlisten(struct zkr__engine *engine,
                          struct zkr__session_listener *listener)
{
    DL_DELETE(engine->listeners, listener);
}
