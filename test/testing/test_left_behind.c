/* SPDX-License-Identifier: Apache-2.0 */
/* zkr/testing.h: the first start of a program removes what killed programs left behind. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "case.h"
#include "expect.h"
#include "testing/server.h"

static bool exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

static int end_at_once(void *unused)
{
    return 0;
}

/* Make a directory as of a server that @pid started, last changed @age_s seconds ago. */
static void make_old_dir(char dir[256], const char *tmp, pid_t pid, time_t age_s)
{
    const time_t then = time(NULL) - age_s;
    const struct timespec times[] = {{.tv_sec = then}, {.tv_sec = then}};
    (void)snprintf(dir, 256, "%s/zkr-test-%d-%d", tmp, (int)pid, (int)age_s);
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_int_equal(utimensat(AT_FDCWD, dir, times, 0), 0);
}

/* Directories of programs that run, and directories that changed less than ten minutes ago, stay. */
ZKT_UNIT_CASE(directories_of_killed_programs_are_removed)
{
    char tmp[] = "/tmp/zkr-old-XXXXXX", old[256], young[256], used[256];
    zkr_test_server s = {0};
    const pid_t gone = zkt_fork(end_at_once, NULL);
    assert_int_equal(zkt_join(gone, 30000), 0);
    assert_non_null(mkdtemp(tmp));
    assert_int_equal(setenv("TMPDIR", tmp, 1), 0);
    make_old_dir(old, tmp, gone, 660);
    make_old_dir(young, tmp, gone, 540);
    make_old_dir(used, tmp, getpid(), 660);
    ZKT_MUST(zkr__test_make_dir(&s));
    assert_false(exists(old));
    assert_true(exists(young));
    assert_true(exists(used));
    zkr__test_remove_tree(tmp);
}
