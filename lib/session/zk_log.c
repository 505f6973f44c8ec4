/* SPDX-License-Identifier: Apache-2.0 */
#include "session/zk_log.h"

#include <string.h>
#include <time.h>
#include <zookeeper/zookeeper.h>

#include <zkr/client.h>

/* Atomic: handles are opened while others log. */
static zkr__zk_log_fn receiver;

static void drop_line(const char *line)
{
    (void)line;
}

static void pass_line(int slot, const char *line)
{
    int level = ZKR_LOG_DEBUG;
    if (strstr(line, ":ZOO_ERROR@")) {
        level = ZKR_LOG_ERROR;
    } else if (strstr(line, ":ZOO_WARN@")) {
        level = ZKR_LOG_WARN;
    } else if (strstr(line, ":ZOO_INFO@")) {
        level = ZKR_LOG_INFO;
    }
    zkr__zk_log_fn to = __atomic_load_n(&receiver, __ATOMIC_ACQUIRE);
    if (to) {
        to(slot, level, line);
    }
}

#define PASS(n)                                                                        \
    static void pass_##n(const char *line)                                             \
    {                                                                                  \
        pass_line(n, line);                                                            \
    }

PASS(0)
PASS(1)
PASS(2)
PASS(3)
PASS(4)
PASS(5)
PASS(6)
PASS(7)
PASS(8)
PASS(9)
PASS(10)
PASS(11)
PASS(12)
PASS(13)
PASS(14)
PASS(15)
PASS(16)

void (*zkr__zk_log_to(zkr__zk_log_fn to, int slot))(const char *line)
{
    static void (*const pass[ZKR__LOG_SLOTS + 1])(const char *line) = {
        pass_0, pass_1,  pass_2,  pass_3,  pass_4,  pass_5,  pass_6,  pass_7, pass_8,
        pass_9, pass_10, pass_11, pass_12, pass_13, pass_14, pass_15, pass_16};
    if (!to) {
        return drop_line;
    }
    __atomic_store_n(&receiver, to, __ATOMIC_RELEASE);
    return pass[slot];
}

void zkr__zk_log_level(int level)
{
    zoo_set_debug_level((ZooLogLevel)level);
}

extern ZooLogLevel logLevel; /* of libzookeeper, which has no function to read it */
static ZooLogLevel paused_at;

void zkr__zk_log_pause(void)
{
    enum { TURNS = 2, TURN_NS = 50000 };
    const struct timespec turn = {.tv_nsec = TURN_NS};
    const time_t now = time(NULL);
    struct tm unused;
    paused_at = logLevel;
    zoo_set_debug_level((ZooLogLevel)0);
    for (int i = 0; i < TURNS; i++) {
        /* For a thread that has seen the level and not yet the lock; then after one that has it. */
        (void)nanosleep(&turn, NULL);
        (void)localtime_r(&now, &unused);
    }
}

void zkr__zk_log_resume(void)
{
    zoo_set_debug_level(paused_at);
}
