/* SPDX-License-Identifier: Apache-2.0 */
#include "lock_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "options.h"
#include "parse.h"
#include "settings.h"

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
    "  -q                            say nothing if others hold it\n"
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
    "      --warn-signal SIG         the signal it gets once before that, to save its "
    "work\n"
    "      --warn-before SEC         so long before the kill signal\n"
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
    "  -q                            say nothing if it runs elsewhere\n"
    "  -E, --conflict-exit-code N    exit code if it ran elsewhere; default 1\n"
    "  -c, --command TEXT            give TEXT to the shell\n"
    "      --verbose                 say why it was not run\n\n"
    "The options of zkr lock for exclusive locks are there as well.\n";

static bool take_no_wait(void *wait_ms, char *value)
{
    (void)value;
    *(int64_t *)wait_ms = 0;
    return true;
}

/* A negative time means automatic. */
static bool take_kill_after(void *to, char *value)
{
    *(int64_t *)to = -1;
    return strcmp(value, "auto") == 0 || parse_seconds(value, to);
}

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
static const char permits_needs[] =
    "MAX or N/MAX, N from 1 to MAX and at most " TEXT(ZKR_SEMAPHORE_PERMITS_MAX);

static bool take_permits(void *options, char *value)
{
    struct lock_options *o = options;
    char *slash = strchr(value, '/');
    bool fine = parse_int(slash ? slash + 1 : value, 1, INT32_MAX, &o->permits_max);
    o->permits = 1;
    if (slash && fine) {
        *slash = '\0';
        fine = parse_int(value, 1, ZKR_SEMAPHORE_PERMITS_MAX, &o->permits) &&
               o->permits <= o->permits_max;
        *slash = '/';
    }
    return fine;
}

static bool take_also(void *options, char *value)
{
    struct lock_options *o = options;
    o->paths[++o->path_count] = value; /* paths[0] is PATH */
    return true;
}

static bool take_on_revoke(void *to, char *value)
{
    *(const char **)to = value;
    return strcmp(value, "ignore") == 0 || strcmp(value, "term") == 0;
}

/* Takes a time such as 90, 30m, 1.5h or 1d, and converts it to milliseconds. */
static bool take_period(void *every_ms, char *value)
{
    static const struct {
        char letter;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    size_t length = strlen(value);
    char *last = length > 0 ? value + length - 1 : value;
    int64_t times = 1, *to = every_ms;
    char unit = *last;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (unit == units[i].letter) {
            times = units[i].seconds;
            *last = '\0';
        }
    }
    bool fine = parse_seconds(value, to) && *to > 0;
    *last = unit;
    *to = fine ? *to * times : 0;
    return fine;
}

static bool is_once(const struct globals *g)
{
    return strcmp(g->subcommand, "once") == 0;
}

static int take_rows(struct lock_options *o, struct held *h)
{
    bool ignored;
    struct globals *g = &h->env->globals;
    struct option_range conflict = {&o->conflict, 0, 255};
    struct option_range max_queue = {&o->max_queue, 1, INT32_MAX};
    const struct option_row every = {"every", 0, take_period, &o->every_ms,
                                     "a period such as 90, 30m, 1h or 1d"};
    const struct option_row none = OPTIONS_END;
    const struct option_row rows[] = {
        {"exclusive", 'x', option_off, &o->shared, NULL},
        {NULL, 'e', option_off, &o->shared, NULL},
        {"shared", 's', option_on, &o->shared, NULL},
        {"unlock", 'u', NULL, NULL, "a lock ends with its zkr; send that a signal"},
        {"no-fork", 'F', NULL, NULL, "zkr has to stay, to mind the session"},
        {"close", 'o', option_on, &ignored, NULL},
        {"nb", 'n', take_no_wait, &o->wait_ms, NULL},
        {"nonblock", 'n', take_no_wait, &o->wait_ms, NULL},
        {"nonblocking", 'n', take_no_wait, &o->wait_ms, NULL},
        {"wait", 'w', option_seconds, &o->wait_ms, "seconds"},
        {"timeout", 'w', option_seconds, &o->wait_ms, "seconds"},
        {NULL, 'q', option_on, &o->quiet, NULL},
        {"conflict-exit-code", 'E', option_int, &conflict, "0 to 255"},
        {"max-queue", 0, option_int, &max_queue, "a number from 1 on"},
        {"command", 'c', option_text, &g->text, "a text"},
        {"id", 'i', option_text, &o->id, "a text"},
        {"kill-signal", 0, option_signal, &h->kill_signal, "a signal such as TERM"},
        {"kill-after", 0, take_kill_after, &h->lease.kill_after_ms, "seconds or auto"},
        {"warn-signal", 0, option_signal, &h->warn_signal, "a signal such as USR1"},
        {"warn-before", 0, option_seconds, &h->lease.warn_ms, "seconds"},
        {"lock-delay", 0, option_seconds, &h->delay_ms, "seconds"},
        {"min-hold", 0, option_seconds, &h->min_hold_ms, "seconds"},
        {"stats", 0, option_text, &o->stats, "a file"},
        {"no-guardian", 0, option_on, &h->no_guardian, NULL},
        {"rw", 0, option_on, &o->rw, NULL},
        {"permits", 0, take_permits, o, permits_needs},
        {"also", 0, take_also, o, "a path"},
        {"any", 0, option_on, &g->several, NULL},
        {"on-revoke", 0, take_on_revoke, &o->on_revoke, "term or ignore"},
        is_once(g) ? every : none,
        OPTIONS_END};
    int rc = options_command(g, is_once(g) ? once_usage : usage, rows);
    h->path = g->path;
    o->any = g->several;
    if (rc == GO_ON && o->any && o->path_count > 0) {
        return options_refuse(g, "--also takes all, --any one: which of them?");
    }
    for (size_t i = 0; i < g->path_count; i++) { /* the paths of --also follow */
        o->paths[i] = g->paths[i];
    }
    o->path_count += g->path_count;
    return rc;
}

/* Refuses options that exclude each other. */
static int check_kind(const struct lock_options *o, const struct held *h)
{
    const struct globals *g = &h->env->globals;
    bool sided = o->shared || o->rw, permits = o->permits_max > 0;
    bool several = o->path_count > 1 && !o->any, once = is_once(g);
    const struct option_fault faults[] = {
        held_warning_fault(h),
        {once && (o->any || several || sided || permits),
         "one exclusive lock alone: no -s, --rw, --permits, --also or --any"},
        {once && o->every_ms == 0, "how often? --every PERIOD says it"},
        {once && !g->command, "which COMMAND?"},
        {(o->any || several) && (sided || permits),
         "--also and --any take exclusive locks alone: no -s, --rw or --permits"},
        {permits && sided, "--permits goes with neither -s nor --rw"},
        {o->max_queue > 0 && (o->any || several || sided || permits),
         "--max-queue goes with one exclusive lock alone: no -s, --rw, --permits, "
         "--also or --any"},
        {o->on_revoke && (several || permits),
         "--on-revoke: a holder with --also or --permits is never asked to release"},
        OPTION_FAULTS_END};
    return options_check(g, faults);
}

int lock_options_take(struct lock_options *o, struct held *h)
{
    enum { NO_WAIT_CONNECT_MS = 5000 };
    struct globals *g = &h->env->globals;
    int rc = take_rows(o, h);
    rc = rc == GO_ON ? settings_take_rest(g) : rc;
    for (size_t i = 0; i < o->path_count && rc == GO_ON; i++) {
        rc = options_check_path(g, o->paths[i]);
    }
    rc = rc == GO_ON ? check_kind(o, h) : rc;
    if (o->wait_ms == 0 && !g->connect_given) {
        g->connect_ms = NO_WAIT_CONNECT_MS;
    }
    return rc;
}

bool lock_options_begin(struct lock_options *o, const struct globals *g)
{
    *o = (struct lock_options){.wait_ms = ZKR_FOREVER, .conflict = CLI_HELD};
    o->paths = calloc((size_t)g->argc + 1, sizeof(*o->paths));
    return o->paths != NULL;
}

void lock_options_end(struct lock_options *o)
{
    free(o->paths);
}
