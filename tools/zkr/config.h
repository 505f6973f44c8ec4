/* SPDX-License-Identifier: Apache-2.0 */
/* Settings that no command line gives: /etc/zkr.conf, or $ZKR_CONFIG, and the environment. */
#ifndef ZKR_CLI_CONFIG_H
#define ZKR_CLI_CONFIG_H

#include "settings.h"

/**
 * The environment, then the file, which counts less; the command line has been taken. Returns OPTIONS_GO_ON or an exit code, reported.
 */
int config_take(struct globals *g);

#endif
