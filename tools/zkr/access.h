/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials, each in the form "scheme:cred", and the ACL of the nodes that zkr creates. */
#ifndef ZKR_CLI_ACCESS_H
#define ZKR_CLI_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <zookeeper/zookeeper.jute.h>

#include <zkr/client.h>

/** The message when memory runs out. */
extern const char access_no_memory[];

struct auth {
    zkr_auth *list;
    size_t count;
};

/** Adds one credential. Returns NULL, or a text that describes the fault, for example "needs SCHEME:CREDENTIALS". */
const char *auth_add(struct auth *a, const char *text);

/**
 * Adds one credential per line of @file, but ignores empty lines and lines that start with #. Refuses a file that users
 * outside its group can access, or that its group can write. Returns NULL, or a text that describes the fault, possibly
 * in @buf.
 */
const char *auth_add_file(struct auth *a, const char *file, char *buf, size_t size);
/** Wipes and frees the credentials. */
void auth_end(struct auth *a);

struct acl {
    struct ACL_vector list; /* empty: the nodes are open to everyone */
    char *text;             /* the text to which the entries of list point */
};

/**
 * Parses "open", "creator", or SCHEME:ID:PERMS,... with PERMS made of the letters crdwa. Returns the same as
 * auth_add().
 */
const char *acl_take(struct acl *a, const char *text);
/** Returns whether the ACL needs credentials of this client. */
bool acl_needs_auth(const struct acl *a);

void acl_end(struct acl *a);

#endif
