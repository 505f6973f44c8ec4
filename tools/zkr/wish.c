/* SPDX-License-Identifier: Apache-2.0 */
#include "wish.h"

#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

bool wish_begin(struct wish *w)
{
    w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return w->fd >= 0;
}

void wish_tell(struct wish *w)
{
    const uint64_t one = 1;
    (void)!write(w->fd, &one, sizeof(one));
}

bool wish_take(struct wish *w)
{
    uint64_t count;
    return w->fd >= 0 && read(w->fd, &count, sizeof(count)) == sizeof(count);
}

void wish_end(struct wish *w)
{
    if (w->fd >= 0) {
        (void)close(w->fd);
        w->fd = -1;
    }
}
