/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bad_host.h"
#include "util.h"

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        zkt_fail("%s: %s", path, strerror(errno));
    }
}

/* The last argument of a server is DIR/zoo.cfg. */
void zkt_bad_hosts(const char *script)
{
    const char *java = getenv("ZKR_TEST_JAVA");
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "#!/bin/sh\n"
                   "for last; do :; done\n"
                   "dir=${last%%/*}\n"
                   "[ -f \"$dir/host\" ] || head -c 4096 /dev/zero >\"$dir/host\"\n"
                   "preload='%s'\n"
                   "jars=\n"
                   "for file in \"$dir\"/env.*; do\n"
                   "    [ ! -f \"$file\" ] || . \"$file\"\n"
                   "done\n"
                   "before=\n"
                   "for word; do\n"
                   "    shift\n"
                   "    [ -z \"$jars\" ] || [ \"$before\" != -cp ] || word=$jars\n"
                   "    set -- \"$@\" \"$word\"\n"
                   "    before=$word\n"
                   "done\n"
                   "export LD_PRELOAD=\"$preload\" ZKT_BAD_HOST=\"$dir/host\"\n"
                   "exec '%s' \"$@\"\n",
                   ZKT_BAD_HOST_MODULE, java != NULL && *java != '\0' ? java : "java");
    put(script, text);
    if (chmod(script, 0700) != 0 || setenv("ZKR_TEST_JAVA", script, 1) != 0) {
        zkt_fail("%s: %s", script, strerror(errno));
    }
}

struct zkt_bad_host *zkt_bad_host(const char *dir)
{
    struct zkt_bad_host *host = MAP_FAILED;
    char file[256];
    (void)snprintf(file, sizeof file, "%s/host", dir);
    int fd = open(file, O_RDWR | O_CLOEXEC);
    if (fd >= 0) {
        host = mmap(NULL, sizeof *host, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        (void)close(fd);
    }
    if (host == MAP_FAILED) {
        zkt_fail("%s: %s", file, strerror(errno));
    }
    return host;
}

/* Debian and Ubuntu install the library here. */
static bool find_faketime(char *out, size_t size)
{
    glob_t found;
    const bool there =
        glob("/usr/lib/*/faketime/libfaketimeMT.so.1", 0, NULL, &found) == 0;
    if (there) {
        (void)snprintf(out, size, "%s", found.gl_pathv[0]);
        globfree(&found);
    }
    return there;
}

/* Without the fix for monotonic clocks, the timed waits of a JVM hang, because they use CLOCK_MONOTONIC. */
bool zkt_bad_clock(const char *dir, const char *rate)
{
    char file[256];
    char library[256];
    char text[640];
    (void)snprintf(file, sizeof file, "%s/env.clock", dir);
    if (rate == NULL) {
        (void)unlink(file);
        return true;
    }
    if (!find_faketime(library, sizeof library)) {
        return false;
    }
    (void)snprintf(
        text, sizeof text,
        "preload=\"%s:$preload\"\n"
        "export FAKETIME='+0 x%s' NO_FAKE_STAT=1 FAKETIME_DONT_FAKE_MONOTONIC=0 "
        "FAKETIME_FORCE_MONOTONIC_FIX=1\n",
        library, rate);
    put(file, text);
    return true;
}

bool zkt_other_release(const char *dir, bool other)
{
    const char *jars = getenv("ZKR_TEST_OTHER_CLASSPATH");
    char file[256];
    (void)snprintf(file, sizeof file, "%s/env.release", dir);
    if (!other) {
        (void)unlink(file);
    } else if (jars != NULL) {
        put(file, "jars=$ZKR_TEST_OTHER_CLASSPATH\n");
    }
    return !other || jars != NULL;
}

void zkt_bad_clock_killed(pid_t pid)
{
    char file[64];
    (void)snprintf(file, sizeof file, "/dev/shm/faketime_shm_%d", (int)pid);
    (void)unlink(file);
    (void)snprintf(file, sizeof file, "/dev/shm/sem.faketime_sem_%d", (int)pid);
    (void)unlink(file);
}
