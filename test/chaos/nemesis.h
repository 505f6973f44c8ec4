/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_NEMESIS_H
#define ZKC_NEMESIS_H

#include <stdbool.h>

#include "plan.h"
#include "stage.h"

/**
 * Carry out a fault from beginning to end, and record it if it took effect. Returns when all is healed and all
 * servers serve again. Returns false if they do not, or if a signal asks for the end.
 */
bool zkc_nemesis_strike(zkc_stage *s, const zkc_fault *fault);

#endif
