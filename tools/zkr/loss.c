/* SPDX-License-Identifier: Apache-2.0 */
#include "loss.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

bool loss_begin(struct loss *l)
{
    *l = (struct loss){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                       .mu = PTHREAD_MUTEX_INITIALIZER};
    return l->fd >= 0;
}

void loss_reset(struct loss *l)
{
    uint64_t count;
    (void)pthread_mutex_lock(&l->mu);
    (void)!read(l->fd, &count, sizeof(count));
    l->known = false;
    (void)pthread_mutex_unlock(&l->mu);
}

void loss_tell(struct loss *l, const zkr_lost *lost)
{
    const uint64_t one = 1;
    (void)pthread_mutex_lock(&l->mu);
    if (l->group > 0) {
        (void)kill(-l->group, SIGKILL); /* not allowed: who minds it will say so */
    }
    l->known = true;
    why_take(&l->why, lost);
    (void)!write(l->fd, &one, sizeof(one));
    (void)pthread_mutex_unlock(&l->mu);
}

bool loss_why(struct loss *l, struct why *why)
{
    (void)pthread_mutex_lock(&l->mu);
    bool known = l->known;
    *why = l->why;
    (void)pthread_mutex_unlock(&l->mu);
    return known;
}

pid_t loss_fork(struct loss *l)
{
    pid_t pid = -1;
    (void)pthread_mutex_lock(&l->mu);
    if (l->known) {
        errno = ECANCELED;
    } else {
        pid = fork();
        if (pid == 0) {
            return 0; /* the lock stays behind */
        }
        if (pid > 0) {
            /* Both sides do this, as either may come first. */
            (void)setpgid(pid, pid);
            l->group = pid;
        }
    }
    int why = errno;
    (void)pthread_mutex_unlock(&l->mu);
    errno = why;
    return pid;
}

void loss_lock(struct loss *l)
{
    (void)pthread_mutex_lock(&l->mu);
}

void loss_unlock(struct loss *l, bool gone)
{
    if (gone) {
        l->group = 0;
    }
    (void)pthread_mutex_unlock(&l->mu);
}

void loss_end(struct loss *l)
{
    if (l->fd >= 0) {
        (void)close(l->fd);
        l->fd = -1;
    }
}
