/* SPDX-License-Identifier: Apache-2.0 */
/* zkr elect. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

ZKT_CASE(once_is_one_term)
{
    struct cli c;
    char expected[300];
    assert_int_equal(CLI_RUN(&c, "elect", "--once", zkt_path(), "-c",
                             "echo $ZKR_LOCK_PATH $ZKR_LOCK_NODE; exit 5"),
                     5);
    (void)snprintf(expected, sizeof(expected), "%s %s/_c_", zkt_path(), zkt_path());
    assert_int_equal(strncmp(cli_out(&c), expected, strlen(expected)), 0);
    assert_non_null(strstr(cli_out(&c), "-latch-0000000000\n"));
    assert_string_equal(cli_err(&c), "");
    assert_int_equal(cli_queue(), 0);
}

/* It prints a line with its token in each of two terms, and ends with a signal. */
static void leads_twice(struct cli *c)
{
    long long first, second;
    char end;
    ZKT_EVENTUALLY(sscanf(cli_out(c), "%lld %lld%c", &first, &second, &end) == 3,
                   CLI_PATIENCE_MS);
    assert_true(first < second);
    cli_stop(c, SIGTERM);
}

/* It leads again after each command; told to stop, it ends with the command's status. */
ZKT_CASE(it_leads_again_until_told_to_stop)
{
    struct cli c;
    CLI_START(&c, "elect", zkt_path(), "sh", "-c",
              "echo $ZKR_FENCING_TOKEN; [ -e /proc/self ]; sleep 1.1");
    leads_twice(&c);
    assert_int_equal(cli_queue(), 0);
}

/* Also after a command that ends with a status that zkr has itself. */
ZKT_CASE(a_signal_for_the_command_ends_no_election)
{
    static const char *const script =
        "trap 'exit 3' USR1 USR2; echo leads; while :; do sleep .05; done";
    static const int signals[] = {SIGUSR1, SIGUSR2};
    struct cli c;
    CLI_START(&c, "elect", zkt_path(), "sh", "-c", script);
    for (size_t i = 0; i <= sizeof(signals) / sizeof(signals[0]); i++) {
        ZKT_EVENTUALLY(strlen(cli_out(&c)) == (i + 1) * strlen("leads\n"),
                       CLI_PATIENCE_MS);
        assert_int_equal(kill(c.pid, i < 2 ? signals[i] : SIGTERM), 0);
    }
    assert_int_equal(cli_wait(&c), 128 + SIGTERM);
}

/* A command that ends at once keeps nobody busy: terms begin a second apart. */
ZKT_CASE(it_leads_again_whatever_the_status)
{
    static const char *const scripts[] = {"echo", "echo; exit 69", "echo; exit 70",
                                          "echo; exit 75"};
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        struct cli c;
        int64_t before = zkt_now_ms();
        CLI_START(&c, "elect", zkt_path(), "sh", "-c", scripts[i]);
        ZKT_EVENTUALLY(strlen(cli_out(&c)) >= 3, CLI_PATIENCE_MS);
        assert_true(zkt_now_ms() - before >= 2000);
        assert_int_equal(kill(c.pid, SIGTERM), 0);
        (void)cli_wait(&c); /* that of a command, or of the signal */
        assert_int_equal(cli_queue(), 0);
    }
}

/* One command runs at a time; the next candidate takes over from one that is killed. */
ZKT_CASE(the_next_candidate_takes_over)
{
    struct cli_beat *beats = cli_beats(2);
    struct cli a, b;
    CLI_START(&a, "-t", "2000", "elect", zkt_path(), CLI_BEAT(&beats[0], "deaf"));
    cli_beat_wait(&a, &beats[0]);
    CLI_QUEUE(&b, "-t", "2000", "elect", "--once", zkt_path(),
              CLI_BEAT(&beats[1], "once"));
    cli_stop(&a, SIGKILL);
    assert_int_equal(cli_wait(&b), 0);
    assert_true(atomic_load(&beats[0].last) < atomic_load(&beats[1].first));
    assert_true(atomic_load(&beats[0].token) < atomic_load(&beats[1].token));
}

/* Does the signal still wait for the process to take it? */
static bool is_pending(pid_t pid, int number)
{
    char path[64], line[128];
    unsigned long long pending = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f) &&
           sscanf(line, "ShdPnd: %llx", &pending) != 1) {
    }
    (void)fclose(f);
    return (pending >> (number - 1) & 1) != 0;
}

/* Cut off, the command dies before the next one leads; healed, it queues again. */
ZKT_CASE(a_lost_leader_queues_again)
{
    struct cli_beat *beats = cli_beats(2);
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    struct cli a, b;
    CLI_START(&a, "-z", zkt_proxy_host(proxy), "-t", "5000", "elect", zkt_path(),
              CLI_BEAT(&beats[0], "deaf"));
    cli_beat_wait(&a, &beats[0]);
    CLI_QUEUE(&b, "-t", "5000", "elect", "--once", zkt_path(),
              CLI_BEAT(&beats[1], "once"));
    int64_t lost = atomic_load(&beats[0].token);
    zkt_proxy_blackhole(proxy);
    assert_int_equal(cli_wait(&b), 0);
    int64_t died = atomic_load(&beats[0].last);
    assert_true(died < atomic_load(&beats[1].first));
    zkt_proxy_heal(proxy);
    ZKT_EVENTUALLY(atomic_load(&beats[0].token) > atomic_load(&beats[1].token),
                   CLI_PATIENCE_MS);
    assert_true(lost < atomic_load(&beats[1].token));
    assert_int_equal(kill(a.pid, SIGINT), 0); /* deaf: */
    ZKT_BECOMES(is_pending(a.pid, SIGINT), false, CLI_PATIENCE_MS);
    assert_int_equal(kill((pid_t)atomic_load(&beats[0].pid), SIGKILL), 0);
    assert_int_equal(cli_wait(&a), 137);
    cli_assert_one_line(&a);
}

/* Somebody deletes the node of a leader: its command is killed, and the next term has a command of its own. */
ZKT_CASE(a_deleted_leader_leads_again)
{
    struct cli c;
    CLI_START(&c, "elect", zkt_path(), "sh", "-c",
              "echo $ZKR_FENCING_TOKEN; exec sleep 60");
    ZKT_EVENTUALLY(strchr(cli_out(&c), '\n'), CLI_PATIENCE_MS);
    assert_int_equal(zkt_delete_children(zkt_servers(), zkt_path()), 0);
    leads_twice(&c);
}

/* --connect-timeout is for the first term: a cut that lasts longer does not end it later. */
ZKT_CASE(a_candidate_outlasts_a_long_cut)
{
    enum { CUT_MS = 2000 };
    struct cli c;
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    CLI_START(&c, "-z", zkt_proxy_host(proxy), "--connect-timeout", "0.5", "elect",
              zkt_path(), "echo", "term");
    ZKT_EVENTUALLY(*cli_out(&c), CLI_PATIENCE_MS);
    zkt_proxy_cut(proxy);
    zkt_sleep_ms(CUT_MS);
    size_t terms = strlen(cli_out(&c));
    zkt_proxy_heal(proxy);
    ZKT_EVENTUALLY(strlen(cli_out(&c)) > terms, CLI_PATIENCE_MS);
    assert_int_equal(kill(c.pid, SIGTERM), 0);
    (void)cli_wait(&c); /* that of a command, or of the signal */
}

ZKT_CASE(a_waiting_candidate_can_be_told_to_stop)
{
    struct cli a, b;
    CLI_QUEUE(&a, "elect", zkt_path(), "sleep", "60");
    CLI_QUEUE(&b, "elect", zkt_path(), "echo", "never");
    assert_int_equal(kill(b.pid, SIGUSR1), 0); /* these are for the command alone */
    assert_int_equal(kill(b.pid, SIGUSR2), 0);
    zkt_sleep_ms(100);
    cli_stop(&b, SIGHUP);
    assert_int_equal(cli_queue(), 1);
    assert_string_equal(cli_out(&b), "");
    cli_stop(&a, SIGTERM);
}

/* Lines for the leaders, not for the other candidates, and no candidacy. */
ZKT_CASE(a_listener_prints_each_leader)
{
    struct cli l, j, a, b;
    CLI_START(&l, "elect", "-l", zkt_path());
    CLI_START(&j, "elect", "--listen", "--json", zkt_path());
    ZKT_EVENTUALLY(strstr(cli_out(&l), "nobody\n") && strstr(cli_out(&j), "null}\n"),
                   CLI_PATIENCE_MS);
    CLI_START(&a, "elect", "-i", "the first", zkt_path(), "sleep", "60");
    ZKT_EVENTUALLY(strstr(cli_out(&l), " id=the first\n"), CLI_PATIENCE_MS);
    CLI_QUEUE(&b, "elect", "--id=2nd", zkt_path(), "sleep", "60");
    cli_stop(&a, SIGTERM);
    ZKT_EVENTUALLY(strstr(cli_out(&l), " id=2nd\n"), CLI_PATIENCE_MS);
    ZKT_EVENTUALLY(strstr(cli_out(&j), "\"owner\":\"2nd\""), CLI_PATIENCE_MS);
    cli_stop(&l, SIGTERM);
    cli_stop(&j, SIGINT);
    int lines = 0;
    for (const char *s = cli_out(&l); *s; s++) {
        lines += *s == '\n';
    }
    assert_int_equal(lines, 3);
    cli_stop(&b, SIGTERM);
}

/* --- health --- */

/* A file, which may be empty: a check that looks at its size is under our control. */
struct sign {
    int fd;
    char check[64];
};

static void make_sign(struct sign *s)
{
    char name[32];
    s->fd = cli_file(name);
    (void)snprintf(s->check, sizeof(s->check), "test -s %s", name);
}

static void set_sign(const struct sign *s, bool healthy)
{
    assert_int_equal(ftruncate(s->fd, healthy), 0);
}

/* Who is not healthy is no candidate. A leader gives up, the next one leads, and it queues again when it is healthy. */
ZKT_CASE(who_is_not_healthy_does_not_lead)
{
    struct sign s;
    struct cli a, b;
    struct cli_beat *beats = cli_beats(2);
    make_sign(&s);
    CLI_START(&a, "elect", "--health", s.check, "--every=0.25", "--failures=2",
              zkt_path(), CLI_BEAT(&beats[0], "plain"));
    ZKT_EVENTUALLY(strstr(cli_err(&a), "not healthy"), CLI_PATIENCE_MS);
    assert_non_null(strstr(cli_err(&a), "ended with status 1"));
    assert_int_equal(cli_queue(), 0);
    set_sign(&s, true);
    cli_beat_wait(&a, &beats[0]);
    int64_t token = atomic_load(&beats[0].token);
    CLI_QUEUE(&b, "elect", "--once", "--health", "true", zkt_path(),
              CLI_BEAT(&beats[1], "once"));
    set_sign(&s, false);
    assert_int_equal(cli_wait(&b), 0);
    assert_true(atomic_load(&beats[0].last) < atomic_load(&beats[1].first));
    assert_int_equal(cli_queue(), 0);
    set_sign(&s, true);
    ZKT_EVENTUALLY(atomic_load(&beats[0].token) > token, CLI_PATIENCE_MS);
    cli_stop(&a, SIGTERM);
    assert_int_equal(cli_queue(), 0);
}

/* While it waits in the queue, it leaves the queue. */
ZKT_CASE(who_is_not_healthy_leaves_the_queue)
{
    struct sign s;
    struct cli a, b;
    make_sign(&s);
    set_sign(&s, true);
    CLI_QUEUE(&a, "elect", zkt_path(), "sleep", "60");
    CLI_QUEUE(&b, "elect", "--health", s.check, "--every=0.25", zkt_path(), "true");
    set_sign(&s, false);
    ZKT_BECOMES(cli_queue(), 1, CLI_PATIENCE_MS);
    set_sign(&s, true);
    ZKT_BECOMES(cli_queue(), 2, CLI_PATIENCE_MS);
    cli_stop(&b, SIGTERM);
    cli_stop(&a, SIGTERM);
}

/* Fewer failures in a row than --failures change nothing: of three checks one fails. */
ZKT_CASE(a_few_failures_are_borne)
{
    struct cli c;
    char file[32], check[200], script[200];
    (void)cli_file(file);
    (void)snprintf(check, sizeof(check), "echo >> %s; [ $(($(wc -l < %s) %% 3)) != 2 ]",
                   file, file);
    (void)snprintf(script, sizeof(script),
                   "while [ $(wc -l < %s) -lt 9 ]; do sleep 0.02; done", file);
    assert_int_equal(CLI_RUN(&c, "elect", "--once", "--health", check, "--every=0.5",
                             "--failures=3", zkt_path(), "sh", "-c", script),
                     0);
    assert_null(strstr(cli_err(&c), "not healthy"));
}

/* The process whose number is in the file; 0: none yet. */
static long process_in(int fd)
{
    return strtol(cli_file_text(fd), NULL, 10);
}

/* Do at most so many of the processes in the file live? Zombies do not count: another subreaper may leave them. */
static bool at_most_live(const char *name, const char *most)
{
    return CLI_SH("n=0; while read -r p; do case $(ps -o stat= -p $p) in "
                  "''|Z*) ;; *) n=$((n + 1)) ;; esac; done < $1; [ $n -le $2 ]",
                  name, most) == 0;
}

/* A check that hangs has failed, and outlives neither its time nor zkr. */
ZKT_CASE(a_check_that_hangs_has_failed)
{
    struct cli c;
    char name[32], check[100];
    int file = cli_file(name);
    (void)snprintf(check, sizeof(check), "echo $$ > %s; exec sleep 60", name);
    CLI_START(&c, "elect", "--health", check, "--every=0.5", zkt_path(), "true");
    ZKT_EVENTUALLY(process_in(file) > 0, CLI_PATIENCE_MS);
    long first = process_in(file);
    /* A later process may have a lower number: they begin anew at their limit. */
    ZKT_EVENTUALLY(process_in(file) > 0 && process_in(file) != first, CLI_PATIENCE_MS);
    ZKT_EVENTUALLY(kill((pid_t)first, 0) != 0, CLI_PATIENCE_MS);
    assert_non_null(strstr(cli_err(&c), "did not end in time"));
    assert_int_equal(cli_queue(), 0);
    cli_stop(&c, SIGTERM);
    assert_true(at_most_live(name, "0"));
}

/* So many checks leave an orphan each, which ends soon: while a candidate waits no dead child is left. */
static void takes_its_orphans(struct cli *c, int file)
{
    enum { CHECKS = 10 };
    char pid[16];
    (void)snprintf(pid, sizeof(pid), "%d", (int)c->pid);
    ZKT_EVENTUALLY(strlen(cli_file_text(file)) >= CHECKS, CLI_PATIENCE_MS);
    ZKT_BECOMES(CLI_SH("[ $(ps -o stat= --ppid $1 | grep -c ^Z) -le 2 ]", pid), 0,
                CLI_PATIENCE_MS);
    cli_stop(c, SIGTERM);
}

ZKT_CASE(a_candidate_takes_the_orphans_of_its_checks)
{
    struct cli holder, c;
    char name[32], check[100];
    CLI_QUEUE(&holder, "elect", zkt_path(), "sleep", "60");
    int file = cli_file(name);
    (void)snprintf(check, sizeof(check), "(sleep 0.1 &); printf x >> %s", name);
    CLI_START(&c, "elect", "--health", check, "--every=0.15", zkt_path(), "true");
    takes_its_orphans(&c, file);
    file = cli_file(name);
    (void)snprintf(check, sizeof(check), "(sleep 0.1 &); printf x >> %s", name);
    CLI_START_AS(&c, cli_self(), "--subreaper", cli_zkr(), "elect", "--health", check,
                 "--every=0.15", zkt_path(), "true");
    takes_its_orphans(&c, file);
    cli_stop(&holder, SIGTERM);
}

static int count_lines(int fd)
{
    int lines = 0;
    for (const char *at = cli_file_text(fd); *at; at++) {
        lines += *at == '\n';
    }
    return lines;
}

/* A check that hangs in a session of its own, like programs that sudo, su and timeout run, is killed as well. */
ZKT_CASE(there_is_one_check_at_a_time)
{
    enum { CHECKS = 4 };
    struct cli c;
    char name[32], check[100];
    int file = cli_file(name);
    (void)snprintf(check, sizeof(check), "setsid sh -c 'echo $$ >> %s; sleep 60'; true",
                   name);
    CLI_START(&c, "elect", "--health", check, "--every=0.3", zkt_path(), "true");
    for (int i = 1; i <= CHECKS; i++) {
        ZKT_EVENTUALLY(count_lines(file) >= i, CLI_PATIENCE_MS);
    }
    assert_true(at_most_live(name, "1"));
    cli_stop(&c, SIGTERM);
    assert_true(at_most_live(name, "0"));
}
