/* SPDX-License-Identifier: Apache-2.0 */
#include "session/zk_log.h"

#include <string.h>
#include <time.h>
#include <zookeeper/zookeeper.h>

#include <zkr/client.h>

typedef void (*log_line_fn)(int level, const char *line);

/* Atomic: handles are opened while others log. */
static log_line_fn receiver;

static void drop_line(const char *line)
{
    (void)line;
}

static void pass_line(const char *line)
{
    int level = ZKR_LOG_DEBUG;
    if (strstr(line, ":ZOO_ERROR@")) {
        level = ZKR_LOG_ERROR;
    } else if (strstr(line, ":ZOO_WARN@")) {
        level = ZKR_LOG_WARN;
    } else if (strstr(line, ":ZOO_INFO@")) {
        level = ZKR_LOG_INFO;
    }
    log_line_fn to = __atomic_load_n(&receiver, __ATOMIC_ACQUIRE);
    if (to) {
        to(level, line);
    }
}

void (*zkr__zk_log_to(log_line_fn to))(const char *line)
{
    if (!to) {
        return drop_line;
    }
    __atomic_store_n(&receiver, to, __ATOMIC_RELEASE);
    return pass_line;
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
