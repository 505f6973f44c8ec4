/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file guardian.h
 * A process that ends the sessions of a client when the process of the client has died: options.guardian.
 *
 * A process that is killed cannot close its session. Without a guardian, its locks remain until the session times out
 * at the servers. The kernel of the machine reports the death at once, so with a guardian the next contender gets the
 * lock milliseconds after SIGKILL, a crash, an abort(), or an exit() without zkr_client_close().
 *
 * **What it is.** The first zkr_client_open() with options.guardian starts the program `zkr-guardian` with
 * posix_spawn(), and all clients of the process share this guardian. It gets the id, the password, the servers, the
 * timeout and the credentials of each session through a socket pair, never in its arguments or its environment. It ends
 * with the last of these clients, or when it has done its work, or when the session timeout has passed since the
 * process died. The guardian is a child of the process, so a program that waits for any child (waitpid(-1)) may reap
 * it. It keeps only the environment variables for the dynamic linker, OpenSSL and sanitizers, so a CI server that kills
 * all processes with a job's name in their environment does not find it. It runs in its own process session (setsid)
 * and in the directory /, ignores all signals that can be ignored, and inherits no descriptor except its socket. A
 * signal to the process group of your program therefore does not reach the guardian. If the guardian is killed, alone
 * or with its whole control group or container, sessions end as without a guardian, and the client logs this when it
 * connects the next time.
 *
 * **When it acts.** The guardian acts when the process has ended with all its threads, which a pidfd reports. It does
 * not act when the process is stopped, frozen or in a debugger, when the main thread ends before others, or when a
 * descriptor is closed: a process that may still act keeps its session. After exec(), the old program has ended, but
 * its process continues. In this case, nobody ends the session, and it lasts until its timeout. If the program closes
 * the guardian's socket (closefrom()), the guardian exits after the session timeout.
 *
 * If a client is closed while it has no connection or gets no answers, the guardian ends its session as soon as a
 * server can be reached. Without a guardian, such a session lasts until its timeout. If the process has no other
 * client, the guardian does this work in a process that is no longer a child of your process.
 *
 * **Late writes.** Data that the process sent before its death may arrive afterwards, at a server or on a network disk.
 * Without a guardian, the next holder begins a session timeout after the death; with a guardian, it begins milliseconds
 * after the death. Pass the fencing token to the resource that the lock protects; see docs/loss.md.
 *
 * **Children** that act under a lock of this process may outlive it. Register their process group with
 * zkr_client_guard_group(). The guardian then kills the group, and ends the sessions when no process of the group is
 * left. If children may leave the group, let a supervisor process end them and wait for them; see
 * zkr_client_guard_pipe().
 *
 * **Servers that give each connection a new session.** On servers such as ClickHouse Keeper, no other process can end
 * the session of a client. On these servers, the guardian opens a separate session, lists the paths in which the client
 * may have nodes, and deletes the nodes of the client's session. The guardian knows up to 1024 such paths of a client.
 * If a client uses more paths, or adds them faster than the guardian reads, nodes at the remaining paths stay until the
 * session times out, and the client logs `guardian_full` (ZKR_LOG_INFO). Nodes of the client's earlier sessions also
 * stay until those sessions time out, unless the client has deleted them. If the session is already over, the guardian
 * cannot determine whether the servers are of this kind, so it lists the paths on any server.
 *
 * **Requirements.** The guardian needs Linux 5.3 or later, with pidfd_open() allowed. There is no guardian for a
 * process that has put its children into another PID namespace (unshare(CLONE_NEWPID)), nor for a client with
 * options.open_handle, because the guardian opens its own connections (with options.tls_cert if set). The guardian
 * first tries the server to which the client was connected last, and leaves a silent server after a twelfth of the
 * session timeout. It sends the client's credentials only to servers that demand them (enforce.auth.enabled), and
 * before it deletes nodes. The library starts the program file that was installed with it, or the file that
 * $ZKR_GUARDIAN_PATH names. Programs with raised privileges (AT_SECURE) ignore this variable.
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
 * Register the process group that acts under the holds of this client.
 *
 * When this process has died, the guardian kills the group with SIGKILL, and closes the sessions of the client only
 * when no process of the group is left. Processes that have left the group (setsid(), setpgid()) are not killed. If a
 * process of the group cannot be killed, because it belongs to another user or is in an uninterruptible sleep, the
 * sessions stay open until they expire.
 *
 * Register the group before its processes act. For example, let a forked child wait for a byte in a pipe before it
 * calls exec(). Register 0 when the group has ended.
 *
 * @c      borrowed.
 * @group  the id of the group, whose leader has not been reaped yet; 0 = no group. Replaces the earlier group or pipe.
 *
 * Returns ZKR_OK, ZKR_EINVAL (the group does not exist, or is 1 or the group of this process), ZKR_ESTATE (the client
 * has no guardian, because none was requested, none could be started, or it has ended; or in a forked child), ZKR_ESYS
 * (the guardian cannot be notified: do not start processes that act under the holds, because the guardian would not
 * kill them first).
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.2.
 */
ZKR_API int zkr_client_guard_group(zkr_client *c, int64_t group);

/**
 * Register a pipe through which a supervisor process reports that no process acts under the holds of this client any
 * more.
 *
 * The supervisor starts the processes that act. When this process has died, the supervisor ends them, in whatever
 * process group or session they are, waits until all of them have ended, and then writes a byte into the pipe. The
 * guardian closes the sessions of the client only when it has read that byte. It kills nothing. If the last writing
 * end is closed without a byte, for example because the supervisor was killed, the sessions last until they expire.
 *
 * Register the pipe before any process acts. Only the supervisor may have its writing end. When all processes have
 * ended, register group 0 with zkr_client_guard_group().
 *
 * @c   borrowed.
 * @fd  the reading end; the guardian gets a copy. Replaces the earlier pipe or group.
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
