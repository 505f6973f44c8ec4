/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials, each "scheme:cred". */
#ifndef ZKR_CLI_AUTH_H
#define ZKR_CLI_AUTH_H

#include <stddef.h>

#include <zkr/client.h>

struct auth {
    zkr_auth *list;
    size_t count;
};

/** One more. Returns NULL, or what is wrong, as in "--auth wants ...". */
const char *auth_add(struct auth *a, const char *text);

/**
 * All of a file, one a line; lines that are empty or start with # are none. It must be closed to others. Returns NULL,
 * or what is wrong, perhaps in @buf.
 */
const char *auth_add_file(struct auth *a, const char *file, char *buf, size_t size);

/** Wipes them. */
void auth_end(struct auth *a);

#endif
