/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends a process group. The number of the group is not enough, because once all its processes are gone, another group
 * may get that number. The descriptor of the pipe refers to the group itself.
 */
#include "group.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

/*
 * Returns the number of the group, or 0 if the group is gone. Linux before 5.11 does not report that it is gone, but
 * kill() does.
 */
static pid_t number(const struct group *g)
{
    struct f_owner_ex owner;
    if (fcntl(g->fds[ZKR__GROUP_READER], F_GETOWN_EX, &owner) != 0 || owner.pid <= 0) {
        return 0;
    }
    return kill(-owner.pid, 0) != 0 && errno == ESRCH ? 0 : owner.pid;
}

static void kill_group(const struct group *g)
{
    char byte = 0;
    (void)!read(g->fds[ZKR__GROUP_READER], &byte, 1);
    (void)!write(g->fds[ZKR__GROUP_WRITER], &byte, 1);
}

/* Read a file of /proc, truncated to @size. Returns false if it cannot be read. */
static bool read_file(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;
    int error = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    errno = error;
    return n > 0;
}

enum member { NOT_MEMBER, DEAD_MEMBER, LIVE_MEMBER };

/* Returns the @n-th field after the name, counted from 0. */
static const char *field(const char *stat, int n)
{
    const char *at = strrchr(stat, ')');
    for (int i = 0; at && i <= n; i++) {
        at = strchr(at + 1, ' ');
    }
    return at ? at + 1 : "";
}

/*
 * A process whose /proc file cannot be read may be a member, so it counts as one. A process is alive while any of its
 * threads is.
 */
static enum member member_of(const char *pid, pid_t group)
{
    enum { STATE = 0, GROUP = 2, THREADS = 17 };
    char path[64], text[1024];
    (void)snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
    if (!read_file(path, text, sizeof(text))) {
        return errno == ENOENT || errno == ESRCH ? NOT_MEMBER : LIVE_MEMBER;
    }
    const char *threads = field(text, THREADS);
    if (threads[0] == '\0') {
        return LIVE_MEMBER;
    }
    bool ended = field(text, STATE)[0] == 'Z' || field(text, STATE)[0] == 'X';
    return strtol(field(text, GROUP), NULL, 10) != group ? NOT_MEMBER
           : ended && strtol(threads, NULL, 10) <= 1     ? DEAD_MEMBER
                                                         : LIVE_MEMBER;
}

/* Returns whether /proc shows all processes, including those of other users. */
static bool proc_is_whole(void)
{
    static int known = -1;
    char *line = NULL;
    size_t size = 0;
    if (known >= 0) {
        return known;
    }
    FILE *f = fopen("/proc/self/mounts", "re");
    known = f != NULL;
    while (f && getline(&line, &size, f) > 0) {
        if (strstr(line, " proc ") &&
            (strstr(line, "hidepid=") || strstr(line, "subset="))) {
            known = 0;
        }
    }
    free(line);
    if (f) {
        (void)fclose(f);
    }
    return known;
}

/*
 * Zombies that are never reaped stay in the group, for example in a container whose first process reaps none. So the
 * group counts as gone if /proc shows no living member.
 */
static bool all_are_dead(pid_t group)
{
    DIR *dir = proc_is_whole() ? opendir("/proc") : NULL;
    const struct dirent *entry;
    int dead = 0, alive = 0;
    if (!dir) {
        return false;
    }
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread calls readdir */
    while (alive == 0 && (entry = readdir(dir))) {
        if (isdigit((unsigned char)entry->d_name[0])) {
            enum member member = member_of(entry->d_name, group);
            dead += member == DEAD_MEMBER;
            alive += member == LIVE_MEMBER;
        }
    }
    (void)closedir(dir);
    return dead > 0 && alive == 0;
}

/* Returns whether a byte has arrived on the pipe. An end of file without a byte does not count. */
static bool pipe_is_over(struct group *g)
{
    char byte;
    struct pollfd p = {.fd = g->fds[ZKR__GROUP_READER], .events = POLLIN};
    if (!g->over && poll(&p, 1, 0) > 0 && (p.revents & POLLIN) != 0) {
        g->over = read(p.fd, &byte, 1) == 1;
    }
    return g->over;
}

bool group_end(struct group *g)
{
    enum { FIRST_LOOK_MS = 4, LOOK_MS = 20 };
    if (g->fds[ZKR__GROUP_WRITER] < 0) {
        return pipe_is_over(g);
    }
    pid_t group = number(g);
    if (group == 0) {
        return true;
    }
    kill_group(g);
    bool look = g->look_at != 0 && now_ms() >= g->look_at;
    if (g->look_at == 0 || look) {
        g->look_at = now_ms() + (look ? LOOK_MS : FIRST_LOOK_MS);
    }
    return look && all_are_dead(group);
}
