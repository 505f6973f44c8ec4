/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file test_loss.h
 * Ending sessions and deleting nodes from outside. testing.h gives an overview.
 */
#ifndef ZKR_TEST_LOSS_H
#define ZKR_TEST_LOSS_H

#include <stdint.h>

#include <zkr/error.h>
#include <zkr/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * End a session from outside, by taking it over and closing it. This works for the session of any client, in any
 * language, because ZooKeeper's servers compute the password of a session from its id.
 *
 * @servers     connection string.
 * @session_id  as zkr_client_session_id() returns it.
 *
 * The owner of the session loses its connection, and is notified when it reconnects. In about one of fifty cases, a
 * server that this library has not started leaves the connection open and silent. The owner then notices the silence
 * after two thirds of its session timeout.
 *
 * Returns ZKR_OK when the server has ended the session and deleted its ephemeral nodes, so that the next contenders get
 * its locks; ZKR_EINVAL, ZKR_ESESSION (the servers do not know the session, because it had ended before),
 * ZKR_ENOANSWER.
 *
 * Blocks:   yes, some milliseconds; 5 s if no server answers.   Threads:  any.
 * Session:  as if its timeout had passed.
 * Cost:     2 connections.
 * Curator:  KillSession.   Since: 0.1.
 */
ZKR_API int zkr_test_expire_session(const char *servers, int64_t session_id);

/**
 * End the session of the holder of a lock, with zkr_test_expire_session().
 *
 * @servers  connection string.
 * @path     path of a mutex, a read-write lock or an election; "PATH/leases" for a semaphore at PATH.
 *
 * Returns the codes of zkr_test_expire_session(), ZKR_ENONODE if nobody holds the lock, and the codes of
 * zkr_mutex_contenders().
 *
 * Blocks:   yes, some milliseconds; 20 s if no server answers.   Threads:  any except callbacks of a client.
 * Cost:     a session, and 2 connections.
 * Curator:  KillSession.   Since: 0.1.
 */
ZKR_API int zkr_test_expire_holder(const char *servers, const char *path);

/**
 * Delete the node of the holder of a lock, as an administrator might, with zkr_mutex_evict().
 *
 * @servers  connection string.
 * @path     as for zkr_test_expire_holder().
 *
 * Returns ZKR_OK, ZKR_ENONODE if nobody holds the lock, and the codes of zkr_mutex_contenders() and zkr_mutex_evict().
 *
 * Blocks:   yes, some milliseconds; 20 s if no server answers.   Threads:  any except callbacks of a client.
 * Session:  continues; the watch of its owner reports the deletion.
 * Cost:     a session, and 2 requests.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_delete_holder(const char *servers, const char *path);

#ifdef __cplusplus
}
#endif

#endif
