/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all recipes share: the creation and destruction of objects, the checks of public functions, and the queries of a
 * holder.
 */
#ifndef ZKR_RECIPES_RECIPE_H
#define ZKR_RECIPES_RECIPE_H

#include "look/contenders.h"
#include "queue/hold.h"
#include "session/client.h"

/* The first member of each recipe's object. Tickets and read-write locks have only a pointer to the client there. */
struct zkr__recipe {
    zkr_client *c;
    struct zkr__queue *queue;      /* the first of several queues */
    struct zkr__node_watch *watch; /* NULL = not needed, or not yet created */
    struct zkr__cv changed;        /* wakes threads that wait on the object */
    int64_t waiting;               /* how many threads wait on the object */
    int64_t tickets;               /* how many tickets exist */
};

/*
 * Each public function calls this first. Refuses a NULL @object, and otherwise checks like zkr__client_enter(). @object
 * begins with a pointer to its client.
 */
int zkr__recipe_enter(const void *object);
/* Like zkr__recipe_enter(), but checks like zkr__client_enter_blocking(). */
int zkr__recipe_enter_blocking(const void *object);
/*
 * Each create function calls this first. Checks @c and @out, and copies the options @from to @o. Error texts call the
 * object @what.
 */
int zkr__recipe_options(const zkr_client *c,
                        const void *out,
                        const char *what,
                        void *o,
                        size_t size,
                        const void *from);

/*
 * Check the warning options of an object. Error texts call the object @what. @told is true if a callback is set.
 * Returns ZKR_OK, or ZKR_EINVAL with an error text.
 */
int zkr__recipe_check_warning(const zkr_client *c,
                              const char *path,
                              const char *what,
                              int64_t warn_ms,
                              bool told);

/*
 * Allocate an object of @size bytes, with a queue as described by @chosen. Error texts call the object @what. If this
 * fails, returns NULL, and *rc and the last error have the reason.
 */
void *zkr__recipe_make(size_t size,
                       zkr_client *c,
                       const char *what,
                       const struct zkr__queue *chosen,
                       int *rc);
/* Create r->watch like zkr__node_watch_create(), with the object as context. Fails with an error text. */
int zkr__recipe_follow(struct zkr__recipe *r,
                       const char *path,
                       enum zkr__node_watch_kind kind,
                       void (*on_change)(void *object, int64_t number));
/* Returns ZKR_EBUSY, with an error text, if the object is @used, has tickets, or threads wait on it; else ZKR_OK. */
int zkr__recipe_busy(const struct zkr__recipe *r, bool used) ZKR__LOCKED;
/* Free an object that is not busy. Waits for a running callback. */
void zkr__recipe_free(struct zkr__recipe *r);

/*
 * Returns the claim by which @object surely holds. If there is none, returns NULL and, unless @rc is NULL, sets *rc and
 * the last error. Called with the client's lock held.
 */
typedef const struct zkr__claim *(*zkr__recipe_hold)(void *object, int *rc);
/* Store in @out what @getter reads from the claim that @hold returns. */
int zkr__recipe_get(void *object,
                    zkr__recipe_hold hold,
                    zkr__hold_getter getter,
                    void *out,
                    size_t size);
/* Returns for how many milliseconds the object surely holds, or 0 if it does not hold. */
int64_t zkr__recipe_valid_for_ms(void *object, zkr__recipe_hold hold);

#endif
