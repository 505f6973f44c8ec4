/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clean.h"
#include "fourlw.h"
#include "raw.h"
#include "runner.h"
#include "server.h"

/* With $ZKR_SERVERS, the shared server is the given one, and this test assumes nothing about it. */
static void shared_server_may_be_given(void **state)
{
    zkt_server *s = zkt_server_start(NULL);
    char hosts[64];
    char why[1024];

    (void)snprintf(hosts, sizeof hosts, "%s/base", zkt_server_host(s));
    assert_int_equal(setenv("ZKR_SERVERS", hosts, 1), 0);
    assert_string_equal(zkt_servers(), hosts);
    assert_false(zkt_servers_private());
    assert_int_equal(zkt_create_path(zkt_server_host(s), "/base"), ZKT_OK);

    zkt_baseline();
    zkt_raw *c = zkt_raw_open(hosts, 8000);
    assert_int_equal(
        zkt_raw_create(c, &(zkt_node){.path = "/a", .flags = ZKT_EPHEMERAL}, NULL, 0),
        ZKT_OK);
    assert_true(zkt_exists(zkt_server_host(s), "/base/a"));
    assert_false(zkt_is_clean(hosts, "/", why, sizeof why));
    assert_null(strstr(why, "error"));
    assert_int_equal(zkt_ephemerals_under(hosts, "/a"), 1);
    assert_int_equal(zkt_ephemerals_under(hosts, "/b"), 0);
    assert_int_equal(zkt_raw_close(c), ZKT_OK);
    assert_int_equal(zkt_group_teardown(NULL), 0);

    zkt_server_stop(s);
    zkt_check_clean(NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shared_server_may_be_given)};
    return zkt_run(argc, argv, tests, NULL, NULL);
}
