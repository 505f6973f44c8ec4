/* SPDX-License-Identifier: Apache-2.0 */
/* Values of libzookeeper: conversion, copies and comparison. Pure. */
#ifndef ZKR_SESSION_ZK_VALUE_H
#define ZKR_SESSION_ZK_VALUE_H

#include <stdbool.h>

struct ACL_vector;
struct zoo_op;

/* Convert ZooKeeper's code to a code of this library: ZKR_OK, a ZKR_E..., or ZKR_EZK(rc). */
int zkr__zk_code(int rc);
/*
 * Returns whether ZooKeeper's code @rc says that the server demands credentials that this connection has not given. The
 * server then closes the connection, but the session stays alive, so the code itself counts as a lost connection.
 */
bool zkr__zk_demands_credentials(int rc);
/* Returns a copy of @acl or, if @acl is NULL, of an ACL that allows everything. Returns NULL if memory runs out. */
struct ACL_vector *zkr__zk_acl_copy(const struct ACL_vector *acl);
void zkr__zk_acl_free(struct ACL_vector *acl); /* NULL is allowed */
/*
 * Returns whether @acl, as a server returned it, can be compared. It cannot if it has no entry, or hides an entry from
 * this client.
 */
bool zkr__zk_acl_readable(const struct ACL_vector *acl);
/* Returns whether both have the same entries, in the same order. */
bool zkr__zk_acl_same(const struct ACL_vector *a, const struct ACL_vector *b);
/* Fill @op with a check that @path exists, at any version. @path is borrowed. */
void zkr__zk_guard(struct zoo_op *op, const char *path);

#endif
