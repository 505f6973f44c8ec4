/* SPDX-License-Identifier: Apache-2.0 */
#include "session/zk_log.h"

#include <pthread.h>
#include <string.h>
#include <time.h>
#include <zookeeper/zookeeper.h>

#include "base/table.h"
#include "session/log.h"

static pthread_mutex_t takers_mu = PTHREAD_MUTEX_INITIALIZER;
static zkr_client *takers; /* list, linked by client.next_log */
static pthread_once_t forks = PTHREAD_ONCE_INIT;

/* --- repeated lines --- */

static uint64_t hash(const char *line)
{
    const char *from = strstr(line, ":ZOO_");
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
    for (const char *at = from ? from : line; *at != '\0'; at++) {
        size_t digits = strspn(at, "0123456789");
        if (digits > 0 && strncmp(at + digits, "ms", 2) == 0) {
            at += digits;
        }
        h = (h ^ (unsigned char)*at) * UINT64_C(1099511628211);
    }
    return h;
}

static bool is_new(struct zkr__echo *e, uint64_t h)
{
    for (unsigned i = 0; i < e->count; i++) {
        if (e->said[i] == h) {
            return false;
        }
    }
    if (e->count == ZKR__ECHOES) {
        return false;
    }
    e->said[e->count++] = h;
    return true;
}

bool zkr__echo_passes(struct zkr__echo *e,
                      unsigned connected,
                      const char *line,
                      int64_t now)
{
    const int64_t minute = 60000 * ZKR__MS;
    if (e->connected != connected) {
        *e = (struct zkr__echo){.connected = connected};
    }
    if (!is_new(e, hash(line)) && now - e->passed_at < minute) {
        return false;
    }
    e->passed_at = now;
    return true;
}

/* --- from a handle to a client --- */

static zkr_client *taker_of(int slot)
{
    zkr_client *c = takers;
    while (c && slot < ZKR__LOG_SLOTS && c->log_slot != slot) {
        c = c->next_log;
    }
    return c;
}

void zkr__log_foreign(int slot, int level, const char *line)
{
    (void)pthread_mutex_lock(&takers_mu);
    zkr_client *c = taker_of(slot);
    if (c && level <= c->options.log_level &&
        zkr__echo_passes(&c->log_echo,
                         __atomic_load_n(&c->log_connected, __ATOMIC_RELAXED), line,
                         zkr__clock_now())) {
        zkr__log_line(c, level, line);
    }
    (void)pthread_mutex_unlock(&takers_mu);
}

static int holding; /* number of threads between hold and let_go */
static _Thread_local bool holds;

void zkr__log_hold(void)
{
    holds = true;
    (void)__atomic_add_fetch(&holding, 1, __ATOMIC_SEQ_CST);
}

void zkr__log_let_go(void)
{
    (void)__atomic_sub_fetch(&holding, 1, __ATOMIC_SEQ_CST);
    holds = false;
}

static void wait_for_holders(void)
{
    const struct timespec turn = {.tv_nsec = ZKR__MS / 10};
    int64_t until = zkr__clock_now() + 1000 * ZKR__MS;
    while (!holds && __atomic_load_n(&holding, __ATOMIC_SEQ_CST) > 0 &&
           zkr__clock_now() < until) {
        (void)nanosleep(&turn, NULL);
    }
}

static int slow; /* number of handles that are given up but not closed */

void zkr__log_slow(int more)
{
    (void)__atomic_add_fetch(&slow, more, __ATOMIC_RELAXED);
}

static void take_time(const char *line)
{
    const struct timespec pause = {.tv_nsec = 50 * ZKR__MS};
    if (__atomic_load_n(&slow, __ATOMIC_RELAXED) > 0 && strstr(line, ":ZOO_ERROR@")) {
        (void)nanosleep(&pause, NULL);
    }
    wait_for_holders();
}

static void drop_line(const char *line)
{
    take_time(line);
}

static void pass_line(int slot, const char *line)
{
    take_time(line);
    int level = strstr(line, ":ZOO_ERROR@")  ? ZKR_LOG_ERROR
                : strstr(line, ":ZOO_WARN@") ? ZKR_LOG_WARN
                : strstr(line, ":ZOO_INFO@") ? ZKR_LOG_INFO
                                             : ZKR_LOG_DEBUG;
    zkr__log_foreign(slot, level, line);
}

#define EACH_SLOT(X)                                                                   \
    X(0)                                                                               \
    X(1)                                                                               \
    X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)
#define PASS(n)                                                                        \
    static void pass_##n(const char *line)                                             \
    {                                                                                  \
        pass_line(n, line);                                                            \
    }
#define NAME(n) pass_##n,

EACH_SLOT(PASS)

void (*zkr__log_callback(int slot))(const char *line)
{
    static void (*const pass[ZKR__LOG_SLOTS + 1])(const char *line) = {EACH_SLOT(NAME)};
    return slot == ZKR__LOG_NO_SLOT ? drop_line : pass[slot];
}

/* --- fork: the child has no clients, and must find takers_mu and the lock in localtime_r() unlocked --- */

extern ZooLogLevel logLevel; /* libzookeeper has no function that returns it */
static ZooLogLevel paused_at;

/* From here on, libzookeeper starts no new line. Lines that it has started get time to leave localtime_r(). */
void zkr__log_hush(void)
{
    enum { TURNS = 3, TURN_NS = 50000 };
    const struct timespec turn = {.tv_nsec = TURN_NS};
    const time_t now = time(NULL);
    struct tm unused;
    (void)pthread_mutex_lock(&takers_mu);
    paused_at = logLevel;
    zoo_set_debug_level((ZooLogLevel)0);
    /*
     * A thread that logs may have read the level, wait for the lock of localtime_r(), or format the time. There is one
     * turn for each stage.
     */
    for (int i = 0; i < TURNS; i++) {
        (void)nanosleep(&turn, NULL);
        (void)localtime_r(&now, &unused);
    }
}

void zkr__log_speak(void)
{
    zoo_set_debug_level(paused_at);
    (void)pthread_mutex_unlock(&takers_mu);
}

static void begin_child(void)
{
    takers = NULL;
    slow = 0;
    holding = 0;
    (void)pthread_mutex_init(&takers_mu, NULL);
    zoo_set_debug_level(paused_at);
}

static void prepare_for_forks(void)
{
    (void)pthread_atfork(zkr__log_hush, zkr__log_speak, begin_child);
}

/* --- joining and leaving --- */

/*
 * The level is at least INFO, whatever the clients want, because zkr__log_hold() needs INFO lines. DEBUG is never set,
 * because a DEBUG line at the close of a handle reads freed memory (ZOOKEEPER-4809).
 */
static void set_level(void)
{
    if (takers) {
        zoo_set_debug_level(ZOO_LOG_LEVEL_INFO);
    }
}

void zkr__log_join(zkr_client *c)
{
    /* Needed even without options.log, because libzookeeper always logs. */
    (void)pthread_once(&forks, prepare_for_forks);
    c->log_slot = ZKR__LOG_NO_SLOT;
    if (!c->options.log) {
        return;
    }
    (void)pthread_mutex_lock(&takers_mu);
    int slot = 0;
    while (slot < ZKR__LOG_SLOTS && taker_of(slot)) {
        slot++;
    }
    c->log_slot = slot;
    LL_APPEND2(takers, c, next_log);
    set_level();
    (void)pthread_mutex_unlock(&takers_mu);
}

void zkr__log_leave(zkr_client *c)
{
    if (!c->options.log) {
        return;
    }
    (void)pthread_mutex_lock(&takers_mu);
    LL_DELETE2(takers, c, next_log);
    set_level();
    (void)pthread_mutex_unlock(&takers_mu);
}
