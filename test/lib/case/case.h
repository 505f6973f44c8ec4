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
 * Cases run in the order in which they stand. main() is in the library; what comes before and after each case is in
 * fixture.h.
 */
struct zkt_case {
    const char *name;
    void (*body)(void);
    int way; /* which one, of several cases with one body */
    struct zkt_case *next;
};

#define ZKT_CASE(name) ZKT_CASE_WAYS(name, {#name, name, 0, 0})

/** Several cases with one body, which asks zkt_way(): {name, body, way, 0}, ... */
#define ZKT_CASE_WAYS(name, ...)                                                       \
    static void name(void);                                                            \
    __attribute__((constructor)) static void name##_is_a_case(void)                    \
    {                                                                                  \
        static struct zkt_case ways_[] = {__VA_ARGS__};                                \
        zkt_add_cases(ways_, sizeof(ways_) / sizeof(ways_[0]));                        \
    }                                                                                  \
    static void name(void)

void zkt_add_cases(struct zkt_case *ways, unsigned long count);

/** A case of a program that has no server: there is no path, and what is left behind is not looked for. */
#define ZKT_UNIT_CASE(name)                                                            \
    __attribute__((constructor)) static void name##_has_no_server(void)                \
    {                                                                                  \
        zkt_without_server();                                                          \
    }                                                                                  \
    ZKT_CASE(name)

void zkt_without_server(void);

/** Of the present case. */
int zkt_way(void);

/**
 * For a program with arguments of its own, to be called by a constructor. Before any case runs, @fn is called with the
 * arguments that no @fn before has taken, NULL at the end. It returns how many it takes, or -1 to end the program with
 * *@status. Arguments that are left over name cases, see runner.h.
 */
void zkt_at_start(int (*fn)(char **argv, int *status));

/**
 * What all cases share, to be called by a constructor. @begin is called once, when there is a server, in the process
 * from which the cases are forked; @end after the last case. @end returns the status of a program whose cases have all
 * passed, usually 0.
 */
void zkt_around_cases(void (*begin)(void), int (*end)(void));

#endif
