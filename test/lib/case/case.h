/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_CASE_H
#define ZKT_CASE_H

#include <stdbool.h>

/*
 * The cases of a program. Each has a sentence that states what it shows, and a body:
 *
 *     // A free lock is granted.
 *     ZKT_CASE(a_free_lock_is_granted)
 *     {
 *         zkr_mutex *m = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
 *         ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
 *         ZKT_MUST(zkr_mutex_release(m));
 *     }
 *
 * Cases run in the order in which they are defined. main() is in the library. fixture.h describes what happens before
 * and after each case.
 */
struct zkt_case {
    const char *name;
    void (*body)(void);
    int way; /* the way of this case, if several cases share one body */
    struct zkt_case *next;
};

#define ZKT_CASE(name) ZKT_CASE_WAYS(name, {#name, name, 0, 0})

/** Several cases with one body, which calls zkt_way(): {name, body, way, 0}, ... */
#define ZKT_CASE_WAYS(name, ...)                                                       \
    static void name(void);                                                            \
    __attribute__((constructor)) static void name##_is_a_case(void)                    \
    {                                                                                  \
        static struct zkt_case ways_[] = {__VA_ARGS__};                                \
        zkt_add_cases(ways_, sizeof(ways_) / sizeof(ways_[0]));                        \
    }                                                                                  \
    static void name(void)

void zkt_add_cases(struct zkt_case *ways, unsigned long count);

/** A case of a program that has no server. It has no path, and nothing checks what it leaves behind. */
#define ZKT_UNIT_CASE(name)                                                            \
    __attribute__((constructor)) static void name##_has_no_server(void)                \
    {                                                                                  \
        zkt_without_server();                                                          \
    }                                                                                  \
    ZKT_CASE(name)

void zkt_without_server(void);

/** Returns the way of the current case. */
int zkt_way(void);

/**
 * For a program with its own arguments. Called by a constructor. Before any case runs, @fn is called with the arguments
 * that no earlier @fn has taken, followed by NULL. It returns how many it takes, or -1 to end the program with
 * *@status. The remaining arguments are names of cases (runner.h).
 */
void zkt_at_start(int (*fn)(char **argv, int *status));

/**
 * Steps that all cases share. Called by a constructor. @begin is called once, when there is a server, in the process
 * from which the cases are forked. @end is called after the last case, and returns the status of a program whose cases
 * have all passed, usually 0.
 */
void zkt_around_cases(void (*begin)(void), int (*end)(void));

#endif
