/* SPDX-License-Identifier: Apache-2.0 */
/*
 * News between the clients of one host. The address of a client stands in the data of its nodes. This folder moves
 * letters; queue/news.h says which are sent, and which are believed.
 */
#ifndef ZKR_NEARBY_NEARBY_H
#define ZKR_NEARBY_NEARBY_H

#include "nearby/door.h"
#include "session/client.h"

/* The field of a node's data that has the address of the client that made the node. */
#define ZKR__FIELD_NEARBY "nearby"

enum { ZKR__NEAR_KEY = 16 };

enum zkr__news_kind {
    ZKR__NEWS_NEXT = 1, /* @next waits behind @holder */
    ZKR__NEWS_RELEASED  /* @holder was held until now, and is being deleted */
};

struct zkr__news {
    enum zkr__news_kind kind;
    struct zkr__near_address from;
    unsigned char
        key[ZKR__NEAR_KEY];    /* chosen by the waiter, and repeated by the holder */
    int64_t token;             /* of the node @holder */
    const char *holder, *next; /* paths of nodes */
};

/* Open the socket, if c->options.nearby asks for it. Without a socket a line is logged, and the client has no news. */
void zkr__nearby_begin(zkr_client *c, const struct zkr__nearby_door *door);
/* No news comes afterwards. Not with the client's lock. */
void zkr__nearby_end(zkr_client *c);

/* The field with this client's address, and the newline before it. NULL: it has no socket. */
const char *zkr__nearby_field(const zkr_client *c);
/* The address in the data of a node that another client of this host has made. False: there is none. */
bool zkr__nearby_find(const zkr_client *c,
                      const void *data,
                      size_t len,
                      struct zkr__near_address *of);
/* Send @news to @to; what is too long for a letter is not sent. */
void zkr__nearby_send(const zkr_client *c,
                      const struct zkr__near_address *to,
                      const struct zkr__news *news) ZKR__LOCKED;

/* Read a letter, from which @news borrows. False: it is none of ours. */
bool zkr__letter_read(struct zkr__news *news, const void *letter, size_t len);

#endif
