/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file guardian.h
 * A process that ends a client's sessions when its own process has died: options.guardian.
 *
 * A process that is killed cannot close its session. Without a guardian its locks stay until the servers have
 * waited for the session timeout. The kernel of its machine knows sooner. With a guardian the next holder has the lock
 * in milliseconds after SIGKILL, a crash, an abort(), or an exit() without zkr_client_close().
 *
 * **What it is.** The first zkr_client_open() with options.guardian starts the program `zkr-guardian`, by
 * posix_spawn(), and all clients of the process share it. It gets the id, the password, the servers, the timeout
 * and the credentials of each session by a socket pair, never by its arguments or its environment. It ends with the
 * last of these clients, or when it has done its work, or when the session timeout has passed since the process
 * died. It is a child of the process: a program that waits for any child (waitpid(-1)) may see its end, and may take
 * its status. It keeps only the environment variables for the dynamic linker, OpenSSL and sanitizers. So a CI server
 * that kills the processes whose environment names a job does not find it. It is in a session of its own (setsid), in
 * /, ignores the signals that can be ignored, and has no descriptor but its socket and its own. So a kill of the
 * process group of your program does not reach the guardian. If the guardian is killed, alone or with its whole
 * control group or container, sessions end as without a guardian, and a line of the log says so at the next
 * connection.
 *
 * **When it acts.** When the process has ended, with all its threads, which a pidfd tells. Nothing else counts: not a
 * process that is stopped, frozen or in a debugger, not a main thread that has ended before others, not a descriptor
 * that was closed. A process that may still act keeps its session. After exec() the old program is gone, but its
 * process goes on. Then nobody ends the session, and the servers wait for its timeout. If the program closes the
 * guardian's socket (closefrom()), the guardian goes, after the session timeout.
 *
 * It also ends the session of a client that was closed while it had no connection, or got no answers, when a server can
 * be reached again. Without a guardian such a session lasts until its timeout. If the process has no other client, the
 * guardian does that as a process that is no longer its child.
 *
 * **What the process had already sent** may arrive after its death, at a server or on a disk of the network. Until now
 * the session timeout lay between the death of a holder and the next holder; with a guardian it is milliseconds. Pass
 * the fencing token to what the lock protects: see docs/loss.md.
 *
 * **Children** that act under a lock of this process outlive it. Name their process group by zkr_client_guard_group():
 * the guardian kills the group, and ends the sessions when all of the group are gone. If children may leave the group,
 * let a supervisor process end them and wait for them: zkr_client_guard_pipe().
 *
 * **Servers that give each connection a new session.** On servers such as ClickHouse Keeper no other process can end
 * the session of a client. There the guardian opens a session of its own, lists the paths in which the client may have
 * nodes, and deletes the nodes of the client's session. It knows up to 1024 such paths of a client. If a client uses
 * more, or uses them faster than the guardian reads, the nodes in the others stay until the session times out, and the
 * log says so (`guardian_full`, ZKR_LOG_INFO). Nodes of sessions that the client lost before also stay until those
 * sessions time out, unless the client has deleted them. If the session is already over, the guardian cannot tell
 * whether the servers are of that kind, and lists the paths on any server.
 *
 * **What it needs.** Linux 5.3 or later, with pidfd_open() allowed. A process that has put its children into
 * another PID namespace (unshare(CLONE_NEWPID)) has none, and neither has a client with options.open_handle: the
 * guardian connects by itself, with options.tls_cert if that is given. It begins with the server to which the
 * client was connected last, and leaves a silent server after a twelfth of the session timeout. It sends the
 * client's credentials only to servers that demand them (enforce.auth.enabled), and before it deletes nodes. The
 * program is where it was installed with the library, or what $ZKR_GUARDIAN_PATH names; programs with raised
 * privileges (AT_SECURE) do not heed that variable.
 */
#ifndef ZKR_GUARDIAN_H
#define ZKR_GUARDIAN_H

#include <stdint.h>

#include <zkr/client_options.h>
#include <zkr/error.h>
#include <zkr/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Name the process group that acts under the holds of this client.
 *
 * When this process has died, the guardian kills the group by SIGKILL, and closes the sessions of the client only when
 * no process of the group is left. Processes that have left the group (setsid(), setpgid()) escape it. A group that
 * cannot be killed, as a process of another user in it or in an uninterruptible sleep, keeps the sessions open until
 * they expire.
 *
 * Name the group before its processes act: for instance, let a forked child wait for a byte in a pipe before it calls
 * exec(). And name 0 when the group is gone.
 *
 * @c      borrowed.
 * @group  its number, while its leader has not been waited for; 0 = none any more. Replaces the one before.
 *
 * Returns ZKR_OK, ZKR_EINVAL (no such group, 1, or that of this process), ZKR_ESTATE (the client has no guardian: none
 * was asked for or could be started, or it has ended; or in a forked child), ZKR_ESYS (the guardian cannot be told: do
 * not start what would act under the holds, as it would not be ended first).
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.2.
 */
ZKR_API int zkr_client_guard_group(zkr_client *c, int64_t group);

/**
 * Name a pipe by which a supervisor process reports that nothing acts under the holds of this client any more.
 *
 * The supervisor starts the processes that act. When this process has died, the supervisor ends them, in whatever
 * process group or session they are, waits until all of them are gone, and then writes a byte into the pipe. The
 * guardian closes the sessions of the client only when it has read that byte. It kills nothing. If the last writing
 * end is closed without a byte, for instance because the supervisor was killed, the sessions last until they expire.
 *
 * Name the pipe before anything acts. Only the supervisor may have its writing end. When all processes are gone, name
 * the group 0 (zkr_client_guard_group()).
 *
 * @c   borrowed.
 * @fd  the reading end; the guardian gets a copy. Replaces the pipe or the group before.
 *
 * Returns ZKR_OK, ZKR_EINVAL (not a pipe), ZKR_ESTATE and ZKR_ESYS as zkr_client_guard_group().
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.2.
 */
ZKR_API int zkr_client_guard_pipe(zkr_client *c, int fd);

#ifdef __cplusplus
}
#endif

#endif
