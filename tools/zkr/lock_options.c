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
    "       zkr [OPTION]... lock [OPTION]... --any PATH... [-- COMMAND]\n"
    "\n"
    "Runs COMMAND while holding the lock at PATH. Without COMMAND, prints one line,\n"
    "and holds the lock until a signal or the end of standard input.\n"
    "\n"
    "  -n, --nb, --nonblock, --nonblocking\n"
    "                                fail rather than wait\n"
    "  -w, --wait, --timeout SEC     wait at most SEC seconds, including the time to\n"
    "                                connect; 0 is the same as -n\n"
    "      --max-queue N             fail if N or more contenders are waiting\n"
    "  -q                            print nothing if others hold the lock\n"
    "  -E, --conflict-exit-code N    exit status if the lock was not obtained;\n"
    "                                default 1\n"
    "  -x, -e, --exclusive           take an exclusive lock (the default)\n"
    "  -s, --shared                  take a shared lock\n"
    "      --rw                      take -x like a writer of Curator's\n"
    "                                ReadWriteLock; see zkr(1)\n"
    "      --permits [N/]MAX         take N permits, or 1, of a semaphore with MAX\n"
    "      --also PATH               also take this lock, all or none; repeatable\n"
    "      --any                     take the first free lock of several\n"
    "      --on-revoke term|ignore   on 'zkr revoke', end COMMAND and release (the\n"
    "                                default), or continue\n"
    "  -c, --command TEXT            run TEXT in a shell\n"
    "  -i, --id ID                   the owner that others see\n"
    "      --kill-signal SIG         signal for COMMAND when the lock is in doubt;\n"
    "                                default TERM\n"
    "      --kill-after SEC          time from that signal to SIGKILL; default auto\n"
    "      --warn-signal SIG         signal for COMMAND before the kill signal, to\n"
    "                                save its work\n"
    "      --warn-before SEC         time from the warning to the kill signal\n"
    "      --lock-delay SEC          if the lock was not free at once, wait SEC\n"
    "                                seconds before starting COMMAND; default 0\n"
    "      --min-hold SEC            hold the lock for at least SEC seconds, even if\n"
    "                                COMMAND ends sooner; default 0\n"
    "      --stats FILE              write metrics to FILE, for node_exporter\n"
    "      --no-guardian             if zkr is killed by SIGKILL, free the lock only\n"
    "                                when the session times out\n"
    "      --verbose                 report how long zkr waited, and what it holds\n"
    "  -o, --close                   accepted, without effect\n";

static const char once_usage[] =
    "usage: zkr [OPTION]... once --every PERIOD [OPTION]... PATH COMMAND [ARG]...\n"
    "       zkr [OPTION]... once --every PERIOD [OPTION]... PATH -c 'SHELL TEXT'\n"
    "\n"
    "Runs COMMAND while holding the lock at PATH, unless a run has succeeded within\n"
    "PERIOD on this or another host. Records each success at PATH.\n"
    "\n"
    "      --every PERIOD            seconds, or with a unit: 90, 30m, 1h, 1d\n"
    "  -n, --nb, --nonblock, --nonblocking\n"
    "                                fail rather than wait if COMMAND runs elsewhere\n"
    "  -w, --wait, --timeout SEC     wait at most SEC seconds, including the time to\n"
    "                                connect; 0 is the same as -n\n"
    "  -q                            print nothing if COMMAND runs elsewhere\n"
    "  -E, --conflict-exit-code N    exit status if COMMAND runs elsewhere; default 1\n"
    "  -c, --command TEXT            run TEXT in a shell\n"
    "      --verbose                 report why COMMAND was not run\n"
    "\n"
    "The other options of zkr lock for an exclusive lock are also accepted.\n";

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
    "MAX or N/MAX, with N from 1 to MAX and at most " TEXT(ZKR_SEMAPHORE_PERMITS_MAX);

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
        {"unlock", 'u', NULL, NULL,
         "not supported; to release a lock, send a signal to its zkr"},
        {"no-fork", 'F', NULL, NULL, "not supported; zkr must run to keep its session"},
        {"close", 'o', option_on, &ignored, NULL},
        {"nb", 'n', take_no_wait, &o->wait_ms, NULL},
        {"nonblock", 'n', take_no_wait, &o->wait_ms, NULL},
        {"nonblocking", 'n', take_no_wait, &o->wait_ms, NULL},
        {"wait", 'w', option_seconds, &o->wait_ms, "seconds"},
        {"timeout", 'w', option_seconds, &o->wait_ms, "seconds"},
        {NULL, 'q', option_on, &o->quiet, NULL},
        {"conflict-exit-code", 'E', option_int, &conflict, "a number from 0 to 255"},
        {"max-queue", 0, option_int, &max_queue, "a number of at least 1"},
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
        return options_refuse(g, "--also takes all locks, but --any takes one; give "
                                 "only one of these options");
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
         "zkr once takes a single exclusive lock; remove -s, --rw, --permits, --also "
         "or --any"},
        {once && o->every_ms == 0, "--every PERIOD is missing"},
        {once && !g->command, "COMMAND is missing"},
        {(o->any || several) && (sided || permits),
         "--also and --any take only exclusive locks; remove -s, --rw or --permits"},
        {permits && sided, "--permits cannot be combined with -s or --rw"},
        {o->max_queue > 0 && (o->any || several || sided || permits),
         "--max-queue works only with a single exclusive lock; remove -s, --rw, "
         "--permits, --also or --any"},
        {o->on_revoke && (several || permits),
         "--on-revoke cannot be combined with --also or --permits, because such a "
         "holder is never asked to release"},
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
