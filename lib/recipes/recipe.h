/* SPDX-License-Identifier: Apache-2.0 */
/* What the objects of recipes share: how they are made and end, how their functions begin, what a holder may ask. */
#ifndef ZKR_RECIPES_RECIPE_H
#define ZKR_RECIPES_RECIPE_H

#include "look/contenders.h"
#include "queue/hold.h"
#include "session/client.h"

/* The first member of each object, but for tickets and read-write locks, which begin with the client alone. */
struct zkr__recipe {
    zkr_client *c;
    struct zkr__queue *queue;      /* of several the first */
    struct zkr__node_watch *watch; /* NULL = not needed, or not yet */
    struct zkr__cv changed;        /* for threads that wait for the object */
    int64_t waiting;               /* threads */
    int64_t tickets;               /* that exist */
};

/* First thing in each public function: as zkr__client_enter(). @object: NULL, or what begins with its client. */
int zkr__recipe_enter(const void *object);
/* As zkr__client_enter_blocking(). */
int zkr__recipe_enter_blocking(const void *object);
/* First thing when a @what is to be made, and stored in @out: the same, and its options @from are taken into @o. */
int zkr__recipe_options(const zkr_client *c,
                        const void *out,
                        const char *what,
                        void *o,
                        size_t size,
                        const void *from);

/* An object of @size bytes, a @what, with a queue like @chosen. NULL: *rc is why, and has its text. */
void *zkr__recipe_make(size_t size,
                       zkr_client *c,
                       const char *what,
                       const struct zkr__queue *chosen,
                       int *rc);
/* Make the watch, as zkr__node_watch_create() with the object. A failure has its text. */
int zkr__recipe_follow(struct zkr__recipe *r,
                       const char *path,
                       enum zkr__node_watch_kind kind,
                       void (*on_change)(void *object, int64_t number));
/* ZKR_OK; or ZKR_EBUSY, with its text, while the object is @used, threads wait for it, or it has tickets. */
int zkr__recipe_busy(const struct zkr__recipe *r, bool used) ZKR__LOCKED;
/* Free one that is not busy. Waits for a running callback. */
void zkr__recipe_free(struct zkr__recipe *r);

/*
 * The claim by which @object surely holds; or NULL, with a code and the last error. @rc: NULL = neither is wanted. The
 * client's lock is held.
 */
typedef const struct zkr__claim *(*zkr__recipe_hold)(void *object, int *rc);
/* What @getter says of that claim, into @out. */
int zkr__recipe_get(void *object,
                    zkr__recipe_hold hold,
                    zkr__hold_getter getter,
                    void *out,
                    size_t size);
/* For how long the object surely holds; 0 = it does not. */
int64_t zkr__recipe_valid_for_ms(void *object, zkr__recipe_hold hold);

#endif
