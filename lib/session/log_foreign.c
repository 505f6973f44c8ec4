/* SPDX-License-Identifier: Apache-2.0 */
#include "session/log_foreign.h"

#include <pthread.h>

#include "session/log.h"
#include "session/zk_log.h"

static pthread_mutex_t foreign_mu = PTHREAD_MUTEX_INITIALIZER;
static zkr_client *foreign;
static pthread_once_t forks = PTHREAD_ONCE_INIT;

/* --- fork: the child has none of the parent's clients, and must not find the mutex locked --- */

void zkr__log_hush(void)
{
    (void)pthread_mutex_lock(&foreign_mu);
    zkr__zk_log_pause();
}

void zkr__log_speak(void)
{
    zkr__zk_log_resume();
    (void)pthread_mutex_unlock(&foreign_mu);
}

static void begin_child(void)
{
    foreign = NULL;
    (void)pthread_mutex_init(&foreign_mu, NULL);
    zkr__zk_log_resume();
}

static void mind_forks(void)
{
    (void)pthread_atfork(zkr__log_hush, zkr__log_speak, begin_child);
}

/* --- who takes part --- */

static zkr_client *taker_of(int slot)
{
    zkr_client *c = foreign;
    while (c && slot < ZKR__LOG_SLOTS && c->log_slot != slot) {
        c = c->next_log;
    }
    return c;
}

void zkr__log_foreign(int slot, int level, const char *text)
{
    (void)pthread_mutex_lock(&foreign_mu);
    zkr_client *c = taker_of(slot);
    if (c && level <= c->options.log_level &&
        zkr__echo_passes(&c->log_echo,
                         __atomic_load_n(&c->log_connected, __ATOMIC_RELAXED), text,
                         zkr__clock_now())) {
        zkr__log_line(c, level, text);
    }
    (void)pthread_mutex_unlock(&foreign_mu);
}

static int free_slot(void)
{
    int slot = 0;
    while (slot < ZKR__LOG_SLOTS && taker_of(slot)) {
        slot++;
    }
    return slot;
}

/* Never DEBUG: as it closes a handle, one line of it reads what was freed (ZOOKEEPER-4809). */
static void set_level(void)
{
    int64_t level = 0;
    for (const zkr_client *c = foreign; c; c = c->next_log) {
        level = c->options.log_level > level ? c->options.log_level : level;
    }
    if (level > 0) {
        zkr__zk_log_level((int)(level < ZKR_LOG_INFO ? level : ZKR_LOG_INFO));
    }
}

void zkr__log_join(zkr_client *c)
{
    /* Also for one without a log: libzookeeper makes lines all the same. */
    (void)pthread_once(&forks, mind_forks);
    if (!c->options.log) {
        return;
    }
    (void)pthread_mutex_lock(&foreign_mu);
    c->log_slot = free_slot();
    zkr_client **at = &foreign;
    while (*at) {
        at = &(*at)->next_log;
    }
    *at = c;
    set_level();
    (void)pthread_mutex_unlock(&foreign_mu);
}

void zkr__log_leave(zkr_client *c)
{
    (void)pthread_mutex_lock(&foreign_mu);
    for (zkr_client **at = &foreign; *at; at = &(*at)->next_log) {
        if (*at == c) {
            *at = c->next_log;
            break;
        }
    }
    set_level();
    (void)pthread_mutex_unlock(&foreign_mu);
}
