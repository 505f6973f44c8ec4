/* SPDX-License-Identifier: Apache-2.0 */
#include "books.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

#include "die.h"

double books_heap(void)
{
    struct mallinfo2 info = mallinfo2();
    return (double)(info.uordblks + info.hblkhd);
}

double books_resident(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%*d %ld", &pages) != 1) {
        bench_die("cannot read /proc/self/statm");
    }
    (void)fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

double books_threads(void)
{
    DIR *dir = opendir("/proc/self/task");
    double count = -2; /* does not count . and .. */
    while (dir && readdir(dir)) {
        count++;
    }
    if (dir) {
        (void)closedir(dir);
    }
    return count;
}
