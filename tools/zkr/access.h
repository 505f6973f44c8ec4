/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials, each "scheme:cred", and the ACL of the nodes that are made. */
#ifndef ZKR_CLI_ACCESS_H
#define ZKR_CLI_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <zookeeper/zookeeper.jute.h>

#include <zkr/client.h>

/** The message when memory is short. */
extern const char access_no_memory[];

struct auth {
    zkr_auth *list;
    size_t count;
};

/** Adds one. Returns NULL, or what is wrong, such as "needs SCHEME:CREDENTIALS". */
const char *auth_add(struct auth *a, const char *text);

/**
 * Adds each line of a file, except lines that are empty or start with #. Others must have no access to the file. Returns
 * NULL, or what is wrong, perhaps in @buf.
 */
const char *auth_add_file(struct auth *a, const char *file, char *buf, size_t size);
/** Wipes the credentials. */
void auth_end(struct auth *a);

struct acl {
    struct ACL_vector list; /* none: open to everyone */
    char *text;             /* list points into this copy */
};

/** "open", "creator", or SCHEME:ID:PERMS,... with PERMS of the letters crdwa. Returns like auth_add(). */
const char *acl_take(struct acl *a, const char *text);
/** Does the ACL need credentials of this client? */
bool acl_needs_auth(const struct acl *a);

void acl_end(struct acl *a);

#endif
