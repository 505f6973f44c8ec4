/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file contenders.h
 * Lists of holders and waiters, as the recipes return them.
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

/** The recipe that a node belongs to, by its name. */
enum zkr_kind {
    ZKR_KIND_LOCK = 1,   /**< mutex, leader selector */
    ZKR_KIND_READ = 2,   /**< reader */
    ZKR_KIND_WRITE = 3,  /**< writer */
    ZKR_KIND_LEADER = 4, /**< leader latch */
    ZKR_KIND_LEASE = 5,  /**< permits of a semaphore */
    ZKR_KIND_OTHER =
        6, /**< another recipe; counts by its number, once the server has given that out */
    ZKR_KIND_NODE = 7 /**< the path itself, an ephemeral node; only in surveys */
};

/** One contender; pointers live as long as the list. */
typedef struct zkr_contender {
    const char *node; /**< name below the path */
    /** First line of the node data as text, unprintable bytes as '?'; "" = none, or `asked`. Gzip is "compressed data". */
    const char *owner;
    int64_t session_id; /**< owner session; 0 = the node is not ephemeral */
    /** When it joined the queue, by the server's wall clock, ms since 1970. */
    int64_t created_ms;
    int64_t fencing_token; /**< its czxid */
    int64_t sequence;      /**< its sequence number: the lowest holds */
    int kind;              /**< ZKR_KIND_… */
    /** It is the first, or a reader in a row of readers that begins with the first. */
    bool holds;
    /** It has been asked to release: zkr_mutex_revoke(). The request replaces its owner text. A holder of this
     * library writes the text back; those of Curator do not. */
    bool asked;
    /** When it got the lock, by its own clock, ms since 1970; 0 = not known. A holder of this library that has an
     * owner text writes this into its node about an eighth of the session timeout after the grant. It does not if, at
     * that moment, a client without Curator's node names, such as aiozk, waits behind it: the write would use up that
     * client's watch. Leader latches and selectors never do: their node data is the participant's id, for Curator too, and
     * Curator's latch misses its turn if the node ahead of it is written to. */
    int64_t held_since_ms;
    /** The lines after the first; for zkr_contender_field(). NULL = none. */
    const char *fields;
    /** Of ZKR_KIND_OTHER: the program that names its nodes so, such as "kazoo". NULL = not known. */
    const char *maker;
    /** The contender with the lowest number holds. False: the order of the recipe is not known, and `holds` is a guess. */
    bool ordered;
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
 * A field in the node data of a contender, besides its owner text.
 *
 * After the first line, the data of a node may have lines `key=value`, with keys of [a-z_]. If you set an owner text
 * (options.owner of a client, a mutex, …), you may append such lines. `zkr` sets `user`, `command` and
 * `host`. The library adds `max` to the permits of a semaphore, and cuts an owner text of about 1000 bytes or more there,
 * at the end of a line if it has several. It adds `held_since_ms` and the negotiated `session_timeout_ms` to the node
 * of a long hold. If any of the lines has another form, there are no fields, and all of the data is `owner`.
 *
 * @c    an entry of a list; NULL has no fields.
 * @key  such as "user".
 *
 * Returns the value, unprintable bytes as '?', owned by the list; NULL if there is no such field.
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
