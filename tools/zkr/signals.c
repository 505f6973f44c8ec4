/* SPDX-License-Identifier: Apache-2.0 */
#include "signals.h"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "children.h"

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

static void take(struct signals *s, int signo)
{
    if (!is_ignored(signo)) {
        (void)sigaddset(&s->taken, signo);
    }
}

bool signals_begin(struct signals *s)
{
    sigset_t held_back;
    s->users_ignored = false;
    s->client = NULL;
    (void)sigemptyset(&s->taken);
    for (int i = 0; i < FORWARDED; i++) {
        take(s, forwarded[i]);
    }
    take(s, SIGURG);
    s->stop_ignored = is_ignored(SIGTSTP);

    /* If SIGCHLD were ignored, zkr would receive no exit status. */
    const struct sigaction normal = {.sa_handler = SIG_DFL};
    (void)sigaction(SIGCHLD, &normal, &s->old_child);
    (void)sigaction(SIGCONT, &normal, &s->old_cont);
    (void)sigaddset(&s->taken, SIGCHLD);
    (void)sigaddset(&s->taken, SIGCONT);

    /* Threads of the library inherit the mask, so none of them receives a signal. */
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
    while (read(s->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo != SIGURG) {
            return info.ssi_code == SI_TIMER ? SIGNALS_TIMER : (int)info.ssi_signo;
        }
        if (s->client) {
            (void)zkr_client_rebalance(s->client);
        }
    }
    return 0;
}

int signals_take_ending(const struct signals *s)
{
    int signo, ending = 0;
    while ((signo = signals_next(s)) != 0) {
        if (signo == SIGCHLD) {
            children_reap();
        }
        bool spared = s->users_ignored && (signo == SIGUSR1 || signo == SIGUSR2);
        ending = ending == 0 && signals_is_forwarded(signo) && !spared ? signo : ending;
    }
    return ending;
}

void signals_restore(const struct signals *s)
{
    (void)sigaction(SIGCHLD, &s->old_child, NULL);
    (void)sigaction(SIGCONT, &s->old_cont, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &s->mask, NULL);
}
