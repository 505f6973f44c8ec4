/* SPDX-License-Identifier: Apache-2.0 */
#include "stack.h"

#include <execinfo.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH = 40, SECONDS = 20 };

/* Signals that end a process. If a sanitizer handles one of them, it keeps its handler. */
static const int deaths[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

/* The first entry is the program itself. */
static int take_base(struct dl_phdr_info *info, size_t size, void *base)
{
    *(uintptr_t *)base = info->dlpi_addr;
    return 1;
}

/* Returns the part of the path that begins with "test/", "lib/" or "tools/" of the project. */
static const char *in_project(const char *path)
{
    static const char *const folders[] = {"/test/", "/lib/", "/tools/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *at = strstr(path, folders[i]);
        if (at != NULL) {
            return at + 1;
        }
    }
    return path;
}

static void print_line_of(const char *file, long number)
{
    char line[256];
    FILE *f = fopen(file, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (strchr(line, '\n') != NULL && --number == 0) {
            (void)fprintf(stderr, "        %s", line + strspn(line, " "));
            break;
        }
    }
    if (f != NULL) {
        (void)fclose(f);
    }
}

static bool ends_with(const char *path, const char *end)
{
    const size_t length = strlen(path);
    return length >= strlen(end) && strcmp(path + length - strlen(end), end) == 0;
}

/* Returns whether the frame belongs to the code that prints the stack. */
static bool is_ours(const char *where, const char *name)
{
    return ends_with(where, "test/lib/case/stack.c") ||
           ends_with(where, "test/lib/case/expect.c") ||
           strcmp(name, "zkt_fail_at") == 0;
}

/* Prints a frame "name at /dir/file.c:12", which may begin with " (inlined by) ". Returns false at the runner. */
static bool print_frame(char *text)
{
    static const char inlined[] = " (inlined by) ";
    char path[PATH_MAX];
    char *name =
        strncmp(text, inlined, strlen(inlined)) == 0 ? text + strlen(inlined) : text;
    char *at = strstr(name, " at /");
    char *colon = at != NULL ? strrchr(at, ':') : NULL;
    if (colon == NULL) {
        return true; /* a frame in a library */
    }
    *at = '\0';
    *colon = '\0';
    const char *where = in_project(realpath(at + 4, path) != NULL ? path : at + 4);
    const long line = strtol(colon + 1, NULL, 10);
    if (ends_with(where, "test/lib/case/runner.c")) {
        return false;
    }
    if (!is_ours(where, name)) {
        (void)fprintf(stderr, "    %s:%ld, %s()\n", where, line, name);
        print_line_of(at + 4, line);
    }
    return true;
}

static void print_stack(void)
{
    void *at[DEPTH];
    char command[64 + DEPTH * 20];
    char line[PATH_MAX + 256];
    uintptr_t base = 0;
    const int count = backtrace(at, DEPTH);
    (void)dl_iterate_phdr(take_base, &base);
    int used = snprintf(command, sizeof command, "addr2line -ifpe /proc/%d/exe",
                        (int)getpid());
    for (int i = 0; i < count; i++) {
        /* A return address is after its call, and may already be in the next function. */
        used += snprintf(command + used, sizeof command - (size_t)used, " %jx",
                         (uintmax_t)((uintptr_t)at[i] - base - 1));
    }
    (void)snprintf(command + used, sizeof command - (size_t)used, " 2>/dev/null");
    (void)fprintf(stderr, "\n");
    FILE *f = popen(command, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL && print_frame(line)) {
    }
    if (f != NULL) {
        (void)pclose(f);
    }
}

static void die(int number)
{
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++) {
        (void)signal(deaths[i], SIG_DFL);
    }
    (void)alarm(SECONDS); /* popen() may hang if the heap is corrupt */
    print_stack();
    (void)raise(number);
}

void zkt_stack_at_failure(void)
{
    void *first[1];
    (void)backtrace(first, 1); /* this loads everything that backtrace() needs */
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++) {
        struct sigaction old;
        const struct sigaction own = {.sa_handler = die, .sa_flags = SA_NODEFER};
        if (sigaction(deaths[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) {
            (void)sigaction(deaths[i], &own, NULL);
        }
    }
}
