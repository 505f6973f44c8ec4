/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between a process and its guardian, over a pair of connected sockets that keep record boundaries
 * (SOCK_SEQPACKET). The guardian's socket is its descriptor 0. A record that was sent arrives even if the sender dies
 * afterwards. Both sides run on the same machine, but may be of different versions of the library.
 */
#ifndef ZKR_GUARDIAN_WIRE_H
#define ZKR_GUARDIAN_WIRE_H

#include <stdint.h>

enum { ZKR__GUARDIAN_VERSION = 3, ZKR__GUARDIAN_FD = 0 };

enum zkr__guardian_kind {
    /*
     * From the guardian, once. READY: it watches its parent. REFUSES: it cannot watch, and .value is an errno or
     * ZKR__GUARDIAN_….
     */
    ZKR__GUARDIAN_READY = 1,
    ZKR__GUARDIAN_REFUSES,
    /*
     * From the process. SESSION: a session began, or its servers or its timeout have changed. OVER: the session has
     * ended.
     */
    ZKR__GUARDIAN_SESSION,
    ZKR__GUARDIAN_OVER,
    /*
     * From the process. .value is a process group that acts under the client's holds, or 0 if no group does so any
     * more.
     */
    ZKR__GUARDIAN_GROUP,
    /* From the process. Nothing is left to watch. */
    ZKR__GUARDIAN_BYE,
    /*
     * From the process. It has closed the session, but possibly no server knows of that, so the guardian must end the
     * session.
     */
    ZKR__GUARDIAN_CLOSED,
    /* From the process, in place of a GROUP. A pipe reports when nothing acts under the client's holds any more. */
    ZKR__GUARDIAN_PIPE,
    /* From the process. .value is 1 if the client may have nodes in a directory, or 0 if it has none there any more. */
    ZKR__GUARDIAN_DIRECTORY
};

/* Why a guardian refuses: its parent did not create the sockets, or is in another PID namespace. */
enum { ZKR__GUARDIAN_NO_PARENT = -1 };

enum { ZKR__PASSWORD_SIZE = 16, ZKR__GUARDIAN_TEXT_MAX = 65536 };

/* Maximum number of directories that a guardian remembers for one client. */
enum { ZKR__GUARDIAN_DIRECTORIES = 1024 };

/*
 * A SESSION is followed by two strings, each with its terminating zero: the numeric addresses of the servers with the
 * chroot, beginning with the connected one, and the files for TLS, with absolute names, or "". The credentials follow.
 * Each consists of its scheme with a terminating zero, the length of its certificate as a uint32_t, and the
 * certificate. The total is at most ZKR__GUARDIAN_TEXT_MAX bytes.
 *
 * A GROUP other than 0 carries two descriptors, the ends of a pipe (see ZKR__GROUP_READER). A PIPE carries one
 * descriptor, the reading end. A byte arrives on it when nothing acts under the client's holds any more. An end of file
 * without a byte means nothing. A DIRECTORY is followed by its path, without the chroot, with a terminating zero. ""
 * means all directories of the client.
 */
struct zkr__guardian_record {
    uint32_t version;
    uint32_t kind;
    uint64_t client; /* the client's number in its process */
    int64_t session;
    int64_t value; /* SESSION: its timeout in milliseconds */
    unsigned char password[ZKR__PASSWORD_SIZE];
};

/*
 * A process group is sent as the two ends of a pipe. The group owns the reading end (F_SETOWN), whose signal is SIGKILL
 * (F_SETSIG), so a byte written into the pipe kills the group. Once the group is gone, its number may be reused. The
 * reading end refers to the group itself, not to its number, so the byte never kills other processes.
 */
enum { ZKR__GROUP_READER, ZKR__GROUP_WRITER, ZKR__GROUP_FDS };

#endif
