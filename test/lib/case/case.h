/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_CASE_H
#define ZKT_CASE_H

#include <stdbool.h>

/*
 * The cases of a program. Each is a sentence that says what it shows, and a body:
 *
 *     // A free lock is granted.
 *     ZKT_CASE(a_free_lock_is_granted)
 *     {
 *         zkr_mutex *m = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
 *         ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
 *         ZKT_MUST(zkr_mutex_release(m));
 *     }
 *
 * They run in the order in which they stand. main() is in the library, and so is what comes before and
 * after each case: fixture.h has that.
 */
struct zkt_case {
    const char *name;
    void (*body)(void);
    int way; /* of those that run a body more than once: which */
    struct zkt_case *next;
};

#define ZKT_CASE(name) ZKT_CASE_WAYS(name, {#name, name, 0, 0})

/** The same body several times: {name, body, way, 0}, ...; it asks zkt_way(). */
#define ZKT_CASE_WAYS(name, ...)                                                       \
    static void name(void);                                                            \
    __attribute__((constructor)) static void name##_is_a_case(void)                    \
    {                                                                                  \
        static struct zkt_case ways[] = {__VA_ARGS__};                                 \
        zkt_add_cases(ways, sizeof(ways) / sizeof(ways[0]));                           \
    }                                                                                  \
    static void name(void)

void zkt_add_cases(struct zkt_case *ways, unsigned long count);

/** Of the present case. */
int zkt_way(void);

/**
 * A program with arguments of its own: before any case runs @fn is called with what comes behind those of
 * others, NULL at the end. It returns how many of them it takes, or -1: the program ends with *@status. To
 * be called by a constructor. What is left over names cases, see runner.h.
 */
void zkt_at_start(int (*fn)(char **argv, int *status));

/**
 * What all cases share: @begin is called once, before the first case, when there is a server, in the process from which
 * they are forked; @end behind the last one. That returns 0, or with what the program ends when all have passed. To be
 * called by a constructor.
 */
void zkt_around_cases(void (*begin)(void), int (*end)(void));

#endif
