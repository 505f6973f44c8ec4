/* SPDX-License-Identifier: Apache-2.0 */
/* zkr on servers that lack operations. */
#include <stdio.h>

#include "cli.h"

/* By each habit, on a path that has to be made. */
ZKT_CASE(a_lock_works)
{
    static const int habits[] = {
        ZKR_TEST_NO_CREATE2,
        ZKR_TEST_NO_CREATE2 | ZKR_TEST_REFUSES,
        ZKR_TEST_NO_CONTAINERS,
        ZKR_TEST_NO_CONTAINERS | ZKR_TEST_REFUSES,
        ZKR_TEST_NO_CREATE2 | ZKR_TEST_NEW_SESSIONS,
        ZKR_TEST_NO_CONTAINERS | ZKR_TEST_NEW_SESSIONS,
    };
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++) {
        char path[256];
        (void)snprintf(path, sizeof(path), "%s/%zu/lock", zkt_path(), i);
        zkt_proxy_habits(proxy, habits[i]);
        assert_int_equal(
            CLI("-z", zkt_proxy_host(proxy), "lock", "-w", "60", path, "true"), 0);
    }
}

/* Each verb and kind of lock, as on ZooKeeper 3.4. */
ZKT_CASE(each_kind_of_lock_works)
{
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    const char *z = zkt_proxy_host(proxy);
    char at[8][256];
    for (int n = 0; n < 8; n++) {
        (void)snprintf(at[n], sizeof(at[n]), "%s/%d/lock", zkt_path(), n);
    }
    zkt_proxy_habits(proxy, ZKR_TEST_NO_CREATE2 | ZKR_TEST_REFUSES);
    assert_int_equal(CLI("-z", z, "lock", "-n", at[0], "true"), 0);
    assert_int_equal(CLI("-z", z, "lock", "-s", at[1], "true"), 0);
    assert_int_equal(CLI("-z", z, "lock", "--rw", at[2], "true"), 0);
    assert_int_equal(CLI("-z", z, "lock", "--permits", "2/3", at[3], "true"), 0);
    assert_int_equal(CLI("-z", z, "lock", "--also", at[4], at[5], "--", "true"), 0);
    assert_int_equal(CLI("-z", z, "lock", "--any", at[6], at[0], "--", "true"), 0);
    assert_int_equal(CLI("-z", z, "once", "--every=1h", at[7], "true"), 0);
    assert_int_equal(CLI("-z", z, "wait", at[0]), 0);
    assert_int_equal(CLI("-z", z, "status", "-q", at[0]), 1);
}
