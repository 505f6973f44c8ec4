/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a subcommand: its settings, its signals and its client. */
#ifndef ZKR_CLI_ENV_H
#define ZKR_CLI_ENV_H

#include <zkr/client.h>

#include "settings.h"
#include "signals.h"

struct env {
    struct globals globals;
    struct signals signals;
    zkr_client *client; /* client_open() sets it */
    /* zkr ends with this signal instead of an exit code; 0 = none. */
    int die_of;
};

#endif
