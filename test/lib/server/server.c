/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fourlw.h"
#include "server_impl.h"
#include "util.h"

enum { ARGS_MAX = 24 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static zkt_server *all;
static pid_t owner;

/* ---- files ------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    (void)remove(path);
    return 0;
}

static void remove_tree(const char *dir)
{
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *in_dir(const zkt_server *s, const char *name, char *out, size_t size)
{
    (void)snprintf(out, size, "%s/%s", s->dir, name);
    return out;
}

bool zkt_server_log_says(const zkt_server *s, const char *words)
{
    char path[256];
    char line[1024];
    bool found = false;
    FILE *f = fopen(in_dir(s, "log", path, sizeof path), "re");

    while (f != NULL && !found && fgets(line, sizeof line, f) != NULL) {
        found = strstr(line, words) != NULL;
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    return found;
}

void zkt_server_show_log(const zkt_server *s)
{
    char path[256];
    char text[4096];
    FILE *f = fopen(in_dir(s, "log", path, sizeof path), "re");

    if (f == NULL) {
        return;
    }
    if (fseek(f, -(long)(sizeof text - 1), SEEK_END) != 0) {
        rewind(f);
    }
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    (void)fclose(f);
    (void)fprintf(stderr, "---- end of the log of %s:\n%s\n----\n", s->host, text);
}

void zkt_server_write(const zkt_server *s, const char *name, const char *format, ...)
{
    char path[256];
    va_list args;
    FILE *f = fopen(in_dir(s, name, path, sizeof path), "ae");

    if (f == NULL) {
        zkt_fail("%s: %s", path, strerror(errno));
    }
    va_start(args, format);
    (void)vfprintf(f, format, args);
    va_end(args);
    (void)fclose(f);
}

/* ---- one process ------------------------------------------------------------------- */

static const char *find_java(char *out, size_t size)
{
    const char *env = getenv("ZKT_JAVA");
    const char *at = getenv("PATH");

    if (env != NULL && *env != '\0') {
        return env;
    }
    while (at != NULL && *at != '\0') {
        int length = (int)strcspn(at, ":");
        (void)snprintf(out, size, "%.*s/java", length, at);
        if (access(out, X_OK) == 0) {
            return out;
        }
        at += length + (at[length] == ':');
    }
    zkt_fail("no java in $PATH: install default-jre-headless and zookeeper");
}

static const char *find_jars(void)
{
    static const char jar[] = "/usr/share/java/zookeeper.jar";
    const char *env = getenv("ZKT_CLASSPATH");

    if (env != NULL && *env != '\0') {
        return env;
    }
    if (access(jar, R_OK) != 0) {
        zkt_fail("no %s: install zookeeper, or set ZKR_SERVERS", jar);
    }
    return "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar";
}

/* Between fork and exec: async-signal-safe calls only. */
static _Noreturn void exec_java(pid_t parent, int log, char *const *argv)
{
    sigset_t none;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(126);
    }
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    int null = open("/dev/null", O_RDONLY);
    (void)dup2(null, 0);
    (void)dup2(log, 1);
    (void)dup2(log, 2);
    /* libzookeeper's sockets are not close-on-exec. */
    if (syscall(SYS_close_range, 3U, ~0U, 0U) != 0) {
        for (int fd = 3; fd < 1024; fd++) {
            (void)close(fd);
        }
    }
    (void)execv(argv[0], argv);
    _exit(127);
}

static void spawn(zkt_server *s, char *const *argv)
{
    char path[256];
    const pid_t parent = getpid();
    int log = open(in_dir(s, "log", path, sizeof path),
                   O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    if (log < 0) {
        zkt_fail("%s: %s", path, strerror(errno));
    }
    pid_t pid = fork();
    if (pid == 0) {
        exec_java(parent, log, argv);
    }
    (void)close(log);
    if (pid < 0) {
        zkt_fail("fork: %s", strerror(errno));
    }
    (void)pthread_mutex_lock(&lock);
    s->pid = pid;
    s->frozen = false;
    (void)pthread_mutex_unlock(&lock);
}

void zkt_server_launch(zkt_server *s)
{
    char java[256];
    char sweep[80];
    char config[256];
    /* exec does not write to its arguments, whatever its prototype says. */
    union {
        const char *in[ARGS_MAX];
        char *out[ARGS_MAX];
    } argv = {
        {find_java(java, sizeof java), "-Xmx128m", "-XX:+UseSerialGC",
         "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto",
         "-Djava.net.preferIPv4Stack=true", "-Dzookeeper.jmx.log4j.disable=true",
         "-Dorg.slf4j.simpleLogger.showDateTime=true",
         "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
         "-Dzookeeper.extendedTypesEnabled=true", "-Dzookeeper.preAllocSize=64",
         s->options.fsync ? "-Dzookeeper.forceSync=yes" : "-Dzookeeper.forceSync=no",
         sweep}};
    int n = 14;

    (void)snprintf(sweep, sizeof sweep, "-Dznode.container.checkIntervalMs=%d",
                   s->options.container_check_ms);
    if (s->options.java != NULL) {
        argv.in[n++] = s->options.java;
    }
    argv.in[n++] = "-cp";
    argv.in[n++] = find_jars();
    argv.in[n++] = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
    argv.in[n++] = in_dir(s, "zoo.cfg", config, sizeof config);
    spawn(s, argv.out);
}

/* Whether the process has ended by itself; it is reaped then. */
static bool has_ended(zkt_server *s)
{
    (void)pthread_mutex_lock(&lock);
    bool ended = s->pid == 0 || waitpid(s->pid, NULL, WNOHANG) == s->pid;
    if (ended) {
        s->pid = 0;
    }
    (void)pthread_mutex_unlock(&lock);
    return ended;
}

bool zkt_server_wait(zkt_server *s, int64_t timeout_ms)
{
    const int64_t end = zkt_now_ms() + timeout_ms;

    while (zkt_mode_within(s->host, 1000) == ZKT_MODE_NONE) {
        if (has_ended(s) || zkt_now_ms() >= end) {
            return false;
        }
        zkt_sleep_ms(10);
    }
    return true;
}

static void signal_and_wait(zkt_server *s, int number, int options)
{
    (void)pthread_mutex_lock(&lock);
    if (s->pid > 0) {
        (void)kill(s->pid, number);
        while (options >= 0 && waitpid(s->pid, NULL, options) < 0 && errno == EINTR) {
        }
        s->frozen = number == SIGSTOP;
        if (number == SIGKILL) {
            s->pid = 0;
        }
    }
    (void)pthread_mutex_unlock(&lock);
}

void zkt_server_freeze(zkt_server *s)
{
    signal_and_wait(s, SIGSTOP, WUNTRACED);
}

void zkt_server_thaw(zkt_server *s)
{
    signal_and_wait(s, SIGCONT, -1);
}

void zkt_server_kill(zkt_server *s)
{
    signal_and_wait(s, SIGKILL, 0);
}

/* Of two lines the last one counts. */
void zkt_server_limits(const zkt_server *s, int min_session_ms, int max_session_ms)
{
    if (min_session_ms > 0) {
        zkt_server_write(s, "zoo.cfg", "minSessionTimeout=%d\n", min_session_ms);
    }
    if (max_session_ms > 0) {
        zkt_server_write(s, "zoo.cfg", "maxSessionTimeout=%d\n", max_session_ms);
    }
}

void zkt_server_wipe(zkt_server *s)
{
    char path[256];

    remove_tree(in_dir(s, "data", path, sizeof path));
    if (mkdir(path, 0700) != 0) {
        zkt_fail("%s: %s", path, strerror(errno));
    }
    if (s->index >= 0) {
        zkt_server_write(s, "data/myid", "%d\n", s->index + 1);
    }
}

void zkt_server_restart(zkt_server *s, bool wipe)
{
    const int64_t end = zkt_now_ms() + ZKT_START_MS;

    zkt_server_kill(s);
    if (wipe) {
        zkt_server_wipe(s);
    }
    do {
        zkt_server_launch(s);
        if (zkt_server_wait(s, end - zkt_now_ms())) {
            return;
        }
        zkt_server_kill(s);
    } while (zkt_now_ms() < end && zkt_server_log_says(s, "BindException"));
    zkt_server_show_log(s);
    zkt_fail("%s does not serve again", s->host);
}

/* ---- making and ending ------------------------------------------------------------- */

void zkt_server_destroy(zkt_server *s)
{
    zkt_server_kill(s);
    (void)pthread_mutex_lock(&lock);
    for (zkt_server **at = &all; *at != NULL; at = &(*at)->next) {
        if (*at == s) {
            *at = s->next;
            break;
        }
    }
    (void)pthread_mutex_unlock(&lock);
    remove_tree(s->dir);
    free(s);
}

static void end_all(void)
{
    if (getpid() != owner) {
        return;
    }
    while (all != NULL) {
        zkt_server_destroy(all);
    }
}

/* Remove what programs that were killed left in @tmp, ten minutes after. */
static void remove_stale(const char *tmp)
{
    char path[512];
    struct stat st;
    DIR *d = opendir(tmp);
    const struct dirent *entry;

    while (d != NULL && (entry = readdir(d)) != NULL) {
        const pid_t pid = strncmp(entry->d_name, "zkt-", 4) == 0
                              ? (pid_t)strtol(entry->d_name + 4, NULL, 10)
                              : 0;
        (void)snprintf(path, sizeof path, "%s/%s", tmp, entry->d_name);
        if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH && stat(path, &st) == 0 &&
            st.st_uid == geteuid() && st.st_mtime + 600 < time(NULL)) {
            remove_tree(path);
        }
    }
    if (d != NULL) {
        (void)closedir(d);
    }
}

static void defaults(zkt_server_options *o)
{
    o->tick_ms = o->tick_ms > 0 ? o->tick_ms : 500;
    o->init_limit = o->init_limit > 0 ? o->init_limit : 20;
    o->sync_limit = o->sync_limit > 0 ? o->sync_limit : 10;
    o->container_check_ms = o->container_check_ms > 0 ? o->container_check_ms : 60000;
}

zkt_server *zkt_server_create(const zkt_server_options *o, int index, int fds[3])
{
    const char *env = getenv("TMPDIR");
    const char *tmp = env != NULL && *env != '\0' ? env : "/tmp";
    zkt_server *s = calloc(1, sizeof *s);

    if (s == NULL) {
        zkt_fail("out of memory");
    }
    if (o != NULL) {
        s->options = *o;
    }
    defaults(&s->options);
    s->index = index;
    (void)snprintf(s->dir, sizeof s->dir, "%s/zkt-%d-XXXXXX", tmp, (int)getpid());
    if (mkdtemp(s->dir) == NULL) {
        free(s);
        zkt_fail("no temporary directory: %s", strerror(errno));
    }
    (void)pthread_mutex_lock(&lock);
    if (owner == 0) {
        remove_stale(tmp);
        (void)atexit(end_all);
    }
    if (owner != getpid()) {
        all = NULL; /* in a forked child: the parent's servers are not ours */
        owner = getpid();
    }
    s->next = all;
    all = s;
    (void)pthread_mutex_unlock(&lock);

    fds[0] = zkt_listen(&s->port);
    fds[1] = index >= 0 ? zkt_listen(&s->quorum_port) : -1;
    fds[2] = index >= 0 ? zkt_listen(&s->election_port) : -1;
    (void)snprintf(s->host, sizeof s->host, "127.0.0.1:%d", s->port);
    zkt_server_wipe(s);
    return s;
}

bool zkt_server_knows(pid_t pid)
{
    bool known = false;

    (void)pthread_mutex_lock(&lock);
    for (const zkt_server *s = all; s != NULL && !known; s = s->next) {
        known = s->pid == pid;
    }
    (void)pthread_mutex_unlock(&lock);
    return known;
}

const char *zkt_server_host(const zkt_server *s)
{
    return s->host;
}

const char *zkt_server_dir(const zkt_server *s)
{
    return s->dir;
}

pid_t zkt_server_pid(const zkt_server *s)
{
    return s->pid;
}
