/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock does not report a loss when the lock is not lost. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cli.h"

/*
 * A connection that breaks and returns within the session does not end the hold, and no other contender gets the lock.
 */
ZKT_CASE(a_short_cut_is_survived)
{
    enum { SESSION_MS = 4000 };
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    struct cli_beat *beats = cli_beats(2);
    struct cli holder, next;
    CLI_QUEUE(&holder, "-z", zkt_proxy_host(proxy), "-t", "4000", "lock",
              "--kill-after=0.1", zkt_path(), CLI_BEAT(&beats[0], "plain"));
    cli_beat_wait(&holder, &beats[0]);
    CLI_QUEUE(&next, "-t", "4000", "lock", zkt_path(), CLI_BEAT(&beats[1], "once"));
    zkt_proxy_drop_connections(proxy);
    zkt_sleep_ms((int64_t)SESSION_MS * 3 / 2);
    assert_true(zkt_proxy_counters(proxy).connections > 1);
    assert_true(atomic_load(&beats[1].first) == 0);
    cli_stop(&holder, SIGTERM);
    assert_int_equal(cli_wait(&next), 0);
    assert_true(cli_gap(&beats[0], &beats[1]) > 0);
}

/*
 * The server pauses for a good part of the session timeout, at different moments of the probing. zkr promises to
 * survive 0.45 of the timeout; a busy machine needs some of that.
 */
ZKT_CASE(a_pause_of_the_server_is_survived)
{
    enum { S_MS = 10000, HOLDERS = 4, PROBE_MS = S_MS / 12 };
    zkt_server *server = zkt_server_start(NULL);
    struct cli holders[HOLDERS];
    for (int i = 0; i < HOLDERS; i++) {
        char path[16];
        (void)snprintf(path, sizeof(path), "/pause%d", i);
        CLI_START_PIPED(&holders[i], "-z", zkt_server_host(server), "-t", "10000",
                        "lock", path, "cat");
        zkt_put_byte(holders[i].in, '!');
        ZKT_BECOMES(*cli_out(&holders[i]), '!', CLI_PATIENCE_MS);
        zkt_sleep_ms(PROBE_MS / HOLDERS);
    }
    zkt_sleep_ms(S_MS * 65 / 100); /* longer than the lease of the session's opening */
    zkt_server_freeze(server);
    zkt_sleep_ms(S_MS * 40 / 100);
    zkt_server_thaw(server);
    zkt_sleep_ms(S_MS / 5); /* time for a late loss to show */
    for (int i = 0; i < HOLDERS; i++) {
        (void)close(holders[i].in); /* ends cat */
        holders[i].in = -1;
        assert_int_equal(cli_wait(&holders[i]), 0);
        assert_string_equal(cli_err(&holders[i]), "");
    }
}

/* A wait and a hold that are longer than the session are no loss. */
ZKT_CASE(a_long_wait_and_a_long_hold_are_no_loss)
{
    /* On a busy machine, probes may be unanswered for a second and more. That must not be a loss. */
    static const char session[] = "4000", patient[] = "--kill-after=0.2";
    struct cli holder, waiter;
    CLI_QUEUE(&holder, "-t", session, "lock", patient, zkt_path(), "sleep", "4.3");
    CLI_QUEUE(&waiter, "-t", session, "lock", patient, zkt_path(), "true");
    assert_int_equal(cli_wait(&holder), 0);
    assert_int_equal(cli_wait(&waiter), 0);
}
