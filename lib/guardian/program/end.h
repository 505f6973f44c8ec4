/* SPDX-License-Identifier: Apache-2.0 */
/* The work after the parent's death. */
#ifndef ZKR_GUARDIAN_END_H
#define ZKR_GUARDIAN_END_H

#include <stdint.h>

#include "wards.h"

/**
 * Kill the process groups of the dead parent, and end each session when its client's groups are gone. Returns by
 * @deadline.
 */
void end_sessions(const struct wards *w, int64_t deadline);

#endif
