/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

#include <stdlib.h>

#include "fixture.h"
#include "keep.h"

enum { STARTS_MAX = 3 };

static struct zkt_case *first, **last = &first;
static size_t count;
static const struct zkt_case *present;
static int (*at_start[STARTS_MAX + 1])(char **argv, int *status);
static void (*begin_around)(void);
static int (*end_around)(void);
static int status_around;
static bool no_server;

void zkt_add_cases(struct zkt_case *ways, unsigned long ways_count)
{
    for (unsigned long i = 0; i < ways_count; i++) {
        *last = &ways[i];
        last = &ways[i].next;
        count++;
    }
}

void zkt_without_server(void)
{
    no_server = true;
}

void zkt_at_start(int (*fn)(char **argv, int *status))
{
    int i = 0;
    while (at_start[i]) {
        i++;
    }
    at_start[i] = fn;
}

void zkt_around_cases(void (*begin)(void), int (*end)(void))
{
    begin_around = begin;
    end_around = end;
}

int zkt_way(void)
{
    return present ? present->way : 0;
}

static int enter(void **state)
{
    present = *state;
    zkt_keep_begin();
    return no_server ? 0 : zkt_enter(state);
}

static int leave(void **state)
{
    return no_server ? 0 : zkt_leave(state);
}

/* A callback may still write to variables of the body, so this leaves the body's part of the stack alone. */
__attribute__((noinline)) static void end_beyond_the_body(void)
{
    enum { ROOM = 1 << 19 };
    char room[ROOM];
    /* Keeps the compiler from removing the array. */
    __asm__ volatile("" : : "r"(room) : "memory");
    zkt_keep_end();
    __asm__ volatile("" : : "r"(room) : "memory");
}

static void run_body(void **state)
{
    present->body();
    end_beyond_the_body();
}

static int begin_all(void **state)
{
    int rc = no_server ? 0 : zkt_group_setup(state);
    if (rc == 0 && begin_around) {
        begin_around();
    }
    return rc;
}

static int end_all(void **state)
{
    status_around = end_around ? end_around() : 0;
    return no_server ? 0 : zkt_group_teardown(state);
}

int main(int argc, char **argv)
{
    int status = 0, taken = 0;
    for (int i = 0; at_start[i]; i++) {
        int more = at_start[i](argv + 1 + taken, &status);
        if (more < 0) {
            return status;
        }
        taken += more;
    }
    struct CMUnitTest *tests = calloc(count, sizeof(*tests));
    size_t n = 0;
    for (struct zkt_case *c = first; c && tests; c = c->next) {
        tests[n++] = (struct CMUnitTest){c->name, run_body, enter, leave, c};
    }
    status = zkt_run_cases(argc - taken, argv + taken, tests, n, begin_all, end_all);
    free(tests);
    return status != 0 ? status : status_around;
}
