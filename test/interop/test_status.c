/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zkr beside Curator: the status of a lock that Curator holds or waits for, and elect --yield. Arguments:
 * curator_peer.bsh, zkr.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "../cli/cli.h"
#include "peer.h"

/* Returns the contender at @position in the JSON, or NULL. */
static const char *contender(struct cli *c, int position)
{
    char key[32];
    (void)snprintf(key, sizeof(key), "{\"position\":%d,", position);
    return strstr(cli_out(c), key);
}

static void expect_table(const char *first, const char *second)
{
    struct cli c;
    char line[128];
    assert_int_equal(CLI_RUN(&c, "status", zkt_path()), 0);
    (void)snprintf(line, sizeof(line), "\n1    %s", first);
    assert_non_null(strstr(cli_out(&c), line));
    (void)snprintf(line, sizeof(line), "\n2    %s", second);
    assert_non_null(strstr(cli_out(&c), line));
    assert_null(strstr(cli_out(&c), "\n3    "));
}

/* Check that the contender at @position has a node name of Curator. Writes its owner text. */
static void expect_curator(struct cli *c, int position, char owner[64])
{
    char node[64], holder[8];
    int end = 0;
    const char *at = contender(c, position);
    assert_non_null(at);
    at = strchr(at, ',') + 1;
    assert_int_equal(
        sscanf(at,
               "\"holder\":%5[a-z],\"node\":\"_c_%36[0-9a-f-]-lock-%*10[0-9]"
               "\",\"owner\":\"%n",
               holder, node, &end),
        2);
    assert_int_not_equal(end, 0);
    assert_string_equal(holder, position == 1 ? "true" : "false");
    assert_int_equal(strlen(node), 36);
    (void)snprintf(owner, 64, "%.*s", (int)strcspn(at + end, "\""), at + end);
    assert_non_null(strstr(at + end, "\",\"session\":\"0x"));
}

ZKT_CASE(curator_is_shown_holding_and_waiting)
{
    struct peer *j = peer_start(CURATOR);
    struct cli ours, c;
    char owner[64], again[64], line[80];
    peer_ask(j, "acquire 5000", "true");
    CLI_QUEUE(&ours, "lock", "-i", "ours", zkt_path(), "sleep", "60");
    assert_int_equal(CLI_RUN(&c, "status", "--json", zkt_path()), 0);
    expect_curator(&c, 1, owner);
    assert_non_null(strstr(contender(&c, 2), "\"owner\":\"ours\""));
    expect_table("", "ours");
    /* The owner text is the address of the host, or empty if the host name has no address. */
    (void)snprintf(line, sizeof(line), "address %s", owner);
    peer_ask(j, line, "true");
    peer_ask(j, "release", "ok");
    ZKT_BECOMES(cli_queue(), 1, CLI_PATIENCE_MS);
    peer_say(j, "acquire 20000");
    ZKT_BECOMES(cli_queue(), 2, CLI_PATIENCE_MS);
    assert_int_equal(CLI_RUN(&c, "status", "--json", zkt_path()), 0);
    assert_non_null(strstr(contender(&c, 1), "\"owner\":\"ours\""));
    expect_curator(&c, 2, again);
    assert_string_equal(again, owner);
    expect_table("ours", "");
    cli_stop(&ours, SIGTERM);
    peer_expect(j, "true");
    peer_ask(j, "release", "ok");
}

/*
 * A zkr that leads steps down on request, and then Curator's latch leads. A Curator latch that leads does not step down,
 * and a Curator latch keeps its place.
 */
ZKT_CASE(curator_leads_when_zkr_yields)
{
    struct peer *j = peer_start(CURATOR);
    struct cli ours, ask;
    CLI_START(&ours, "elect", "-i", "ours", zkt_path(), "sh", "-c",
              "echo leads; exec sleep 60");
    ZKT_EVENTUALLY(strcmp(cli_out(&ours), "leads\n") == 0, CLI_PATIENCE_MS);
    peer_ask(j, "start theirs", "ok");
    ZKT_BECOMES(cli_queue(), 2, CLI_PATIENCE_MS);
    CLI_START(&ask, "elect", "--yield", zkt_path());
    assert_int_equal(cli_wait(&ask), 0);
    assert_non_null(strstr(cli_out(&ask), "\nleads: theirs, token "));
    peer_ask(j, "leads 10000", "true");
    ZKT_BECOMES(cli_queue(), 2, CLI_PATIENCE_MS);
    assert_int_equal(CLI("elect", "--yield", "-w1", "--to", "ours", zkt_path()), 1);
    peer_ask(j, "leads 0", "true");
    peer_ask(j, "leader", "theirs");
    assert_string_equal(cli_out(&ours), "leads\n");
    peer_ask(j, "stop", "ok");
    ZKT_EVENTUALLY(strcmp(cli_out(&ours), "leads\nleads\n") == 0, CLI_PATIENCE_MS);
    cli_stop(&ours, SIGTERM);
}
