/* SPDX-License-Identifier: Apache-2.0 */
#include "interrupt.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"
#include "notify.h"
#include "signals.h"

/* Calls cancel() repeatedly until the main thread has returned, because the first call may precede the wait. */
static void *attend(void *ctx)
{
    enum { AGAIN_MS = 10 };
    struct interrupt *i = ctx;
    struct pollfd fds[2] = {{.fd = i->done, .events = POLLIN},
                            {.fd = i->signals->fd, .events = POLLIN}};
    int rest = (int)notify_alive_rest(clock_left_ms(i->late));
    while (poll(fds, 2, rest) >= 0 && !fds[0].revents) {
        if (fds[1].revents && !atomic_load(&i->caught)) {
            atomic_store(&i->caught, signals_take_ending(i->signals));
        }
        bool due = atomic_load(&i->caught) || clock_left_ms(i->late) == 0;
        if (due) {
            i->cancel(i->ctx);
        }
        notify_alive();
        rest = due ? AGAIN_MS : (int)notify_alive_rest(clock_left_ms(i->late));
    }
    return NULL;
}

bool interrupt_begin(struct interrupt *i,
                     const struct signals *s,
                     int64_t late,
                     void (*cancel)(void *ctx),
                     void *ctx)
{
    *i = (struct interrupt){.signals = s, .late = late, .cancel = cancel, .ctx = ctx};
    i->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (i->done < 0) {
        return false;
    }
    errno = pthread_create(&i->thread, NULL, attend, i);
    if (errno != 0) {
        (void)close(i->done);
        return false;
    }
    /* There is no command to stop as well, so ^Z has its usual effect. */
    if (!sigismember(&s->mask, SIGTSTP)) {
        signals_mask_stop(SIG_UNBLOCK);
    }
    return true;
}

int interrupt_end(struct interrupt *i)
{
    while (eventfd_write(i->done, 1) != 0) {
    }
    (void)pthread_join(i->thread, NULL);
    (void)close(i->done);
    return atomic_load(&i->caught);
}
