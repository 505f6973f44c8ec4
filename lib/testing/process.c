/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing/net.h"
#include "testing/server.h"

enum { ARGS_MAX = 24 + sizeof(((zkr_test_server *)NULL)->jvm_arguments) / 2 };

/* Returns $ZKR_TEST_JAVA, or else the java in $PATH, or NULL. */
static const char *find_java(char *out, size_t size)
{
    const char *env = zkr__test_environment("ZKR_TEST_JAVA");
    const char *at = zkr__test_environment("PATH");

    if (env != NULL) {
        return access(env, X_OK) == 0 ? env : NULL;
    }
    while (at != NULL && *at != '\0') {
        int length = (int)strcspn(at, ":");
        (void)snprintf(out, size, "%.*s/java", length, at);
        if (access(out, X_OK) == 0) {
            return out;
        }
        at += length + (at[length] == ':');
    }
    return NULL;
}

static const char *find_jars(void)
{
    static const char debian[] =
        "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar";
    const char *env = zkr__test_environment("ZKR_TEST_CLASSPATH");

    if (env != NULL) {
        return env;
    }
    return access("/usr/share/java/zookeeper.jar", R_OK) == 0 ? debian : NULL;
}

/* Runs between fork and exec, so it makes only async-signal-safe calls. */
static _Noreturn void exec_java(pid_t parent, int log, char *const *argv)
{
    sigset_t none;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(126);
    }
    /*
     * The server gets its own process group, so that neither the terminal nor a debugger of the program interrupts it.
     */
    (void)setpgid(0, 0);
    (void)sigemptyset(&none);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): a forked child has one thread */
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

static int spawn(zkr_test_server *s, char *const *argv)
{
    char path[256];
    const pid_t parent = getpid();
    int log = open(zkr__test_in_dir(s, "log", path, sizeof path),
                   O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    if (log < 0) {
        return zkr__test_fail(ZKR_ESYS, errno, "%s", path);
    }
    pid_t pid = fork();
    if (pid == 0) {
        exec_java(parent, log, argv);
    }
    const int error = errno;
    (void)close(log);
    if (pid < 0) {
        return zkr__test_fail(ZKR_ESYS, error, "cannot create a process for a server");
    }
    (void)pthread_mutex_lock(&zkr__test_servers);
    s->pid = pid;
    s->frozen = false;
    (void)pthread_mutex_unlock(&zkr__test_servers);
    return ZKR_OK;
}

int zkr__test_server_launch(zkr_test_server *s)
{
    char java[256];
    char sweep[80];
    char config[256];
    char more[sizeof s->jvm_arguments];
    char *rest = NULL;
    const char *program = find_java(java, sizeof java);
    const char *jars = find_jars();
    /* exec does not write to its arguments, despite its prototype. */
    union {
        const char *in[ARGS_MAX];
        char *out[ARGS_MAX];
    } argv = {
        {program, "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
         "-XX:-UsePerfData", "-Xshare:auto", "-Djava.net.preferIPv4Stack=true",
         "-Dzookeeper.jmx.log4j.disable=true",
         "-Dorg.slf4j.simpleLogger.showDateTime=true",
         "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
         "-Dzookeeper.extendedTypesEnabled=true", "-Dzookeeper.preAllocSize=64",
         /*
          * A single thread handles all connections. Otherwise an owner that reconnects can overtake
          * zkr_test_expire_session().
          */
         "-Dzookeeper.nio.numSelectorThreads=1", "-Dzookeeper.nio.numWorkerThreads=0",

         s->options.fsync ? "-Dzookeeper.forceSync=yes" : "-Dzookeeper.forceSync=no",
         sweep}};
    int n = 16;

    if (program == NULL || jars == NULL) {
        return zkr__test_fail(
            ZKR_ESYS, ENOENT, "no %s (on Debian: apt-get install %s; or set %s)",
            program == NULL ? "Java" : "jar of ZooKeeper",
            program == NULL ? "default-jre-headless" : "zookeeper",
            program == NULL ? "$ZKR_TEST_JAVA" : "$ZKR_TEST_CLASSPATH");
    }
    (void)snprintf(sweep, sizeof sweep, "-Dznode.container.checkIntervalMs=%lld",
                   (long long)s->options.container_check_ms);
    (void)snprintf(more, sizeof more, "%s", s->jvm_arguments);
    for (char *one = strtok_r(more, " ", &rest); one != NULL;
         one = strtok_r(NULL, " ", &rest)) {
        argv.in[n++] = one;
    }
    argv.in[n++] = "-cp";
    argv.in[n++] = jars;
    argv.in[n++] = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
    argv.in[n++] = zkr__test_in_dir(s, "zoo.cfg", config, sizeof config);
    return spawn(s, argv.out);
}

bool zkr__test_server_has_ended(zkr_test_server *s)
{
    (void)pthread_mutex_lock(&zkr__test_servers);
    const pid_t pid = s->pid > 0 ? waitpid(s->pid, NULL, WNOHANG) : 0;
    if (pid > 0 || (pid < 0 && errno == ECHILD)) {
        s->pid = 0;
    }
    bool ended = s->pid == 0;
    (void)pthread_mutex_unlock(&zkr__test_servers);
    return ended;
}

bool zkr__test_server_wait(zkr_test_server *s, int64_t timeout_ms)
{
    const int64_t end = zkr__test_now_ms() + timeout_ms;

    while (zkr__test_mode(s->host, 1000) == ZKR__TEST_NONE) {
        if (zkr__test_server_has_ended(s) || zkr__test_now_ms() >= end) {
            return false;
        }
        zkr__test_sleep_ms(10);
    }
    return true;
}

/* Waits until @pid is stopped or has ended. WNOWAIT keeps that state for later waits. */
static void await_stop(pid_t pid)
{
    siginfo_t unused;
    while (waitid(P_PID, (id_t)pid, &unused, WSTOPPED | WEXITED | WNOWAIT) < 0 &&
           errno == EINTR) {
    }
}

static void reap(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

int zkr__test_server_signal(zkr_test_server *s, int number)
{
    if (zkr__test_server_has_ended(s)) {
        return zkr__test_fail(ZKR_ESTATE, 0, "%s is not running", s->host);
    }
    (void)pthread_mutex_lock(&zkr__test_servers);
    (void)kill(s->pid, number);
    s->frozen = number == SIGSTOP;
    if (number == SIGSTOP) {
        await_stop(s->pid);
    } else if (number == SIGKILL) {
        reap(s->pid);
        s->pid = 0;
    }
    (void)pthread_mutex_unlock(&zkr__test_servers);
    return ZKR_OK;
}
