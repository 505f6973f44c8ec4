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

/** The recipe of a node, as its name shows. */
enum zkr_kind {
    ZKR_KIND_LOCK = 1,   /**< mutex, leader selector */
    ZKR_KIND_READ = 2,   /**< reader */
    ZKR_KIND_WRITE = 3,  /**< writer */
    ZKR_KIND_LEADER = 4, /**< leader latch */
    ZKR_KIND_LEASE = 5,  /**< permits of a semaphore */
    ZKR_KIND_OTHER =
        6, /**< another recipe; its number counts if the server can have assigned it */
    ZKR_KIND_NODE = 7 /**< the path itself, an ephemeral node; only in surveys */
};

/** One contender. Its pointers are valid until the list is freed. */
typedef struct zkr_contender {
    const char *node; /**< name below the path */
    /** First line of the node data, with '?' for unprintable bytes; "" = no data, or `asked` is set; "compressed data"
     * for gzip. */
    const char *owner;
    int64_t session_id; /**< owner session; 0 = the node is not ephemeral */
    /** When it joined the queue, by the server's wall clock, ms since 1970. */
    int64_t created_ms;
    int64_t fencing_token; /**< its czxid */
    int64_t sequence;      /**< its sequence number; the lowest number holds */
    int kind;              /**< ZKR_KIND_… */
    /** It is the first entry, or a reader with only readers before it. */
    bool holds;
    /** The contender has been asked to release; see zkr_mutex_revoke(). The request replaces the owner text. Holders
     * that use this library restore the text; holders that use Curator do not. */
    bool asked;
    /** Time of the grant by the holder's clock, ms since 1970; 0 = not known. A holder that uses this library and has
     * an owner text writes this time into its node about an eighth of the session timeout after the grant. It omits the
     * write if a client without Curator's node names, such as aiozk, waits behind it at that moment, because the write
     * would use up that client's watch. Leader latches and selectors never write this time, because their node data is
     * the participant's id, as in Curator, and because Curator's latch misses its turn if the node ahead of it changes.
     */
    int64_t held_since_ms;
    /** The lines of the node data after the first, for zkr_contender_field(); NULL = none. */
    const char *fields;
    /** The program that uses such node names, for example "kazoo"; only for ZKR_KIND_OTHER. NULL = not known. */
    const char *maker;
    /** True: the recipe grants in the order of the numbers. False: its order is not known, and `holds` is a guess. */
    bool ordered;
} zkr_contender;

/**
 * The number of entries of a list.
 *
 * @list  borrowed; NULL counts as empty.
 *
 * Returns the number.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  Collection.size.   Since: 0.1.
 */
ZKR_API size_t zkr_contenders_count(const zkr_contenders *list);

/**
 * Entry @i of a list. Entry 0 is the holder.
 *
 * @list  borrowed.
 * @i     below zkr_contenders_count().
 *
 * Returns the entry, owned by the list, or NULL if there is no such entry.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  Participant.   Since: 0.1.
 */
ZKR_API const zkr_contender *zkr_contenders_get(const zkr_contenders *list, size_t i);

/**
 * A field in the node data of a contender. The owner text is not a field.
 *
 * Fields are the lines of the form `key=value` after the first line of the node data, with keys of [a-z_]. You may
 * append such lines to an owner text (options.owner of a client, a mutex, …). `zkr` sets `user`, `command` and `host`.
 * The library adds `max` to the nodes of permits. In these nodes, it cuts an owner text of about 1000 bytes or more, at
 * the end of a line if the text has several lines. The library adds `held_since_ms` and the negotiated
 * `session_timeout_ms` to the node of a long hold. If one of the lines has another form, there are no fields, and
 * `owner` contains all of the data.
 *
 * @c    an entry of a list; NULL has no fields.
 * @key  such as "user".
 *
 * Returns the value, owned by the list, with '?' for unprintable bytes; NULL if there is no such field.
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
