/* SPDX-License-Identifier: Apache-2.0 */
#include "session/wake.h"

void zkr__wake_by(zkr_client *c, int64_t at)
{
    if (at < c->service_at) {
        c->service_at = at;
        zkr__cv_signal(&c->service_cv);
    }
}
