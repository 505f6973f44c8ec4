/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When zkr lock loses the lock, its command is dead before the next one starts. Each case measures the time from the
 * last sign of life of the first command to the first sign of the next.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define SESSION "4000" /* long enough for a busy machine */
enum { SESSION_MS = 4000 };

/* A holder behind a proxy, and the next waiter. Each scene has its own path. */
struct scene {
    char path[256];
    zkt_proxy *proxy;
    struct cli_beat *beats;
    struct cli holder, next;
};

static void make_scene(struct scene *s, int number)
{
    (void)snprintf(s->path, sizeof(s->path), "%s/%d", zkt_path(), number);
    s->proxy = zkt_proxy_start(zkt_servers());
    s->beats = cli_beats(2);
}

static void queue_the_next(struct scene *s)
{
    CLI_START(&s->next, "-t", SESSION, "lock", s->path, CLI_BEAT(&s->beats[1], "once"));
    ZKT_BECOMES(zkt_children_count(zkt_servers(), s->path), 2, CLI_PATIENCE_MS);
}

static void begin(struct scene *s, int number, const char *mode, const char *kill_after)
{
    make_scene(s, number);
    CLI_START(&s->holder, "-z", zkt_proxy_host(s->proxy), "-t", SESSION, "lock",
              "--kill-after", kill_after, s->path, CLI_BEAT(&s->beats[0], mode));
    cli_beat_wait(&s->holder, &s->beats[0]);
    queue_the_next(s);
}

static void expect_gap(const struct scene *s)
{
    int64_t gap = cli_gap(&s->beats[0], &s->beats[1]);
    print_message("           gap %lld us\n", (long long)gap / 1000);
    assert_true(gap > 0);
}

/*
 * Checks that the holder exits with 79, and that the next contender runs its command after the holder's command is
 * dead.
 */
static void end(struct scene *s)
{
    assert_int_equal(cli_wait(&s->holder), 79);
    cli_assert_one_line(&s->holder);
    zkt_proxy_cut(s->proxy); /* traffic must not keep the session alive */
    if (cli_wait(&s->next) != 0) {
        zkt_fail("the next one: %s", cli_err(&s->next));
    }
    expect_gap(s);
    assert_true(atomic_load(&s->beats[0].token) < atomic_load(&s->beats[1].token));
}

struct loss {
    const char *mode, *kill_after;
    void (*inflict)(struct scene *s);
};

/* Runs several losses at the same time, because each takes long. */
static void lose(const struct loss *losses, size_t count)
{
    enum { MOST = 6 };
    struct scene scenes[MOST];
    assert_true(count <= MOST);
    for (size_t i = 0; i < count; i++) {
        begin(&scenes[i], (int)i, losses[i].mode, losses[i].kill_after);
    }
    for (size_t i = 0; i < count; i++) {
        losses[i].inflict(&scenes[i]);
    }
    for (size_t i = 0; i < count; i++) {
        end(&scenes[i]);
    }
}

/* --- the network --- */

static void silence(struct scene *s)
{
    zkt_proxy_blackhole(s->proxy);
}

static void resets(struct scene *s)
{
    zkt_proxy_cut(s->proxy);
}

static void silence_from_the_server(struct scene *s)
{
    zkt_proxy_freeze(s->proxy, ZKT_TO_CLIENT);
}

/* The network is silent, resets connections, or loses answers but not requests. */
ZKT_CASE(a_bad_network_kills_in_time)
{
    static const struct loss losses[] = {
        {"plain", "auto", silence}, {"deaf", "auto", silence},
        {"grand", "auto", silence}, {"deaf", "auto", resets},
        {"grand", "auto", resets},  {"deaf", "0.1", silence_from_the_server}};
    lose(losses, sizeof(losses) / sizeof(losses[0]));
}

/* --- the kill signal --- */

static const char counting[] = "trap 'date +%s%N; echo told; while :; do date +%s%N; "
                               "sleep 0.02; done' TERM USR1; echo "
                               "ready; while :; do sleep 0.02; done";

/* Returns the ms from the command's first to its last output after it got the signal. */
static int64_t time_to_live(struct cli *c)
{
    const char *told = strstr(cli_out(c), "told");
    assert_non_null(told);
    const char *first = cli_out(c) + strlen("ready\n");
    const char *last = cli_out(c) + strlen(cli_out(c)) - 1;
    while (last > first && last[-1] != '\n') {
        last--;
    }
    return (strtoll(last, NULL, 10) - strtoll(first, NULL, 10)) / 1000000;
}

static int64_t time_to_live_with(const char *kill_after)
{
    struct cli c;
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    CLI_START(&c, "-z", zkt_proxy_host(proxy), "-t", "3000", "lock", "--kill-signal",
              "USR1", "--kill-after", kill_after, zkt_path(), "bash", "-c", counting);
    ZKT_EVENTUALLY(strstr(cli_out(&c), "ready\n"), CLI_PATIENCE_MS);
    zkt_sleep_ms(1200); /* until the lease is stable */
    zkt_proxy_blackhole(proxy);
    assert_int_equal(cli_wait(&c), 79);
    zkt_proxy_stop(proxy);
    return time_to_live(&c);
}

/*
 * The command gets the signal first, and then has about the time that --kill-after requests, at most a third of the
 * session timeout.
 */
ZKT_CASE(the_kill_signal_comes_first)
{
    /* On a busy machine the command may not run for a while. A command that is killed at once writes for 20 ms. */
    enum { TRIES = 5 };
    static const struct {
        const char *kill_after;
        int64_t least, most;
    } rows[] = {{"0.5", 60, 900}, {"9", 1, 1400}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t had = -1;
        for (int n = 0; n < TRIES && (had < rows[i].least || had > rows[i].most); n++) {
            had = time_to_live_with(rows[i].kill_after);
        }
        ZKT_IN_RANGE(had, rows[i].least, rows[i].most);
    }
}

/* --- stopped processes --- */

static void stop_zkr(struct scene *s)
{
    assert_int_equal(kill(s->holder.pid, SIGSTOP), 0);
}

static void stop_the_command(struct scene *s)
{
    assert_int_equal(kill((pid_t)atomic_load(&s->beats[0].pid), SIGSTOP), 0);
    zkt_proxy_blackhole(s->proxy);
}

/* A stopped zkr has its command killed in time. A command that is stopped dies, too. */
ZKT_CASE(what_is_stopped_is_killed_in_time)
{
    static const struct loss losses[] = {{"plain", "auto", stop_zkr},
                                         {"deaf", "auto", stop_zkr},
                                         {"grand", "auto", stop_zkr},
                                         {"deaf", "auto", stop_the_command}};
    lose(losses, sizeof(losses) / sizeof(losses[0]));
}

/* A holder without a command gives up in time, too. */
ZKT_CASE(a_holder_without_a_command_gives_up_in_time)
{
    struct cli c;
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    CLI_START_PIPED(&c, "-z", zkt_proxy_host(proxy), "-t", SESSION, "lock", zkt_path());
    ZKT_EVENTUALLY(strchr(cli_out(&c), '\n'), CLI_PATIENCE_MS);
    int64_t started = zkt_now_ms();
    zkt_proxy_blackhole(proxy);
    assert_int_equal(cli_wait(&c), 79);
    assert_true(zkt_now_ms() - started < SESSION_MS + 2000);
    cli_assert_one_line(&c);
}

/* --- servers that give a new session at each re-connection --- */

#define LONG_SESSION "20000"
enum { LONG_MS = 20000 };

/* The advice differs from that for a cut network. The next contender does not wait for the old session. */
ZKT_CASE(a_replaced_session_is_named)
{
    struct cli holder, next;
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    zkt_proxy_habits(proxy, ZKR_TEST_NEW_SESSIONS);
    CLI_START(&holder, "-z", zkt_proxy_host(proxy), "-t", LONG_SESSION, "lock",
              zkt_path(), "sh", "-c", "echo ready; sleep 1000");
    ZKT_EVENTUALLY(strstr(cli_out(&holder), "ready"), CLI_PATIENCE_MS);
    CLI_START(&next, "lock", zkt_path(), "echo", "next");
    ZKT_BECOMES(zkt_children_count(zkt_servers(), zkt_path()), 2, CLI_PATIENCE_MS);
    zkt_proxy_drop_connections(proxy);
    assert_int_equal(cli_wait(&holder), 79);
    cli_assert_one_line(&holder);
    assert_non_null(strstr(cli_err(&holder), "a server gave a new session"));
    assert_non_null(strstr(cli_err(&holder), "-t does not help"));
    ZKT_EVENTUALLY(strstr(cli_out(&next), "next"), LONG_MS / 2);
    assert_int_equal(cli_wait(&next), 0);
}

/* The reader of its output needs time to stop, so the node of the old session stays. */
ZKT_CASE(a_replaced_session_without_a_command_keeps_others_out)
{
    struct cli c;
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    zkt_proxy_habits(proxy, ZKR_TEST_NEW_SESSIONS);
    CLI_START_PIPED(&c, "-z", zkt_proxy_host(proxy), "-t", SESSION, "lock", zkt_path());
    ZKT_EVENTUALLY(strchr(cli_out(&c), '\n'), CLI_PATIENCE_MS);
    zkt_proxy_drop_connections(proxy);
    assert_int_equal(cli_wait(&c), 79);
    cli_assert_one_line(&c);
    assert_int_equal(zkt_children_count(zkt_servers(), zkt_path()), 1);
}

/* --- the output of one without a command --- */

/* Prints the holder line, and runs a beat when the output ends, as a guard script would. */
static const char guard[] = "\"$0\" -z \"$1\" -t " SESSION " lock \"$2\" \"$3\" | "
                            "{ read -r line && echo \"$line\"; read -r none; "
                            "shift 3; exec \"$@\"; }";

static void begin_guarded(struct scene *s, int number, const char *option)
{
    make_scene(s, number);
    cli_spawn(&s->holder, true,
              (const char *const[]){"sh", "-c", guard, cli_zkr(),
                                    zkt_proxy_host(s->proxy), option, s->path,
                                    CLI_BEAT(&s->beats[0], "once"), NULL});
    ZKT_EVENTUALLY(strstr(cli_out(&s->holder), "node="), CLI_PATIENCE_MS);
    queue_the_next(s);
}

/* A script that reads the output, such as the guard in the man page, stops in time. */
ZKT_CASE(without_a_command_the_output_ends_before_another_holds)
{
    enum { SCENES = 4 };
    struct scene scenes[SCENES];
    for (int i = 0; i < SCENES; i++) {
        begin_guarded(&scenes[i], i, i == 3 ? "--no-guardian" : "--exclusive");
    }
    silence(&scenes[0]);
    resets(&scenes[1]);
    silence_from_the_server(&scenes[2]);
    silence(&scenes[3]);
    for (int i = 0; i < SCENES; i++) {
        assert_int_equal(cli_wait(&scenes[i].next), 0);
        assert_int_equal(cli_wait(&scenes[i].holder), 0);
        cli_assert_one_line(&scenes[i].holder);
        expect_gap(&scenes[i]);
    }
}
