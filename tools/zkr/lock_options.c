/* SPDX-License-Identifier: Apache-2.0 */
#include "lock_options.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <zkr/semaphore.h>

#include "cli.h"
#include "config.h"

static const char usage[] =
    "usage: zkr [OPTION]... lock [OPTION]... PATH COMMAND [ARGUMENT]...\n"
    "       zkr [OPTION]... lock [OPTION]... PATH -c 'SHELL TEXT'\n"
    "       zkr [OPTION]... lock [OPTION]... PATH\n"
    "\n"
    "Runs COMMAND while holding the lock at PATH. Without one: prints the holder "
    "line,\n"
    "then holds until a signal or the end of its input.\n"
    "\n"
    "  -n, --nb, --nonblock          fail rather than wait\n"
    "  -w, --wait, --timeout SEC     wait at most this long, connecting included;\n"
    "                                0 = -n\n"
    "  -E, --conflict-exit-code N    exit code if it was not obtained; default 1\n"
    "  -x, -e, --exclusive           the default\n"
    "  -s, --shared                  together with others that hold it by -s\n"
    "      --rw                      -x like a writer of Curator's ReadWriteLock, see "
    "zkr(1)\n"
    "      --permits [N/]MAX         N permits, or 1, of the MAX of a semaphore\n"
    "      --also PATH               also this lock, all or none; may be repeated\n"
    "      --on-revoke term|ignore   on 'zkr revoke', end the command and release "
    "(the\n"
    "                                default), or go on\n"
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
    "      --verbose                 say how long it took and what is held\n"
    "  -o, --close                   accepted, no effect\n"
    "  -h, --help\n"
    "  -V, --version\n";

enum {
    OPTION_KILL_SIGNAL = OPTION_OWN,
    OPTION_KILL_AFTER,
    OPTION_LOCK_DELAY,
    OPTION_MIN_HOLD,
    OPTION_STATS,
    OPTION_RW,
    OPTION_PERMITS,
    OPTION_ALSO,
    OPTION_ON_REVOKE
};

static int take_number(struct lock_options *o, int option)
{
    switch (option) {
    case 'w':
        return cli_parse_seconds(optarg, &o->wait_ms)
                   ? OPTIONS_GO_ON
                   : options_refuse("lock", "-w needs seconds, not '%s'", optarg);
    case 'E':
        return cli_parse_int(optarg, 0, 255, &o->conflict)
                   ? OPTIONS_GO_ON
                   : options_refuse("lock", "-E needs 0 to 255, not '%s'", optarg);
    case OPTION_KILL_SIGNAL:
        return cli_parse_signal(optarg, &o->kill_signal)
                   ? OPTIONS_GO_ON
                   : options_refuse(
                         "lock", "--kill-signal needs a signal such as TERM, not '%s'",
                         optarg);
    case OPTION_LOCK_DELAY:
        return cli_parse_seconds(optarg, &o->delay_ms)
                   ? OPTIONS_GO_ON
                   : options_refuse("lock", "--lock-delay needs seconds, not '%s'",
                                    optarg);
    case OPTION_MIN_HOLD:
        return cli_parse_seconds(optarg, &o->min_hold_ms)
                   ? OPTIONS_GO_ON
                   : options_refuse("lock", "--min-hold needs seconds, not '%s'",
                                    optarg);
    default:
        if (strcmp(optarg, "auto") == 0) {
            o->kill_after_ms = -1;
            return OPTIONS_GO_ON;
        }
        return cli_parse_seconds(optarg, &o->kill_after_ms)
                   ? OPTIONS_GO_ON
                   : options_refuse("lock",
                                    "--kill-after needs seconds or auto, not '%s'",
                                    optarg);
    }
}

static int take_permits(struct lock_options *o)
{
    char *slash = strchr(optarg, '/');
    const char *most = slash ? slash + 1 : optarg;
    bool fine = cli_parse_int(most, 1, INT32_MAX, &o->permits_max);
    o->permits = 1;
    if (slash && fine) {
        *slash = '\0';
        fine = cli_parse_int(optarg, 1, ZKR_SEMAPHORE_PERMITS_MAX, &o->permits) &&
               o->permits <= o->permits_max;
        *slash = '/';
    }
    return fine ? OPTIONS_GO_ON
                : options_refuse("lock",
                                 "--permits needs MAX or N/MAX, N from 1 to MAX and at "
                                 "most %d, not '%s'",
                                 ZKR_SEMAPHORE_PERMITS_MAX, optarg);
}

static int take_on_revoke(struct lock_options *o)
{
    o->on_revoke_given = true;
    o->ignores_wishes = strcmp(optarg, "ignore") == 0;
    return o->ignores_wishes || strcmp(optarg, "term") == 0
               ? OPTIONS_GO_ON
               : options_refuse("lock", "--on-revoke needs term or ignore, not '%s'",
                                optarg);
}

static int take_option(struct lock_options *o, int option, char **argv)
{
    switch (option) {
    case 'x':
    case 'e':
        o->shared = false;
        return OPTIONS_GO_ON;
    case 's':
        o->shared = true;
        return OPTIONS_GO_ON;
    case OPTION_RW:
        o->rw = true;
        return OPTIONS_GO_ON;
    case OPTION_PERMITS:
        return take_permits(o);
    case OPTION_ALSO:
        o->paths[++o->path_count] = optarg; /* the first is PATH */
        return OPTIONS_GO_ON;
    case OPTION_ON_REVOKE:
        return take_on_revoke(o);
    case 'o':
        return OPTIONS_GO_ON;
    case 'n':
        o->wait_ms = 0;
        return OPTIONS_GO_ON;
    case 'w':
    case 'E':
    case OPTION_KILL_SIGNAL:
    case OPTION_KILL_AFTER:
    case OPTION_LOCK_DELAY:
    case OPTION_MIN_HOLD:
        return take_number(o, option);
    case 'c':
        o->command.text = optarg;
        return OPTIONS_GO_ON;
    case 'i':
        o->id = optarg;
        return OPTIONS_GO_ON;
    case OPTION_STATS:
        o->stats = optarg;
        return OPTIONS_GO_ON;
    case 'u':
        return options_refuse("lock",
                              "-u: a lock ends with its zkr; send that a signal");
    case 'F':
        return options_refuse("lock", "-F: zkr has to stay, to mind the session");
    default:
        return options_take(o->globals, option, argv, usage);
    }
}

static int take_options(struct lock_options *o, int argc, char **argv)
{
    static const struct option table[] = {
        {"exclusive", no_argument, NULL, 'x'},
        {"shared", no_argument, NULL, 's'},
        {"unlock", no_argument, NULL, 'u'},
        {"no-fork", no_argument, NULL, 'F'},
        {"close", no_argument, NULL, 'o'},
        {"nb", no_argument, NULL, 'n'},
        {"nonblock", no_argument, NULL, 'n'},
        {"wait", required_argument, NULL, 'w'},
        {"timeout", required_argument, NULL, 'w'},
        {"conflict-exit-code", required_argument, NULL, 'E'},
        {"command", required_argument, NULL, 'c'},
        {"id", required_argument, NULL, 'i'},
        {"kill-signal", required_argument, NULL, OPTION_KILL_SIGNAL},
        {"kill-after", required_argument, NULL, OPTION_KILL_AFTER},
        {"lock-delay", required_argument, NULL, OPTION_LOCK_DELAY},
        {"min-hold", required_argument, NULL, OPTION_MIN_HOLD},
        {"stats", required_argument, NULL, OPTION_STATS},
        {"rw", no_argument, NULL, OPTION_RW},
        {"permits", required_argument, NULL, OPTION_PERMITS},
        {"also", required_argument, NULL, OPTION_ALSO},
        {"on-revoke", required_argument, NULL, OPTION_ON_REVOKE},
        OPTIONS_ROWS,
        {NULL, 0, NULL, 0}};
    int option;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
    while ((option = getopt_long(argc, argv, "+:xesuFonw:E:c:i:" OPTIONS_LETTERS, table,
                                 NULL)) != -1) {
        int rc = take_option(o, option, argv);
        if (rc != OPTIONS_GO_ON) {
            return rc;
        }
    }
    return OPTIONS_GO_ON;
}

/* What stands behind the options: PATH and the command. */
static int take_operands(struct lock_options *o, char **operands)
{
    o->path = operands[0];
    if (!o->path) {
        return options_refuse("lock", "which PATH?");
    }
    if (operands[1] && options_is_late(operands[1]) && !command_is_c(operands[1])) {
        return options_refuse_late("lock", operands[1]);
    }
    int rc = command_take(&o->command, "lock", operands + 1);
    o->paths[0] = o->path;
    o->path_count++;
    if (rc == OPTIONS_GO_ON) {
        rc = config_take(o->globals);
    }
    for (size_t i = 0; i < o->path_count && rc == OPTIONS_GO_ON; i++) {
        rc = options_check_path(o->globals, o->paths[i]);
    }
    return rc;
}

/* Which lock it is; some options do not go together. */
static int choose_kind(struct lock_options *o)
{
    bool sided = o->shared || o->rw, several = o->path_count > 1;
    if (several && (sided || o->permits_max > 0)) {
        return options_refuse("lock", "--also takes exclusive locks alone: no -s, --rw "
                                      "or --permits");
    }
    if (o->permits_max > 0 && sided) {
        return options_refuse("lock", "--permits goes with neither -s nor --rw");
    }
    if (o->on_revoke_given && (several || o->permits_max > 0)) {
        return options_refuse("lock",
                              "--on-revoke: a holder with --also or --permits is "
                              "never asked to release");
    }
    o->kind = several              ? LOCK_SEVERAL
              : o->permits_max > 0 ? LOCK_PERMITS
              : o->shared          ? LOCK_READ
              : o->rw              ? LOCK_WRITE
                                   : LOCK_PLAIN;
    return OPTIONS_GO_ON;
}

void lock_options_end(struct lock_options *o)
{
    free(o->paths);
}

int lock_options_take(struct lock_options *o,
                      struct globals *globals,
                      int argc,
                      char **argv)
{
    enum { NO_WAIT_CONNECT_MS = 5000 };
    *o = (struct lock_options){.globals = globals,
                               .wait_ms = ZKR_FOREVER,
                               .conflict = CLI_HELD,
                               .kill_after_ms = -1,
                               .kill_signal = SIGTERM};
    o->paths = calloc((size_t)argc + 1, sizeof(*o->paths));
    if (!o->paths) {
        return cli_fail(CLI_INTERNAL, "out of memory");
    }
    int rc = take_options(o, argc, argv);
    if (rc == OPTIONS_GO_ON) {
        rc = take_operands(o, argv + optind);
    }
    if (rc == OPTIONS_GO_ON) {
        rc = choose_kind(o);
    }
    if (o->wait_ms == 0 && !globals->connect_given) {
        globals->connect_ms = NO_WAIT_CONNECT_MS;
    }
    return rc;
}
