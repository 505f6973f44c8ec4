/* SPDX-License-Identifier: Apache-2.0 */
/* zkr/testing.h: servers, the errors of their functions, and what they leave behind. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zkr/testing.h>

#include "fixture.h"
#include "fourlw.h"

/* Checks that a start fails with @code and @words in its message, and makes no server. */
static void refuses(const zkr_test_server_options *o, int code, const char *words)
{
    zkr_test_server *s = NULL;
    const int64_t before = zkt_now_ms();
    ZKT_RC(zkr_test_server_start(&s, o), code);
    assert_null(s);
    if (strstr(zkr_last_error()->message, words) == NULL) {
        zkt_fail("\"%s\" does not say \"%s\"", zkr_last_error()->message, words);
    }
    ZKT_IN_RANGE(zkt_now_ms() - before, 0, 15000);
}

static bool exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

/* Returns the state as in /proc/PID/stat: 'T' = stopped; 'X' = no such process. */
static int state_of(pid_t pid)
{
    char path[64], text[256] = "";
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file) {
        return 'X';
    }
    (void)fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    const char *end = strrchr(text, ')'); /* end of the name */
    return end ? end[2] : 'X';
}

/* Without Java, the error names the package to install. */
ZKT_CASE(what_is_missing_is_named)
{
    assert_int_equal(setenv("ZKR_TEST_JAVA", "/nowhere/java", 1), 0);
    refuses(NULL, ZKR_ESYS, "apt-get install default-jre-headless");
    assert_int_equal(unsetenv("ZKR_TEST_JAVA"), 0);
    assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
    refuses(NULL, ZKR_ESYS, "apt-get install default-jre-headless");
}

/* If the configuration or the JVM's arguments are invalid, or the jars lack ZooKeeper, the error quotes the log. */
ZKT_CASE(a_server_that_ends_at_once_is_an_error)
{
    zkr_test_server_options o = ZKR_TEST_SERVER_OPTIONS_INIT;
    o.config = "tickTime=nonsense";
    refuses(&o, ZKR_ENOANSWER, "nonsense");
    o.config = NULL;
    o.jvm_arguments = "-Dfirst=1 -Dsecond=2  -XX:+NoSuchOption";
    refuses(&o, ZKR_ENOANSWER, "fatal");
    assert_int_equal(setenv("ZKR_TEST_CLASSPATH", "/nowhere/zookeeper.jar", 1), 0);
    refuses(NULL, ZKR_ENOANSWER, "QuorumPeerMain");
}

/* If the directory cannot be made, the start fails. */
ZKT_CASE(a_bad_directory_is_an_error)
{
    assert_int_equal(setenv("TMPDIR", "/nowhere", 1), 0);
    refuses(NULL, ZKR_ESYS, "/nowhere/");
    assert_int_equal(zkr_last_error()->sys_errno, ENOENT);
}

/* Invalid arguments are refused, NULL among them. */
ZKT_CASE(bad_arguments_are_refused)
{
    zkr_test_server_options o = ZKR_TEST_SERVER_OPTIONS_INIT;
    zkr_test_ensemble *e = NULL;
    o.size--;
    refuses(&o, ZKR_EINVAL, "size");
    char long_one[300] = "";
    zkr_test_server_options too_long = ZKR_TEST_SERVER_OPTIONS_INIT;
    memset(long_one, 'x', sizeof long_one - 1);
    too_long.jvm_arguments = long_one;
    refuses(&too_long, ZKR_EINVAL, "jvm_arguments");
    ZKT_RC(zkr_test_server_start(NULL, NULL), ZKR_EINVAL);
    ZKT_RC(zkr_test_ensemble_start(NULL, 1, NULL), ZKR_EINVAL);
    ZKT_RC(zkr_test_ensemble_start(&e, 0, NULL), ZKR_EINVAL);
    ZKT_RC(zkr_test_ensemble_start(&e, 10, NULL), ZKR_EINVAL);
    ZKT_RC(zkr_test_ensemble_start(&e, 1, &o), ZKR_EINVAL);
    ZKT_RC(zkr_test_server_freeze(NULL), ZKR_EINVAL);
    ZKT_RC(zkr_test_server_thaw(NULL), ZKR_EINVAL);
    ZKT_RC(zkr_test_server_kill(NULL), ZKR_EINVAL);
    ZKT_RC(zkr_test_server_restart(NULL, 0), ZKR_EINVAL);
    ZKT_RC(zkr_test_server_pid(NULL), ZKR_EINVAL);
    ZKT_RC(zkr_test_ensemble_leader(NULL, 0), ZKR_EINVAL);
    assert_null(zkr_test_server_host(NULL));
    assert_null(zkr_test_server_dir(NULL));
    assert_null(zkr_test_ensemble_hosts(NULL));
    assert_null(zkr_test_ensemble_server(NULL, 0));
    ZKT_MUST(zkr_test_server_stop(NULL));
    ZKT_MUST(zkr_test_ensemble_stop(NULL));
}

/* A server uses its options, and has its own process group. Stopping it twice is an error. */
ZKT_CASE(a_server_is_started_and_stopped)
{
    char dir[256];
    char conf[2048];
    zkr_test_server_options o = ZKR_TEST_SERVER_OPTIONS_INIT;
    zkr_test_server *s = NULL;
    o.tick_ms = 200;
    o.max_session_ms = 9000;
    ZKT_MUST(zkr_test_server_start(&s, &o));
    assert_true(zkt_4lw(zkr_test_server_host(s), "conf", conf, sizeof conf) > 0);
    assert_non_null(strstr(conf, "tickTime=200\n"));
    assert_non_null(strstr(conf, "maxSessionTimeout=9000\n"));
    const pid_t pid = zkr_test_server_pid(s);
    assert_int_equal(getpgid(pid), pid); /* Ctrl-C does not reach it */
    (void)snprintf(dir, sizeof dir, "%s", zkr_test_server_dir(s));
    assert_true(exists(dir));
    ZKT_MUST(zkr_test_server_stop(s));
    assert_int_equal(kill(pid, 0), -1);
    assert_false(exists(dir));
    ZKT_RC(zkr_test_server_stop(s), ZKR_EINVAL);
    ZKT_RC(zkr_test_server_kill(s), ZKR_EINVAL);
}

/* A killed server can be killed again, but not frozen, until it is restarted. */
ZKT_CASE(a_killed_server_comes_back)
{
    zkr_test_server *s = zkt_server_start(NULL);
    ZKT_MUST(zkr_test_server_freeze(s));
    ZKT_MUST(zkr_test_server_thaw(s));
    ZKT_MUST(zkr_test_server_kill(s));
    ZKT_MUST(zkr_test_server_kill(s));
    assert_int_equal(zkr_test_server_pid(s), 0);
    ZKT_RC(zkr_test_server_freeze(s), ZKR_ESTATE);
    ZKT_RC(zkr_test_server_thaw(s), ZKR_ESTATE);
    ZKT_MUST(zkr_test_server_restart(s, 0));
    assert_int_equal(zkt_mode(zkr_test_server_host(s)), ZKT_MODE_STANDALONE);
}

/* A frozen server can be frozen again, also after another process has continued it. */
ZKT_CASE(a_frozen_server_can_be_frozen_again)
{
    zkr_test_server *s = zkt_server_start(NULL);
    ZKT_MUST(zkr_test_server_freeze(s));
    ZKT_MUST(zkr_test_server_freeze(s));
    assert_int_equal(state_of(zkr_test_server_pid(s)), 'T');
    assert_int_equal(kill(zkr_test_server_pid(s), SIGCONT), 0);
    ZKT_MUST(zkr_test_server_freeze(s));
    assert_int_equal(state_of(zkr_test_server_pid(s)), 'T');
    ZKT_MUST(zkr_test_server_thaw(s));
    assert_int_equal(zkt_mode(zkr_test_server_host(s)), ZKT_MODE_STANDALONE);
    ZKT_MUST(zkr_test_server_thaw(s));
    ZKT_MUST(zkr_test_server_freeze(s)); /* the case ends with the server frozen */
}

/* The program under test may reap all children itself, or ignore SIGCHLD. */
ZKT_CASE(a_server_that_others_reap_is_known_to_be_gone)
{
    zkr_test_server *s = zkt_server_start(NULL);
    const pid_t pid = zkr_test_server_pid(s);
    assert_int_equal(kill(pid, SIGKILL), 0);
    ZKT_BECOMES(zkr_test_server_pid(s), 0, 20000); /* this does not reap it */
    assert_int_equal(waitpid(-1, NULL, 0), pid);
    assert_int_equal(zkr_test_server_pid(s), 0);
    ZKT_RC(zkr_test_server_freeze(s), ZKR_ESTATE);
    zkt_server_stop(s);

    assert_true(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
    s = zkt_server_start(NULL);
    ZKT_MUST(zkr_test_server_kill(s));
    ZKT_MUST(zkr_test_server_restart(s, 0));
    zkt_server_stop(s);
    assert_true(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
}

/* Shared with a child process, which starts its own server. */
struct family {
    zkr_test_server *parents;
    pid_t pid;
    char dir[256];
};

static void use_the_parents(struct family *f)
{
    zkr_test_server *s = f->parents, *own = zkt_server_start(NULL);
    assert_int_equal(zkr_test_server_pid(s), 0);
    ZKT_RC(zkr_test_server_freeze(s), ZKR_ESTATE);
    ZKT_RC(zkr_test_server_stop(s), ZKR_ESTATE);
    ZKT_RC(zkr_test_server_kill(s), ZKR_ESTATE);
    f->pid = zkr_test_server_pid(own);
    (void)snprintf(f->dir, sizeof f->dir, "%s", zkr_test_server_dir(own));
}

static int use_and_exit(void *arg)
{
    use_the_parents(arg);
    exit(3);
}

static int use_and_die(void *arg)
{
    use_the_parents(arg);
    return raise(SIGKILL);
}

/* Returns false for a process that has ended but is not reaped. */
static bool is_alive(pid_t pid)
{
    return state_of(pid) != 'X' && state_of(pid) != 'Z';
}

/*
 * A child process cannot use its parent's server. The child's own server ends with the child, whether it exits or is
 * killed.
 */
ZKT_CASE(a_forked_child_leaves_the_parents_server_alone)
{
    struct family *f = zkt_shared(sizeof *f);
    zkr_test_server *s = f->parents = zkt_server_start(NULL);
    for (int dies = 0; dies < 2; dies++) {
        pid_t child = zkt_fork(dies ? use_and_die : use_and_exit, f);
        assert_int_equal(zkt_join(child, 30000), dies ? 128 + SIGKILL : 3);
        ZKT_EVENTUALLY(!is_alive(f->pid), 5000);
        assert_true(dies || !exists(f->dir));
    }
    assert_true(exists(zkr_test_server_dir(s)));
    assert_int_equal(zkt_mode(zkr_test_server_host(s)), ZKT_MODE_STANDALONE);
}

static void *start_and_stop(void *gate)
{
    (void)pthread_barrier_wait(gate);
    zkr_test_server *s = NULL;
    int rc = zkr_test_server_start(&s, NULL);
    (void)pthread_barrier_wait(gate); /* all servers run at the same time */
    return rc == ZKR_OK && zkr_test_server_stop(s) == ZKR_OK ? gate : NULL;
}

/* Several threads start servers at the same time. */
ZKT_CASE(many_servers_run_side_by_side)
{
    enum { MANY = 4 };
    pthread_t thread[MANY];
    pthread_barrier_t gate;
    assert_int_equal(pthread_barrier_init(&gate, NULL, MANY), 0);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, start_and_stop, &gate), 0);
    }
    for (int i = 0; i < MANY; i++) {
        void *fine = NULL;
        assert_int_equal(pthread_join(thread[i], &fine), 0);
        assert_non_null(fine);
    }
    (void)pthread_barrier_destroy(&gate);
}

/* A frozen server does not count, and counts again when it is thawed. */
ZKT_CASE(a_thawed_server_leads_again)
{
    zkr_test_ensemble *e = NULL;
    ZKT_MUST(zkr_test_ensemble_start(&e, 1, NULL));
    assert_int_equal(zkr_test_ensemble_leader(e, 20000), 0);
    ZKT_MUST(zkr_test_server_freeze(zkr_test_ensemble_server(e, 0)));
    ZKT_RC(zkr_test_ensemble_leader(e, 0), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_test_server_thaw(zkr_test_ensemble_server(e, 0)));
    assert_int_equal(zkr_test_ensemble_leader(e, 20000), 0);
    ZKT_MUST(zkr_test_ensemble_stop(e));
}

/*
 * The servers of an ensemble can be stopped only with it. If the leader dies, another server leads. Without a majority
 * no server leads.
 */
ZKT_CASE(an_ensemble_elects_a_leader)
{
    zkr_test_ensemble *e = NULL;
    ZKT_MUST(zkr_test_ensemble_start(&e, 3, NULL));
    const int leader = zkr_test_ensemble_leader(e, 20000);
    ZKT_IN_RANGE(leader, 0, 2);
    assert_null(zkr_test_ensemble_server(e, 3));
    assert_null(zkr_test_ensemble_server(e, -1));
    for (int i = 0; i < 3; i++) {
        ZKT_RC(zkr_test_server_stop(zkr_test_ensemble_server(e, i)), ZKR_ESTATE);
    }
    ZKT_MUST(zkr_test_server_kill(zkr_test_ensemble_server(e, leader)));
    const int next = zkr_test_ensemble_leader(e, 20000);
    ZKT_IN_RANGE(next, 0, 2);
    assert_int_not_equal(next, leader);
    /* For a while the new leader leads without its follower. */
    const int follower = 3 - leader - next;
    ZKT_MUST(zkr_test_server_freeze(zkr_test_ensemble_server(e, follower)));
    ZKT_RC(zkr_test_ensemble_leader(e, 0), ZKR_ETIMEDOUT);
    assert_non_null(
        strstr(zkr_last_error()->message, "1 of 3 servers serve, and one leads"));
    ZKT_MUST(zkr_test_server_thaw(zkr_test_ensemble_server(e, follower)));
    ZKT_MUST(zkr_test_server_kill(zkr_test_ensemble_server(e, next)));
    ZKT_RC(zkr_test_ensemble_leader(e, 0), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_test_ensemble_stop(e));
}
