/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file survey.h
 * A list of all locks, elections and semaphores below a path, with their holders, times and numbers of waiters.
 *
 * A survey is intended for tools and operators; `zkr ls` uses it. It joins no queue and leaves no watch. It finds only
 * paths at which somebody holds a lock or waits for it, because an unused lock looks like any other node.
 */
#ifndef ZKR_SURVEY_H
#define ZKR_SURVEY_H

#include <zkr/client.h>
#include <zkr/contenders.h>
#include <zkr/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The result of a survey. */
typedef struct zkr_survey zkr_survey;

/** Flags of zkr_survey_read(). */
enum zkr_survey_flag {
    /** Survey all depths; without this flag, only the path itself and its children. */
    ZKR_SURVEY_DEEP = 1,
    /** Include ephemeral nodes that are not contenders, such as Kafka's /controller. Some are locks, others members. */
    ZKR_SURVEY_NODES = 2
};

/** One lock, election, semaphore or ephemeral node. Its pointers are valid until the survey is freed. */
typedef struct zkr_survey_entry {
    const char *path;
    /**
     * Kind (ZKR_KIND_…) of the holder, or of the first waiter if nobody holds the lock; ZKR_KIND_LEASE for a semaphore;
     * ZKR_KIND_NODE for an ephemeral node, whose `holder->node` is the last part of the path.
     */
    int kind;
    /** The first holder; NULL = nobody holds the lock, or holders changed faster than they could be read. */
    const zkr_contender *holder;
    /** Number of holders. For a semaphore: of held permits; for a recipe of unknown order: of all contenders. */
    int64_t held;
    int64_t max; /**< permits of a semaphore; 0 = not known, or not a semaphore */
    /** Number of waiters; ZKR_UNKNOWN (lease.h) for ZKR_KIND_NODE, or if the order of the recipe is not known. */
    int64_t waiting;
    /**
     * Time at which the first waiter joined, by the server's wall clock, ms since 1970; 0 = nobody waits, or not known.
     */
    int64_t waiting_since_ms;
} zkr_survey_entry;

/**
 * Find the locks at and below a path.
 *
 * @c      borrowed.
 * @path   the path to search; "/" = all paths except /zookeeper.
 * @flags  ZKR_SURVEY_… or 0.
 * @out    the result on success; free it with zkr_survey_free().
 *
 * The survey reads entries one after another, so the result is not a snapshot. It leaves out nodes that the client has
 * no permission to read; zkr_survey_denied() returns their number.
 *
 * Returns ZKR_OK, ZKR_ENONODE (@path does not exist), ZKR_EAUTH (the client has no permission to read @path),
 * ZKR_ETIMEDOUT (after options.connect_timeout_ms), ZKR_ECONNLOSS, ZKR_ESESSION (the connection or the session ended
 * meanwhile), ZKR_ECLOSED, ZKR_EINVAL, ZKR_ENOMEM, ZKR_ESTATE (in a callback, or in a forked child).
 *
 * Blocks:   yes, at most options.connect_timeout_ms.
 * Threads:  any.
 * Session:  waits for a session.
 * Cost:     one request for each examined node; one or two more for each lock, one more for each permit of a semaphore,
 *           and one more for each ephemeral node that is found. The requests are pipelined, hundreds at a time, so the
 *           number of round trips is about the depth of the tree: some tenths of a second for a thousand locks.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_survey_read(zkr_client *c,
                            const char *path,
                            int64_t flags,
                            zkr_survey **out);

/**
 * The number of entries of a survey.
 *
 * @s  borrowed; NULL has 0.
 *
 * Returns the number.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API size_t zkr_survey_count(const zkr_survey *s);

/**
 * Entry @i of a survey. Entries are ordered by path.
 *
 * @s  borrowed.
 * @i  below zkr_survey_count().
 *
 * Returns the entry, owned by the survey, or NULL if there is no such entry.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API const zkr_survey_entry *zkr_survey_get(const zkr_survey *s, size_t i);

/**
 * The number of nodes that the client's credentials do not allow to read.
 *
 * @s  borrowed; NULL has 0.
 *
 * Returns the number.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API size_t zkr_survey_denied(const zkr_survey *s);

/**
 * Free a survey.
 *
 * @s  taken; NULL is a no-op. Returns nothing.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API void zkr_survey_free(zkr_survey *s);

#ifdef __cplusplus
}
#endif

#endif
