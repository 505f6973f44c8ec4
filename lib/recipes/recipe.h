/* SPDX-License-Identifier: Apache-2.0 */
/* How the public functions of recipes begin. */
#ifndef ZKR_RECIPES_RECIPE_H
#define ZKR_RECIPES_RECIPE_H

#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/path.h"
#include "session/client.h"

static inline int zkr__recipe_refuse(const char *what)
{
    (void)zkr__fail(ZKR_EINVAL, NULL, "the %s is NULL", what);
    return ZKR_EINVAL;
}

/* First thing in each: as zkr__client_enter(). @c: the client of the object, NULL if the object is NULL. */
static inline int zkr__recipe_enter(const zkr_client *c, const char *what)
{
    return c ? zkr__client_enter(c) : zkr__recipe_refuse(what);
}

/* As zkr__client_enter_blocking(). */
static inline int zkr__recipe_enter_blocking(const zkr_client *c, const char *what)
{
    return c ? zkr__client_enter_blocking(c) : zkr__recipe_refuse(what);
}

/* First thing when a @what is to be made, and stored in @out: the same, and its options @from are taken into @o. */
static inline int zkr__recipe_create(const zkr_client *c,
                                     const void *out,
                                     const char *what,
                                     void *o,
                                     size_t size,
                                     const void *from)
{
    int rc = zkr__client_enter(c);
    if (rc == ZKR_OK && !out) {
        rc = zkr__fail(ZKR_EINVAL, NULL, "the %s cannot be stored: out is NULL", what);
    }
    return rc == ZKR_OK ? zkr__options_take(o, size, from, what) : rc;
}

/* @id: NULL = none. */
static inline int
zkr__recipe_check_candidate(const char *what, const char *path, const char *id)
{
    enum { MOST = 65536 };
    const char *fault = zkr__path_fault(path);
    return fault ? zkr__fail(ZKR_EINVAL, path, "the path of a %s %s", what, fault)
           : id && strlen(id) > MOST
               ? zkr__fail(ZKR_EINVAL, path, "the id is longer than %d bytes", MOST)
               : ZKR_OK;
}

#endif
