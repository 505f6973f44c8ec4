/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the objects of all recipes share: their creation and destruction, the checks of their functions, and the queries
 * of a holder.
 */
#ifndef ZKR_RECIPES_RECIPE_H
#define ZKR_RECIPES_RECIPE_H

#include "look/contenders.h"
#include "queue/hold.h"
#include "session/client.h"

/* The first member of each object. Tickets and read-write locks begin with only the client instead. */
struct zkr__recipe {
    zkr_client *c;
    struct zkr__queue *queue;      /* the first of several queues */
    struct zkr__node_watch *watch; /* NULL = not needed, or not yet */
    struct zkr__cv changed;        /* for threads that wait on the object */
    int64_t waiting;               /* number of these threads */
    int64_t tickets;               /* tickets that exist */
};

/*
 * Called first in each public function: checks like zkr__client_enter(). @object: NULL, or an object that begins with
 * its client.
 */
int zkr__recipe_enter(const void *object);
/* Checks like zkr__client_enter_blocking(). */
int zkr__recipe_enter_blocking(const void *object);
/*
 * Called first when a @what is to be created and stored in @out: the same checks, and copies the options @from to @o.
 */
int zkr__recipe_options(const zkr_client *c,
                        const void *out,
                        const char *what,
                        void *o,
                        size_t size,
                        const void *from);

/* ZKR_OK; or ZKR_EINVAL, with its text: such options of a @what cannot be. @told: there is a callback for warnings. */
int zkr__recipe_check_warning(const zkr_client *c,
                              const char *path,
                              const char *what,
                              int64_t warn_ms,
                              bool told);

/* Allocate an object of @size bytes, a @what, with a queue like @chosen. NULL: *rc has the reason, with its text. */
void *zkr__recipe_make(size_t size,
                       zkr_client *c,
                       const char *what,
                       const struct zkr__queue *chosen,
                       int *rc);
/* Create the watch, like zkr__node_watch_create(), with the object as context. A failure has its text. */
int zkr__recipe_follow(struct zkr__recipe *r,
                       const char *path,
                       enum zkr__node_watch_kind kind,
                       void (*on_change)(void *object, int64_t number));
/* Returns ZKR_EBUSY, with its text, while the object is @used, threads wait on it, or it has tickets; else ZKR_OK. */
int zkr__recipe_busy(const struct zkr__recipe *r, bool used) ZKR__LOCKED;
/* Free an object that is not busy. Waits for a running callback. */
void zkr__recipe_free(struct zkr__recipe *r);

/*
 * Returns the claim by which @object surely holds; else NULL, and sets *rc and the last error. @rc: NULL = neither is
 * wanted. Called with the client's lock held.
 */
typedef const struct zkr__claim *(*zkr__recipe_hold)(void *object, int *rc);
/* Store what @getter reads from that claim in @out. */
int zkr__recipe_get(void *object,
                    zkr__recipe_hold hold,
                    zkr__hold_getter getter,
                    void *out,
                    size_t size);
/* Returns how long the object surely holds; 0 = it does not. */
int64_t zkr__recipe_valid_for_ms(void *object, zkr__recipe_hold hold);

#endif
