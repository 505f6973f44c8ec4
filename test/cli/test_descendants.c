/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the processes that a command starts in other process groups and sessions: zkr keeps the lock for them, and
 * kills them.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

/* SOON_MS is less than the session timeout. */
enum { SOON_MS = 6000 };
#define SESSION "10000"

/*
 * leaves: the command ends at once, and a beat goes on in another session. waits: the command waits for a beat in
 * another process group.
 */
static const char leaves[] = "setsid \"$@\" & exit 3";
static const char waits[] = "timeout 100 \"$@\"; true";
/* The command starts no other process, so no SIGCHLD wakes the keeper. */
static const char quiet[] = "exec \"$@\"";

/* Starts a holder that runs the script, and the next contender in the queue. */
static void begin(struct cli c[2],
                  const char *hosts,
                  const char *session,
                  const char *script,
                  const struct cli_beat *beats,
                  const char *mode)
{
    CLI_START(&c[0], "-z", hosts, "-t", session, "lock", zkt_path(), "sh", "-c", script,
              "sh", CLI_BEAT(&beats[0], mode));
    cli_beat_wait(&c[0], &beats[0]);
    CLI_QUEUE(&c[1], "-t", session, "lock", zkt_path(), CLI_BEAT(&beats[1], "once"));
}

/* Checks that the next command began after all processes of the first were gone. */
static void assert_apart(struct cli *next, const struct cli_beat *beats)
{
    assert_int_equal(cli_wait(next), 0);
    assert_true(cli_gap(&beats[0], &beats[1]) > 0);
    zkt_sleep_ms(100);
    assert_true(cli_gap(&beats[0], &beats[1]) > 0); /* it has not beaten since */
}

ZKT_CASE(the_lock_is_kept_for_a_session_of_its_own)
{
    struct cli_beat *beats = cli_beats(2);
    struct cli c[2];
    begin(c, zkt_servers(), SESSION, leaves, beats, "plain");
    zkt_sleep_ms(300);
    assert_true(atomic_load(&beats[1].first) == 0);
    assert_int_equal(kill(c[0].pid, SIGTERM), 0);
    assert_int_equal(cli_wait(&c[0]), 3);
    assert_apart(&c[1], beats);
}

/* A signal that ends the command also ends the processes that it has started in other groups. */
ZKT_CASE(a_signal_reaches_what_outlives_the_group)
{
    struct cli_beat *beats = cli_beats(2);
    struct cli c[2];
    begin(c, zkt_servers(), SESSION, waits, beats, "plain");
    cli_stop(&c[0], SIGTERM);
    assert_apart(&c[1], beats);
}

/* The processes ignore signals. */
ZKT_CASE(a_revocation_kills_all)
{
    static const char *const scripts[] = {leaves, waits, leaves};
    static const char *const modes[] = {"deaf", "deaf", "headless"};
    for (size_t i = 0; i < 3; i++) {
        struct cli_beat *beats = cli_beats(2);
        struct cli c[2];
        begin(c, zkt_servers(), SESSION, scripts[i], beats, modes[i]);
        assert_int_equal(CLI("revoke", zkt_path()), 0);
        assert_apart(&c[1], beats);
        (void)cli_wait(&c[0]);
    }
}

ZKT_CASE(a_cut_kills_all)
{
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    struct cli_beat *beats = cli_beats(2);
    struct cli c[2];
    begin(c, zkt_proxy_host(proxy), "4000", leaves, beats, "deaf");
    zkt_proxy_blackhole(proxy);
    assert_int_equal(cli_wait(&c[0]), 79);
    assert_apart(&c[1], beats);
}

ZKT_CASE(a_deleted_node_kills_all)
{
    struct cli_beat *beats = cli_beats(1);
    struct cli c;
    CLI_START(&c, "lock", zkt_path(), "sh", "-c", leaves, "sh",
              CLI_BEAT(&beats[0], "deaf"));
    cli_beat_wait(&c, &beats[0]);
    assert_int_equal(zkt_delete_children(zkt_servers(), zkt_path()), 0);
    assert_int_equal(cli_wait(&c), 79);
    int64_t last = atomic_load(&beats[0].last);
    zkt_sleep_ms(100);
    assert_true(atomic_load(&beats[0].last) == last);
}

/* If zkr is killed with SIGKILL, the keeper kills all processes, and then the guardian ends the session. */
ZKT_CASE(a_killed_zkr_leaves_nothing)
{
    static const char *const scripts[] = {leaves, waits};
    for (size_t i = 0; i < 2; i++) {
        struct cli_beat *beats = cli_beats(2);
        struct cli c[2];
        begin(c, zkt_servers(), SESSION, scripts[i], beats, "deaf");
        const int64_t before = zkt_now_ms();
        cli_stop(&c[0], SIGKILL);
        assert_apart(&c[1], beats);
        assert_true(zkt_now_ms() - before < SOON_MS);
    }
}

/* Returns the keeper of @c. */
static pid_t keeper_of(const struct cli *c)
{
    char pid[16];
    (void)snprintf(pid, sizeof(pid), "%d", (int)c->pid);
    const char *said =
        cli_says((const char *const[]){"pgrep", "-x", "zkr-keeper", "-P", pid, NULL});
    return (pid_t)strtol(said, NULL, 10);
}

/*
 * Without the keeper, zkr and the guardian do not know which processes are left. The guardian then does not end the
 * session.
 */
ZKT_CASE(without_its_keeper_the_session_times_out)
{
    enum { SESSION_MS = 5000 };
    for (int i = 0; i < 2; i++) {
        struct cli_beat *beats = cli_beats(2);
        struct cli c[2];
        begin(c, zkt_servers(), "5000", waits, beats, "plain");
        const pid_t keeper = keeper_of(&c[0]);
        const int64_t before = zkt_now_ms();
        if (i == 0) {
            assert_int_equal(kill(c[0].pid, SIGSTOP), 0);
            assert_int_equal(kill(keeper, SIGKILL), 0);
            cli_stop(&c[0], SIGKILL);
        } else {
            assert_int_equal(kill(keeper, SIGKILL), 0);
            assert_int_equal(cli_wait(&c[0]), 79);
            cli_assert_one_line(&c[0]);
        }
        assert_int_equal(cli_wait(&c[1]), 0);
        assert_true(zkt_now_ms() - before >= SESSION_MS / 2);
        (void)kill((pid_t)atomic_load(&beats[0].pid), SIGKILL);
    }
}

enum { THREADS = 64 };

/* Stops all threads, as a debugger does. */
static void freeze(pid_t pid, pid_t threads[THREADS])
{
    char name[64];
    const struct dirent *entry;
    (void)snprintf(name, sizeof(name), "/proc/%d/task", (int)pid);
    DIR *dir = opendir(name);
    assert_non_null(dir);
    for (int n = 0; (entry = readdir(dir)) && n < THREADS;) {
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        if (thread > 0) {
            assert_int_equal(ptrace(PTRACE_SEIZE, thread, NULL, NULL), 0);
            assert_int_equal(ptrace(PTRACE_INTERRUPT, thread, NULL, NULL), 0);
            assert_int_equal(waitpid(thread, NULL, __WALL), thread);
            threads[n++] = thread;
        }
    }
    (void)closedir(dir);
}

/* Kills zkr. As its debugger, this program must wait for each thread. */
static void kill_frozen(struct cli *c, const pid_t threads[THREADS])
{
    assert_int_equal(kill(c->pid, SIGKILL), 0);
    for (int i = 0; i < THREADS && threads[i] > 0; i++) {
        int status = 0;
        while (threads[i] != c->pid && waitpid(threads[i], &status, __WALL) > 0 &&
               WIFSTOPPED(status)) {
        }
    }
    assert_int_equal(cli_wait(c), 128 + SIGKILL);
}

/* zkr is stopped while its command runs. The command is killed before the next begins. */
ZKT_CASE(a_zkr_in_a_debugger_has_its_command_killed)
{
    static const char *const scripts[] = {leaves, quiet};
    for (size_t i = 0; i < 2; i++) {
        struct cli_beat *beats = cli_beats(2);
        struct cli c[2];
        begin(c, zkt_servers(), "4000", scripts[i], beats, "deaf");
        pid_t threads[THREADS] = {0};
        freeze(c[0].pid, threads);
        assert_apart(&c[1], beats);
        kill_frozen(&c[0], threads);
    }
}

static bool is_zombie(pid_t pid)
{
    char text[8] = "", number[16];
    (void)snprintf(number, sizeof(number), "%d", (int)pid);
    (void)snprintf(
        text, sizeof(text), "%s",
        cli_says((const char *const[]){"ps", "-o", "state=", "-p", number, NULL}));
    return text[0] == 'Z';
}

/* A process counts as alive while its debugger has not waited for it. */
ZKT_CASE(zkr_says_that_something_does_not_end)
{
    struct cli_beat *beats = cli_beats(2);
    struct cli c[2];
    begin(c, zkt_servers(), SESSION, leaves, beats, "deaf");
    const pid_t pid = (pid_t)atomic_load(&beats[0].pid);
    assert_int_equal(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
    assert_int_equal(CLI("revoke", zkt_path()), 0);
    ZKT_EVENTUALLY(strstr(cli_err(&c[0]), "SIGKILL; zkr keeps the lock on "),
                   CLI_PATIENCE_MS);
    assert_int_equal(cli_queue(), 2);
    /* The keeper reads no signals at this point, so its end of the link closes with unread data. */
    const pid_t keeper = keeper_of(&c[0]);
    assert_int_equal(kill(c[0].pid, SIGUSR1), 0);
    zkt_sleep_ms(100);
    assert_int_equal(kill(c[0].pid, SIGSTOP), 0);
    int status = 0;
    while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
    }
    ZKT_EVENTUALLY(is_zombie(keeper), CLI_PATIENCE_MS);
    assert_int_equal(kill(c[0].pid, SIGCONT), 0);
    assert_apart(&c[1], beats);
    assert_int_equal(cli_wait(&c[0]), 3);
}

/* --- processes of another user --- */

/* zkr is root without CAP_KILL, so it may not signal processes of another user. The same happens with sudo. */
#define POWERLESS "setpriv", "--bounding-set=-kill", "--inh-caps=-kill"
static const char of_another_user[] =
    "setpriv --reuid=65534 --clear-groups sh -c 'echo $$; exec sleep 100'";
static const char alone_of_another_user[] =
    "setsid setpriv --reuid=65534 --clear-groups sh -c 'echo $$; exec sleep 100' &";

/* Returns the process of another user that @c has started, once it runs. */
static pid_t await_foreign(struct cli *c)
{
    if (geteuid() != 0) {
        zkt_skip("only root can start a process of another user");
    }
    ZKT_EVENTUALLY(strchr(cli_out(c), '\n'), CLI_PATIENCE_MS);
    return (pid_t)strtol(cli_out(c), NULL, 10);
}

/* Waits until zkr reports that it may not signal @pid. */
static void await_denied(struct cli *c, pid_t pid, const char *consequence)
{
    char line[400];
    (void)snprintf(line, sizeof(line),
                   "zkr: not allowed to signal process %d of the command; %s %s",
                   (int)pid, consequence, zkt_path());
    ZKT_EVENTUALLY(strstr(cli_err(c), line), CLI_PATIENCE_MS);
}

ZKT_CASE(the_lock_is_kept_for_a_process_that_zkr_may_not_signal)
{
    static const char *const scripts[] = {of_another_user, alone_of_another_user};
    for (size_t i = 0; i < 2; i++) {
        struct cli c[2];
        CLI_START_AS(&c[0], POWERLESS, cli_zkr(), "-t", SESSION, "lock", zkt_path(),
                     "sh", "-c", scripts[i]);
        const pid_t foreign = await_foreign(&c[0]);
        CLI_QUEUE(&c[1], "lock", zkt_path(), "true");
        assert_int_equal(CLI("revoke", zkt_path()), 0);
        await_denied(&c[0], foreign, "zkr keeps the lock on");
        ZKT_EVENTUALLY(strstr(cli_err(&c[0]), "SIGKILL; zkr keeps the lock on "),
                       CLI_PATIENCE_MS);
        assert_int_equal(cli_queue(), 2);
        assert_int_equal(kill(foreign, SIGKILL), 0);
        assert_int_equal(cli_wait(&c[1]), 0);
        (void)cli_wait(&c[0]);
    }
}

ZKT_CASE(a_process_that_zkr_may_not_signal_goes_on_without_the_lock)
{
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    struct cli c;
    CLI_START_AS(&c, POWERLESS, cli_zkr(), "-z", zkt_proxy_host(proxy), "-t", "4000",
                 "lock", zkt_path(), "sh", "-c", of_another_user);
    const pid_t foreign = await_foreign(&c);
    zkt_proxy_blackhole(proxy);
    await_denied(&c, foreign, "the process continues without the lock on");
    assert_int_equal(kill(foreign, SIGKILL), 0);
    assert_int_equal(cli_wait(&c), 79);
}

/* The leader yields when its command has ended. Until then elect --yield reports why no other leads. */
ZKT_CASE(a_leader_that_may_not_signal_its_command_does_not_yield_yet)
{
    struct cli a, b, ask;
    CLI_START_AS(&a, POWERLESS, cli_zkr(), "elect", "-i", "a", zkt_path(), "sh", "-c",
                 of_another_user);
    const pid_t foreign = await_foreign(&a);
    CLI_QUEUE(&b, "elect", "-i", "b", zkt_path(), "sh", "-c", "echo up; sleep 100");
    assert_int_equal(CLI_RUN(&ask, "elect", "--yield", "-w", "0.5", zkt_path()), 1);
    cli_assert_one_line(&ask);
    assert_non_null(
        strstr(cli_err(&ask), "the leader that got the request is still leading"));
    await_denied(&a, foreign, "zkr keeps the leadership of");
    assert_string_equal(cli_out(&b), "");
    assert_int_equal(kill(foreign, SIGKILL), 0);
    ZKT_EVENTUALLY(strstr(cli_out(&b), "up"), CLI_PATIENCE_MS);
    cli_stop(&a, SIGTERM);
    cli_stop(&b, SIGTERM);
}
