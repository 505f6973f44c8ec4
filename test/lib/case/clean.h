/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_CLEAN_H
#define ZKT_CLEAN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What a test must leave behind: nothing. Take the baseline once the shared server runs
 * (zkt_group_setup() does), check after every test.
 */

/** Remember the threads and open descriptors of this process. */
void zkt_baseline(void);

/**
 * Wait up to 5 s until this process has the threads and descriptors of the baseline and no
 * child but servers, and until zkt_servers() holds no child under @path, no watch and no
 * ephemeral node; else fail the test and say what is left over. With $ZKR_SERVERS, which
 * others may use, only watches and ephemeral nodes under @path count. @path NULL: leave the
 * servers alone. Nodes must be gone, not merely owned by a session about to end.
 */
void zkt_check_clean(const char *path);

/** The same against a server of the test's own, which nobody else uses. */
void zkt_check_clean_at(const char *hosts, const char *path);

/** One look. Returns false with the reason in @why. */
bool zkt_is_clean(const char *hosts, const char *path, char *why, size_t size);

int zkt_thread_count(void);
int zkt_fd_count(void);

/** Child processes, ended ones not reaped yet included, that are no servers of ours. */
int zkt_child_count(void);

/**
 * "/t/<pid>-<counter>-name", for a test that shares its server. Nothing is created; the
 * text lives as long as the program.
 */
const char *zkt_unique_path(const char *name);

#endif
