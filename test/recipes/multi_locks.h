/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for the tests of multi-locks, which use the paths /0, /1 ... below the path of the test. */
#ifndef ZKT_MULTI_LOCKS_H
#define ZKT_MULTI_LOCKS_H

#include <stdio.h>

#include "keep.h"
#include "tickets.h"

enum { PATHS_MAX = 100, PATH_ROOM = 200 };

static char path_text[PATHS_MAX][PATH_ROOM];

/* Write the text once per test. Any thread may call this function after that. */
static inline const char *path_of(int i)
{
    if (strncmp(path_text[i], zkt_path(), strlen(zkt_path())) != 0) {
        (void)snprintf(path_text[i], sizeof(path_text[i]), "%s/%d", zkt_path(), i);
    }
    return path_text[i];
}

static inline void end_kept_multi_lock(void *l)
{
    ZKT_MUST(zkr_multi_lock_destroy(l));
}

/* Create a multi-lock of the paths with these numbers, which end with -1. The lock ends with the case. */
static inline zkr_multi_lock *multi_lock_of(zkr_client *c, const int *numbers)
{
    const char *paths[PATHS_MAX];
    size_t count = 0;
    zkr_multi_lock *l = NULL;
    for (; numbers[count] >= 0; count++) {
        paths[count] = path_of(numbers[count]);
    }
    ZKT_MUST(zkr_multi_lock_create(&l, c, paths, count, NULL));
    zkt_keep(l, end_kept_multi_lock);
    return l;
}

#define MULTI_LOCK(c, ...) multi_lock_of((c), (const int[]){__VA_ARGS__, -1})

static inline zkr_ticket *ask(zkr_multi_lock *l, int64_t timeout_ms, struct told *told)
{
    zkr_ticket *t = NULL;
    if (told) {
        ZKT_MUST(zkr_multi_lock_request(l, timeout_ms, note, told, &told->t));
        return told->t;
    }
    ZKT_MUST(zkr_multi_lock_request(l, timeout_ms, NULL, NULL, &t));
    return t;
}

/* Returns the number of nodes in the queue of a path, 0 if the path does not exist. */
static inline int nodes_at(int i)
{
    int count = zkt_children_count(zkt_servers(), path_of(i));
    return count < 0 ? 0 : count;
}

static inline int nodes_of(int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++) {
        sum += nodes_at(i);
    }
    return sum;
}

/* Write the path of the node with the highest sequence number. */
static inline void last_at(int i, char *path, size_t size)
{
    zkt_list list;
    const char *last = "";
    assert_int_equal(zkt_children(zkt_servers(), path_of(i), &list), 0);
    for (size_t j = 0; j < (size_t)list.count; j++) {
        size_t len = strlen(list.name[j]), last_len = strlen(last);
        if (last_len == 0 ||
            strcmp(list.name[j] + len - 10, last + last_len - 10) > 0) {
            last = list.name[j];
        }
    }
    int len = snprintf(path, size, "%s/%s", path_of(i), last);
    ZKT_IN_RANGE(len, 0, (int)size - 1);
    zkt_list_free(&list);
}

static inline void end_multi_lock(zkr_multi_lock *l)
{
    zkt_unkeep(l);
    end_kept_multi_lock(l);
}

/* Check that no nodes are left on the server. */
static inline void expect_nothing_left(zkr_client *c, int count)
{
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(nodes_of(count), 0);
}

/* Delete the paths, too, so that the next test has to create them again. */
static inline void finish(zkr_client *c, int count)
{
    expect_nothing_left(c, count);
    zkt_close(c);
    zkt_delete_children(zkt_servers(), zkt_path());
}

#endif
