/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redis with SET name value NX PX ttl, and a script that compares and deletes. With several servers, this is Redlock: a
 * contender must get a majority of them in less than the ttl, and gives back a minority. A contender that finds the
 * lock held tries again after 100 ms, as redis-py does, or with Redlock after a random pause.
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "die.h"
#include "driver.h"
#include "stats.h"

enum { SERVERS = 9, RETRY_MS = 100 };

struct lock {
    redisContext *servers[SERVERS];
    int count;
    unsigned seed;
    char name[256], value[64];
};

static const char compare_and_delete[] =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) "
    "else return 0 end";

static void *nothing(void)
{
    return NULL;
}

/* Each contender has its own connections. */
static void *connect_all(void *session, const char *path, int number)
{
    static unsigned made;
    struct lock *l = calloc(1, sizeof(*l));
    char *text = strdup(driver_options.servers), *rest = NULL;
    (void)session, (void)number;
    if (!l || !text) {
        bench_die("out of memory");
    }
    for (char *at = strtok_r(text, ",", &rest); at; at = strtok_r(NULL, ",", &rest)) {
        char *port = strrchr(at, ':');
        if (!port || l->count == SERVERS) {
            bench_die("servers: %s", driver_options.servers);
        }
        *port++ = '\0';
        redisContext *c = redisConnect(at, atoi(port));
        if (!c || c->err) {
            bench_die("connect: %s", c ? c->errstr : "out of memory");
        }
        l->servers[l->count++] = c;
    }
    free(text);
    l->seed = (unsigned)getpid() * 1000 + ++made;
    (void)snprintf(l->name, sizeof(l->name), "%s", path);
    return l;
}

/* Sends the request to all servers at the same time, and returns how many agree. */
static int votes(struct lock *l, bool take)
{
    int yes = 0;
    for (int i = 0; i < l->count; i++) {
        if (take) {
            redisAppendCommand(l->servers[i], "SET %s %s NX PX %d", l->name, l->value,
                               driver_options.ttl_ms);
        } else {
            redisAppendCommand(l->servers[i], "EVAL %s 1 %s %s", compare_and_delete,
                               l->name, l->value);
        }
        int sent = 0;
        if (redisBufferWrite(l->servers[i], &sent) != REDIS_OK) {
            bench_die("send: %s", l->servers[i]->errstr);
        }
    }
    for (int i = 0; i < l->count; i++) {
        redisReply *r = NULL;
        if (redisGetReply(l->servers[i], (void **)&r) != REDIS_OK ||
            r->type == REDIS_REPLY_ERROR) {
            bench_die("reply: %s", r ? r->str : l->servers[i]->errstr);
        }
        yes += r->type == REDIS_REPLY_STATUS;
        freeReplyObject(r);
    }
    return yes;
}

static void unlock(void *lock)
{
    (void)votes(lock, false);
}

static bool try_once(struct lock *l)
{
    int64_t begin = stats_now();
    (void)snprintf(l->value, sizeof(l->value), "%d-%lld-%d", (int)getpid(),
                   (long long)begin, rand_r(&l->seed));
    int yes = votes(l, true);
    int64_t most = (int64_t)driver_options.ttl_ms * 1000000;
    if (yes > l->count / 2 && stats_now() - begin < most - most / 100) {
        return true;
    }
    if (yes > 0) {
        unlock(l);
    }
    return false;
}

static bool lock(void *lock, bool wait)
{
    struct lock *l = lock;
    while (!try_once(l)) {
        if (!wait) {
            return false;
        }
        long ms = RETRY_MS;
        if (l->count > 1) {
            ms = RETRY_MS / 2 + rand_r(&l->seed) % RETRY_MS;
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
    }
    return true;
}

int main(int argc, char **argv)
{
    static const struct driver_peer peer = {
        .open = nothing, .make = connect_all, .lock = lock, .unlock = unlock};
    return driver_main(argc, argv, &peer);
}
