/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file node.h
 * Reading a ZooKeeper node that a lock protects.
 */
#ifndef ZKR_NODE_H
#define ZKR_NODE_H

#include <stddef.h>
#include <stdint.h>

#include <zkr/client.h>
#include <zkr/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The properties of a node that zkr_client_get() returns in addition to its data. */
typedef struct zkr_node {
    size_t length; /**< bytes of data */
    /** Version of the data, for zoo_set_op_init() (guard.h); 0 = never changed. */
    int64_t version;
    int64_t czxid; /**< id of the transaction that created the node */
    int64_t
        created_ms; /**< time of the creation, by the leader's clock, ms since 1970 */
    /** Session of an ephemeral node; 0 = a persistent node or a container, which servers do not distinguish. */
    int64_t owner;
} zkr_node;

/**
 * Read a node on the client's own session.
 *
 * A holder sees all data that earlier holders wrote before they released, with or without the guard. The server that
 * reported the release had already applied those writes, and a session never sees older data, even after it moves to
 * another server. A read on another handle may return older data.
 *
 * @c          borrowed.
 * @path       absolute, relative to the client's chroot.
 * @data       filled with the first bytes of the node's data, not terminated; NULL with size 0.
 * @size       bytes at @data.
 * @node       filled on success; node.length may be more than @size.
 * @node_size  sizeof(zkr_node).
 *
 * Returns ZKR_OK, ZKR_ENONODE (there is no such node), ZKR_EAUTH (no permission to read it), ZKR_ETIMEDOUT
 * (options.connect_timeout_ms of the client), ZKR_ECONNLOSS, ZKR_ESESSION, ZKR_ECLOSED (the client is shut down),
 * ZKR_EINVAL, ZKR_ENOMEM, ZKR_ESTATE (in a callback, or in a forked child).
 *
 * Blocks:   yes, at most options.connect_timeout_ms of the client.
 * Threads:  any number at once.
 * Session:  the client does not repeat the read if the connection is lost.
 * Cost:     1 round trip.
 * Curator:  getData().storingStatIn().   Since: 0.2.
 */
ZKR_API int zkr_client_get(zkr_client *c,
                           const char *path,
                           void *data,
                           size_t size,
                           zkr_node *node,
                           size_t node_size);

#ifdef __cplusplus
}
#endif

#endif
