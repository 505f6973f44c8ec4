/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_CLEAN_H
#define ZKT_CLEAN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A test must leave nothing behind. zkt_group_setup() takes the baseline when the shared server runs; the check comes
 * after each test.
 */

/** Remember the threads and open descriptors of this process. */
void zkt_baseline(void);

/**
 * Wait up to 5 s until this process has the threads and descriptors of the baseline and no child but servers, and until
 * zkt_servers() hold no child under @path, no watch and no ephemeral node; else fail the test and say what is left.
 * With $ZKR_SERVERS, which other programs may use, only watches and ephemeral nodes under @path count. @path NULL: do
 * not look at the servers.
 */
void zkt_check_clean(const char *path);

/** The same at a server of the test's own. */
void zkt_check_clean_at(const char *hosts, const char *path);

/** The same, in one look. False: something is left, as @why says. */
bool zkt_is_clean(const char *hosts, const char *path, char *why, size_t size);

int zkt_thread_count(void);
int zkt_fd_count(void);

/** Child processes, reaped or not, but for our servers. */
int zkt_child_count(void);

/** "/t/<pid>-<counter>-name", for a test that shares its server. The text lives as long as the program. */
const char *zkt_unique_path(const char *name);

#endif
