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

void zkr__log_foreign(int level, const char *text)
{
    (void)pthread_mutex_lock(&foreign_mu);
    if (foreign && level <= foreign->options.log_level) {
        zkr__log_line(foreign, level, text);
    }
    (void)pthread_mutex_unlock(&foreign_mu);
}

void zkr__log_join(zkr_client *c)
{
    /* Also for one without a log: libzookeeper makes lines all the same. */
    (void)pthread_once(&forks, mind_forks);
    if (!c->options.log) {
        return;
    }
    (void)pthread_mutex_lock(&foreign_mu);
    zkr_client **at = &foreign;
    while (*at) {
        at = &(*at)->next_log;
    }
    *at = c;
    zkr__zk_log_level((int)foreign->options.log_level);
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
    (void)pthread_mutex_unlock(&foreign_mu);
}
