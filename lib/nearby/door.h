/* SPDX-License-Identifier: Apache-2.0 */
/* The door to other processes of this host: a datagram socket (mailbox.c), or the simulator's network. */
#ifndef ZKR_NEARBY_DOOR_H
#define ZKR_NEARBY_DOOR_H

#include <stddef.h>

/*
 * A socket, and the process that it belongs to, in hexadecimal digits: the host, which stands for boot, network namespace
 * and process namespace; uid and pid; the name of the socket, which cannot be guessed.
 */
enum { ZKR__NEAR_HOST = 24, ZKR__NEAR_WHO = 16, ZKR__NEAR_NAME = 32 };
/* Of WHO, the first digits: the uid. */
enum { ZKR__NEAR_USER = 8 };
enum { ZKR__NEAR_ADDRESS = ZKR__NEAR_HOST + ZKR__NEAR_WHO + ZKR__NEAR_NAME };

struct zkr__near_address {
    char text[ZKR__NEAR_ADDRESS + 1];
};

/* Gets the letters of a socket. Embedded in the caller's own object. */
struct zkr__mailbox_owner {
    /*
     * On any thread, with no lock of ours held. @letter is borrowed during the call. @from has the name of the sender's
     * socket, uid and pid from the kernel, and this host.
     */
    void (*take)(struct zkr__mailbox_owner *owner,
                 const struct zkr__near_address *from,
                 const void *letter,
                 size_t len);
};

struct zkr__nearby_door {
    /* Open a socket with a new name, and tell its address. NULL and errno. */
    void *(*open)(struct zkr__mailbox_owner *owner, struct zkr__near_address *self);
    /* Never blocks. The letter may get lost. */
    void (*send)(void *box,
                 const struct zkr__near_address *to,
                 const void *letter,
                 size_t len);
    void (*close)(void *box); /* blocks; no letter comes afterwards */
};

extern const struct zkr__nearby_door zkr__mailbox; /* to the kernel */

#endif
