/* SPDX-License-Identifier: Apache-2.0 */
/* The same scripts run on the fake ZooKeeper and on a real ensemble of three servers, through the same interface. */
#include "fake_script.h"
#include "fake_script_cluster.h"
#include "fixture.h"

#define SCRIPT(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}

/* A session moves from server to server, with its nodes and watches. */
SCRIPT(a_session_moves,
       "a parent /q",
       "a create /q/n-",
       "a create /q/n-",
       "b get! $0",
       "b children! /q",
       "b at leader",
       "a at other",
       "a get $0",
       "a delete $0",
       "b children! /q",
       "b away",
       "a create /q/n-",
       "b back",
       "a creates /q/n- /q/n-",
       "a lose-answer create /q/n-",
       "a at follower",
       "a children /q",
       "a lose-request create /q/n-",
       "a at leader",
       "a children /q",
       "a check $1",
       "b check $0",
       "a expire",
       "b children /q",
       "a get $1",
       "a at other");

/* A server that lags answers with old data, and its events come late, in order. No session can move to it meanwhile. */
SCRIPT(a_follower_lags,
       "a parent /q",
       "a create /q/n-",
       "a at leader",
       "b get! $0",
       "b children! /q",
       "- lag other",
       "a create /q/n-",
       "a delete $0",
       "b children /q",
       "b get $0",
       "b exists $1",
       "a tries other",
       "a at leader",
       "- catch-up other",
       "b sync /q",
       "b children /q",
       "b get $0",
       "b get $1");

/* A leader that was replaced, and does not know it, answers reads and syncs. */
SCRIPT(a_leader_is_stale,
       "a parent /q",
       "a create /q/n-",
       "b at leader",
       "b get! $0",
       "- cut leader",
       "a create /q/n-",
       "a put $0",
       "b children /q",
       "b get $0",
       "b sync /q",
       "b exists $1",
       "- heal",
       "b children /q",
       "b get $0");

/*
 * Each connection negotiates the session timeout, and requests the timeout that was granted last. No session is at a
 * server whose limits change, because the server restarts.
 */
SCRIPT(time_outs_are_negotiated,
       "a time-out",
       "a parent /q",
       "a create /q/n-",
       "a at leader",
       "b at leader",
       "- limits follower 1000 4000",
       "a at follower",
       "a time-out",
       "a get $0",
       "a at leader",
       "a time-out",
       "- limits other 5000 10000",
       "b at other",
       "a at other",
       "a time-out",
       "b time-out",
       "b at leader",
       "b time-out",
       "a create /q/n-",
       "a at leader",
       "- limits follower 1000 10000",
       "- limits other 1000 10000");

/*
 * The next leader gives a session the timeout of its creation, whatever was granted since. A session that is connected
 * to it keeps the longer timeout.
 */
SCRIPT(growth_is_forgotten,
       "a time-out",
       "a parent /q",
       "b at follower",
       "- limits other 40000 60000",
       "a at other",
       "a time-out",
       "a create /q/n-",
       "b at other",
       "b time-out",
       "b create /q/n-",
       "- pass 9000",
       "b get $0",
       "a away",
       "- cut leader",
       "- pass 9000",
       "b get $0",
       "b get $1",
       "- heal");

/* All servers give the same answers about permissions. */
SCRIPT(permissions_are_asked,
       "a parent /q",
       "- forbid /q/c c",
       "- forbid /q/d d",
       "- forbid /q/r r",
       "a create /q/c/n-",
       "b creates /q/n- /q/c/n-",
       "b children! /q/r",
       "a create /q/d/n-",
       "a delete $0",
       "a close",
       "b children /q/d");

static void run(const char *name, const char *const *script)
{
    print_message("%s\n", name);
    fake_script_compare(script);
}

/* This case starts its own servers, because an election among servers that had earlier elections may take a minute. */
ZKT_UNIT_CASE(a_stale_leader_answers_alike)
{
    script_cluster_start(40000); /* an election takes long on a busy machine */
    run("a_leader_is_stale", a_leader_is_stale);
    script_cluster_stop();
}

ZKT_UNIT_CASE(growth_is_forgotten_alike)
{
    script_cluster_start(4000);
    run("growth_is_forgotten", growth_is_forgotten);
    script_cluster_stop();
}

ZKT_UNIT_CASE(the_same_scripts_end_alike)
{
    static const struct {
        const char *name;
        const char *const *script;
    } scripts[] = {
        {"a_session_moves", a_session_moves},
        {"a_follower_lags", a_follower_lags},
        {"time_outs_are_negotiated", time_outs_are_negotiated},
        {"permissions_are_asked", permissions_are_asked},
    };
    script_cluster_start(10000);
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        run(scripts[i].name, scripts[i].script);
    }
    script_cluster_stop();
}
