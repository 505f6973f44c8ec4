/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ZooKeeper without the library, for comparison: asynchronous requests, awaited on a condition
 * variable; node names and data as long as those of the library. One thread at a time uses a
 * session; any failure ends the process.
 */
#ifndef ZKR_BENCH_RAW_H
#define ZKR_BENCH_RAW_H

enum { BENCH_SESSION_MS = 10000 }; /* time-out of the sessions of both sides */

struct raw;

struct raw *raw_open(const char *servers);
void raw_close(struct raw *r);

/* A persistent node; it may exist. */
void raw_make(struct raw *r, const char *path);
/* Delete a node with all below it. */
void raw_clean(struct raw *r, const char *path);

/* Persistent nodes @dir/0 to @dir/(@count - 1), sent together; and delete them likewise. */
void raw_make_many(struct raw *r, const char *dir, int count);
void raw_delete_many(struct raw *r, const char *dir, int count);
/* @count watches on nodes below @dir that do not exist, with paths as long as those of locks. */
void raw_watch_many(struct raw *r, const char *dir, int count);

/* One ephemeral sequential node below @dir; the session remembers it. */
void raw_create(struct raw *r, const char *dir);
/* The same with a list of @dir sent right behind it, and one wait for both. */
void raw_join(struct raw *r, const char *dir);
/* Delete the node and wait. */
void raw_delete(struct raw *r);
/* Delete it, and do not wait. */
void raw_remove(struct raw *r);
/* Wait for all that nobody waited for. */
void raw_flush(struct raw *r);

/*
 * A plain lock: create, list, and unless first watch the one ahead, and when that is gone list
 * again. Each request is awaited before the next. raw_delete() unlocks.
 */
void raw_lock(struct raw *r, const char *dir);

#endif
