/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_CLEAN_H
#define ZKT_CLEAN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A test must leave nothing behind. zkt_group_setup() takes the baseline when the shared server runs, and each test is
 * followed by the check.
 */

/** Remember the threads and the open descriptors of this process. */
void zkt_baseline(void);

/**
 * Wait up to 5 s until this process has only the threads and descriptors of the baseline and no child except servers,
 * and until zkt_servers() have no child under @path, no watch and no ephemeral node. If that does not happen, fail the
 * test, and report what is left. With $ZKR_SERVERS, which other programs may use, only watches and ephemeral nodes
 * under @path count. If @path is NULL, do not check the servers.
 */
void zkt_check_clean(const char *path);

/** Like zkt_check_clean(), for the test's own server. */
void zkt_check_clean_at(const char *hosts, const char *path);

/** Check once. Returns false if anything is left, and describes it in @why. */
bool zkt_is_clean(const char *hosts, const char *path, char *why, size_t size);

int zkt_thread_count(void);
int zkt_fd_count(void);

/** Returns the number of child processes, reaped or not, except our servers. */
int zkt_child_count(void);

/** Returns "/t/<pid>-<counter>-name", for a test that shares its server. The text lasts until the program ends. */
const char *zkt_unique_path(const char *name);

#endif
