/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ZooKeeper without the library, for comparison. The requests are asynchronous, and the caller waits for the answers on
 * a condition variable. Node names and data are as long as those of the library. Only one thread at a time may use a
 * session. Any failure ends the process.
 */
#ifndef ZKR_BENCH_RAW_H
#define ZKR_BENCH_RAW_H

enum { BENCH_SESSION_MS = 10000 }; /* timeout of the sessions on both sides */

struct raw;

struct raw *raw_open(const char *servers);
void raw_close(struct raw *r);

/* Creates a persistent node, unless it exists. */
void raw_make(struct raw *r, const char *path);
/* Deletes a node and everything below it. */
void raw_clean(struct raw *r, const char *path);

/*
 * These create the persistent nodes @dir/0 to @dir/(@count - 1), with requests sent together, and delete them in the
 * same way.
 */
void raw_make_many(struct raw *r, const char *dir, int count);
void raw_delete_many(struct raw *r, const char *dir, int count);
/* Sets @count watches on missing nodes below @dir, with paths as long as those of locks. */
void raw_watch_many(struct raw *r, const char *dir, int count);

/* Creates one ephemeral sequential node below @dir. The session remembers the node. */
void raw_create(struct raw *r, const char *dir);
/* Like raw_create(), but also sends a list of @dir right behind the create, and waits for both answers. */
void raw_join(struct raw *r, const char *dir);
/* Deletes the node, and waits for the answer. */
void raw_delete(struct raw *r);
/* Deletes the node without waiting. */
void raw_remove(struct raw *r);
/* Waits for the answers to all requests for which no caller has waited. */
void raw_flush(struct raw *r);

/*
 * Acquires a plain lock. Creates a node and lists the directory. Unless the node is the first, watches the node ahead
 * and, when that node is gone, lists again. Waits for each answer before the next request. raw_delete() releases the
 * lock.
 */
void raw_lock(struct raw *r, const char *dir);

#endif
