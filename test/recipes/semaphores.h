/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for the tests of semaphores. */
#ifndef ZKT_SEMAPHORES_H
#define ZKT_SEMAPHORES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keep.h"
#include "tickets.h"

static inline void end_kept_semaphore(void *s)
{
    ZKT_MUST(zkr_semaphore_destroy(s));
}

/* Create a semaphore, which ends with the case. */
static inline zkr_semaphore *
semaphore_with(zkr_client *c, int64_t max, const zkr_semaphore_options *o)
{
    zkr_semaphore *s = NULL;
    ZKT_MUST(zkr_semaphore_create(&s, c, zkt_path(), max, o));
    zkt_keep(s, end_kept_semaphore);
    return s;
}

static inline zkr_semaphore *semaphore(zkr_client *c, int64_t max)
{
    return semaphore_with(c, max, NULL);
}

/* Returns the path of the node that contains the maximum, beside the semaphore. */
static inline const char *count_path(void)
{
    static char path[256];
    (void)snprintf(path, sizeof(path), "%s-max", zkt_path());
    return path;
}

static inline void delete_count(void *unused)
{
    (void)zkt_delete(zkt_servers(), count_path());
}

static inline zkr_semaphore *resizable(zkr_client *c, int64_t max)
{
    zkr_semaphore_options o = ZKR_SEMAPHORE_OPTIONS_INIT;
    static int node;
    zkt_keep(&node, delete_count);
    o.max_from = count_path();
    return semaphore_with(c, max, &o);
}

static inline void set_bytes(const void *bytes, size_t size)
{
    zkt_raw *raw = zkt_raw_open(zkt_servers(), SESSION_MS);
    assert_non_null(raw);
    if (zkt_raw_set(raw, count_path(), bytes, size) == ZKT_NONODE) {
        const zkt_node node = {.path = count_path(), .data = bytes, .data_len = size};
        assert_int_equal(zkt_raw_create(raw, &node, NULL, 0), ZKT_OK);
    }
    assert_int_equal(zkt_raw_close(raw), ZKT_OK);
}

static inline void set_max(uint32_t max)
{
    const unsigned char bytes[4] = {(unsigned char)(max >> 24),
                                    (unsigned char)(max >> 16),
                                    (unsigned char)(max >> 8), (unsigned char)max};
    set_bytes(bytes, sizeof(bytes));
}

static inline int below(const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s", zkt_path(), name);
    return zkt_children_count(zkt_servers(), path);
}

static inline int leases(void)
{
    return below("leases");
}

static inline int at_gate(void)
{
    return below("locks");
}

static inline zkr_ticket *take(zkr_semaphore *s, int n)
{
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_semaphore_acquire(s, n, PATIENCE_MS, &t));
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_HELD);
    return t;
}

static inline int try(zkr_semaphore *s, int n)
{
    zkr_ticket *t = NULL;
    int rc = zkr_semaphore_acquire(s, n, 0, &t);
    if (rc == ZKR_OK) {
        end(t);
    } else {
        assert_null(t);
    }
    return rc;
}

static inline zkr_ticket *ask_for(zkr_semaphore *s, int n, struct told *told)
{
    zkr_ticket *t = NULL;
    if (told) {
        ZKT_MUST(zkr_semaphore_request(s, n, ZKR_FOREVER, note, told, &told->t));
        return told->t;
    }
    ZKT_MUST(zkr_semaphore_request(s, n, ZKR_FOREVER, NULL, NULL, &t));
    return t;
}

/* Returns the highest sequence number in PATH/locks, or -1 if this queue is empty. */
static inline long newest_at_gate(void)
{
    char path[256];
    zkt_list list = {0};
    long newest = -1;
    (void)snprintf(path, sizeof(path), "%s/locks", zkt_path());
    (void)zkt_children(zkt_servers(), path, &list);
    for (int i = 0; i < list.count; i++) {
        long number = strtol(list.name[i] + strlen(list.name[i]) - 10, NULL, 10);
        newest = number > newest ? number : newest;
    }
    zkt_list_free(&list);
    return newest;
}

/*
 * Request permits, and wait until the request has a node in PATH/locks. Earlier requests may be leaving this queue
 * meanwhile.
 */
static inline zkr_ticket *queue_for(zkr_semaphore *s, int n, struct told *told)
{
    long before = newest_at_gate();
    zkr_ticket *t = ask_for(s, n, told);
    ZKT_EVENTUALLY(newest_at_gate() > before, PATIENCE_MS);
    return t;
}

#endif
