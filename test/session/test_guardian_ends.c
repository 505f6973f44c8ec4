/* SPDX-License-Identifier: Apache-2.0 */
/* When a guardian ends a session that the client has given up or closed, and how it reaches the servers. */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guarded.h"
#include "session/request.h"

enum { SESSION_MS = 10000, SOON_MS = 6000 };

static zkr_client_options guarded(void)
{
    return guarded_for(SESSION_MS);
}

/* --- what was promised --- */

/* Make the next connection present the credentials under a scheme that no server has. */
static void spoil_credentials(zkr_client *c)
{
    zkr__lock(c);
    memcpy((char *)(uintptr_t)c->auths[0].scheme, "nosuch", sizeof("nosuch"));
    c->link->authorized = 0;
    zkr__unlock(c);
}

/* The holder may act as long as its lease was promised. The session stays until then, and no longer. */
ZKT_CASE(refused_credentials_end_no_session_that_holds)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client_options o = guarded();
    zkr_client *c = zkt_client_with(zkt_proxy_host(p), &o);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_proxy_cut(p);
    ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
    spoil_credentials(c);
    const int64_t until = zkt_now_ms() + zkr_mutex_valid_for_ms(m);
    zkt_proxy_heal(p);
    ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_AUTH_FAILED, PATIENCE_MS);
    assert_true(zkt_now_ms() < until);
    while (zkt_now_ms() < until) {
        assert_true(zkt_nodes() == 1 || zkt_now_ms() >= until);
        zkt_sleep_ms(5);
    }
    ZKT_BECOMES(zkt_nodes(), 0, SOON_MS);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
}

/* --- a close that no server has received --- */

ZKT_CASE(a_close_without_an_answer_is_made_up_for)
{
    close_unheard(zkt_proxy_start(zkt_servers()), SESSION_MS, SOON_MS);
}

/* --- a process that is killed --- */

static struct holder *start(const char *hosts, bool plain)
{
    struct holder *h = fork_holder(SESSION_MS);
    h->plain = plain;
    let_hold(h, hosts);
    return h;
}

enum { WAYS = 4 };

/* Make four connections to the servers available, the first of which is cut. Returns which one the holder uses. */
static int hold_by_some_way(zkt_proxy *ways[WAYS], struct holder *h)
{
    char hosts[512] = "";
    int used = 1;
    for (int i = 0; i < WAYS; i++) {
        ways[i] = zkt_proxy_start(zkt_servers());
        size_t len = strlen(hosts);
        (void)snprintf(hosts + len, sizeof(hosts) - len, "%s%s", len > 0 ? "," : "",
                       zkt_proxy_host(ways[i]));
    }
    zkt_proxy_cut(ways[0]);
    let_hold(h, hosts);
    while (zkt_proxy_counters(ways[used]).connections == 0) {
        used++;
        assert_true(used < WAYS);
    }
    return used;
}

/* The proxy that the holder used is silent, and two others are. */
ZKT_CASE(silent_servers_do_not_hold_it_up)
{
    enum { ROUNDS = 3 };
    struct holder *holders[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        holders[round] = fork_holder(SESSION_MS);
    }
    for (int round = 0; round < ROUNDS; round++) {
        zkt_proxy *ways[WAYS];
        const int used = hold_by_some_way(ways, holders[round]);
        for (int i = 0; i < WAYS - 1; i++) {
            zkt_proxy_blackhole(ways[(used + i) % WAYS]);
        }
        zkt_proxy_heal(ways[(used + WAYS - 1) % WAYS]);
        kill_holder(holders[round]);
        ZKT_BECOMES(zkt_nodes(), 0, SOON_MS);
    }
}

ZKT_CASE(the_server_that_was_connected_is_tried_first)
{
    zkt_proxy *ways[WAYS];
    struct holder *h = fork_holder(SESSION_MS);
    const int used = hold_by_some_way(ways, h);
    zkt_proxy_heal(ways[0]);
    for (int i = 0; i < WAYS; i++) {
        if (i != used) {
            zkt_proxy_blackhole(ways[i]);
        }
    }
    const int64_t others = zkt_proxy_counters(ways[0]).connections;
    kill_holder(h);
    ZKT_BECOMES(zkt_nodes(), 0, SOON_MS);
    assert_int_equal(zkt_proxy_counters(ways[0]).connections, others);
}

/* Each answer takes longer than the guardian waits in its first round. */
ZKT_CASE(a_slow_server_is_waited_for)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    const struct holder *h = start(zkt_proxy_host(p), false);
    zkt_proxy_delay(p, ZKT_TO_CLIENT, SESSION_MS / 10);
    kill_holder(h);
    ZKT_BECOMES(zkt_nodes(), 0, SOON_MS);
}

/* --- servers that demand credentials --- */

static const char demands[] =
    "enforce.auth.enabled=true\nenforce.auth.schemes=digest\n";

/* Each refused attempt renews the session, so the guardian makes few attempts. */
ZKT_CASE(credentials_that_servers_demand_and_nobody_has_hold_nothing_up)
{
    enum { MOST_MS = SESSION_MS * 3 / 2 };
    char config[512];
    zkt_server *s = zkt_server_start(NULL);
    zkt_proxy *p = zkt_proxy_start(zkt_server_host(s));
    const struct holder *h = start(zkt_proxy_host(p), true);
    zkt_proxy_cut(p); /* so that the holder itself does not notice */
    (void)snprintf(config, sizeof(config), "%s/zoo.cfg", zkt_server_dir(s));
    FILE *f = fopen(config, "a");
    assert_non_null(f);
    (void)fputs(demands, f);
    assert_int_equal(fclose(f), 0);
    zkt_server_restart(s, 0);
    zkr_client_options o = guarded();
    zkr_mutex *m = zkt_mutex(zkt_client_with(zkt_server_host(s), &o));
    ZKT_RC(zkr_mutex_acquire(m, 0), ZKR_ETIMEDOUT);
    kill_holder(h);
    zkt_proxy_heal(p);
    ZKT_MUST(zkr_mutex_acquire(m, MOST_MS));
    ZKT_MUST(zkr_mutex_release(m));
}

/* The guardian has its client's credentials. */
ZKT_CASE(credentials_that_servers_demand_are_at_hand)
{
    zkt_server_options so = {.config = demands};
    zkt_server *s = zkt_server_start(&so);
    const struct holder *h = start(zkt_server_host(s), false);
    zkr_client_options o = guarded();
    zkr_mutex *m = zkt_mutex(zkt_client_with(zkt_server_host(s), &o));
    kill_holder(h);
    ZKT_MUST(zkr_mutex_acquire(m, SOON_MS));
    ZKT_MUST(zkr_mutex_release(m));
}

/* --- the process itself --- */

/*
 * A CI server finds the processes of a job by an environment variable. The test cannot read the environment of the
 * guardian, so a script takes its place.
 */
ZKT_CASE(the_guardian_has_few_variables)
{
    char dir[] = "/tmp/zkr-few-XXXXXX", script[64], seen[64], line[256];
    int needed = 0;
    zkr_client *c = NULL;
    zkr_client_options o = guarded();
    assert_non_null(mkdtemp(dir));
    (void)snprintf(script, sizeof(script), "%s/guardian", dir);
    (void)snprintf(seen, sizeof(seen), "%s/seen", dir);
    FILE *f = fopen(script, "we");
    assert_non_null(f);
    (void)fprintf(f, "#!/bin/sh\n/usr/bin/env >%s\n", seen);
    (void)fclose(f);
    assert_int_equal(chmod(script, 0700), 0);
    (void)setenv("ZKR_GUARDIAN_PATH", script, 1);
    (void)setenv("JOB_COOKIE", "1", 1);
    (void)setenv("LD_LIBRARY_PATH", "/nowhere", 1);
    ZKT_RC(zkr_client_open(&c, zkt_servers(), &o), ZKR_ESYS);
    f = fopen(seen, "re");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f)) {
        assert_null(strstr(line, "COOKIE"));
        needed += strcmp(line, "LD_LIBRARY_PATH=/nowhere\n") == 0;
    }
    (void)fclose(f);
    assert_int_equal(needed, 1);
    (void)unlink(script);
    (void)unlink(seen);
    (void)rmdir(dir);
}

static pid_t guardian(void)
{
    int pid = 0;
    char command[64];
    (void)snprintf(command, sizeof(command), "pgrep -P %d -x zkr-guardian", getpid());
    FILE *f = popen(command, "re");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%d", &pid), 1);
    (void)pclose(f);
    return pid;
}

/* Create a child with this process id, which ends at once. */
static void end_a_child_as(pid_t pid)
{
    struct clone_args args = {.exit_signal = SIGCHLD,
                              .set_tid = (uint64_t)(uintptr_t)&pid,
                              .set_tid_size = 1};
    long rc = syscall(SYS_clone3, &args, sizeof(args));
    if (rc == 0) {
        _exit(3);
    }
    if (rc < 0 && errno == EPERM) {
        zkt_skip("the number of a process cannot be chosen");
    }
    assert_int_equal(rc, pid);
}

/* The application has waited for the guardian. Another child has the guardian's process id now. */
ZKT_CASE(a_child_with_the_number_of_the_guardian_is_left_to_the_application)
{
    zkr_client_options o = guarded();
    zkr_client *c = zkt_client_with(zkt_servers(), &o);
    const pid_t pid = guardian();
    int status = 0;
    siginfo_t unused;
    zkt_sleep_ms(20); /* the start times of processes have a resolution of 10 ms */
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    end_a_child_as(pid);
    assert_int_equal(waitid(P_PID, (id_t)pid, &unused, WEXITED | WNOWAIT), 0);
    zkt_close(c);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 3);
}

static bool is_socket_of_guardian(int fd)
{
    int type = 0;
    socklen_t size = sizeof(type);
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
           type == SOCK_SEQPACKET;
}

static int sockets_of_guardian(void)
{
    int count = 0;
    for (int fd = 3; fd < 256; fd++) {
        count += is_socket_of_guardian(fd);
    }
    return count;
}

ZKT_CASE(a_forked_child_does_not_keep_the_socket_of_its_parent)
{
    zkr_client_options o = guarded();
    (void)zkt_client_with(zkt_servers(), &o);
    assert_int_equal(sockets_of_guardian(), 1);
    const pid_t child = fork();
    if (child == 0) {
        _exit(sockets_of_guardian());
    }
    assert_int_equal(zkt_join(child, PATIENCE_MS), 0);
    assert_int_equal(sockets_of_guardian(), 1);
}

/* The client can send nothing to a guardian whose socket was closed. */
ZKT_CASE(a_guardian_whose_socket_was_closed_leaves_no_zombie)
{
    zkr_client_options o = guarded();
    zkr_client *c = zkt_client_with(zkt_servers(), &o);
    int found = 0;
    for (int fd = 3; fd < 256; fd++) {
        found += is_socket_of_guardian(fd) && close(fd) == 0;
    }
    assert_int_equal(found, 1);
    zkt_close(c);
    assert_int_equal(zkt_child_count(), 0);
}
