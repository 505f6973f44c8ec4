/* SPDX-License-Identifier: Apache-2.0 */
/* A strict reader of OpenMetrics text (version 1.0.0), limited to the parts that our metrics use. */
#ifndef ZKT_OPENMETRICS_H
#define ZKT_OPENMETRICS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns NULL if @text is valid, or else the fault. Each family must appear once, with its metadata and samples
 * together. Its name and unit must match its type. Labels must be escaped and in order. Histograms must be complete and
 * cumulative, with rising bounds. One EOF must end the text.
 */
const char *zkt_openmetrics_fault(const char *text);

/* Returns the number of the sample whose name and labels are exactly @name, such as `zkr_held{path="/a"}`, or -1 if
   there is none. */
double zkt_openmetrics_value(const char *text, const char *name);

#endif
