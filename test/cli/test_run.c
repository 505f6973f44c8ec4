/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock: what the command gets, and how it ends. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "fourlw.h"

/* --- what it gets --- */

/* A mebibyte of every byte there is, through stdin and stdout. */
ZKT_CASE(input_and_output_are_untouched)
{
    static const char script[] =
        "d=$(mktemp -d) && trap 'rm -rf $d' EXIT && head -c 1048576 /dev/urandom "
        ">$d/a && "
        "\"$0\" lock $1 cat <$d/a >$d/b && cmp $d/a $d/b && "
        "\"$0\" lock $1 sh -c 'cat >&2' <$d/a 2>$d/c && cmp $d/a $d/c && "
        "cat $d/a | \"$0\" lock $1 cat | cmp - $d/a";
    assert_int_equal(CLI_SH(script, zkt_path()), 0);
}

/* Closed ones are closed for the command, too, and no socket of ours slips in. */
ZKT_CASE(closed_descriptors_stay_closed)
{
    static const char script[] =
        "\"$0\" lock $1 sh -c 'for i in 0 1 2; do [ ! -e /proc/$$/fd/$i ] || exit 9; "
        "done' "
        "<&- >&- 2>&- && \"$0\" lock $1 sh -c '[ ! -e /proc/$$/fd/0 ]' <&- && "
        "\"$0\" lock $1 sh -c '[ ! -e /proc/$$/fd/2 ] && [ -e /proc/$$/fd/1 ]' 2>&-";
    assert_int_equal(CLI_SH(script, zkt_path()), 0);
}

/* The same descriptors as without zkr: none of ours, all of the caller's. */
ZKT_CASE(no_descriptor_leaks)
{
    static const char script[] =
        "exec 7</dev/null 9>/dev/null; list='cd /proc/self/fd && echo *'; "
        "a=$(sh -c \"$list\"); b=$(\"$0\" lock $1 sh -c \"$list\"); "
        "[ \"$a\" = \"$b\" ] || { echo \"$a, not $b\" >&2; exit 1; }";
    struct cli c;
    int status = CLI_RUN_AS(&c, "sh", "-c", script, cli_zkr(), zkt_path());
    assert_string_equal(cli_err(&c), "");
    assert_int_equal(status, 0);
}

/* Four variables are added, those of a zkr around us replaced, the others kept. */
ZKT_CASE(the_environment_has_four_more)
{
    static const char script[] =
        "export ZKR_LOCK_PATH=old ODD='a\n b='; "
        "a=$(env | grep -v '^ZKR_LOCK_PATH=' | grep -v '^_=' | sort); "
        "b=$(\"$0\" lock $1 env | grep -v '^_=' | sort); "
        "ours='^ZKR_(LOCK_PATH|LOCK_NODE|FENCING_TOKEN|SESSION_ID)='; "
        "[ \"$a\" = \"$(echo \"$b\" | grep -Ev $ours)\" ] && "
        "[ $(echo \"$b\" | grep -Ec $ours) = 4 ] && "
        "echo \"$b\" | grep -q \"^ZKR_LOCK_PATH=$1\\$\" && "
        "echo \"$b\" | grep -Eq "
        "\"^ZKR_LOCK_NODE=$1/_c_[0-9a-f-]{36}-lock-[0-9]{10}\\$\" && "
        "echo \"$b\" | grep -Eq '^ZKR_FENCING_TOKEN=[0-9]+$' && "
        "echo \"$b\" | grep -Eq '^ZKR_SESSION_ID=0x[0-9a-f]+$'";
    assert_int_equal(CLI_SH(script, zkt_path()), 0);
}

/* No option of the command is taken for ours, and no byte is lost. */
ZKT_CASE(arguments_are_kept_byte_for_byte)
{
    assert_string_equal(CLI_SAYS("lock", zkt_path(), "printf", "[%s]", "-n", "--", "",
                                 "a b", "\xff\n\t'\"$x*", "-w", "9"),
                        "[-n][--][][a b][\xff\n\t'\"$x*][-w][9]");
}

/* Its parent is the keeper, a child of the zkr that was started, which has no other child but its guardian. */
ZKT_CASE(zkr_has_a_keeper_and_a_guardian_alone)
{
    struct cli c;
    char expected[80];
    assert_int_equal(CLI_RUN(&c, "lock", zkt_path(), "sh", "-c",
                             "zkr=$(ps -o ppid= $PPID); echo $zkr; "
                             "ps -o comm= --ppid $zkr | sort; cat /proc/$PPID/comm"),
                     0);
    (void)snprintf(expected, sizeof(expected),
                   "%d\nzkr-guardian\nzkr-keeper\nzkr-keeper\n", (int)c.pid);
    assert_string_equal(cli_out(&c), expected);
}

ZKT_CASE(credentials_are_not_in_the_process_list)
{
    const char *said = CLI_SAYS("--auth", "digest:me:secret", "lock", zkt_path(), "sh",
                                "-c", "tr '\\0' ' ' </proc/$PPID/cmdline");
    assert_non_null(strstr(said, "digest:"));
    assert_null(strstr(said, "secret"));
}

/* --- signals --- */

static const char reporter[] = "for s in INT TERM HUP QUIT USR1 USR2; do trap \"echo "
                               "$s\" $s; done; trap exit ALRM; "
                               "echo ready; while :; do sleep 0.01; done";

/* All six reach the command, also a second time; the lock stays. */
ZKT_CASE(signals_are_forwarded_and_the_lock_stays)
{
    static const struct {
        int signo;
        const char *said;
    } cases[] = {{SIGINT, "INT\n"},   {SIGTERM, "TERM\n"}, {SIGHUP, "HUP\n"},
                 {SIGQUIT, "QUIT\n"}, {SIGUSR1, "USR1\n"}, {SIGUSR2, "USR2\n"},
                 {SIGTERM, "TERM\n"}, {SIGTERM, "TERM\n"}};
    struct cli c;
    CLI_START(&c, "lock", zkt_path(), "sh", "-c", reporter);
    ZKT_EVENTUALLY(strstr(cli_out(&c), "ready\n"), CLI_PATIENCE_MS);
    size_t seen = strlen("ready\n");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(kill(c.pid, cases[i].signo), 0);
        ZKT_EVENTUALLY(strstr(cli_out(&c) + seen, cases[i].said), CLI_PATIENCE_MS);
        seen = strlen(cli_out(&c));
    }
    assert_int_equal(CLI("lock", "-n", zkt_path(), "true"), 1);
    char pid[16];
    (void)snprintf(pid, sizeof(pid), "%d", (int)c.pid);
    assert_int_equal(CLI_SH("pkill -ALRM -P $(pgrep -x zkr-keeper -P $1)", pid), 0);
    assert_int_equal(cli_wait(&c), 0);
}

/* As with nohup: for zkr, and for the command. */
ZKT_CASE(ignored_signals_stay_ignored)
{
    static const char show[] = "exec env --ignore-signal=HUP,USR1,CHLD \"$0\" lock $1 "
                               "grep SigIgn /proc/self/status";
    struct cli c;
    assert_int_equal(CLI_RUN_AS(&c, "sh", "-c", show, cli_zkr(), zkt_path()), 0);
    assert_string_equal(cli_out(&c), "SigIgn:\t0000000000010201\n");
    static const char ignore[] =
        "exec env --ignore-signal=HUP,USR1 \"$0\" lock $1 sh -c "
        "'kill -HUP $PPID $$; kill -USR1 $PPID $$; sleep 0.1'";
    assert_int_equal(CLI_SH(ignore, zkt_path()), 0);
}

/* The mask, too, is the caller's: nothing blocked, nothing ignored. */
ZKT_CASE(the_signal_state_is_the_callers)
{
    assert_string_equal(
        CLI_SAYS("lock", zkt_path(), "grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"),
        "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    /* HUP, USR1 and TERM blocked: the command starts with them blocked. */
    assert_int_equal(CLI_AS("env", "--block-signal=HUP,USR1,TERM", cli_zkr(), "lock",
                            zkt_path(), "grep", "-q", "SigBlk:.0000000000004201",
                            "/proc/self/status"),
                     0);
}

/* Also those the command left behind. */
ZKT_CASE(the_lock_is_kept_until_the_whole_group_has_gone)
{
    struct cli_beat *beats = cli_beats(2);
    struct cli c, next;
    CLI_START(&c, "lock", zkt_path(), "sh", "-c", "\"$@\" & exit 3", "sh",
              CLI_BEAT(&beats[0], "plain"));
    cli_beat_wait(&c, &beats[0]);
    CLI_QUEUE(&next, "lock", zkt_path(), CLI_BEAT(&beats[1], "once"));
    zkt_sleep_ms(300);
    assert_true(atomic_load(&beats[1].first) == 0);
    assert_int_equal(kill(c.pid, SIGTERM), 0);
    assert_int_equal(cli_wait(&c), 3);
    assert_int_equal(cli_wait(&next), 0);
    assert_true(atomic_load(&beats[0].last) < atomic_load(&beats[1].first));
}

/* Dead ones that nobody has collected yet are gone as well. */
static bool is_gone(int64_t pid)
{
    char name[64], text[512];
    (void)snprintf(name, sizeof(name), "/proc/%lld/stat", (long long)pid);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0) {
        (void)close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    const char *state = strrchr(text, ')');
    return !state || state[2] == 'Z' || state[2] == 'X';
}

/* Returns when it was started, in ns. */
static int64_t run_beat(struct cli *c, int number, const struct cli_beat *b)
{
    char name[8];
    (void)snprintf(name, sizeof(name), "%d", number);
    const char *path = zkt_child(name);
    assert_int_equal(zkt_create_path(zkt_servers(), path), 0);
    int64_t now = cli_now_ns();
    CLI_START(c, "-t", "1000", "lock", path, CLI_BEAT(b, "deaf"));
    return now;
}

/* At any moment of its start: no command survives. */
ZKT_CASE(killing_zkr_at_any_moment_leaves_no_command)
{
    enum { ROUNDS = 40, MEASURED = 3 };
    int begun = 0;
    int64_t whole = INT64_MAX;
    struct cli_beat *beats = cli_beats(ROUNDS + MEASURED);
    struct cli c;
    for (int i = ROUNDS; i < ROUNDS + MEASURED; i++) {
        int64_t started = run_beat(&c, i, &beats[i]);
        cli_beat_wait(&c, &beats[i]);
        cli_stop(&c, SIGKILL);
        int64_t took = atomic_load(&beats[i].first) - started;
        whole = took < whole ? took : whole;
    }
    for (int i = 0; i < ROUNDS; i++) {
        (void)run_beat(&c, i, &beats[i]);
        int64_t ns = whole * 3 / 2 * i / ROUNDS;
        struct timespec pause = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
        (void)nanosleep(&pause, NULL);
        cli_stop(&c, SIGKILL);
    }
    for (int i = 0; i < ROUNDS; i++) {
        int64_t pid = atomic_load(&beats[i].pid);
        begun += pid != 0;
        ZKT_EVENTUALLY(pid == 0 || is_gone(pid), 5000);
    }
    print_message("           %d of %d had begun\n", begun, ROUNDS);
    ZKT_BECOMES(zkt_ephemerals_under(zkt_servers(), zkt_path()), 0, CLI_PATIENCE_MS);
}
