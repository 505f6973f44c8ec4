/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_WALL_H
#define ZKC_WALL_H

#include "control.h"

/** From now on, set the wall clock of this process ahead as @of_the_run says. Other clocks stay right. */
void zkc_wall_begin(struct zkc_control *of_the_run);

#endif
