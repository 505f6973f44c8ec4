/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zkr lock with servers that answer slowly. It holds the lock if answers take up to an eighth of the session timeout.
 * If they take longer, it explains why it does not hold.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bad_host.h"
#include "cli.h"

static const char words[] = "the servers answer too slowly for this session timeout";

static void expect_words(struct cli *c)
{
    if (!strstr(cli_err(c), words) ||
        !strstr(cli_err(c), "use a longer session timeout (-t)") ||
        strstr(cli_err(c), "majority")) {
        zkt_fail("%s", cli_err(c));
    }
}

static void
start_holder(struct cli *c, const char *host, const char *session, const char *path)
{
    CLI_START_PIPED(c, "-z", host, "-t", session, "lock", path, "cat");
    zkt_put_byte(c->in, '!');
    ZKT_BECOMES(*cli_out(c), '!', CLI_PATIENCE_MS);
}

/* --- a line with a delay --- */

#define SESSION "4000"
enum { SLOW_MS = 1400 };

/* Answers come at once, and from some moment on come late. */
ZKT_CASE(a_doubt_by_late_answers_is_no_silence)
{
    struct cli holder;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    start_holder(&holder, zkt_proxy_host(p), SESSION, zkt_path());
    zkt_proxy_delay(p, ZKT_TO_CLIENT, SLOW_MS);
    assert_int_equal(cli_wait(&holder), 79);
    expect_words(&holder);
    zkt_proxy_heal(p);
}

/* The answers are late from the beginning. */
ZKT_CASE(a_wait_for_late_answers_is_explained)
{
    struct cli waiter;
    assert_int_equal(CLI_RUN(&waiter, "lock", zkt_path(), "true"),
                     0); /* creates the path */
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkt_proxy_delay(p, ZKT_TO_CLIENT, SLOW_MS);
    assert_int_equal(CLI_RUN(&waiter, "-z", zkt_proxy_host(p), "-t", SESSION, "lock",
                             "-w", "10", zkt_path(), "true"),
                     1);
    expect_words(&waiter);
    CLI_RUN(&waiter, "-z", zkt_proxy_host(p), "-t", SESSION, "lock", "-w", "6", "--any",
            zkt_path(), "--", "true");
    expect_words(&waiter);
    zkt_proxy_heal(p);
}

/*
 * Answers take an eighth of the session timeout. The lease never lasts for a third of the timeout, but is always
 * renewed in time.
 */
ZKT_CASE(a_lock_is_obtained_where_answers_take_an_eighth_of_the_timeout)
{
    enum { EIGHTH_MS = 1200, HELD_MS = 10000 };
    struct cli holder;
    assert_int_equal(CLI("lock", zkt_path(), "true"), 0); /* creates the path */
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkt_proxy_delay(p, ZKT_TO_CLIENT, EIGHTH_MS);
    start_holder(&holder, zkt_proxy_host(p), "10000", zkt_path());
    zkt_sleep_ms(HELD_MS);
    zkt_proxy_heal(p);
    (void)close(holder.in); /* ends cat */
    holder.in = -1;
    assert_int_equal(cli_wait(&holder), 0);
}

/* --- a slow disk --- */

/*
 * A real server takes a second to write its log. That is less than an eighth of the session timeout; a busy machine
 * needs the rest.
 */
ZKT_CASE(a_lock_is_held_on_a_server_with_a_slow_disk)
{
    enum { HELD_MS = 20000 };
    char dir[] = "/tmp/zkt-disk-XXXXXX";
    char script[sizeof dir + 8];
    struct cli holder;
    const zkt_server_options o = {.fsync = 1, .tick_ms = 2000};
    assert_non_null(mkdtemp(dir));
    (void)snprintf(script, sizeof script, "%s/java", dir);
    zkt_bad_hosts(script);
    zkt_server *server = zkt_server_start(&o);
    const char *host = zkt_server_host(server);
    assert_int_equal(CLI_RUN(&holder, "-z", host, "lock", zkt_path(), "true"), 0);
    struct zkt_bad_host *disk = zkt_bad_host(zkt_server_dir(server));
    atomic_store(&disk->sync_ms, 1000);
    start_holder(&holder, host, "10000", zkt_path());
    zkt_sleep_ms(HELD_MS);
    atomic_store(&disk->sync_ms, 0);
    assert_true(atomic_load(&disk->synced) > 0);
    (void)close(holder.in); /* ends cat */
    holder.in = -1;
    assert_int_equal(cli_wait(&holder), 0);
    zkt_server_stop(server);
    (void)unlink(script);
    (void)rmdir(dir);
}
