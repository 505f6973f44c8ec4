/* SPDX-License-Identifier: Apache-2.0 */
/* A strict reader of OpenMetrics text (version 1.0.0), of what our metrics use of it. */
#ifndef ZKT_OPENMETRICS_H
#define ZKT_OPENMETRICS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * NULL, or what is wrong with it: metadata and samples of each family together and once, names and units by its type,
 * labels escaped and in order, histograms complete, cumulative and with bounds that rise, one EOF at the end.
 */
const char *zkt_openmetrics_fault(const char *text);

/* The number of the sample whose name and labels are exactly @name, such as `zkr_held{path="/a"}`; -1 = there is none. */
double zkt_openmetrics_value(const char *text, const char *name);

#endif
