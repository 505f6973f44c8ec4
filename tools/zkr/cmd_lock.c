/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock: run a command while holding a lock. */
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zkr/zkr.h>

#include "cli.h"
#include "commands.h"
#include "connect.h"
#include "hold.h"

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
    "  -w, --wait, --timeout SEC     wait at most so long; 0 = -n\n"
    "  -E, --conflict-exit-code N    exit code when it was not obtained; default 1\n"
    "  -x, -e, --exclusive           the default\n"
    "  -c, --command TEXT            give TEXT to the shell\n"
    "  -i, --id ID                   what others see as the owner\n"
    "      --kill-signal SIG         how the command is told to end when the lock is\n"
    "                                in doubt; default TERM\n"
    "      --kill-after SEC          how long after that it is killed; default auto\n"
    "      --verbose                 say how long it took and what is held\n"
    "  -o, --close                   accepted, no effect\n"
    "  -h, --help\n"
    "  -V, --version\n";

enum { OPTION_KILL_SIGNAL = OPTION_OWN, OPTION_KILL_AFTER };

struct lock {
    struct env *env;
    const char *path;
    char **command; /* NULL: none */
    char *shell[4]; /* a command, for -c */
    const char *text;
    const char *id;
    int64_t wait_ms; /* or ZKR_FOREVER */
    int64_t conflict;
    int64_t kill_after_ms; /* negative: auto */
    int kill_signal;
    int64_t started;
    int64_t granted;

    zkr_client *client;
    zkr_mutex *mutex;
    struct hold hold;
    _Atomic(int64_t) token; /* of the hold in use, for on_lost() */
};

/* --- options --- */

static int take_number(struct lock *l, int option)
{
    switch (option) {
    case 'w':
        return cli_parse_seconds(optarg, &l->wait_ms)
                   ? OPTIONS_GO_ON
                   : options_refuse("lock", "-w wants seconds, not '%s'", optarg);
    case 'E':
        return cli_parse_int(optarg, 0, 255, &l->conflict)
                   ? OPTIONS_GO_ON
                   : options_refuse("lock", "-E wants 0 to 255, not '%s'", optarg);
    case OPTION_KILL_SIGNAL:
        return cli_parse_signal(optarg, &l->kill_signal)
                   ? OPTIONS_GO_ON
                   : options_refuse(
                         "lock", "--kill-signal wants a signal such as TERM, not '%s'",
                         optarg);
    default:
        if (strcmp(optarg, "auto") == 0) {
            l->kill_after_ms = -1;
            return OPTIONS_GO_ON;
        }
        return cli_parse_seconds(optarg, &l->kill_after_ms)
                   ? OPTIONS_GO_ON
                   : options_refuse("lock",
                                    "--kill-after wants seconds or auto, not '%s'",
                                    optarg);
    }
}

static int take_option(struct lock *l, int option, char **argv)
{
    switch (option) {
    case 'x':
    case 'e':
    case 'o':
        return OPTIONS_GO_ON;
    case 'n':
        l->wait_ms = 0;
        return OPTIONS_GO_ON;
    case 'w':
    case 'E':
    case OPTION_KILL_SIGNAL:
    case OPTION_KILL_AFTER:
        return take_number(l, option);
    case 'c':
        l->text = optarg;
        return OPTIONS_GO_ON;
    case 'i':
        l->id = optarg;
        return OPTIONS_GO_ON;
    case 's':
        return options_refuse("lock", "-s: there are no shared locks yet");
    case 'u':
        return options_refuse("lock",
                              "-u: a lock ends with its zkr; send that a signal");
    case 'F':
        return options_refuse("lock", "-F: zkr has to stay, to mind the session");
    default:
        return globals_take(&l->env->globals, option, argv, usage);
    }
}

static int take_options(struct lock *l, int argc, char **argv)
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
        OPTIONS_ROWS,
        {NULL, 0, NULL, 0}};
    int option;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
    while ((option = getopt_long(argc, argv, "+:xesuFonw:E:c:i:" OPTIONS_LETTERS, table,
                                 NULL)) != -1) {
        int rc = take_option(l, option, argv);
        if (rc != OPTIONS_GO_ON) {
            return rc;
        }
    }
    return OPTIONS_GO_ON;
}

static bool is_c(const char *word)
{
    return strcmp(word, "-c") == 0 || strcmp(word, "--command") == 0;
}

/* As flock does: $SHELL -c TEXT. */
static void use_shell(struct lock *l, char *text)
{
    static char sh[] = "/bin/sh", c[] = "-c";
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
    char *shell = getenv("SHELL");
    l->shell[0] = shell && *shell ? shell : sh;
    l->shell[1] = c;
    l->shell[2] = text;
    l->command = l->shell;
}

/* What stands behind the options: PATH and the command. */
static int take_operands(struct lock *l, int argc, char **argv)
{
    if (argc < 1) {
        return options_refuse("lock", "which PATH?");
    }
    l->path = argv[0];
    char **rest = argv + 1;
    if (*rest && is_c(*rest)) {
        if (argc != 3 || l->text) {
            return options_refuse("lock", "-c wants one text, and no command besides");
        }
        use_shell(l, rest[1]);
    } else if (l->text) {
        if (*rest) {
            return options_refuse("lock", "-c wants one text, and no command besides");
        }
        use_shell(l, (char *)(uintptr_t)l->text);
    } else if (*rest) {
        l->command = rest;
    }
    return OPTIONS_GO_ON;
}

/* --- getting it --- */

static void on_lost(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    struct lock *l = ctx;
    (void)m;
    if (lost->fencing_token ==
        atomic_load(&l->token)) { /* not one that was never used */
        loss_tell(&l->hold.loss);
    }
}

static void cancel(void *ctx)
{
    (void)zkr_mutex_cancel(ctx);
}

static int64_t valid_for(void *ctx)
{
    return zkr_mutex_valid_for_ms(ctx);
}

static int open_all(struct lock *l)
{
    if (!loss_begin(&l->hold.loss)) {
        return cli_fail(CLI_INTERNAL, "out of descriptors");
    }
    int status = connect_open(&l->client, &l->env->globals, l->id);
    if (status != 0) {
        return status;
    }
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.on_lost = on_lost;
    o.on_lost_ctx = l;
    o.watch_node = 1;
    int rc = zkr_mutex_create(&l->mutex, l->client, l->path, &o);
    l->hold.lease.valid_for_ms = valid_for;
    l->hold.lease.ctx = l->mutex;
    return rc == ZKR_OK ? 0 : cli_fail_rc(rc);
}

/* What is left of -w; connecting counts, but one try is always made. */
static int64_t time_left(const struct lock *l)
{
    int64_t used = cli_now_ms() - l->started;
    return l->wait_ms == ZKR_FOREVER ? ZKR_FOREVER
           : used < l->wait_ms       ? l->wait_ms - used
                                     : 0;
}

/* What is held; a code of the library when the hold is over already. */
static int read_hold(struct lock *l)
{
    struct hold *h = &l->hold;
    h->path = l->path;
    h->what = "lock on";
    h->session_id = zkr_client_session_id(l->client);
    int rc = zkr_mutex_node(l->mutex, h->node, sizeof(h->node));
    if (rc == ZKR_OK) {
        rc = zkr_mutex_fencing_token(l->mutex, &h->token);
    }
    if (rc == ZKR_OK) {
        atomic_store(&l->token, h->token);
    }
    return rc;
}

static int64_t requests(const struct lock *l)
{
    zkr_stats stats = {.requests = 0};
    (void)zkr_client_stats(l->client, &stats, sizeof(stats));
    return stats.requests;
}

/* Out of the queue; what is still said of this hold is not meant for the next. */
static void give_back(struct lock *l)
{
    (void)zkr_mutex_release(l->mutex);
    atomic_store(&l->token, 0);
    loss_reset(&l->hold.loss);
}

/* A hold that is lost before the command starts is no loss: it queues again. */
static int acquire(struct lock *l)
{
    int rc;
    do {
        int64_t before = requests(l);
        rc = zkr_mutex_acquire(l->mutex, time_left(l));
        if (rc != ZKR_OK) {
            return rc;
        }
        l->hold.lease.session_ms = zkr_client_session_timeout_ms(l->client);
        rc = read_hold(l);
        if (rc == ZKR_OK && !hold_was_free(&l->hold, requests(l) - before)) {
            hold_off(HOLD_OFF_MS);
        }
        if (rc == ZKR_OK && !lease_await(&l->hold.lease)) {
            rc = ZKR_ESESSION;
        }
        if (rc != ZKR_OK) {
            give_back(l);
        }
    } while (rc == ZKR_ESESSION);
    return rc;
}

/* Not by the deadline: was there somebody who held it, or nobody who answered? */
static int refuse(struct lock *l, int rc)
{
    const zkr_error *e = zkr_last_error();
    bool answered = zkr_client_state(l->client) == ZKR_STATE_CONNECTED && e->zk_rc == 0;
    if (rc == ZKR_ETIMEDOUT && answered) {
        return cli_fail((int)l->conflict,
                        "%s is held by another; 'zkr status %s' shows by whom", l->path,
                        l->path);
    }
    return cli_fail_rc(rc);
}

/* Returns HELD, or an exit code, reported; with -E 0 that may be 0. */
enum { HELD = -1 };

static int get(struct lock *l)
{
    struct signals_guard *guard = signals_guard_begin(&l->env->signals);
    if (!guard) {
        return cli_fail(CLI_INTERNAL, "cannot start a thread");
    }
    int status = connect_wait(l->client, &l->env->globals);
    if (status == 0) {
        const struct signals_cancel how = {cancel, l->mutex};
        signals_guard_cancel(guard, &how);
        int rc = acquire(l);
        int signo = signals_guard_end(guard);
        if (signo && rc == ZKR_OK) {
            (void)zkr_mutex_release(l->mutex);
        }
        return signo ? cli_exit_signal(signo) : rc == ZKR_OK ? HELD : refuse(l, rc);
    }
    (void)signals_guard_end(guard);
    return status;
}

/* --- holding it --- */

static int use(struct lock *l)
{
    struct hold *h = &l->hold;
    if (l->env->globals.verbose) {
        hold_note(h, cli_now_ms() - l->started);
    }
    h->kill_signal = l->kill_signal;
    h->lease.wanted_ms = l->command ? l->kill_after_ms : 0;
    lease_begin(&h->lease);
    int status = l->command ? hold_run(h, l->env, l->command) : hold_wait(h, l->env);
    lease_end(&h->lease);
    (void)zkr_mutex_release(l->mutex);
    return status;
}

static void close_all(struct lock *l)
{
    (void)zkr_mutex_destroy(l->mutex);
    (void)zkr_client_close(l->client);
    loss_end(&l->hold.loss);
}

int cmd_lock(struct env *env, int argc, char **argv)
{
    struct lock l = {.env = env,
                     .wait_ms = ZKR_FOREVER,
                     .conflict = CLI_HELD,
                     .kill_after_ms = -1,
                     .kill_signal = SIGTERM,
                     .started = cli_now_ms(),
                     .hold.loss.fd = -1};
    int status = take_options(&l, argc, argv);
    if (status == OPTIONS_GO_ON) {
        status = take_operands(&l, argc - optind, argv + optind);
    }
    if (status != OPTIONS_GO_ON) {
        return status;
    }
    status = open_all(&l);
    if (status == 0) {
        status = get(&l);
    }
    if (status == HELD) {
        status = use(&l);
    }
    close_all(&l);
    return status;
}
