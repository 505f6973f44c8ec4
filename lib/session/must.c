/* SPDX-License-Identifier: Apache-2.0 */
#include "session/must.h"

#include <stdio.h>
#include <stdlib.h>

#include "session/log.h"

#ifdef ZKR__MUST_ABORTS
bool zkr__must_aborts = true;
#else
bool zkr__must_aborts = false;
#endif

void zkr__must_fail(zkr_client *c, const char *file, int line, const char *condition)
{
    if (c->broken) {
        return;
    }
    c->broken = true;
    zkr__log_more(c, ZKR_LOG_ERROR, ZKR__EVENT("fault", .reason = condition),
                  "at=%s:%d", file, line);
    if (zkr__must_aborts) {
        (void)fprintf(stderr, "zkrecipes: %s:%d: invariant violated: %s\n", file, line,
                      condition);
        abort();
    }
    zkr__wake_by(c, zkr__now(c));
}
