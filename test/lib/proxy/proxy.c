/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy.h"

#include "expect.h"
#include "keep.h"

static void end_kept(void *p)
{
    zkt_proxy_stop(p);
}

static zkt_proxy *start(const char *target, const zkr_test_proxy_options *o)
{
    zkt_proxy *p = NULL;
    ZKT_MUST(zkr_test_proxy_start(&p, target, o));
    zkt_keep(p, end_kept);
    return p;
}

zkt_proxy *zkt_proxy_start(const char *target)
{
    return start(target, NULL);
}

zkt_proxy *zkt_proxy_start_raw(const char *target)
{
    return start(target, &(zkr_test_proxy_options){
                             .size = sizeof(zkr_test_proxy_options), .raw = 1});
}

zkt_proxy *zkt_proxy_start_at(const char *address, int port, const char *target)
{
    return start(target,
                 &(zkr_test_proxy_options){.size = sizeof(zkr_test_proxy_options),
                                           .address = address,
                                           .port = port});
}

void zkt_proxy_stop(zkt_proxy *p)
{
    zkt_unkeep(p);
    ZKT_MUST(zkr_test_proxy_stop(p));
}

void zkt_proxy_cut(zkt_proxy *p)
{
    ZKT_MUST(zkr_test_proxy_cut(p));
}

void zkt_proxy_drop_connections(zkt_proxy *p)
{
    ZKT_MUST(zkr_test_proxy_drop(p));
}

void zkt_proxy_orphan(zkt_proxy *p)
{
    ZKT_MUST(zkr__test_proxy_orphan(p));
}

void zkt_proxy_freeze(zkt_proxy *p, int direction)
{
    ZKT_MUST(zkr__test_proxy_freeze(p, direction, true));
}

void zkt_proxy_thaw(zkt_proxy *p, int direction)
{
    ZKT_MUST(zkr__test_proxy_freeze(p, direction, false));
}

void zkt_proxy_blackhole(zkt_proxy *p)
{
    ZKT_MUST(zkr_test_proxy_silence(p, ZKR_TEST_BOTH_WAYS));
}

void zkt_proxy_heal(zkt_proxy *p)
{
    ZKT_MUST(zkr_test_proxy_heal(p));
}

void zkt_proxy_cut_before_request(zkt_proxy *p, int n)
{
    ZKT_MUST(zkr_test_proxy_lose_request(p, n));
}

void zkt_proxy_cut_after_request(zkt_proxy *p, int n)
{
    ZKT_MUST(zkr_test_proxy_lose_reply(p, n));
}

void zkt_proxy_drop_reply(zkt_proxy *p, int n)
{
    ZKT_MUST(zkr__test_proxy_drop_reply(p, n));
}

zkt_proxy_counts zkt_proxy_counters(zkt_proxy *p)
{
    zkt_proxy_counts counts = {0};
    ZKT_MUST(zkr_test_proxy_counts(p, &counts, sizeof counts));
    return counts;
}
