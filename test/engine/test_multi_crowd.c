/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight contenders, each a client, take two to five of eight paths at a time, in any order, again and again,
 * on the fake ZooKeeper: no path has two holders, tokens rise, and nobody waits for ever.
 *
 *   test_engine_multi_crowd [--acquires N]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zkr/zkr.h>

#include "case.h"
#include "expect.h"
#include "fake.h"
#include "session/open.h"
#include "session/service.h"

enum { CONTENDERS = ZKF_CLIENTS, PATHS = 8, A_WORLD = 500 /* acquires */ };

struct contender {
    zkr_client *c;
    zkr_multi_lock *l;
    zkr_ticket *t;
    int paths[PATHS], count;
    bool held;
    struct zkf_actor service, dispatch, app;
};

static struct contender crowd[CONTENDERS];
static const char *const paths[PATHS] = {"/0", "/1",     "/two", "/a/3",
                                         "/b", "/a/c/5", "/6",   "/a/d"};
static const struct contender *holders[PATHS];
static int64_t last_token[PATHS];
static long wanted = 20000, started, done;

static int index_of(const struct contender *who)
{
    return (int)(who - crowd);
}

/* --- the contenders --- */

static void choose(struct contender *who)
{
    for (int i = 0; i < PATHS; i++) {
        int j = (int)zkf_below(i + 1);
        who->paths[i] = who->paths[j];
        who->paths[j] = i;
    }
    who->count = 2 + (int)zkf_below(4);
}

static void enter(struct contender *who)
{
    const char *list[PATHS];
    choose(who);
    for (int i = 0; i < who->count; i++) {
        list[i] = paths[who->paths[i]];
    }
    ZKT_MUST(zkr_multi_lock_create(&who->l, who->c, list, (size_t)who->count, NULL));
    ZKT_MUST(zkr_multi_lock_request(who->l, ZKR_FOREVER, NULL, NULL, &who->t));
    started++;
}

static void hold(struct contender *who)
{
    int64_t token;
    ZKT_MUST(zkr_ticket_fencing_token(who->t, &token));
    for (int i = 0; i < who->count; i++) {
        int path = who->paths[i];
        assert_null(holders[path]);
        assert_true(token > last_token[path]);
        holders[path] = who;
        last_token[path] = token;
    }
    who->held = true;
    done++;
}

static void leave(struct contender *who)
{
    for (int i = 0; i < who->count; i++) {
        holders[who->paths[i]] = NULL;
    }
    ZKT_MUST(zkr_ticket_release(who->t));
    ZKT_MUST(zkr_ticket_destroy(who->t));
    ZKT_MUST(zkr_multi_lock_destroy(who->l));
    who->t = NULL;
    who->held = false;
}

static void act(void *ctx)
{
    struct contender *who = ctx;
    zkf_enter(index_of(who));
    who->app.due = zkf_now() + zkf_below(4 * ZKR__MS);
    if (who->held) {
        leave(who);
    } else if (who->t && zkr_ticket_state(who->t) == ZKR_TICKET_HELD) {
        hold(who);
    } else if (!who->t && started < A_WORLD) {
        enter(who);
    }
}

/* --- its threads --- */

static void serve(void *ctx)
{
    struct contender *who = ctx;
    zkr_client *c = who->c;
    zkf_enter(index_of(who));
    zkr__lock(c);
    c->service_at = ZKR__NEVER;
    int64_t next = zkr__service_run(c);
    c->service_at = next < c->service_at ? next : c->service_at;
    zkr__unlock(c);
}

static void dispatch(void *ctx)
{
    struct contender *who = ctx;
    zkf_enter(index_of(who));
    (void)zkr__dispatch_run_one(&who->c->dispatch);
}

static void rearm(struct contender *who)
{
    zkf_enter(index_of(who));
    int64_t at = who->c->service_at;
    who->service.due =
        at == ZKR__NEVER ? ZKR__NEVER : zkf_now() + (at - zkr__now(who->c));
    who->dispatch.due = who->c->dispatch.head ? zkf_now() : ZKR__NEVER;
}

/* --- a world --- */

static void open_all(void)
{
    for (int i = 0; i < CONTENDERS; i++) {
        struct contender *who = &crowd[i];
        zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
        const struct zkr__env env = {.door = &zkf_door, .no_threads = true};
        *who = (struct contender){
            .service = {.due = ZKR__NEVER, .act = serve, .ctx = who},
            .dispatch = {.due = ZKR__NEVER, .act = dispatch, .ctx = who},
            .app = {.due = zkf_now(), .act = act, .ctx = who}};
        zkf_enter(i);
        ZKT_MUST(zkr__client_open(&who->c, "127.0.0.1:1", &o, &env));
        who->c->service_at = 0;
        zkf_actor_add(&who->service);
        zkf_actor_add(&who->dispatch);
        zkf_actor_add(&who->app);
    }
}

static bool all_out(void)
{
    bool out = started >= A_WORLD;
    for (int i = 0; i < CONTENDERS; i++) {
        out = out && !crowd[i].t && crowd[i].c->stats.pending_deletes == 0;
    }
    return out;
}

static void close_all(void)
{
    zkf_hurry(true);
    for (int i = 0; i < CONTENDERS; i++) {
        zkf_enter(i);
        ZKT_MUST(zkr_client_close(crowd[i].c));
        zkf_actor_remove(&crowd[i].service);
        zkf_actor_remove(&crowd[i].dispatch);
        zkf_actor_remove(&crowd[i].app);
    }
    zkf_hurry(false);
}

static void run_world(uint64_t seed)
{
    const struct zkf_config config = {.seed = seed,
                                      .servers = 1,
                                      .tick = 2000 * ZKR__MS,
                                      .patience = 10000 * ZKR__MS,
                                      .slow = 3 * ZKR__MS};
    memset(last_token, 0, sizeof(last_token));
    started = 0;
    zkf_begin(&config);
    open_all();
    int64_t end = zkf_now() + INT64_C(3600) * 1000 * ZKR__MS;
    while (!all_out()) {
        for (int i = 0; i < CONTENDERS; i++) {
            rearm(&crowd[i]);
        }
        if (!zkf_step(end)) {
            zkt_fail("seed %" PRIu64 ": somebody waits for ever", seed);
        }
    }
    for (const struct zkf_node *node = zkf_nodes(); node; node = node->next) {
        assert_int_equal(node->owner, 0);
    }
    close_all();
    zkf_end();
}

static int take_arguments(char **argv, int *status)
{
    (void)status;
    if (argv[0] && argv[1] && strcmp(argv[0], "--acquires") == 0) {
        wanted = strtol(argv[1], NULL, 10);
        return 2;
    }
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    zkt_at_start(take_arguments);
}

ZKT_UNIT_CASE(nobody_ends_in_a_circle)
{
    for (uint64_t seed = 1; done < wanted; seed++) {
        run_world(seed);
    }
    printf("%ld acquires\n", done);
}
