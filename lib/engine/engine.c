/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine.h"

#include "session/wake.h"

void zkr__engine_timer(struct zkr__engine *engine, struct zkr__timer *timer, int64_t at)
{
    zkr__timer_set(&engine->timers, timer, at);
    zkr__wake_by(engine->c, at);
}
