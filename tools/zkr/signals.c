/* SPDX-License-Identifier: Apache-2.0 */
#include "signals.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "children.h"
#include "clock.h"
#include "notify.h"
#include "parse.h"

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
enum { FORWARDED = sizeof(forwarded) / sizeof(forwarded[0]) };

bool signals_is_forwarded(int signo)
{
    for (int i = 0; i < FORWARDED; i++) {
        if (forwarded[i] == signo) {
            return true;
        }
    }
    return false;
}

static bool is_ignored(int signo)
{
    struct sigaction action;
    return sigaction(signo, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool signals_begin(struct signals *s)
{
    sigset_t held_back;
    s->users_ignored = false;
    (void)sigemptyset(&s->taken);
    for (int i = 0; i < FORWARDED; i++) {
        if (!is_ignored(forwarded[i])) {
            (void)sigaddset(&s->taken, forwarded[i]);
        }
    }
    s->stop_ignored = is_ignored(SIGTSTP);

    /* With SIGCHLD ignored there would be no status to pass on. */
    const struct sigaction normal = {.sa_handler = SIG_DFL};
    (void)sigaction(SIGCHLD, &normal, &s->old_child);
    (void)sigaction(SIGCONT, &normal, &s->old_cont);
    (void)sigaddset(&s->taken, SIGCHLD);
    (void)sigaddset(&s->taken, SIGCONT);

    /* Threads of the library inherit the mask: none of them may be picked for a signal. */
    held_back = s->taken;
    (void)sigaddset(&held_back, SIGPIPE);
    (void)sigaddset(&held_back, SIGTTIN);
    (void)sigaddset(&held_back, SIGTTOU);
    (void)sigaddset(&held_back, SIGTSTP);
    (void)pthread_sigmask(SIG_BLOCK, &held_back, &s->mask);
    s->fd = signalfd(-1, &s->taken, SFD_CLOEXEC | SFD_NONBLOCK);
    return s->fd >= 0;
}

void signals_mask_stop(int how)
{
    sigset_t stop;
    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGTSTP);
    (void)pthread_sigmask(how, &stop, NULL);
}

void signals_take_stop(struct signals *s)
{
    signals_mask_stop(SIG_BLOCK);
    if (!s->stop_ignored) {
        (void)sigaddset(&s->taken, SIGTSTP);
        (void)signalfd(s->fd, &s->taken, 0);
    }
}

int signals_next(const struct signals *s)
{
    struct signalfd_siginfo info;
    if (read(s->fd, &info, sizeof(info)) != (ssize_t)sizeof(info)) {
        return 0;
    }
    return info.ssi_code == SI_TIMER ? SIGNALS_TIMER : (int)info.ssi_signo;
}

int signals_stop(const struct signals *s)
{
    int signo, stop = 0;
    while ((signo = signals_next(s)) != 0) {
        if (signo == SIGCHLD) {
            children_reap();
        }
        bool spared = s->users_ignored && (signo == SIGUSR1 || signo == SIGUSR2);
        stop = stop == 0 && signals_is_forwarded(signo) && !spared ? signo : stop;
    }
    return stop;
}

void signals_restore(const struct signals *s)
{
    (void)sigaction(SIGCHLD, &s->old_child, NULL);
    (void)sigaction(SIGCONT, &s->old_cont, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &s->mask, NULL);
}

/* --- descriptors --- */

enum { FIRST = STDERR_FILENO + 1, MOST = 65536, WITHOUT_PROC = 1024 };

static bool inherited[MOST];

static void fill_closed_stdio(void)
{
    for (int fd = 0; fd < FIRST; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            /* The new descriptor has the lowest free number, which is fd. */
            (void)open("/dev/null", O_RDWR | O_CLOEXEC);
        }
    }
}

void fds_begin(void)
{
    fill_closed_stdio();
    DIR *dir = opendir("/proc/self/fd");
    const struct dirent *entry;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
    while (dir && (entry = readdir(dir))) {
        int64_t fd;
        if (parse_int(entry->d_name, FIRST, MOST - 1, &fd)) {
            inherited[fd] = fd != dirfd(dir);
        }
    }
    for (int fd = FIRST; !dir && fd < WITHOUT_PROC; fd++) {
        inherited[fd] = fcntl(fd, F_GETFD) >= 0;
    }
    if (dir) {
        (void)closedir(dir);
    }
}

void fds_hide(void)
{
    bool hidden = close_range(FIRST, UINT_MAX, CLOSE_RANGE_CLOEXEC) == 0;
    for (int fd = FIRST; fd < MOST; fd++) {
        if (inherited[fd] || !hidden) {
            (void)fcntl(fd, F_SETFD, inherited[fd] ? 0 : FD_CLOEXEC);
        }
    }
}

/* --- the guard --- */

/* Cancels repeatedly until the main thread has returned: a first call may come just before the wait begins. */
static void *guard(void *ctx)
{
    enum { AGAIN_MS = 10 };
    struct signals_guard *g = ctx;
    struct pollfd fds[2] = {{.fd = g->done, .events = POLLIN},
                            {.fd = g->s->fd, .events = POLLIN}};
    int rest = (int)notify_alive_rest(clock_left_ms(g->late));
    while (poll(fds, 2, rest) >= 0 && !fds[0].revents) {
        if (fds[1].revents && !atomic_load(&g->caught)) {
            atomic_store(&g->caught, signals_stop(g->s));
        }
        bool due = atomic_load(&g->caught) || clock_left_ms(g->late) == 0;
        if (due) {
            g->cancel(g->ctx);
        }
        notify_alive();
        rest = due ? AGAIN_MS : (int)notify_alive_rest(clock_left_ms(g->late));
    }
    return NULL;
}

bool signals_guard_begin(struct signals_guard *g,
                         const struct signals *s,
                         int64_t late,
                         void (*cancel)(void *ctx),
                         void *ctx)
{
    *g = (struct signals_guard){.s = s, .late = late, .cancel = cancel, .ctx = ctx};
    g->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (g->done < 0) {
        return false;
    }
    errno = pthread_create(&g->thread, NULL, guard, g);
    if (errno != 0) {
        (void)close(g->done);
        return false;
    }
    /* Without a command to be stopped as well, ^Z has its usual effect. */
    if (!sigismember(&s->mask, SIGTSTP)) {
        signals_mask_stop(SIG_UNBLOCK);
    }
    return true;
}

int signals_guard_end(struct signals_guard *g)
{
    while (eventfd_write(g->done, 1) != 0) {
    }
    (void)pthread_join(g->thread, NULL);
    (void)close(g->done);
    return atomic_load(&g->caught);
}
