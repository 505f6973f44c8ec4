/* SPDX-License-Identifier: Apache-2.0 */
/* Who may do what with the nodes that are made. */
#ifndef ZKR_CLI_ACL_H
#define ZKR_CLI_ACL_H

#include <stdbool.h>
#include <stdint.h>
#include <zookeeper/zookeeper.jute.h>

struct acl {
    struct ACL_vector list; /* none: open to everyone */
    char *text;             /* into which it points */
};

/**
 * "open", "creator", or SCHEME:ID:PERMS,... with PERMS of the letters crdwa. Returns NULL, or what is wrong, as in
 * "--acl wants ...".
 */
const char *acl_take(struct acl *a, const char *text);

/** Does it speak of whoever has credentials? */
bool acl_needs_auth(const struct acl *a);

void acl_end(struct acl *a);

#endif
