/* SPDX-License-Identifier: Apache-2.0 */
/* A guardian ends the sessions of a process that has died, and no other sessions. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "guardian/wire.h"
#include "session/request.h"

/* SOON_MS is less than the session timeout, after which the servers would end the session themselves. */
enum { SESSION_MS = 10000, SOON_MS = 6000, PATIENCE_MS = 30000 };
/* The time to wait for an event that must not happen. A guardian that wrongly believed its parent dead would need some
   milliseconds. */
enum { A_WHILE_MS = 700 };

/* --- a process that holds the lock of the case --- */

struct holder {
    char hosts[256], path[128];
    char other_hosts[256]; /* argument of @then */
    atomic_bool wait;      /* do not begin yet */
    /* Called once the process holds. Afterwards, the process waits to be killed. */
    void (*then)(struct holder *h);
    atomic_int holds;     /* how often it was granted the lock */
    atomic_bool go, done; /* for use by @then */
    atomic_int beat;      /* counted up by a process of the group */
    atomic_int other;     /* number of another process or group */
    zkr_client *c;        /* for use within the process */
};

static zkr_client *open_guarded(const char *hosts, int64_t guardian)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = SESSION_MS;
    o.guardian = guardian;
    zkr_client *c = NULL;
    ZKT_MUST(zkr_client_open(&c, hosts, &o));
    return c;
}

static int hold(void *arg)
{
    struct holder *h = arg;
    ZKT_EVENTUALLY(!atomic_load(&h->wait), PATIENCE_MS);
    h->c = open_guarded(h->hosts, ZKR_GUARDIAN_REQUIRED);
    zkr_mutex *m = NULL;
    ZKT_MUST(zkr_mutex_create(&m, h->c, h->path, NULL));
    while (zkr_mutex_acquire(m, PATIENCE_MS) == ZKR_OK) {
        if (atomic_fetch_add(&h->holds, 1) == 0 && h->then) {
            h->then(h);
        }
        while (zkr_mutex_is_held(m)) {
            zkt_sleep_ms(2);
        }
        (void)zkr_mutex_release(m);
    }
    return 1;
}

/* Fork the holder. With @wait, it does nothing before .wait is cleared. */
static struct holder *prepare(pid_t *pid, void (*then)(struct holder *h), bool wait)
{
    struct holder *h = zkt_shared(sizeof(*h));
    h->then = then;
    atomic_store(&h->wait, wait);
    (void)snprintf(h->hosts, sizeof(h->hosts), "%s", zkt_servers());
    (void)snprintf(h->path, sizeof(h->path), "%s", zkt_path());
    *pid = zkt_fork(hold, h);
    return h;
}

static struct holder *start(pid_t *pid, void (*then)(struct holder *h))
{
    struct holder *h = prepare(pid, then, false);
    ZKT_EVENTUALLY(atomic_load(&h->holds) > 0, PATIENCE_MS);
    return h;
}

/* Check that the lock is free before the servers can have ended the session. */
static void is_free_soon(void)
{
    ZKT_BECOMES(zkt_nodes(), 0, SOON_MS);
}

static void stays_held(void)
{
    const int64_t end = zkt_now_ms() + A_WHILE_MS;
    while (zkt_now_ms() < end) {
        assert_int_equal(zkt_nodes(), 1);
        zkt_sleep_ms(5);
    }
}

static void end_session_of_holder(void)
{
    char node[256], text[256];
    zkt_stat at;
    zkt_lone_node(node, sizeof(node));
    assert_int_equal(zkt_get(zkt_servers(), node, text, sizeof(text), &at), ZKT_OK);
    assert_int_equal(zkt_expire_session(zkt_servers(), at.ephemeral_owner), ZKT_OK);
}

static void kill_holder(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(zkt_join(pid, PATIENCE_MS), 128 + SIGKILL);
}

static void kill_and_free(pid_t pid)
{
    kill_holder(pid);
    is_free_soon();
}

/* --- who guards --- */

/* Returns the newest child of @pid with this name, or 0 if there is none. */
static pid_t child_of(pid_t pid, const char *name)
{
    char command[64];
    int child = 0;
    (void)snprintf(command, sizeof(command), "pgrep -n -P %d -x %s", (int)pid, name);
    FILE *f = popen(command, "re");
    assert_non_null(f);
    (void)!fscanf(f, "%d", &child);
    (void)pclose(f);
    return child;
}

static pid_t guardian_of(pid_t pid)
{
    return child_of(pid, "zkr-guardian");
}

/* Returns this process's end of the guardian's socket. */
static int guardian_fd(void)
{
    for (int fd = 3; fd < 256; fd++) {
        int type = 0;
        socklen_t size = sizeof(type);
        if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
            type == SOCK_SEQPACKET) {
            return fd;
        }
    }
    return -1;
}

/* --- the end of the process --- */

static void leave(struct holder *h)
{
    _exit(0);
}

ZKT_CASE(a_process_that_exits_without_a_close_is_dead_too)
{
    pid_t pid;
    (void)start(&pid, leave);
    assert_int_equal(zkt_join(pid, PATIENCE_MS), 0);
    is_free_soon();
}

/* Start a guardian as the library starts it. @fd gets this process's end of its socket. */
static pid_t start_guardian(int *fd)
{
    char name[] = "zkr-guardian", *argv[] = {name, NULL};
    int pair[2];
    pid_t pid;
    posix_spawn_file_actions_t files;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawn_file_actions_adddup2(&files, pair[1], ZKR__GUARDIAN_FD);
    assert_int_equal(posix_spawn(&pid, getenv("ZKR_GUARDIAN_PATH"), &files, NULL, argv,
                                 (char *[]){NULL}),
                     0);
    (void)posix_spawn_file_actions_destroy(&files);
    (void)close(pair[1]);
    *fd = pair[0];
    return pid;
}

/* The only guardian has reported that it is ready, but nobody has read the report. The guardian has not yet read the
   record of the session. */
static void tell_a_stopped_guardian(struct holder *h)
{
    struct pollfd p = {.events = POLLIN};
    assert_int_equal(kill(guardian_of(getpid()), SIGKILL), 0);
    const pid_t guardian = start_guardian(&p.fd);
    assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
    assert_int_equal(kill(guardian, SIGSTOP), 0);
    assert_int_equal(waitpid(guardian, NULL, WUNTRACED), guardian);
    struct zkr__guardian_record record = {.version = ZKR__GUARDIAN_VERSION,
                                          .kind = ZKR__GUARDIAN_SESSION,
                                          .session = zkr_client_session_id(h->c),
                                          .value = SESSION_MS};
    zkr__lock(h->c);
    h->c->door->password(h->c->link->zh, record.password);
    zkr__unlock(h->c);
    const struct iovec parts[] = {{&record, sizeof(record)},
                                  {h->hosts, strlen(h->hosts) + 1},
                                  {h->hosts + strlen(h->hosts), 1}};
    assert_int_equal(writev(p.fd, parts, 3), sizeof(record) + strlen(h->hosts) + 2);
    atomic_store(&h->other, guardian);
}

/* The guardian gets an error first, because its report was not read. The guardian continues to read all the same. */
ZKT_CASE(what_was_told_last_is_read_behind_an_answer_that_was_not)
{
    pid_t pid;
    struct holder *h = start(&pid, tell_a_stopped_guardian);
    ZKT_EVENTUALLY(atomic_load(&h->other) != 0, PATIENCE_MS);
    kill_holder(pid);
    assert_int_equal(kill(atomic_load(&h->other), SIGCONT), 0);
    is_free_soon();
}

/* The child has copies of all descriptors of its parent, and outlives the parent. */
static void leave_a_child(struct holder *h)
{
    pid_t child = fork();
    if (child == 0) {
        atomic_store(&h->other, getpid());
        while (!atomic_load(&h->done)) {
            zkt_sleep_ms(2);
        }
        _exit(0);
    }
}

ZKT_CASE(a_forked_child_is_not_the_process)
{
    pid_t pid;
    struct holder *h = start(&pid, leave_a_child);
    ZKT_EVENTUALLY(atomic_load(&h->other) != 0, PATIENCE_MS);
    kill_and_free(pid);
    atomic_store(&h->done, true);
}

static void open_in_a_child(struct holder *h)
{
    pid_t child = fork();
    if (child == 0) {
        zkr_client *c = open_guarded(h->hosts, ZKR_GUARDIAN_REQUIRED);
        ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
        atomic_store(&h->other, guardian_of(getpid()));
        ZKT_MUST(zkr_client_close(c));
        _exit(guardian_of(getpid()) != 0);
    }
    atomic_store(&h->beat, zkt_join(child, PATIENCE_MS));
    atomic_store(&h->done, true);
}

ZKT_CASE(a_forked_child_has_a_guardian_of_its_own)
{
    pid_t pid;
    struct holder *h = start(&pid, open_in_a_child);
    ZKT_EVENTUALLY(atomic_load(&h->done), PATIENCE_MS);
    assert_int_equal(atomic_load(&h->beat), 0);
    assert_int_not_equal(atomic_load(&h->other), 0);
    assert_int_not_equal(atomic_load(&h->other), guardian_of(pid));
    stays_held();
    kill_and_free(pid);
}

/* --- a process that dies before its guardian has started --- */

/* Delay each guardian until the shell command @until succeeds. In that command, $PPID is the holder. */
static void start_guardians_late(const char *until)
{
    static char script[64] = "/tmp/zkr-late-XXXXXX";
    int fd = mkstemp(script);
    assert_true(fd >= 0);
    assert_true(dprintf(fd, "#!/bin/sh\nuntil %s; do :; done\nexec '%s'\n", until,
                        getenv("ZKR_GUARDIAN_PATH")) > 0);
    assert_int_equal(fchmod(fd, 0700), 0);
    assert_int_equal(close(fd), 0);
    (void)setenv("ZKR_GUARDIAN_PATH", script, 1);
}

static void forget_late_guardians(void)
{
    (void)unlink(getenv("ZKR_GUARDIAN_PATH"));
}

/*
 * Make the kernel need a tenth of a second to end this process: the last thread unmaps much memory. The calling thread
 * has its own file to free, so it ends after the other threads have begun to end, but before the last one.
 */
static void end_slowly(void)
{
    enum { MAPS = 2048, BYTES = 4 << 20, OWN_BYTES = 128 << 20 };
    int fd = memfd_create("much", MFD_CLOEXEC);
    assert_int_equal(ftruncate(fd, BYTES), 0);
    for (int i = 0; i < MAPS; i++) {
        assert_true(mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                         fd, 0) != MAP_FAILED);
    }
    assert_int_equal(unshare(CLONE_FILES), 0);
    assert_int_equal(fallocate(memfd_create("own", MFD_CLOEXEC), 0, 0, OWN_BYTES), 0);
}

/* Hold the lock before the guardian has started, as the leader of a process group in which another process stays. */
static int hold_before_the_guardian(void *arg)
{
    struct holder *h = arg;
    zkr_mutex *m = NULL;
    assert_int_equal(setpgid(0, 0), 0);
    if (fork() == 0) {
        ZKT_EVENTUALLY(atomic_load(&h->done), PATIENCE_MS);
        _exit(0);
    }
    ZKT_MUST(
        zkr_mutex_create(&m, open_guarded(h->hosts, ZKR_GUARDIAN_TRY), h->path, NULL));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    end_slowly();
    atomic_store(&h->holds, 1);
    for (;;) {
        zkt_sleep_ms(2);
    }
}

/* Which threads remain when the first has ended is random, so the test runs several times. */
static void die_before_the_guardian(const char *until, int times)
{
    start_guardians_late(until);
    for (int i = 0; i < times; i++) {
        struct holder *h = zkt_shared(sizeof(*h));
        (void)snprintf(h->hosts, sizeof(h->hosts), "%s", zkt_servers());
        (void)snprintf(h->path, sizeof(h->path), "%s", zkt_path());
        pid_t pid = zkt_fork(hold_before_the_guardian, h);
        ZKT_EVENTUALLY(atomic_load(&h->holds) > 0, PATIENCE_MS);
        kill_and_free(pid);
        atomic_store(&h->done, true);
    }
    forget_late_guardians();
}

ZKT_CASE(a_guardian_that_starts_while_the_process_dies_waits_for_its_end)
{
    die_before_the_guardian(
        "read -r _ _ _ parent _ </proc/$$/stat; [ \"$parent\" != $PPID ]", 6);
}

ZKT_CASE(a_guardian_that_starts_after_the_end_of_the_process_knows_it)
{
    die_before_the_guardian("[ ! -e /proc/$PPID ]", 1);
}

/* --- what is no end --- */

ZKT_CASE(a_stopped_process_keeps_its_lock)
{
    pid_t pid;
    struct holder *h = start(&pid, NULL);
    assert_int_equal(kill(pid, SIGSTOP), 0);
    stays_held();
    assert_int_equal(kill(pid, SIGCONT), 0);
    stays_held();
    assert_int_equal(atomic_load(&h->holds), 1);
    kill_and_free(pid);
}

static void *see_main_end(void *arg)
{
    struct holder *h = arg;
    zkt_sleep_ms(50);
    atomic_store(&h->done, true);
    while (pause() != 0) {
    }
    return NULL;
}

static void end_main_thread(struct holder *h)
{
    pthread_t thread;
    (void)pthread_create(&thread, NULL, see_main_end, h);
    pthread_exit(NULL);
}

/* The first thread of the process is then a zombie. The lock belonged to that thread, but its node stays. */
ZKT_CASE(a_process_whose_main_thread_has_ended_keeps_its_session)
{
    pid_t pid;
    struct holder *h = start(&pid, end_main_thread);
    ZKT_EVENTUALLY(atomic_load(&h->done), PATIENCE_MS);
    pid_t guardian = guardian_of(pid);
    const int64_t end = zkt_now_ms() + A_WHILE_MS;
    while (zkt_now_ms() < end) {
        assert_int_equal(kill(guardian, 0), 0);
        assert_int_equal(guardian_of(pid), guardian);
        zkt_sleep_ms(10);
    }
    kill_and_free(pid);
}

static void exec_another(struct holder *h)
{
    (void)execl("/bin/sleep", "sleep", "100", (char *)NULL);
    _exit(1);
}

ZKT_CASE(a_process_that_calls_exec_goes_on)
{
    pid_t pid;
    (void)start(&pid, exec_another);
    ZKT_BECOMES(child_of(getpid(), "sleep"), pid, PATIENCE_MS);
    stays_held();
    kill_holder(pid);
    /* The guardian waits for the end of the process at most as long as the session may last. */
    is_free_soon();
}

/* The descriptor of the closed socket becomes that of a file. The next connection reports the session again. */
static void close_the_socket(struct holder *h)
{
    int fd = guardian_fd();
    char file[64];
    (void)snprintf(file, sizeof(file), "/tmp/zkr-guardian-%d", getpid());
    int other = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    (void)unlink(file);
    (void)dup2(other, fd);
    atomic_store(&h->other, zkr_client_guard_group(h->c, 0));
    zkt_expire_session(h->hosts, zkr_client_session_id(h->c));
    ZKT_EVENTUALLY(atomic_load(&h->done), PATIENCE_MS);
    struct stat st;
    atomic_store(&h->beat, fstat(fd, &st) == 0 && st.st_size == 0 ? 1 : 2);
}

ZKT_CASE(a_process_that_has_closed_the_socket_keeps_its_lock)
{
    pid_t pid;
    struct holder *h = start(&pid, close_the_socket);
    ZKT_EVENTUALLY(atomic_load(&h->other) != 0, PATIENCE_MS);
    ZKT_RC(atomic_load(&h->other), ZKR_ESYS);
    atomic_store(&h->done, true);
    ZKT_EVENTUALLY(atomic_load(&h->holds) > 1, PATIENCE_MS);
    assert_int_equal(atomic_load(&h->beat), 1);
    stays_held();
    kill_holder(pid);
    end_session_of_holder(); /* the guardian does not know this session */
}

/* --- sessions --- */

ZKT_CASE(the_next_session_is_known_too)
{
    pid_t pid;
    struct holder *h = start(&pid, NULL);
    end_session_of_holder();
    ZKT_EVENTUALLY(atomic_load(&h->holds) > 1, PATIENCE_MS);
    ZKT_BECOMES(zkt_nodes(), 1, PATIENCE_MS);
    kill_and_free(pid);
}

static void move(struct holder *h)
{
    ZKT_MUST(zkr_client_set_servers(h->c, h->other_hosts));
}

ZKT_CASE(servers_that_were_moved_to_are_known)
{
    pid_t pid;
    struct holder *h = prepare(&pid, move, true);
    zkt_proxy *before = zkt_proxy_start(zkt_servers());
    zkt_proxy *after = zkt_proxy_start(zkt_servers());
    (void)snprintf(h->hosts, sizeof(h->hosts), "%s", zkt_proxy_host(before));
    (void)snprintf(h->other_hosts, sizeof(h->other_hosts), "%s", zkt_proxy_host(after));
    atomic_store(&h->wait, false);
    ZKT_EVENTUALLY(atomic_load(&h->holds) > 0, PATIENCE_MS);
    ZKT_EVENTUALLY(zkt_proxy_counters(after).connections > 0, PATIENCE_MS);
    zkt_proxy_stop(before);
    stays_held();
    kill_and_free(pid);
}

enum { SESSIONS = 8 };

/* Open many sessions, because the guardian begins each server list at a random place. The other sessions wait in the
   queue. */
static void stand_in_line(struct holder *h)
{
    for (int i = 1; i < SESSIONS; i++) {
        zkr_mutex *m = NULL;
        zkr_ticket *t = NULL;
        zkr_client *c = open_guarded(h->hosts, ZKR_GUARDIAN_REQUIRED);
        ZKT_MUST(zkr_mutex_create(&m, c, h->path, NULL));
        ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, NULL, NULL, &t));
    }
}

/* From a list with an even number of addresses, libzookeeper alone would try only half after its first round. */
ZKT_CASE(the_one_of_two_servers_that_comes_back_is_found)
{
    pid_t pid;
    struct holder *h = prepare(&pid, stand_in_line, true);
    zkt_proxy *one = zkt_proxy_start(zkt_servers());
    zkt_proxy *other = zkt_proxy_start(zkt_servers());
    (void)snprintf(h->hosts, sizeof(h->hosts), "%s,%s", zkt_proxy_host(one),
                   zkt_proxy_host(other));
    atomic_store(&h->wait, false);
    ZKT_BECOMES(zkt_nodes(), SESSIONS, PATIENCE_MS);
    zkt_proxy_cut(one);
    zkt_proxy_cut(other);
    kill_holder(pid);
    /* Long enough for the guardian to try both servers; otherwise the test proves less. */
    zkt_sleep_ms(300);
    zkt_proxy_heal(one);
    is_free_soon();
}

ZKT_CASE(clients_share_a_guardian_and_the_last_one_ends_it)
{
    zkr_client *a = open_guarded(zkt_servers(), ZKR_GUARDIAN_REQUIRED);
    pid_t guardian = guardian_of(getpid());
    assert_int_not_equal(guardian, 0);
    zkr_client *b = open_guarded(zkt_servers(), ZKR_GUARDIAN_TRY);
    assert_int_equal(zkt_child_count(), 1);
    ZKT_MUST(zkr_client_close(a));
    assert_int_equal(guardian_of(getpid()), guardian);
    ZKT_MUST(zkr_client_close(b));
    assert_int_equal(zkt_child_count(), 0);
}

/* Close a client that holds while it has no connection. The session ends once a server can be reached again. */
static void close_cut_off(zkt_proxy *p)
{
    zkr_client *c = open_guarded(zkt_proxy_host(p), ZKR_GUARDIAN_REQUIRED);
    zkr_mutex *m = NULL;
    ZKT_MUST(zkr_mutex_create(&m, c, zkt_path(), NULL));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_proxy_cut(p);
    ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkr_mutex_destroy(m));
    ZKT_MUST(zkr_client_close(c));
    assert_int_equal(zkt_nodes(), 1);
    zkt_proxy_heal(p);
    is_free_soon();
}

ZKT_CASE(what_was_closed_without_a_connection_ends_too)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    close_cut_off(p); /* no client needs the guardian any more */
    assert_int_equal(zkt_child_count(), 0);
    zkr_client *other = open_guarded(zkt_servers(), ZKR_GUARDIAN_REQUIRED);
    close_cut_off(p);
    ZKT_MUST(zkr_client_close(other));
}

/* --- the guardian itself --- */

ZKT_CASE(the_guardian_is_not_in_the_way)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGTSTP};
    pid_t pid;
    (void)start(&pid, NULL);
    pid_t guardian = guardian_of(pid);
    char path[64], target[256];
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        assert_int_equal(kill(guardian, signals[i]), 0);
    }
    assert_int_equal(getsid(guardian), guardian);
    (void)snprintf(path, sizeof(path), "/proc/%d/cwd", guardian);
    ssize_t n = readlink(path, target, sizeof(target) - 1);
    /* The link cannot be read without permission. */
    assert_true(n < 0 || (n == 1 && target[0] == '/'));
    (void)snprintf(path, sizeof(path), "/proc/%d/cmdline", guardian);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    n = read(fd, target, sizeof(target));
    (void)close(fd);
    assert_int_equal(n, sizeof("zkr-guardian"));
    assert_string_equal(target, "zkr-guardian");
    kill_and_free(pid);
    ZKT_EVENTUALLY(kill(guardian, 0) != 0, PATIENCE_MS);
}

static atomic_int lines_of_no_guardian;

static void count_lines(int level, const char *line, void *ctx)
{
    atomic_fetch_add(&lines_of_no_guardian, strstr(line, "event=no_guardian") != NULL);
}

ZKT_CASE(a_guardian_that_is_missing_is_an_error_or_a_line)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    zkr_client *c = NULL;
    o.log = count_lines;
    (void)setenv("ZKR_GUARDIAN_PATH", "/nowhere/zkr-guardian", 1);
    o.guardian = ZKR_GUARDIAN_REQUIRED;
    ZKT_RC(zkr_client_open(&c, zkt_servers(), &o), ZKR_ESYS);
    assert_non_null(strstr(zkr_last_error()->message, "/nowhere/zkr-guardian"));
    assert_int_equal(zkr_last_error()->sys_errno, ENOENT);
    (void)setenv("ZKR_GUARDIAN_PATH", "/bin/true", 1);
    ZKT_RC(zkr_client_open(&c, zkt_servers(), &o), ZKR_ESYS);
    assert_int_equal(zkt_child_count(), 0);
    assert_int_equal(atomic_load(&lines_of_no_guardian), 0);
    o.guardian = ZKR_GUARDIAN_TRY;
    ZKT_MUST(zkr_client_open(&c, zkt_servers(), &o));
    ZKT_EVENTUALLY(atomic_load(&lines_of_no_guardian) == 1, PATIENCE_MS);
    ZKT_RC(zkr_client_guard_group(c, 0), ZKR_ESTATE);
    ZKT_MUST(zkr_client_close(c));
}

static struct _zhandle *open_nothing(const char *servers,
                                     zkr_watcher_fn watcher,
                                     int session_timeout_ms,
                                     void *watcher_ctx,
                                     void *ctx)
{
    return NULL;
}

ZKT_CASE(what_only_the_application_can_open_has_no_guardian)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    zkr_client *c = NULL;
    o.open_handle = open_nothing;
    o.guardian = ZKR_GUARDIAN_REQUIRED;
    ZKT_RC(zkr_client_open(&c, zkt_servers(), &o), ZKR_EINVAL);
    assert_int_equal(zkt_child_count(), 0);
}

ZKT_CASE(a_guardian_that_was_killed_is_noticed_and_not_missed_by_the_next_client)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = SESSION_MS;
    o.log = count_lines;
    o.guardian = ZKR_GUARDIAN_REQUIRED;
    zkr_client *c = zkt_client_with(zkt_servers(), &o);
    pid_t first = guardian_of(getpid());
    siginfo_t ended;
    assert_int_equal(kill(first, SIGKILL), 0);
    assert_int_equal(waitid(P_PID, (id_t)first, &ended, WEXITED | WNOWAIT), 0);
    zkt_expire(c);
    ZKT_EVENTUALLY(atomic_load(&lines_of_no_guardian) == 1, PATIENCE_MS);
    ZKT_RC(zkr_client_guard_group(c, 0), ZKR_ESTATE);
    zkr_client *next = open_guarded(zkt_servers(), ZKR_GUARDIAN_REQUIRED);
    ZKT_EVENTUALLY(guardian_of(getpid()) != 0, PATIENCE_MS);
    assert_int_not_equal(guardian_of(getpid()), first);
    ZKT_MUST(zkr_client_close(next));
    zkt_close(c);
    assert_int_equal(zkt_child_count(), 0);
}

/* --- process groups --- */

/* Start a group in which a process counts in shared memory as long as it lives. */
static void start_group(struct holder *h)
{
    int gate[2];
    zkt_pipe(gate);
    pid_t child = fork();
    if (child == 0) {
        (void)setpgid(0, 0);
        (void)close(gate[1]);
        char byte;
        (void)!read(gate[0], &byte, 1);
        if (fork() == 0) { /* and another process, which nobody waits for */
            for (;;) {
                (void)pause();
            }
        }
        for (;;) {
            atomic_fetch_add(&h->beat, 1);
        }
    }
    (void)setpgid(child, child);
    ZKT_RC(zkr_client_guard_group(h->c, child), ZKR_OK);
    zkt_pipe_close(gate);
    atomic_store(&h->other, child);
}

ZKT_CASE(a_group_that_is_guarded_dies_before_its_session)
{
    pid_t pid;
    struct holder *h = start(&pid, start_group);
    ZKT_EVENTUALLY(atomic_load(&h->other) != 0 && atomic_load(&h->beat) > 0,
                   PATIENCE_MS);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    stays_held();
    kill_holder(pid);
    ZKT_MUST(zkr_mutex_acquire(m, SOON_MS));
    int at_grant = atomic_load(&h->beat);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_sleep_ms(A_WHILE_MS);
    assert_int_equal(atomic_load(&h->beat), at_grant);
}

/* A stopped group can be killed. A group whose processes the guardian cannot wait for ends all the same. */
static void start_stopped_group(struct holder *h)
{
    start_group(h);
    (void)kill(-atomic_load(&h->other), SIGSTOP);
}

ZKT_CASE(a_stopped_group_dies_too)
{
    pid_t pid;
    struct holder *h = start(&pid, start_stopped_group);
    ZKT_EVENTUALLY(atomic_load(&h->other) != 0, PATIENCE_MS);
    kill_and_free(pid);
}

static void replace_group(struct holder *h)
{
    start_group(h);
    pid_t child = fork();
    if (child == 0) {
        (void)setpgid(0, 0);
        for (;;) {
            (void)pause();
        }
    }
    (void)setpgid(child, child);
    ZKT_RC(zkr_client_guard_group(h->c, child), ZKR_OK);
    atomic_store(&h->done, true);
}

/* A guardian kills only the group that was named last. */
ZKT_CASE(a_group_that_was_replaced_goes_on)
{
    pid_t pid;
    struct holder *h = start(&pid, replace_group);
    ZKT_EVENTUALLY(atomic_load(&h->done) && atomic_load(&h->beat) > 0, PATIENCE_MS);
    kill_and_free(pid);
    int at_end = atomic_load(&h->beat);
    ZKT_EVENTUALLY(atomic_load(&h->beat) != at_end, PATIENCE_MS);
    assert_int_equal(kill(-atomic_load(&h->other), SIGKILL), 0);
}

static void name_groups(struct holder *h)
{
    int fault = zkr_client_guard_group(h->c, -1) != ZKR_EINVAL ||
                zkr_client_guard_group(h->c, 1) != ZKR_EINVAL ||
                zkr_client_guard_group(h->c, getpgrp()) != ZKR_EINVAL ||
                zkr_client_guard_group(h->c, INT32_MAX) != ZKR_EINVAL ||
                zkr_client_guard_group(h->c, 0) != ZKR_OK;
    start_group(h);
    (void)kill(-atomic_load(&h->other), SIGKILL);
    (void)waitpid(atomic_load(&h->other), NULL, 0);
    fault = fault || zkr_client_guard_group(h->c, 0) != ZKR_OK;
    atomic_store(&h->done, true);
    atomic_store(&h->beat, fault);
}

ZKT_CASE(a_group_that_is_gone_holds_nothing_up)
{
    pid_t pid;
    struct holder *h = start(&pid, name_groups);
    ZKT_EVENTUALLY(atomic_load(&h->done), PATIENCE_MS);
    ZKT_BECOMES(atomic_load(&h->beat), 0, PATIENCE_MS);
    kill_and_free(pid);
}

/* --- another PID namespace --- */

static int open_apart(void *arg)
{
    const struct holder *h = arg;
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    zkr_client *c = NULL;
    if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) {
        return 77;
    }
    o.guardian = ZKR_GUARDIAN_REQUIRED;
    return zkr_client_open(&c, h->hosts, &o) != ZKR_ESYS ||
           !strstr(zkr_last_error()->message, "PID namespace");
}

ZKT_CASE(children_in_another_pid_namespace_are_refused)
{
    struct holder *h = zkt_shared(sizeof(*h));
    (void)snprintf(h->hosts, sizeof(h->hosts), "%s", zkt_servers());
    int status = zkt_join(zkt_fork(open_apart, h), PATIENCE_MS);
    if (status == 77) {
        zkt_skip("PID namespaces are not permitted");
    }
    assert_int_equal(status, 0);
}
