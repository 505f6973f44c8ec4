/* SPDX-License-Identifier: Apache-2.0 */
#include "hold.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "job.h"

static void on_doubt(void *ctx, bool slept)
{
    struct hold *h = ctx;
    why_doubt(&h->doubt, h->client, slept);
}

bool hold_begin(struct hold *h, const char *path)
{
    enum { NAME_ROOM = 128 }; /* a slash, "_c_", a GUID, a prefix, the digits */
    h->path = path;
    h->node_size = strlen(path) + NAME_ROOM;
    h->node = calloc(1, h->node_size);
    h->lease.on_doubt = on_doubt;
    h->lease.on_doubt_ctx = h;
    bool begun = loss_begin(&h->loss);
    return wish_begin(&h->wish) && begun && h->node;
}

void hold_end(struct hold *h)
{
    loss_end(&h->loss);
    wish_end(&h->wish);
    free(h->node);
}

/* --- before the start --- */

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

enum hold_start hold_await(struct hold *h,
                           const struct env *env,
                           int64_t from,
                           int64_t until,
                           int *signo)
{
    enum { PROBE_MS = 2 };
    struct pollfd fds[] = {{.fd = env->signals.fd, .events = POLLIN},
                           {.fd = h->loss.fd, .events = POLLIN},
                           {.fd = h->wish.fd, .events = POLLIN}};
    for (;;) {
        int64_t valid = h->lease.valid_for_ms(h->lease.ctx);
        if (fds[1].revents || valid <= 0) {
            return HOLD_OVER;
        }
        if (wish_take(&h->wish)) {
            return HOLD_ASKED;
        }
        int delay = cli_until(from);
        if (delay == 0 && lease_is_ample(&h->lease, valid)) {
            return HOLD_START;
        }
        if (delay == 0 && cli_until(until) == 0) {
            return HOLD_LATE;
        }
        int rest = delay > 0 ? (int)lesser(delay, valid) : PROBE_MS;
        (void)poll(fds, sizeof(fds) / sizeof(fds[0]),
                   signals_pulse(&env->signals, rest));
        *signo = signals_stop(&env->signals);
        if (*signo) {
            return HOLD_STOPPED;
        }
    }
}

void hold_ready(const struct hold *h, const struct env *env)
{
    notify_send(&env->notify, "READY=1\nSTATUS=holding the %s %.1000s", h->what,
                h->path);
}

/* --- the command's environment --- */

enum { OURS = 4 };
static const char *const our_names[OURS] = {
    "ZKR_LOCK_PATH=", "ZKR_LOCK_NODE=", "ZKR_FENCING_TOKEN=", "ZKR_SESSION_ID="};

struct environment {
    char **vars;
    char *ours[OURS];
};

static bool is_ours(const char *var)
{
    for (int i = 0; i < OURS; i++) {
        if (strncmp(var, our_names[i], strlen(our_names[i])) == 0) {
            return true;
        }
    }
    return false;
}

static void environment_free(struct environment *e)
{
    for (int i = 0; i < OURS; i++) {
        free(e->ours[i]);
    }
    free(e->vars);
}

/* Ours replace those of a zkr that runs us. */
static bool environment_make(struct environment *e, const struct hold *h)
{
    size_t count = 0, n = 0;
    while (environ[count]) {
        count++;
    }
    *e = (struct environment){.vars = calloc(count + OURS + 1, sizeof(*e->vars))};
    bool ok = e->vars && asprintf(&e->ours[0], "%s%s", our_names[0], h->path) > 0 &&
              asprintf(&e->ours[1], "%s%s", our_names[1], h->node) > 0 &&
              asprintf(&e->ours[2], "%s%" PRId64, our_names[2], h->token) > 0 &&
              asprintf(&e->ours[3], "%s0x%" PRIx64, our_names[3],
                       (uint64_t)h->session_id) > 0;
    if (!ok) {
        environment_free(e);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_ours(environ[i])) {
            e->vars[n++] = environ[i];
        }
    }
    for (int i = 0; i < OURS; i++) {
        e->vars[n++] = e->ours[i];
    }
    return true;
}

/* --- with a command --- */

void hold_note(const struct hold *h, int64_t ms)
{
    cli_note("got the %s %s after %" PRId64 ".%03" PRId64 " s: node=%s token=%" PRId64
             " session=0x%" PRIx64,
             h->what, h->path, ms / 1000, ms % 1000, h->node, h->token,
             (uint64_t)h->session_id);
}

/* Which of the three it was: the node, the session, or the bound. Returns CLI_LOST. */
static int say_lost(struct hold *h, const char *rest)
{
    struct why why;
    bool known = loss_why(&h->loss, &why);
    why = known ? why : h->doubt;
    return cli_fail(CLI_LOST, "the %s %.1000s was %s: %s; %s; %s", h->what, h->path,
                    known ? "lost" : "in doubt", why.text, rest,
                    why_remedy(&why, h->revocable));
}

static int report(const struct job *j, struct hold *h, int status)
{
    if (j->start_errno != 0) {
        return cli_fail(CLI_COMMAND,
                        "cannot start '%.1000s': %s; check the command and $PATH",
                        j->spec.argv[0], strerrordesc_np(j->start_errno));
    }
    return j->lost ? say_lost(h, "the command was killed; check what it left undone, "
                                 "then run it again")
                   : status;
}

static void check_kill_after(const struct lease *l)
{
    int64_t most = lease_kill_after_most(l);
    if (l->wanted_ms > most) {
        cli_note(
            "--kill-after is reduced to %" PRId64 ".%03" PRId64
            " s, a third of the session timeout, for when the lock is in doubt; -t "
            "makes that longer",
            most / 1000, most % 1000);
    }
}

int hold_run(struct hold *h, struct env *env, char **command)
{
    struct environment vars;
    struct terminal terminal;
    h->failed = !environment_make(&vars, h);
    if (h->failed) {
        return cli_fail(CLI_INTERNAL, "out of memory");
    }
    check_kill_after(&h->lease);
    terminal_begin(&terminal);
    struct job job = {.spec = {.argv = command,
                               .envp = vars.vars,
                               .fds = &env->fds,
                               .signals = &env->signals,
                               .terminal = &terminal,
                               .loss = &h->loss},
                      .wish = &h->wish,
                      .path = h->path,
                      .signals = &env->signals,
                      .lease = &h->lease,
                      .kill_signal = h->kill_signal};
    int status = job_run(&job);
    terminal_end(&terminal);
    status = report(&job, h, status);
    environment_free(&vars);
    h->lost = job.lost;
    h->told = job.told || job.interrupted || job.end_at != 0;
    h->failed = job.start_errno != 0;
    h->used = !h->failed;
    /* ^C reached the command alone: a script in whose group we are must learn of it. */
    if (job.interrupted && !job.lost && getpid() != getpgrp()) {
        env->die_of = status - cli_exit_signal(0);
    }
    return status;
}

/* --- without --- */

/* False: there is no more input. In the background input of the terminal must wait. */
static bool read_on(bool *later)
{
    char waste[4096];
    ssize_t n = read(STDIN_FILENO, waste, sizeof(waste));
    *later = n < 0 && errno == EIO && isatty(STDIN_FILENO);
    return n > 0 || *later || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/* The first signal to stop that has come, 0 = none. */
static int take_signals(struct hold *h, struct env *env)
{
    int signo;
    bool timer;
    while (signals_next(&env->signals, &signo, &timer)) {
        if (signals_is_forwarded(signo)) {
            return signo;
        }
        if (timer) {
            lease_doubt(&h->lease);
        }
    }
    return 0;
}

/* Whoever reads it learns at once that the hold is over. The descriptor itself stays in use. */
static void end_output(void)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null < 0 || dup2(null, STDOUT_FILENO) < 0) {
        (void)close(STDOUT_FILENO);
    }
    if (null >= 0) {
        (void)close(null);
    }
}

static int lost(struct hold *h)
{
    end_output();
    h->lost = true;
    return say_lost(h, "the hold is over; run zkr again");
}

static int print_line(const struct hold *h)
{
    (void)printf("node=%s token=%" PRId64 " session=0x%" PRIx64 "\n", h->node, h->token,
                 (uint64_t)h->session_id);
    return cli_flush();
}

int hold_wait(struct hold *h, struct env *env)
{
    enum { LATER_MS = 500 };
    bool later = false;
    int status = print_line(h);
    h->used = true;
    while (status == 0) {
        if (lease_step(&h->lease) != LEASE_SURE) {
            return lost(h);
        }
        int64_t rest = lease_rest(&h->lease);
        struct pollfd fds[4] = {{.fd = env->signals.fd, .events = POLLIN},
                                {.fd = h->loss.fd, .events = POLLIN},
                                {.fd = later ? -1 : STDIN_FILENO, .events = POLLIN},
                                {.fd = h->wish.fd, .events = POLLIN}};
        (void)poll(fds, 4, later && rest > LATER_MS ? LATER_MS : (int)rest);
        int signo = take_signals(h, env);
        later = false;
        if (fds[1].revents) {
            return lost(h);
        }
        h->told = signo != 0 || fds[3].revents;
        if (signo) {
            return cli_exit_signal(signo);
        }
        if (wish_take(&h->wish)) {
            cli_note("asked to release %.1000s; released", h->path);
            return 0;
        }
        if (fds[2].revents && !read_on(&later)) {
            return 0;
        }
    }
    return status;
}

/* --- afterwards --- */

void hold_linger(struct hold *h, const struct env *env, int64_t until)
{
    struct pollfd fds[] = {{.fd = env->signals.fd, .events = POLLIN},
                           {.fd = h->loss.fd, .events = POLLIN},
                           {.fd = h->wish.fd, .events = POLLIN}};
    bool over = h->lost || h->told || !h->used;
    while (!over && cli_until(until) > 0) {
        if (fds[1].revents || lease_step(&h->lease) != LEASE_SURE) {
            h->lost = true;
            (void)say_lost(h, "the command had ended, but --min-hold was not over");
            return;
        }
        (void)poll(fds, sizeof(fds) / sizeof(fds[0]),
                   (int)lesser(cli_until(until), lease_rest(&h->lease)));
        over = signals_stop(&env->signals) != 0 || wish_take(&h->wish);
    }
}
