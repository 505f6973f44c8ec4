/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKP_RECORD_H
#define ZKP_RECORD_H

#include "queue/claim_state.h"

/* A claim has made this step. */
void zkp_record(const struct zkr__claim_state *before,
                const struct zkr__claim_event *e,
                const struct zkr__claim_state *after,
                unsigned todo);

#endif
