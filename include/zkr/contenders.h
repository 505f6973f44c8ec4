/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file contenders.h
 * Lists of who holds and who waits, as the recipes return them.
 */
#ifndef ZKR_CONTENDERS_H
#define ZKR_CONTENDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zkr/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zkr_contenders zkr_contenders;

/** Of which recipe a node is, by its name. */
enum zkr_kind {
    ZKR_KIND_LOCK = 1,   /**< mutex, leader selector */
    ZKR_KIND_READ = 2,   /**< reader */
    ZKR_KIND_WRITE = 3,  /**< writer */
    ZKR_KIND_LEADER = 4, /**< leader latch */
    ZKR_KIND_LEASE = 5,  /**< permits of a semaphore */
    ZKR_KIND_OTHER = 6   /**< of a recipe that is not ours; counts by its number */
};

/** One contender; pointers live as long as the list. */
typedef struct zkr_contender {
    const char *node; /**< name below the path */
    const char *
        owner; /**< first line of the node data as text, unprintable bytes as '?'; "" = none, or `asked` */
    int64_t session_id; /**< owner session; 0 = the node is not ephemeral */
    int64_t
        created_ms; /**< server's wall clock, ms since 1970: in the queue since then */
    int64_t fencing_token; /**< its czxid */
    int64_t sequence;      /**< its place: the lowest holds */
    int kind;              /**< ZKR_KIND_… */
    bool holds; /**< the first, and the readers right behind a reader that is */
    /** Somebody asks it to let go, in place of its owner text: zkr_mutex_revoke(). A holder of this
     * library writes the text back; Curator's do not. */
    bool asked;
    /** By its own clock it holds since then, ms since 1970; 0 = not known. A holder of this library that has an
     * owner text writes it into its node with its first lease probe, about a tenth of the session timeout after the
     * grant. Leader latches and selectors never do: what is in their nodes is the participant's id, for Curator too,
     * whose latch goes deaf when the node ahead of it is written to. */
    int64_t held_since_ms;
    /** The lines behind the first; for zkr_contender_field(). NULL = none. */
    const char *fields;
} zkr_contender;

/**
 * The number of entries of a list.
 *
 * @list  borrowed; NULL has 0.
 *
 * Returns the number.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  Collection.size.   Since: 0.1.
 */
ZKR_API size_t zkr_contenders_count(const zkr_contenders *list);

/**
 * Entry @i of a list; entry 0 holds.
 *
 * @list  borrowed.
 * @i     below zkr_contenders_count().
 *
 * Returns the entry, owned by the list, or NULL when there is no such entry.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  Participant.   Since: 0.1.
 */
ZKR_API const zkr_contender *zkr_contenders_get(const zkr_contenders *list, size_t i);

/**
 * What a contender says about itself, besides its owner text.
 *
 * The data of a node may have lines `key=value` behind the first, with keys of [a-z_]. Whoever sets an owner text
 * (options.owner of a client, a mutex, …) may append such lines. `zkr` sets `user`, `command` and
 * `host`; the library adds `max` to the permits of a semaphore, and `held_since_ms` and `session_timeout_ms` (as negotiated)
 * to what is held for longer than a moment. When any of the lines
 * is of another form, there are no fields, and all of the data is `owner`.
 *
 * @c    of a list; NULL has none.
 * @key  such as "user".
 *
 * Returns the value, unprintable bytes as '?', owned by the list, or NULL when there is no such field.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API const char *zkr_contender_field(const zkr_contender *c, const char *key);

/**
 * Free a list.
 *
 * @list  taken; NULL is a no-op. Returns nothing.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API void zkr_contenders_free(zkr_contenders *list);

#ifdef __cplusplus
}
#endif

#endif
