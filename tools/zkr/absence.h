/* SPDX-License-Identifier: Apache-2.0 */
/* What there is at a path, and what to say of one where nobody is. */
#ifndef ZKR_CLI_ABSENCE_H
#define ZKR_CLI_ABSENCE_H

#include <stdio.h>

#include "connect.h"

struct absence {
    bool missing;   /* there is no such node */
    size_t below;   /* locks right below it */
    bool semaphore; /* it is one */
};

/** Looks what is there instead. Returns 0 or an exit code, reported. */
int absence_look(struct absence *a,
                 zkr_client *c,
                 const struct globals *g,
                 const char *path);

void absence_print(const struct absence *a, FILE *out, const char *path);

#endif
