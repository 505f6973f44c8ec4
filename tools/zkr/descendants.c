/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks a tree of processes in /proc. A process whose parent has exited becomes a child of the root, which is a
 * subreaper. A process ID may be reused before the signal is sent, so the walk first opens a descriptor of the process,
 * and then compares its parent.
 */
#include "descendants.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TEXT_ROOM = 2048, NAME_ROOM = 64, DEEPEST = 100 };

struct walk {
    pid_t root;
    int signo;
    struct descendants found;
};

/* --- files --- */

/* Writes a number at @text. Returns the new end of the text. */
static char *put_number(char *text, pid_t number)
{
    char digits[NAME_ROOM];
    int n = 0;
    do {
        digits[n++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (n > 0) {
        *text++ = digits[--n];
    }
    *text = '\0';
    return text;
}

/* Writes "/proc/PID/rest", followed by "TID/last" if @thread is not 0. */
static void
put_name(char *name, pid_t pid, const char *rest, pid_t thread, const char *last)
{
    char *end = stpcpy(put_number(stpcpy(name, "/proc/"), pid), rest);
    if (thread > 0) {
        (void)stpcpy(put_number(end, thread), last);
    }
}

/* Reads as much of a file as fits. Returns false if the file cannot be read. */
static bool read_file(const char *name, char text[TEXT_ROOM])
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t size = 0, n = fd < 0 ? -1 : 0;
    while (fd >= 0 && size < TEXT_ROOM - 1 &&
           (n = read(fd, text + size, (size_t)(TEXT_ROOM - 1 - size))) > 0) {
        size += n;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    text[size] = '\0';
    return n >= 0;
}

/* Parses a number, and moves *text past it. Returns 0 if there is no number. */
static pid_t take_number(const char **text)
{
    pid_t number = 0;
    const char *s = *text;
    for (; *s >= '0' && *s <= '9' && number < INT_MAX / 10; s++) {
        number = number * 10 + (*s - '0');
    }
    *text = s + (*s == ' ' || *s == '\n');
    return number;
}

/*
 * Returns the parent of @pid, or 0 if the process is gone. Sets *dead if the process is a zombie, with only its first
 * thread left.
 */
static pid_t parent_of(pid_t pid, bool *dead)
{
    enum { TO_THREADS = 18 }; /* number of fields from the name to num_threads */
    char name[NAME_ROOM], text[TEXT_ROOM];
    put_name(name, pid, "/stat", 0, NULL);
    const char *at = read_file(name, text) ? strrchr(text, ')') : NULL;
    if (!at || strlen(at) < sizeof(") Z 1") - 1) {
        return 0;
    }
    const char *threads = at;
    for (int i = 0; i < TO_THREADS && threads; i++) {
        threads = strchr(threads + 1, ' ');
    }
    threads = threads ? threads + 1 : "";
    *dead = (at[2] == 'Z' || at[2] == 'X') && take_number(&threads) <= 1;
    at += 4;
    return take_number(&at);
}

/* A directory entry as the kernel writes it. readdir() is not used because it may allocate memory. */
struct entry {
    uint64_t inode;
    int64_t next;
    uint16_t size;
    uint8_t type;
    char name[];
};

/* Calls @take for each entry of a directory whose name is a number. */
static void each_number(const char *name,
                        void (*take)(struct walk *w, pid_t one, pid_t number, int deep),
                        struct walk *w,
                        pid_t one,
                        int deep)
{
    _Alignas(8) char records[TEXT_ROOM];
    int fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long n;
    while (fd >= 0 && (n = syscall(SYS_getdents64, fd, records, sizeof(records))) > 0) {
        for (long at = 0; at < n;) {
            const struct entry *e = (const void *)(records + at);
            const char *text = e->name;
            pid_t number = take_number(&text);
            if (number > 0) {
                take(w, one, number, deep);
            }
            at += e->size;
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

/* --- the tree --- */

/* Sends a signal through a descriptor, or else by process ID. Returns 0 or errno. */
static int send_to(int descriptor, pid_t pid, int signo)
{
    long rc = descriptor >= 0
                  ? syscall(SYS_pidfd_send_signal, descriptor, signo, NULL, 0)
                  : kill(pid, signo);
    return rc == 0 ? 0 : errno;
}

/* Signals @pid if its parent is @parent or, by now, the root. Returns whether this is the case. */
static bool signal_child(struct walk *w, pid_t pid, pid_t parent)
{
    bool dead = false;
    int descriptor = (int)syscall(SYS_pidfd_open, pid, 0);
    pid_t now = descriptor < 0 && errno == ESRCH ? 0 : parent_of(pid, &dead);
    bool is = now != 0 && (now == parent || now == w->root);
    if (is) {
        bool denied = send_to(descriptor, pid, w->signo) == EPERM;
        w->found.alive += !dead;
        w->found.denied = denied && !dead ? pid : w->found.denied;
    }
    if (descriptor >= 0) {
        (void)close(descriptor);
    }
    return is;
}

static void visit_children(struct walk *w, pid_t pid, int deep);

static void visit_list(struct walk *w, pid_t pid, pid_t thread, int deep)
{
    char name[NAME_ROOM], text[TEXT_ROOM];
    size_t kept = 0;
    ssize_t n;
    put_name(name, pid, "/task/", thread, "/children");
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (n = read(fd, text + kept, TEXT_ROOM - 1 - kept)) > 0) {
        const char *at = text;
        kept += (size_t)n;
        text[kept] = '\0';
        const char *end = strrchr(text, ' '); /* a space follows each number */
        while (end && at < end) {
            pid_t child = take_number(&at);
            if (child > 0 && signal_child(w, child, pid)) {
                visit_children(w, child, deep + 1);
            }
        }
        kept -= (size_t)(at - text); /* a number that is cut off stays */
        (void)memmove(text, at, kept);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

static void visit_children(struct walk *w, pid_t pid, int deep)
{
    char name[NAME_ROOM];
    put_name(name, pid, "/task/", 0, NULL);
    if (deep < DEEPEST) {
        each_number(name, visit_list, w, pid, deep);
    }
}

/* For kernels without lists of children: signals @pid if the root is one of its ancestors. */
static void visit_process(struct walk *w, pid_t unused, pid_t pid, int deep)
{
    bool dead = false;
    pid_t first = parent_of(pid, &dead), up = first;
    (void)unused;
    for (; deep < DEEPEST && up > 1 && up != w->root; deep++) {
        up = parent_of(up, &dead);
    }
    if (up == w->root && pid != w->root) {
        (void)signal_child(w, pid, first);
    }
}

struct descendants descendants_signal(pid_t root, int signo)
{
    struct walk w = {.root = root, .signo = signo};
    char name[NAME_ROOM];
    put_name(name, root, "/task/", root, "/children");
    if (access(name, R_OK) == 0) {
        visit_children(&w, root, 0);
    } else {
        each_number("/proc", visit_process, &w, 0, 0);
    }
    return w.found;
}
