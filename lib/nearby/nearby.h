/* SPDX-License-Identifier: Apache-2.0 */
/*
 * News: letters by which the clients of one host report waiting and released nodes to each other. Each client's address
 * is in the data of its nodes. This folder transports letters. queue/news.h defines which letters are sent, and which
 * are believed.
 */
#ifndef ZKR_NEARBY_NEARBY_H
#define ZKR_NEARBY_NEARBY_H

#include "nearby/door.h"
#include "session/client.h"

/* The field of a node's data that has the address of the client that created the node. */
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
        key[ZKR__NEAR_KEY];    /* the waiter chooses it, and the holder repeats it */
    int64_t token;             /* fencing token of @holder */
    const char *holder, *next; /* paths of nodes */
};

/* Open the socket if c->options.nearby asks for it. If that fails, the client logs a line and works without news. */
void zkr__nearby_begin(zkr_client *c, const struct zkr__nearby_door *door);
/* Close the socket. After this, no news arrives. Called without the client's lock. */
void zkr__nearby_end(zkr_client *c);

/* Returns the data field with this client's address, including the newline before it, or NULL if there is no socket. */
const char *zkr__nearby_field(const zkr_client *c);
/*
 * Find the address in the data of a node that another client of this host has created. Returns false if there is none.
 */
bool zkr__nearby_find(const zkr_client *c,
                      const void *data,
                      size_t len,
                      struct zkr__near_address *of);
/* Send @news to @to. News that does not fit into a letter is not sent. */
void zkr__nearby_send(const zkr_client *c,
                      const struct zkr__near_address *to,
                      const struct zkr__news *news) ZKR__LOCKED;

/* Parse a letter into @news, which points into the letter. Returns false if the letter is malformed. */
bool zkr__letter_read(struct zkr__news *news, const void *letter, size_t len);

#endif
