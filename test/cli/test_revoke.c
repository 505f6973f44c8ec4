/* SPDX-License-Identifier: Apache-2.0 */
/* zkr revoke, and what becomes of the one that is asked. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "fourlw.h"
#include "keep.h"
#include "lies.h"
#include "raw_impl.h"

/* A command that says when it has begun; what it does when told to end is @script's. */
static void hold(struct cli *c, const char *option, const char *script)
{
    CLI_START(c, "lock", "--kill-after=3", "-i", "holder", option, zkt_path(), "sh",
              "-c", script);
    ZKT_EVENTUALLY(strstr(cli_out(c), "held\n"), CLI_PATIENCE_MS);
}

#define SLEEPS "echo held; exec sleep 60"

#define LOCK "_c_01234567-89ab-4def-8123-456789abcdef-lock-"

static void end_session(void *session)
{
    zkt_raw_close(session);
}

/* A node of another session. Returns its path. */
static const char *put(const char *name, const char *owner, int perms)
{
    const char *path = zkt_child(name);
    const zkt_node node = {
        .path = path, .data = owner, .data_len = strlen(owner), .flags = ZKT_EPHEMERAL};
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    zkt_raw *s = zkt_raw_open(zkt_servers(), 30000);
    assert_non_null(s);
    zkt_keep(s, end_session);
    assert_int_equal(zkt_raw_create(s, &node, NULL, 0), 0);
    assert_int_equal(zkt_set_acl(zkt_servers(), path, perms), 0);
    return path;
}

static int32_t version(const char *path)
{
    zkt_stat st;
    assert_int_equal(zkt_get(zkt_servers(), path, (char[1]){0}, 1, &st), ZKT_OK);
    return st.version;
}

/* The command is told to end, and the lock is free when it has. */
ZKT_CASE(a_holder_that_is_asked_lets_go)
{
    struct cli c;
    hold(&c, "-x", SLEEPS);
    assert_int_equal(CLI("revoke", "-w", "20", zkt_path()), 0);
    assert_true(cli_queue() <= 0);
    assert_int_equal(cli_wait(&c), 143);
    cli_assert_one_line(&c);
    assert_non_null(strstr(cli_err(&c), "zkr: asked to release "));
}

/* Not before its group has gone; and who waits comes next. */
ZKT_CASE(the_lock_is_kept_until_the_command_has_ended)
{
    struct cli c, next;
    hold(&c, "-x", "trap 'echo told' TERM; echo held; while :; do sleep .1; done");
    CLI_QUEUE(&next, "lock", zkt_path(), "sh", "-c", SLEEPS);
    assert_int_equal(CLI("revoke", zkt_path()), 0); /* asked, and that is all */
    ZKT_EVENTUALLY(strstr(cli_out(&c), "told\n"), CLI_PATIENCE_MS);
    assert_int_equal(CLI("revoke", "-w", ".3", zkt_path()), 1);
    assert_int_equal(cli_queue(), 2);
    assert_string_equal(cli_out(&next), "");
    assert_int_equal(kill(c.pid, SIGUSR1), 0); /* of which its shell dies */
    assert_int_equal(cli_wait(&c), 128 + SIGUSR1);
    ZKT_BECOMES(strcmp(cli_out(&next), "held\n"), 0, CLI_PATIENCE_MS);
    cli_stop(&next, SIGTERM);
}

/* After --kill-after it is killed; and the signal is the one that was asked for. */
ZKT_CASE(a_command_that_does_not_end_is_killed)
{
    struct cli c;
    CLI_START(&c, "lock", "--kill-signal=INT", "--kill-after=.5", zkt_path(), "sh",
              "-c", "trap 'echo told' INT; echo held; while :; do sleep .1; done");
    ZKT_EVENTUALLY(strstr(cli_out(&c), "held\n"), CLI_PATIENCE_MS);
    int64_t before = zkt_now_ms();
    assert_int_equal(CLI("revoke", "-w", "20", zkt_path()), 0);
    assert_int_equal(cli_wait(&c), 128 + SIGKILL);
    assert_true(zkt_now_ms() - before >= 400);
    assert_non_null(strstr(cli_out(&c), "told\n"));
}

/* One that is stopped goes on, to hear of it. */
ZKT_CASE(a_stopped_command_hears_the_kill_signal)
{
    struct cli c;
    CLI_START(&c, "lock", "--kill-after=60", zkt_path(), "sh", "-c",
              "trap 'exit 5' TERM; echo held; kill -STOP $$; sleep 60");
    ZKT_EVENTUALLY(strstr(cli_out(&c), "held\n"), CLI_PATIENCE_MS);
    assert_int_equal(CLI("revoke", "-w", "20", zkt_path()), 0);
    assert_int_equal(cli_wait(&c), 5);
}

/* Without a command it ends with 0, and a line says why. */
ZKT_CASE(one_that_just_holds_ends)
{
    struct cli c;
    CLI_START_PIPED(&c, "lock", zkt_path());
    ZKT_EVENTUALLY(strstr(cli_out(&c), "node="), CLI_PATIENCE_MS);
    assert_int_equal(CLI("revoke", "-w20", zkt_path()), 0);
    assert_int_equal(cli_wait(&c), 0);
    cli_assert_one_line(&c);
}

/* One that ignores it goes on; --force takes the lock away, and says what that means. */
ZKT_CASE(force_takes_the_lock_away)
{
    struct cli c, r;
    hold(&c, "--on-revoke=ignore", SLEEPS);
    assert_int_equal(CLI_RUN(&r, "revoke", "-w", ".3", zkt_path()), 1);
    cli_assert_one_line(&r);
    assert_string_equal(cli_err(&c), "");
    assert_int_equal(CLI_RUN(&r, "revoke", "--force", "-w", ".3", zkt_path()), 0);
    cli_assert_one_line(&r);
    assert_non_null(strstr(cli_err(&r), "holder"));
    assert_non_null(strstr(cli_err(&r), "two may hold"));
    assert_int_equal(cli_wait(&c), 79);
}

/* All readers that hold are asked, and not the writer that waits. */
ZKT_CASE(readers_are_asked_together)
{
    struct cli one, two, writer;
    hold(&one, "-s", SLEEPS);
    hold(&two, "-s", SLEEPS);
    CLI_QUEUE(&writer, "lock", zkt_path(), "sh", "-c", SLEEPS);
    assert_int_equal(CLI("revoke", "-w", "20", zkt_path()), 0);
    assert_int_equal(cli_wait(&one), 143);
    assert_int_equal(cli_wait(&two), 143);
    ZKT_BECOMES(strcmp(cli_out(&writer), "held\n"), 0, CLI_PATIENCE_MS);
    cli_stop(&writer, SIGTERM);
    hold(&one, "--rw", SLEEPS);
    assert_int_equal(CLI("revoke", "-w", "20", zkt_path()), 0);
    assert_int_equal(cli_wait(&one), 143);
}

/* A wish that comes before the command has started: it is not started. */
ZKT_CASE(one_that_has_not_started_does_not)
{
    struct cli first, c;
    hold(&first, "-x", SLEEPS);
    CLI_QUEUE(&c, "lock", "--lock-delay=60", zkt_path(), "echo", "started");
    cli_stop(&first, SIGTERM);
    ZKT_BECOMES(cli_queue(), 1, CLI_PATIENCE_MS);
    assert_int_equal(CLI("revoke", "-w", "20", zkt_path()), 0);
    assert_int_equal(cli_wait(&c), 1);
    assert_string_equal(cli_out(&c), "");
    cli_assert_one_line(&c);
}

/* Others still see whose it is, and that of one who cannot say so, that it was asked. */
ZKT_CASE(status_keeps_the_owner)
{
    struct cli c;
    hold(&c, "--on-revoke=ignore", SLEEPS);
    assert_int_equal(CLI("revoke", zkt_path()), 0);
    ZKT_EVENTUALLY(strstr(CLI_SAYS("status", zkt_path()), "\n1    holder "),
                   CLI_PATIENCE_MS);
    cli_stop(&c, SIGTERM);
    put(LOCK "0000000009", "", ZKT_ALL);
    assert_int_equal(CLI("revoke", zkt_path()), 0);
    assert_non_null(strstr(CLI_SAYS("status", zkt_path()), "(asked to release)"));
    assert_non_null(strstr(CLI_SAYS("status", "--json", zkt_path()), "\"asked\":true"));
}

/* --- whom --- */

enum { OP_SET = 5, OP_LIST = 8, OP_LIST2 = 12 };

struct race {
    const char *first;
    atomic_int lists;
    atomic_bool gone;
};

/* The holder goes when it has been seen to hold, before it can be asked. */
static void on_request(void *ctx, int n, int op)
{
    struct race *r = ctx;
    (void)n;
    bool again =
        (op == OP_LIST || op == OP_LIST2) && atomic_fetch_add(&r->lists, 1) == 1;
    if ((again || op == OP_SET) && !atomic_exchange(&r->gone, true)) {
        (void)zkt_delete(zkt_servers(), r->first);
    }
}

/* Nobody who has got the lock meanwhile is asked in its place. */
ZKT_CASE(who_was_seen_to_hold_is_asked)
{
    struct cli r;
    struct race race = {.first = put(LOCK "0000000001", "first", ZKT_ALL)};
    const char *second = put(LOCK "0000000002", "second", ZKT_ALL);
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    zkt_proxy_on_request(proxy, on_request, &race);
    assert_int_equal(
        CLI_RUN(&r, "-z", zkt_proxy_host(proxy), "revoke", "-w", "5", zkt_path()), 0);
    zkt_proxy_stop(proxy);
    assert_true(atomic_load(&race.gone));
    assert_int_equal(version(second), 0);
    assert_int_equal(strncmp(cli_out(&r), "asked first, token ", 19), 0);
    assert_non_null(strstr(cli_out(&r), "\nreleased\n"));
}

/* The token that a command has written behind "held". */
static const char *token_of(struct cli *c)
{
    static char token[32];
    ZKT_EVENTUALLY(strchr(cli_out(c) + 5, '\n'), CLI_PATIENCE_MS);
    (void)snprintf(token, sizeof(token), "%.*s", (int)strcspn(cli_out(c) + 5, "\n"),
                   cli_out(c) + 5);
    return token;
}

/* Only the holder of that token. */
ZKT_CASE(a_token_says_who_is_meant)
{
    struct cli c, r;
    hold(&c, "-x", "echo held; echo $ZKR_FENCING_TOKEN; exec sleep 60");
    const char *token = token_of(&c);
    CLI_REFUSED(1, "revoke", "-w", "5", "--token", "1", zkt_path());
    CLI_REFUSED(1, "revoke", "-w", "0", "--force", "--token", "1", zkt_path());
    assert_int_equal(cli_queue(), 1);
    assert_string_equal(cli_err(&c), "");
    assert_int_equal(CLI_RUN(&r, "revoke", "-w", "20", "--token", token, zkt_path()),
                     0);
    assert_non_null(strstr(cli_out(&r), "asked holder, token "));
    assert_non_null(strstr(cli_out(&r), token));
    assert_int_equal(cli_wait(&c), 143);
}

/* Permits that are stuck: their holder cannot be asked. */
ZKT_CASE(a_token_frees_the_permits_of_one_holder)
{
    struct cli stuck, c, r;
    const char *path = zkt_path();
    static const char script[] = "echo held; echo $ZKR_FENCING_TOKEN; exec sleep 60";
    CLI_START(&stuck, "lock", "--permits=2/3", "-i", "stuck", path, "sh", "-c", script);
    const char *token = token_of(&stuck);
    CLI_START(&c, "lock", "--permits=1/3", path, "sh", "-c", script);
    ZKT_EVENTUALLY(strstr(cli_out(&c), "held\n"), CLI_PATIENCE_MS);
    CLI_REFUSED(65, "revoke", path);
    CLI_REFUSED(65, "revoke", "--token", token, path);
    CLI_REFUSED(65, "revoke", "-w", "0", "--force", path);
    CLI_REFUSED(65, "revoke", "--force", "--token", "1", path);
    assert_int_equal(CLI_RUN(&r, "revoke", "--force", "--token", token, path), 0);
    cli_assert_one_line(&r);
    assert_non_null(strstr(cli_err(&r), "deleted the permits of stuck by force"));
    assert_int_equal(cli_wait(&stuck), 79);
    assert_int_equal(CLI("lock", "-n", "--permits=2/3", path, "true"), 0);
    assert_string_equal(cli_err(&c), "");
    cli_stop(&c, SIGTERM);
}

/* With a time to wait, it may go by itself. */
ZKT_CASE(permits_may_go_by_themselves)
{
    static const char lease[] =
        "/s/leases/_c_01234567-89ab-4def-8123-456789abcdef-lease-0000000000";
    /* Of its own: nobody else watches there. */
    const char *host = zkt_server_host(zkt_server_start(NULL));
    struct cli r;
    char token[24];
    zkt_stat st;
    assert_int_equal(zkt_create_path(host, lease), 0);
    assert_int_equal(zkt_get(host, lease, (char[1]){0}, 1, &st), ZKT_OK);
    (void)snprintf(token, sizeof(token), "%lld", (long long)st.czxid);
    CLI_START(&r, "-z", host, "revoke", "--force", "-w", "20", "--token", token, "/s");
    ZKT_EVENTUALLY(zkt_watch_count(host) > 0, CLI_PATIENCE_MS);
    assert_int_equal(zkt_delete(host, lease), ZKT_OK);
    assert_int_equal(cli_wait(&r), 0);
    assert_string_equal(cli_out(&r), "released\n");
    assert_string_equal(cli_err(&r), "");
}

/* The lock at a path is no holder of permits of the path above. */
ZKT_CASE(a_lock_named_leases_is_no_semaphore)
{
    struct cli c;
    CLI_START(&c, "lock", zkt_child("leases"), "sh", "-c",
              "echo held; echo $ZKR_FENCING_TOKEN; exec sleep 60");
    const char *token = token_of(&c);
    CLI_REFUSED(1, "revoke", "--force", "--token", token, zkt_path());
    CLI_REFUSED(64, "revoke", "--force", "--token", token, zkt_child("leases"));
    cli_stop(&c, SIGTERM);
}

/* One that may not be written to cannot be asked, and can go all the same. */
ZKT_CASE(force_reaches_what_may_not_be_written)
{
    struct cli r;
    put(LOCK "0000000001", "closed", ZKT_READ);
    CLI_REFUSED(77, "revoke", "-w", ".1", zkt_path());
    assert_int_equal(CLI_RUN(&r, "revoke", "-w", ".1", "--force", zkt_path()), 0);
    assert_non_null(strstr(cli_err(&r), "closed cannot be asked"));
    assert_non_null(strstr(cli_err(&r), "by force"));
    assert_int_equal(cli_queue(), 0);
}

/* A delete needs no quota. */
ZKT_CASE(force_passes_a_full_quota)
{
    static struct zkt_lie lie = {
        .kind = ZKT_LIE_REFUSED, .op = ZKT_OP_SET, .number = -125};
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    const char *z = zkt_proxy_host(proxy);
    struct cli r;
    zkt_proxy_lie(proxy, &lie);
    const char *node = put(LOCK "0000000001", "full", ZKT_ALL);
    assert_int_equal(CLI_RUN(&r, "-z", z, "revoke", "-w", ".1", zkt_path()), 70);
    assert_non_null(strstr(cli_err(&r), "(ZooKeeper code -125)"));
    assert_int_equal(zkt_set(zkt_servers(), node, "full"), ZKT_OK); /* it was written */
    assert_int_equal(CLI_RUN(&r, "-z", z, "revoke", "-w", ".1", "--force", zkt_path()),
                     0);
    assert_non_null(strstr(cli_err(&r), "full cannot be asked: "));
    assert_non_null(strstr(cli_err(&r), "(ZooKeeper code -125)"));
    assert_non_null(strstr(cli_err(&r), "by force"));
    assert_int_equal(cli_queue(), 0);
}

/* The terminal of an operator does not obey what a holder has written. */
ZKT_CASE(owner_texts_are_made_harmless)
{
    static const char data[] = "me\x9b"
                               "2J\xc2\x9b"
                               "3\xe2\x80\xae"
                               "4\xe2\x80\xac\xff.";
    put(LOCK "0000000009", data, ZKT_ALL);
    struct cli r;
    assert_int_equal(CLI_RUN(&r, "revoke", "--force", "-w", "0", zkt_path()), 0);
    assert_non_null(strstr(cli_err(&r), "by force"));
    for (const char *s = cli_err(&r); *s; s++) {
        assert_true(((unsigned char)*s >= ' ' && (unsigned char)*s < 0x7f) ||
                    *s == '\n');
    }
}

/* The candidates of Curator's LeaderLatch would miss their turn: nobody writes to a leader, and a leader to nothing. */
ZKT_CASE(a_leader_is_never_written_to)
{
    enum { PROBES_MS = 1000 };
    struct cli c;
    char node[300];
    CLI_START(&c, "-t", "3000", "elect", zkt_path(), "sh", "-c", SLEEPS);
    ZKT_EVENTUALLY(strstr(cli_out(&c), "held\n"), CLI_PATIENCE_MS);
    zkt_lone_node(node, sizeof(node));
    CLI_REFUSED(65, "revoke", zkt_path());
    CLI_REFUSED(65, "revoke", "-w", "5", "--force", zkt_path());
    zkt_sleep_ms(PROBES_MS); /* those of a lock write */
    assert_int_equal(version(node), 0);
    assert_int_equal(zkt_set(zkt_servers(), node, "__REVOKE__"), ZKT_OK);
    zkt_sleep_ms(PROBES_MS); /* a lock is restored */
    assert_int_equal(version(node), 1);
    assert_string_equal(cli_err(&c), "");
    cli_stop(&c, SIGTERM);
}

ZKT_CASE(what_cannot_be_asked_says_so)
{
    CLI_EACH_REFUSED(1, "revoke PATH", "revoke -w 5 --force PATH");
}
