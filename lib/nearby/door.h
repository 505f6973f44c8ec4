/* SPDX-License-Identifier: Apache-2.0 */
/* The transport to other processes on this host: a datagram socket (mailbox.c), or the simulator's network. */
#ifndef ZKR_NEARBY_DOOR_H
#define ZKR_NEARBY_DOOR_H

#include <stddef.h>

/*
 * The address of a socket, in hexadecimal digits. HOST identifies the boot, the network namespace and the process
 * namespace. WHO is the uid and pid of the process. NAME is the name of the socket, which nobody can guess.
 */
enum { ZKR__NEAR_HOST = 24, ZKR__NEAR_WHO = 16, ZKR__NEAR_NAME = 32 };
/* The first digits of WHO, which are the uid. */
enum { ZKR__NEAR_USER = 8 };
enum { ZKR__NEAR_ADDRESS = ZKR__NEAR_HOST + ZKR__NEAR_WHO + ZKR__NEAR_NAME };

struct zkr__near_address {
    char text[ZKR__NEAR_ADDRESS + 1];
};

/* Receives the letters (datagrams) of a socket. Embedded in the caller's object. */
struct zkr__mailbox_owner {
    /*
     * Called on any thread, with no lock of this library held. @letter is borrowed during the call. @from consists of
     * the name of the sender's socket, the uid and pid from the kernel, and this host.
     */
    void (*take)(struct zkr__mailbox_owner *owner,
                 const struct zkr__near_address *from,
                 const void *letter,
                 size_t len);
};

struct zkr__nearby_door {
    /* Open a socket with a new name, and set *@self to its address. On failure, returns NULL and sets errno. */
    void *(*open)(struct zkr__mailbox_owner *owner, struct zkr__near_address *self);
    /* Never blocks. The letter may be lost. */
    void (*send)(void *box,
                 const struct zkr__near_address *to,
                 const void *letter,
                 size_t len);
    void (*close)(void *box); /* blocks; after it no letter arrives */
};

extern const struct zkr__nearby_door zkr__mailbox; /* uses real sockets */

#endif
