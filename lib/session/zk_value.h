/* SPDX-License-Identifier: Apache-2.0 */
/* Values of libzookeeper: conversion, copies, comparison. Pure. */
#ifndef ZKR_SESSION_ZK_VALUE_H
#define ZKR_SESSION_ZK_VALUE_H

#include <stdbool.h>

struct ACL_vector;
struct zoo_op;

/* Convert ZooKeeper's code to a code of this library: ZKR_OK, a ZKR_E..., or ZKR_EZK(rc). */
int zkr__zk_code(int rc);
/*
 * Does ZooKeeper's code @rc say that the server demands credentials that this connection has not given? The server then
 * closes the connection, and the session lives on, so the code itself counts as a lost connection.
 */
bool zkr__zk_demands_credentials(int rc);
/* Return a copy of @acl; for NULL, an ACL that allows everything. Returns NULL if out of memory. */
struct ACL_vector *zkr__zk_acl_copy(const struct ACL_vector *acl);
void zkr__zk_acl_free(struct ACL_vector *acl); /* NULL is allowed */
/* Can @acl, as a server returned it, be compared? False if it has no entry, or hides an entry from this client. */
bool zkr__zk_acl_readable(const struct ACL_vector *acl);
/* Do both have the same entries, in the same order? */
bool zkr__zk_acl_same(const struct ACL_vector *a, const struct ACL_vector *b);
/* Fill @op with a check that @path exists, at any version. @path is borrowed. */
void zkr__zk_guard(struct zoo_op *op, const char *path);

#endif
