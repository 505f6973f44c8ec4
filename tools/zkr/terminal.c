/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fds.h"

void terminal_begin(struct terminal *t)
{
    *t = (struct terminal){.fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)};
    if (t->fd >= 0) {
        t->has_modes = tcgetattr(t->fd, &t->modes) == 0;
    }
}

bool terminal_is_ours(const struct terminal *t)
{
    return t->fd >= 0 && tcgetpgrp(t->fd) == getpgrp();
}

static bool is_pipe(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

bool terminal_wanted(const struct terminal *t)
{
    return terminal_is_ours(t) && !is_pipe(STDIN_FILENO) && !is_pipe(STDOUT_FILENO);
}

void terminal_lend(struct terminal *t, pid_t group)
{
    if (tcsetpgrp(t->fd, group) == 0) {
        t->lent = true;
    }
}

bool terminal_take(struct terminal *t, pid_t group)
{
    if (t->fd < 0 || tcgetpgrp(t->fd) != group) {
        return false;
    }
    return tcsetpgrp(t->fd, getpgrp()) == 0;
}

void terminal_reset(const struct terminal *t)
{
    if (t->lent && t->has_modes && terminal_is_ours(t)) {
        (void)tcsetattr(t->fd, TCSADRAIN, &t->modes);
    }
}

void terminal_end(struct terminal *t)
{
    fds_close(&t->fd);
}
