/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMetrics text as node_exporter's textfile collector reads it: in the older format of Prometheus. */
#ifndef ZKR_CLI_PROM_H
#define ZKR_CLI_PROM_H

#include <stdio.h>

/**
 * Names of counters are written whole, units and the end mark are left out. What has no label "path" gets @path, so that
 * files of several locks can stand side by side.
 */
void prom_write(FILE *out, const char *text, const char *path);

#endif
