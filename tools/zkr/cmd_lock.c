/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock: run a command while holding a lock. zkr once: the same, if it has not succeeded lately. */
#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "client.h"
#include "clock.h"
#include "cmd.h"
#include "grant.h"
#include "held.h"
#include "interrupt.h"
#include "news.h"
#include "obtain.h"
#include "once.h"
#include "options.h"
#include "parse.h"
#include "settings.h"
#include "stats.h"
#include "text.h"
#include "use.h"
#include "view.h"

static const char usage[] =
    "usage: zkr [OPTION]... lock [OPTION]... PATH COMMAND [ARGUMENT]...\n"
    "       zkr [OPTION]... lock [OPTION]... PATH -c 'SHELL TEXT'\n"
    "       zkr [OPTION]... lock [OPTION]... PATH\n"
    "       zkr [OPTION]... lock [OPTION]... --any PATH... [-- COMMAND]\n\n"
    "Runs COMMAND while holding the lock at PATH. Without one: prints the holder\n"
    "line, then holds until a signal or the end of its input.\n\n"
    "  -n, --nb, --nonblock, --nonblocking\n"
    "                                fail rather than wait\n"
    "  -w, --wait, --timeout SEC     wait at most this long, connecting included;\n"
    "                                0 = -n\n"
    "      --max-queue N             fail if so many wait already\n"
    "  -E, --conflict-exit-code N    exit code if it was not obtained; default 1\n"
    "  -x, -e, --exclusive           the default\n"
    "  -s, --shared                  together with others that hold it by -s\n"
    "      --rw                      -x like a writer of Curator's ReadWriteLock, see\n"
    "                                zkr(1)\n"
    "      --permits [N/]MAX         N permits, or 1, of the MAX of a semaphore\n"
    "      --also PATH               also this lock, all or none; may be repeated\n"
    "      --any                     one of several locks, the first that is free\n"
    "      --on-revoke term|ignore   on 'zkr revoke', end the command and release\n"
    "                                (the default), or go on\n"
    "  -c, --command TEXT            give TEXT to the shell\n"
    "  -i, --id ID                   what others see as the owner\n"
    "      --kill-signal SIG         the signal the command gets when the lock is in\n"
    "                                doubt; default TERM\n"
    "      --kill-after SEC          time it then has before SIGKILL; default auto\n"
    "      --lock-delay SEC          if the lock was not free at once, wait this long\n"
    "                                before the start; default 0\n"
    "      --min-hold SEC            keep the lock at least this long, even if the\n"
    "                                command has ended; default 0\n"
    "      --stats FILE              write metrics there, for node_exporter\n"
    "      --no-guardian             if zkr is killed by KILL, the lock is free when "
    "the\n"
    "                                session has timed out, not at once\n"
    "      --verbose                 say how long it took and what is held\n"
    "  -o, --close                   accepted, no effect\n";

static const char once_usage[] =
    "usage: zkr [OPTION]... once --every PERIOD [OPTION]... PATH COMMAND "
    "[ARGUMENT]...\n"
    "       zkr [OPTION]... once --every PERIOD [OPTION]... PATH -c 'SHELL TEXT'\n\n"
    "Runs COMMAND while holding the lock at PATH, unless it has succeeded within the\n"
    "PERIOD, here or on another host. When it succeeds, that is recorded at PATH.\n\n"
    "      --every PERIOD            seconds, or with a unit: 90, 30m, 1h, 1d\n"
    "  -n, --nb, --nonblock, --nonblocking\n"
    "                                fail rather than wait while it runs elsewhere\n"
    "  -w, --wait, --timeout SEC     wait at most this long, connecting included;\n"
    "                                0 = -n\n"
    "  -E, --conflict-exit-code N    exit code if it ran elsewhere; default 1\n"
    "  -c, --command TEXT            give TEXT to the shell\n"
    "      --verbose                 say why it was not run\n\n"
    "The options of zkr lock for exclusive locks are there as well.\n";

/* A queue that zkr is in, or may be in. */
struct queue {
    zkr_mutex *mutex;
    zkr_ticket *ticket; /* NULL: not in this queue, or it is that of the hold */
};

struct lock {
    /* PATH and those of --also, all of them or none; or those of --any. */
    const char **paths;
    size_t path_count;
    int64_t permits, permits_max; /* 0: no --permits */
    bool shared, rw;              /* -s, --rw */
    const char *on_revoke;        /* NULL: not given */
    const char *id;
    const char *stats; /* a file; NULL: no --stats */
    int64_t wait_ms;   /* 0: no wait; or ZKR_FOREVER */
    int64_t max_queue; /* 0: no --max-queue */
    int64_t every_ms;  /* of zkr once */
    int64_t conflict;

    bool any;
    struct queue *queues; /* as many as paths; without --any the first alone is used */
    zkr_rwlock *rwlock;   /* if there is one, the mutex is its own */
    zkr_semaphore *semaphore;
    zkr_multi_lock *multi;
    struct held held;
};

/* --- options --- */

static bool take_no_wait(void *wait_ms, char *value)
{
    (void)value;
    *(int64_t *)wait_ms = 0;
    return true;
}

static bool take_signal(void *to, char *value)
{
    return parse_signal(value, to);
}

/* A negative time means auto. */
static bool take_kill_after(void *to, char *value)
{
    *(int64_t *)to = -1;
    return strcmp(value, "auto") == 0 || parse_seconds(value, to);
}

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
static const char permits_needs[] =
    "MAX or N/MAX, N from 1 to MAX and at most " TEXT(ZKR_SEMAPHORE_PERMITS_MAX);

static bool take_permits(void *lock, char *value)
{
    struct lock *l = lock;
    char *slash = strchr(value, '/');
    bool fine = parse_int(slash ? slash + 1 : value, 1, INT32_MAX, &l->permits_max);
    l->permits = 1;
    if (slash && fine) {
        *slash = '\0';
        fine = parse_int(value, 1, ZKR_SEMAPHORE_PERMITS_MAX, &l->permits) &&
               l->permits <= l->permits_max;
        *slash = '/';
    }
    return fine;
}

static bool take_also(void *lock, char *value)
{
    struct lock *l = lock;
    l->paths[++l->path_count] = value; /* the first is PATH */
    return true;
}

static bool take_on_revoke(void *to, char *value)
{
    *(const char **)to = value;
    return strcmp(value, "ignore") == 0 || strcmp(value, "term") == 0;
}

static bool is_once(const struct lock *l)
{
    return strcmp(l->held.env->globals.subcommand, "once") == 0;
}

static int take_options(struct lock *l)
{
    bool ignored;
    struct held *h = &l->held;
    struct globals *g = &h->env->globals;
    struct option_range conflict = {&l->conflict, 0, 255};
    struct option_range max_queue = {&l->max_queue, 1, INT32_MAX};
    const struct option_row every = {"every", 0, once_take_period, &l->every_ms,
                                     "a period such as 90, 30m, 1h or 1d"};
    const struct option_row none = OPTIONS_END;
    const struct option_row rows[] = {
        {"exclusive", 'x', option_off, &l->shared, NULL},
        {NULL, 'e', option_off, &l->shared, NULL},
        {"shared", 's', option_on, &l->shared, NULL},
        {"unlock", 'u', NULL, NULL, "a lock ends with its zkr; send that a signal"},
        {"no-fork", 'F', NULL, NULL, "zkr has to stay, to mind the session"},
        {"close", 'o', option_on, &ignored, NULL},
        {"nb", 'n', take_no_wait, &l->wait_ms, NULL},
        {"nonblock", 'n', take_no_wait, &l->wait_ms, NULL},
        {"nonblocking", 'n', take_no_wait, &l->wait_ms, NULL},
        {"wait", 'w', option_seconds, &l->wait_ms, "seconds"},
        {"timeout", 'w', option_seconds, &l->wait_ms, "seconds"},
        {"conflict-exit-code", 'E', option_int, &conflict, "0 to 255"},
        {"max-queue", 0, option_int, &max_queue, "a number from 1 on"},
        {"command", 'c', option_text, &g->text, "a text"},
        {"id", 'i', option_text, &l->id, "a text"},
        {"kill-signal", 0, take_signal, &h->kill_signal, "a signal such as TERM"},
        {"kill-after", 0, take_kill_after, &h->lease.kill_after_ms, "seconds or auto"},
        {"lock-delay", 0, option_seconds, &h->delay_ms, "seconds"},
        {"min-hold", 0, option_seconds, &h->min_hold_ms, "seconds"},
        {"stats", 0, option_text, &l->stats, "a file"},
        {"no-guardian", 0, option_on, &h->no_guardian, NULL},
        {"rw", 0, option_on, &l->rw, NULL},
        {"permits", 0, take_permits, l, permits_needs},
        {"also", 0, take_also, l, "a path"},
        {"any", 0, option_on, &g->several, NULL},
        {"on-revoke", 0, take_on_revoke, &l->on_revoke, "term or ignore"},
        is_once(l) ? every : none,
        OPTIONS_END};
    int rc = options_command(g, is_once(l) ? once_usage : usage, rows);
    h->path = g->path;
    l->any = g->several;
    if (rc == GO_ON && l->any && l->path_count > 0) {
        return options_refuse(g, "--also takes all, --any one: which of them?");
    }
    for (size_t i = 0; i < g->path_count; i++) { /* those of --also are behind */
        l->paths[i] = g->paths[i];
    }
    l->path_count += g->path_count;
    return rc;
}

/* Some options exclude each other. */
static int check_kind(struct lock *l)
{
    bool sided = l->shared || l->rw, permits = l->permits_max > 0;
    bool several = l->path_count > 1 && !l->any;
    const char *fault = NULL;
    if (is_once(l) && (l->any || several || sided || permits)) {
        fault = "one exclusive lock alone: no -s, --rw, --permits, --also or --any";
    } else if (is_once(l) && l->every_ms == 0) {
        fault = "how often? --every PERIOD says it";
    } else if (is_once(l) && !l->held.env->globals.command) {
        fault = "which COMMAND?";
    } else if ((l->any || several) && (sided || permits)) {
        fault = "--also and --any take exclusive locks alone: no -s, --rw or --permits";
    } else if (permits && sided) {
        fault = "--permits goes with neither -s nor --rw";
    } else if (l->max_queue > 0 && (l->any || several || sided || permits)) {
        fault =
            "--max-queue goes with one exclusive lock alone: no -s, --rw, --permits, "
            "--also or --any";
    } else if (l->on_revoke && (several || permits)) {
        fault = "--on-revoke: a holder with --also or --permits is never asked to "
                "release";
    }
    return fault ? options_refuse(&l->held.env->globals, "%s", fault) : GO_ON;
}

static int take_arguments(struct lock *l)
{
    enum { NO_WAIT_CONNECT_MS = 5000 };
    struct globals *g = &l->held.env->globals;
    int rc = take_options(l);
    rc = rc == GO_ON ? settings_take_rest(g) : rc;
    for (size_t i = 0; i < l->path_count && rc == GO_ON; i++) {
        rc = options_check_path(g, l->paths[i]);
    }
    rc = rc == GO_ON ? check_kind(l) : rc;
    if (l->wait_ms == 0 && !g->connect_given) {
        g->connect_ms = NO_WAIT_CONNECT_MS;
    }
    return rc;
}

/* --- the queue --- */

static int create_mutexes(struct lock *l, zkr_client *c)
{
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    zkr_rwlock_options both = ZKR_RWLOCK_OPTIONS_INIT;
    struct queue *first = l->queues;
    bool ignored = l->on_revoke && strcmp(l->on_revoke, "ignore") == 0;
    o.watch_node = both.watch_node = 1;
    o.tell_queued = both.tell_queued = l->held.env->globals.log_level > 0;
    o.max_waiters = l->max_queue;
    o.persistent_parent = l->every_ms > 0; /* for the record */
    o.on_revoke = both.on_revoke = ignored ? NULL : news_on_revoke;
    o.on_revoke_ctx = both.on_revoke_ctx = &l->held.news;
    if (l->shared || l->rw) {
        int rc = zkr_rwlock_create(&l->rwlock, c, l->held.path, &both);
        first->mutex =
            l->shared ? zkr_rwlock_reader(l->rwlock) : zkr_rwlock_writer(l->rwlock);
        return rc;
    }
    int rc = ZKR_OK;
    for (size_t i = 0; i < l->path_count && rc == ZKR_OK; i++) {
        rc = zkr_mutex_create(&l->queues[i].mutex, c, l->paths[i], &o);
    }
    return rc;
}

/* Sends nothing yet. */
static int create(struct lock *l)
{
    zkr_client *c = l->held.env->client;
    zkr_semaphore_options permits = ZKR_SEMAPHORE_OPTIONS_INIT;
    zkr_multi_lock_options several = ZKR_MULTI_LOCK_OPTIONS_INIT;
    permits.watch_node = several.watch_node = 1;
    several.tell_queued = l->held.env->globals.log_level > 0;
    return l->permits_max > 0 ? zkr_semaphore_create(&l->semaphore, c, l->held.path,
                                                     l->permits_max, &permits)
           : l->path_count > 1 && !l->any
               ? zkr_multi_lock_create(&l->multi, c, l->paths, l->path_count, &several)
               : create_mutexes(l, c);
}

/* Releases what is held, and leaves the queues. */
static void give_back(struct lock *l)
{
    grant_leave(&l->held.grant);
    for (size_t i = 0; i < l->path_count; i++) {
        (void)zkr_ticket_release(l->queues[i].ticket);
    }
    for (size_t i = 0; i < l->path_count; i++) {
        (void)zkr_ticket_destroy(
            l->queues[i].ticket); /* waits for a running callback */
        l->queues[i].ticket = NULL;
    }
}

static void destroy(struct lock *l)
{
    give_back(l);
    for (size_t i = 0; i < l->path_count && !l->rwlock; i++) {
        (void)zkr_mutex_destroy(l->queues[i].mutex);
    }
    (void)zkr_multi_lock_destroy(l->multi);
    (void)zkr_semaphore_destroy(l->semaphore);
    (void)zkr_rwlock_destroy(l->rwlock);
}

/* --- what others see as the owner --- */

/* The command on one line, cut off when it is long. */
static void put_command(FILE *out, char *const *command)
{
    enum { MOST = 256 };
    bool is_text = command[0] && command[1] && strcmp(command[1], "-c") == 0;
    int left = MOST;
    for (char *const *word = is_text ? command + 2 : command; *word; word++) {
        for (const char *s = *word; *s && left > 0;) {
            uint32_t point;
            size_t length = text_decode(s, &point);
            bool plain = length > 0 && point >= ' ' && point != 0x7f;
            left -= (int)(length > 0 ? length : 1);
            (void)fwrite(plain ? s : " ", 1, plain ? length : 1, out);
            s += length > 0 ? length : 1;
        }
        if (left <= 0) {
            (void)fputs("...", out);
            return;
        }
        (void)fputs(word[1] ? " " : "", out);
    }
}

static void put_user(FILE *out)
{
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
    const struct passwd *user = getpwuid(geteuid());
    (void)fprintf(out, "\nuser=%s", user ? user->pw_name : "");
    if (!user) {
        (void)fprintf(out, "%ld", (long)geteuid());
    }
}

/* "host/pid/thread", and fields that tell host, user and command. Allocated; NULL: out of memory. */
static char *owner_text(char *const *command)
{
    enum { HOST_ROOM = 256 };
    char host[HOST_ROOM] = "";
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return NULL;
    }
    (void)gethostname(host, sizeof(host) - 1);
    (void)fprintf(out, "%s/%ld/%ld\nhost=%s", host, (long)getpid(), (long)gettid(),
                  host);
    put_user(out);
    if (command) {
        (void)fputs("\ncommand=", out);
        put_command(out, command);
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* --- getting it --- */

/* Can the request exceed jute.maxbuffer? One request creates the nodes of all paths, or of all permits. */
static bool is_long(const struct lock *l)
{
    enum { MANY = 10 };
    return l->permits >= MANY || (l->multi && l->path_count >= MANY);
}

/* No server answers. @done: all nodes are known to be gone; otherwise zkr exits at once. */
static int no_answer(struct lock *l, bool done)
{
    int status = l->wait_ms == 0 ? CLI_SERVER : (int)l->conflict;
    (void)cli_fail(
        status,
        "no server answers in time about %.1000s%s; try again later, or check "
        "-z and the servers%s",
        l->held.path, done ? "" : "; what it may have left there goes with the session",
        is_long(l)
            ? ", whose jute.maxbuffer may be too small: one request creates all nodes"
            : "");
    if (!done) {
        client_exit(status);
    }
    return status;
}

static int conflict(const struct lock *l)
{
    return cli_fail((int)l->conflict,
                    l->permits_max > 0
                        ? "too few permits of %.1000s are free; 'zkr status %.1000s' "
                          "shows who has them"
                    : l->any
                        ? "%.1000s and the other paths are held by others; 'zkr status "
                          "%.1000s' and so on show by whom"
                    : l->path_count > 1
                        ? "%.1000s, or a path of --also, is held by another; 'zkr "
                          "status %.1000s' and so on show by whom"
                        : "%.1000s is held by another; 'zkr status %.1000s' shows by "
                          "whom",
                    l->held.path, l->held.path);
}

static int full(const struct lock *l)
{
    return cli_fail((int)l->conflict,
                    "%lld wait for %.1000s already; 'zkr status %.1000s' shows them",
                    (long long)l->max_queue, l->held.path, l->held.path);
}

/* Reports whether another client holds the lock, or no server answers. */
static int refuse(struct lock *l, int rc)
{
    bool held = rc == ZKR_ETIMEDOUT;
    if (rc == ZKR_OK) {
        return cli_fail((int)l->conflict,
                        "asked to release %.1000s before the command was started",
                        l->held.path);
    }
    if (rc == ZKR_EBUSY) {
        return full(l);
    }
    if (!held && rc != ZKR_ENOANSWER && rc != ZKR_ECANCELED && rc != ZKR_ECONNLOSS) {
        return cli_fail_rc(rc);
    }
    if (held && l->wait_ms == 0) { /* the try has just read the queue */
        return conflict(l);
    }
    give_back(l);
    bool done = client_is_done(l->held.env);
    return held && done ? conflict(l) : no_answer(l, done);
}

/* Joins the queue, and waits in it. Only -n makes a single try, which has no time limit in the library. */
static int obtain(struct lock *l)
{
    struct held *h = &l->held;
    int64_t ms = l->wait_ms;
    if (ms > 0) {
        int left = clock_left_ms(h->until);
        ms = left > 0 ? left : 1;
    }
    int rc = l->semaphore
                 ? zkr_semaphore_request(l->semaphore, (int)l->permits, ms,
                                         news_on_ticket, &h->news, &h->grant.ticket)
             : l->multi ? zkr_multi_lock_request(l->multi, ms, news_on_ticket, &h->news,
                                                 &h->grant.ticket)
                        : zkr_mutex_request(l->queues->mutex, ms, news_on_ticket,
                                            &h->news, &h->grant.ticket);
    return rc == ZKR_OK ? obtain_held(h, l->wait_ms == 0 ? h->until : NEVER)
                        : cli_fail_rc(rc);
}

/* --- getting one of several --- */

/* Joins one queue. Returns 0 or an exit code, reported. */
static int ask(struct lock *l, size_t i, int64_t ms)
{
    struct queue *q = &l->queues[i];
    int rc = zkr_mutex_request(q->mutex, ms, news_on_ticket, &l->held.news, &q->ticket);
    return rc == ZKR_OK ? 0 : cli_fail_rc(rc);
}

/* Takes the lock that is granted, and leaves the other queues. What they told meanwhile does not count. */
static int take(struct lock *l, size_t i)
{
    struct held *h = &l->held;
    zkr_ticket *granted = l->queues[i].ticket;
    l->queues[i].ticket = NULL;
    give_back(l);
    h->path = l->paths[i];
    h->grant.ticket = granted;
    held_reset(h);
    return obtain_held(h, h->until);
}

/*
 * One try at each path, in turn, so that never two are held: one that others may have at that moment is not refused to
 * them.
 */
static int try_each(struct lock *l)
{
    struct held *h = &l->held;
    int status = held_refuse(h, ZKR_ETIMEDOUT);
    for (size_t i = 0; i < l->path_count; i++) {
        int failure = ask(l, i, 0);
        status = failure == 0 ? take(l, i) : failure;
        if (status != HELD_REFUSED || h->refusal != ZKR_ETIMEDOUT) {
            return status;
        }
        grant_leave(&h->grant);
    }
    h->path = l->paths[0];
    return status;
}

enum { WAIT_ON = 0 };

/* The outcome of the wait, or WAIT_ON. It is over when one is granted, when one cannot be, or when all have timed out. */
static int look(struct lock *l)
{
    size_t late = 0;
    for (size_t i = 0; i < l->path_count; i++) {
        zkr_ticket *ticket = l->queues[i].ticket;
        int state = zkr_ticket_state(ticket);
        int rc = state == ZKR_TICKET_FAILED ? zkr_ticket_error(ticket) : ZKR_OK;
        bool timed_out = rc == ZKR_ETIMEDOUT || rc == ZKR_ENOANSWER;
        late += timed_out;
        if (state == ZKR_TICKET_HELD) {
            return take(l, i);
        }
        if (state == ZKR_TICKET_LOST) { /* before we came to look */
            return HELD_AGAIN;
        }
        if ((rc != ZKR_OK && !timed_out) || late == l->path_count) {
            return held_refuse(&l->held, rc);
        }
    }
    return WAIT_ON;
}

/* Tries the paths in turn. If all are held, waits in all queues for the first grant. */
static int obtain_any(struct lock *l)
{
    enum { LOOK_MS = 1000 };
    struct held *h = &l->held;
    int status = try_each(l);
    bool again = status == HELD_REFUSED && zkr_err_retriable(h->refusal);
    if (!again || l->wait_ms == 0) {
        return status;
    }
    grant_leave(&h->grant);
    status = WAIT_ON;
    for (size_t i = 0; i < l->path_count && status == WAIT_ON; i++) {
        status =
            ask(l, i, h->until == NEVER ? ZKR_FOREVER : clock_left_ms(h->until) + 1);
    }
    while (status == WAIT_ON) {
        status = look(l);
        if (status == WAIT_ON) {
            obtain_say_slow(h);
            status = held_pause(h, LOOK_MS);
        }
    }
    return status;
}

/* --- the hold --- */

/* Ends what once_begin() asks. */
static void cancel(void *held)
{
    grant_cancel(&((const struct held *)held)->grant);
}

/* Of zkr once: see once_begin(). */
static int begin_once(struct lock *l)
{
    struct interrupt interrupt;
    struct held *h = &l->held;
    if (!interrupt_begin(&interrupt, &h->env->signals, NEVER, cancel, h)) {
        return cli_fail_thread();
    }
    int status = once_begin(h, l->every_ms);
    int signo = interrupt_end(&interrupt);
    return signo ? cli_exit_signal(signo) : status;
}

/* Each holder counts with its own maximum. The maximum of the others need not be readable. */
static int compare_max(void *ctx)
{
    const struct lock *l = ctx;
    zkr_contenders *leases = NULL;
    (void)zkr_semaphore_holders(l->semaphore, &leases);
    int64_t max = view_max(leases);
    zkr_contenders_free(leases);
    if (max > 0 && max != l->permits_max) {
        cli_note("others hold permits of %.1000s with a maximum of %" PRId64
                 ", this one counts with %" PRId64 ": give the same maximum everywhere",
                 l->held.path, max, l->permits_max);
    }
    return 0;
}

/* Joins the queue and waits. A lock that is lost before the command starts is queued for again. */
static int get(struct lock *l)
{
    struct held *h = &l->held;
    int status = HELD_AGAIN;
    while (status == HELD_AGAIN) {
        status = l->any ? obtain_any(l) : obtain(l);
        status = status == HELD_REFUSED ? refuse(l, h->refusal) : status;
        if (status == HELD_START && is_once(l)) {
            status = begin_once(l);
        }
        if (status != HELD_START) {
            give_back(l);
            held_reset(h);
        }
    }
    return status;
}

static int begin(struct lock *l)
{
    struct held *h = &l->held;
    int64_t wait = l->wait_ms == 0 ? h->env->globals.connect_ms : l->wait_ms;
    h->until = wait == ZKR_FOREVER ? NEVER : h->started + wait;
    h->what = l->permits_max > 0 ? "permits of" : "lock on";
    h->revocable = l->permits_max == 0 && (l->any || l->path_count == 1);
    char *owner = l->id ? NULL : owner_text(h->env->globals.command);
    int status = held_begin(h, owner ? owner : l->id);
    free(owner);
    if (status != 0) {
        return status;
    }
    int rc = create(l);
    if (rc != ZKR_OK) {
        return cli_fail_rc(rc);
    }
    return l->stats ? stats_begin(h->env->client, l->stats, h->path) : 0;
}

static int run(struct lock *l)
{
    int status = begin(l);
    if (status == 0) {
        obtain_say_waiting(&l->held);
        status = held_connect(&l->held);
    }
    if (status == 0 && l->semaphore) {
        status = client_work(l->held.env, l->held.until, compare_max, l);
    }
    status = status == 0 ? get(l) : status;
    if (status == HELD_START) {
        status = use_held(&l->held);
        status = once_end(&l->held, status);
    }
    destroy(l);
    return held_end(&l->held, status);
}

int cmd_lock(struct env *env)
{
    struct lock l = {.wait_ms = ZKR_FOREVER, .conflict = CLI_HELD};
    l.held = (struct held){.env = env,
                           .once = true,
                           .kill_signal = SIGTERM,
                           .lease = {.kill_after_ms = -1},
                           .started = clock_now_ms()};
    size_t most = (size_t)env->globals.argc + 1;
    l.paths = calloc(most, sizeof(*l.paths));
    l.queues = calloc(most, sizeof(*l.queues));
    int status = l.paths && l.queues ? take_arguments(&l) : cli_fail_memory();
    if (status == GO_ON) {
        status = run(&l);
    }
    free(l.paths);
    free(l.queues);
    return status;
}
