/* SPDX-License-Identifier: Apache-2.0 */
#include "threads.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Reads the name and the blocked signals of one thread. Returns false if the thread is gone. */
static bool look(const char *id, char *name, size_t size, uint64_t *blocked)
{
    char path[64];
    char line[256];
    bool named = false;
    bool found = false;

    (void)snprintf(path, sizeof path, "/proc/self/task/%.20s/status", id);
    FILE *f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, "Name:\t", 6) == 0) {
            line[strcspn(line, "\n")] = '\0';
            (void)snprintf(name, size, "%.31s", line + 6);
            named = true;
        }
        found = sscanf(line, "SigBlk: %" SCNx64, blocked) == 1 || found;
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    return named && found;
}

int zkt_threads_named(const char *name, uint64_t *blocked, uint64_t *partly)
{
    int count = 0;
    uint64_t all = UINT64_MAX;
    uint64_t any = 0;
    DIR *d = opendir("/proc/self/task");
    const struct dirent *entry;

    while (d != NULL && (entry = readdir(d)) != NULL) {
        char seen[32];
        uint64_t mask = 0;
        if (entry->d_name[0] != '.' && look(entry->d_name, seen, sizeof seen, &mask) &&
            strcmp(seen, name) == 0) {
            count++;
            all &= mask;
            any |= mask;
        }
    }
    if (d != NULL) {
        (void)closedir(d);
    }
    if (blocked != NULL) {
        *blocked = all;
    }
    if (partly != NULL) {
        *partly = any;
    }
    return count;
}
