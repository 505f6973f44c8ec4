/* SPDX-License-Identifier: Apache-2.0 */
#include "testing/server.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing/net.h"

pthread_mutex_t zkr__test_servers = PTHREAD_MUTEX_INITIALIZER;
/* Servers of this process, and those of its parent at fork(). */
static zkr_test_server *all;

/* Checks that @s is a server of this process. */
static int enter(const zkr_test_server *s)
{
    (void)pthread_mutex_lock(&zkr__test_servers);
    const zkr_test_server *at = all;
    while (at != NULL && at != s) {
        at = at->next;
    }
    (void)pthread_mutex_unlock(&zkr__test_servers);
    if (at == NULL) {
        return zkr__test_fail(ZKR_EINVAL, 0, "the server is NULL, or has been stopped");
    }
    return at->owner == getpid()
               ? ZKR_OK
               : zkr__test_fail(ZKR_ESTATE, 0, "%s belongs to the parent process",
                                s->host);
}

int zkr_test_server_freeze(zkr_test_server *s)
{
    int rc = enter(s);
    return rc == ZKR_OK ? zkr__test_server_signal(s, SIGSTOP) : rc;
}

int zkr_test_server_thaw(zkr_test_server *s)
{
    int rc = enter(s);
    return rc == ZKR_OK ? zkr__test_server_signal(s, SIGCONT) : rc;
}

static void end_process(zkr_test_server *s)
{
    if (!zkr__test_server_has_ended(s)) {
        (void)zkr__test_server_signal(s, SIGKILL);
    }
}

int zkr_test_server_kill(zkr_test_server *s)
{
    int rc = enter(s);
    if (rc == ZKR_OK) {
        end_process(s);
    }
    return rc;
}

/* If zoo.cfg has a line twice, the last line counts. */
int zkr__test_server_limits(const zkr_test_server *s, int64_t min_ms, int64_t max_ms)
{
    int rc = ZKR_OK;

    if (min_ms > 0) {
        rc = zkr__test_server_write(s, "zoo.cfg", "minSessionTimeout=%lld\n",
                                    (long long)min_ms);
    }
    if (rc == ZKR_OK && max_ms > 0) {
        rc = zkr__test_server_write(s, "zoo.cfg", "maxSessionTimeout=%lld\n",
                                    (long long)max_ms);
    }
    return rc;
}

int zkr__test_server_wipe(zkr_test_server *s)
{
    char path[256];

    zkr__test_remove_tree(zkr__test_in_dir(s, "data", path, sizeof path));
    if (mkdir(path, 0700) != 0) {
        return zkr__test_fail(ZKR_ESYS, errno, "%s", path);
    }
    return s->index < 0 ? ZKR_OK
                        : zkr__test_server_write(s, "data/myid", "%d\n", s->index + 1);
}

int zkr_test_server_restart(zkr_test_server *s, int wipe)
{
    const int64_t end = zkr__test_now_ms() + ZKR__TEST_START_MS;
    int rc = enter(s);

    if (rc != ZKR_OK) {
        return rc;
    }
    end_process(s);
    rc = wipe ? zkr__test_server_wipe(s) : ZKR_OK;
    while (rc == ZKR_OK) {
        rc = zkr__test_server_launch(s);
        if (rc != ZKR_OK || zkr__test_server_wait(s, end - zkr__test_now_ms())) {
            break;
        }
        end_process(s);
        if (zkr__test_now_ms() >= end ||
            !zkr__test_server_log_says(s, "BindException")) {
            rc = zkr__test_server_failed(s);
        }
    }
    return rc;
}

/* ---- creation and end -------------------------------------------------------------------- */

void zkr__test_server_destroy(zkr_test_server *s)
{
    end_process(s);
    (void)pthread_mutex_lock(&zkr__test_servers);
    for (zkr_test_server **at = &all; *at != NULL; at = &(*at)->next) {
        if (*at == s) {
            *at = s->next;
            break;
        }
    }
    (void)pthread_mutex_unlock(&zkr__test_servers);
    zkr__test_remove_tree(s->dir);
    free(s);
}

int zkr_test_server_stop(zkr_test_server *s)
{
    int rc = s == NULL ? ZKR_OK : enter(s);
    if (rc == ZKR_OK && s != NULL && s->index >= 0) {
        return zkr__test_fail(ZKR_ESTATE, 0, "%s is one of an ensemble", s->host);
    }
    if (rc == ZKR_OK && s != NULL) {
        zkr__test_server_destroy(s);
    }
    return rc;
}

static void end_all(void)
{
    for (zkr_test_server *s = all, *next; s != NULL; s = next) {
        next = s->next;
        if (s->owner == getpid()) {
            zkr__test_server_destroy(s);
        }
    }
}

static void before_fork(void)
{
    (void)pthread_mutex_lock(&zkr__test_servers);
}

static void after_fork(void)
{
    (void)pthread_mutex_unlock(&zkr__test_servers);
}

static void at_first(void)
{
    (void)atexit(end_all);
    (void)pthread_atfork(before_fork, after_fork, after_fork);
}

static int take(zkr_test_server *s, const zkr_test_server_options *o)
{
    zkr_test_server_options *to = &s->options;

    if (o != NULL && o->size != sizeof *o) {
        return zkr__test_fail(ZKR_EINVAL, 0,
                              "options->size is not sizeof(zkr_test_server_options)");
    }
    if (o != NULL && o->jvm_arguments != NULL &&
        strlen(o->jvm_arguments) >= sizeof s->jvm_arguments) {
        return zkr__test_fail(ZKR_EINVAL, 0, "jvm_arguments longer than %zu bytes",
                              sizeof s->jvm_arguments - 1);
    }
    if (o != NULL) {
        *to = *o;
    }
    if (to->jvm_arguments != NULL) {
        (void)snprintf(s->jvm_arguments, sizeof s->jvm_arguments, "%s",
                       to->jvm_arguments);
    }
    to->tick_ms = to->tick_ms > 0 ? to->tick_ms : 500;
    to->init_limit = to->init_limit > 0 ? to->init_limit : 20;
    to->sync_limit = to->sync_limit > 0 ? to->sync_limit : 10;
    to->container_check_ms =
        to->container_check_ms > 0 ? to->container_check_ms : 60000;
    return ZKR_OK;
}

static void enlist(zkr_test_server *s)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, at_first);
    s->owner = getpid();
    (void)pthread_mutex_lock(&zkr__test_servers);
    s->next = all;
    all = s;
    (void)pthread_mutex_unlock(&zkr__test_servers);
}

static int keep_port(int *port, int *fd)
{
    *port = 0;
    *fd = zkr__test_listen("127.0.0.1", port);
    return *fd < 0 ? *fd : ZKR_OK;
}

static int take_ports(zkr_test_server *s, int fds[3])
{
    int rc = keep_port(&s->port, &fds[0]);

    if (rc == ZKR_OK && s->index >= 0) {
        rc = keep_port(&s->quorum_port, &fds[1]);
    }
    if (rc == ZKR_OK && s->index >= 0) {
        rc = keep_port(&s->election_port, &fds[2]);
    }
    (void)snprintf(s->host, sizeof s->host, "127.0.0.1:%d", s->port);
    return rc;
}

int zkr__test_server_create(zkr_test_server **out,
                            const zkr_test_server_options *o,
                            int index,
                            int fds[3])
{
    zkr_test_server *s = calloc(1, sizeof *s);

    fds[0] = fds[1] = fds[2] = -1;
    if (s == NULL) {
        return zkr__test_fail(ZKR_ENOMEM, 0, "cannot create a server: out of memory");
    }
    s->index = index;
    int rc = take(s, o);
    if (rc == ZKR_OK) {
        rc = zkr__test_make_dir(s);
    }
    if (rc != ZKR_OK) {
        free(s);
        return rc;
    }
    enlist(s);
    rc = take_ports(s, fds);
    if (rc == ZKR_OK) {
        rc = zkr__test_server_wipe(s);
    }
    if (rc != ZKR_OK) {
        zkr__test_server_destroy(s);
        return rc;
    }
    *out = s;
    return ZKR_OK;
}

bool zkr__test_server_knows(pid_t pid)
{
    bool known = false;

    (void)pthread_mutex_lock(&zkr__test_servers);
    for (const zkr_test_server *s = all; s != NULL && !known; s = s->next) {
        known = s->pid == pid;
    }
    (void)pthread_mutex_unlock(&zkr__test_servers);
    return known;
}

const char *zkr_test_server_host(const zkr_test_server *s)
{
    return s != NULL ? s->host : NULL;
}

const char *zkr_test_server_dir(const zkr_test_server *s)
{
    return s != NULL ? s->dir : NULL;
}

/* Does not reap a server that has exited. */
int zkr_test_server_pid(const zkr_test_server *s)
{
    siginfo_t end = {0};
    if (s == NULL) {
        return ZKR_EINVAL;
    }
    (void)pthread_mutex_lock(&zkr__test_servers);
    const bool runs =
        s->pid > 0 &&
        waitid(P_PID, (id_t)s->pid, &end, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        end.si_pid == 0;
    const int pid = runs ? (int)s->pid : 0;
    (void)pthread_mutex_unlock(&zkr__test_servers);
    return pid;
}
