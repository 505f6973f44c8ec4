/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine.h"

#include "base/table.h"
#include "session/wake.h"

void zkr__engine_timer(struct zkr__engine *engine, struct zkr__timer *timer, int64_t at)
{
    zkr__timer_set(&engine->timers, timer, at);
    zkr__wake_by(engine->c, at);
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
