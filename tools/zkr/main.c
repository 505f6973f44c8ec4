/* SPDX-License-Identifier: Apache-2.0 */
/* zkr: ZooKeeper locks for the command line. See zkr.1. */
#include <getopt.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "cmd.h"
#include "fds.h"
#include "notify.h"
#include "options.h"
#include "say.h"
#include "settings.h"
#include "signals.h"

static const char usage[] =
    "usage: zkr [OPTION]... SUBCOMMAND [ARGUMENT]...\n"
    "\n"
    "  lock    run a command under a lock, as flock(1) does on one host\n"
    "  once    run a command once per period, on one of several hosts\n"
    "  elect   run a command as the leader, or show the leader\n"
    "  status  show who holds a lock, and who waits for it\n"
    "  ls      list the locks below a path\n"
    "  wait    wait until a lock is free, without taking it\n"
    "  check   report the state of a lock, for Nagios and Icinga\n"
    "  revoke  ask the holder of a lock to release it\n"
    "\n"
    "  -z, --servers LIST         host:port,host:port/chroot; default $ZKR_SERVERS,\n"
    "                             or 127.0.0.1:2181 if it is not set\n"
    "  -t, --session-timeout MS   session timeout to request; default 10000\n"
    "      --connect-timeout SEC  exit with status 75 if no server is reached in this\n"
    "                             time; default 15, or 5 for lock -n\n"
    "      --auth SCHEME:CRED     credentials, such as digest:user:password; default\n"
    "                             $ZKR_AUTH\n"
    "      --auth-file FILE       file with one SCHEME:CRED per line; default\n"
    "                             $ZKR_AUTH_FILE\n"
    "      --acl ACL              ACL of created nodes: open, creator, or\n"
    "                             SCHEME:ID:PERMS,...; default $ZKR_ACL, or open\n"
    "      --tls CA,CERT,KEY[,PASSWORD]\n"
    "                             connect by TLS with these PEM files; default\n"
    "                             $ZKR_TLS\n"
    "  -v                         log to stderr; twice: with libzookeeper's log\n"
    "      --verbose              report how long zkr waited\n"
    "  -h, --help                 show this text, or that of a subcommand\n"
    "  -V, --version              show the version\n"
    "\n"
    "The file /etc/zkr.conf, or $ZKR_CONFIG, can contain these settings in the form\n"
    "ZKR_NAME=value. See zkr(1) for exit statuses and examples.\n";

static const struct {
    const char *name;
    int (*run)(struct env *env);
} commands[] = {{"lock", cmd_lock},     {"once", cmd_lock},    {"elect", cmd_elect},
                {"status", cmd_status}, {"ls", cmd_ls},        {"wait", cmd_wait},
                {"check", cmd_check},   {"revoke", cmd_revoke}};

static int run(struct env *env)
{
    static const struct option_row none[] = {OPTIONS_END};
    static char name[] = "zkr";
    struct globals *g = &env->globals;
    g->argv[0] = name;
    opterr = 0;
    int rc = options_take(g, usage, none);
    if (rc != GO_ON) {
        return rc;
    }
    if (optind >= g->argc) {
        return options_refuse(g, "the subcommand is missing; give lock, once, elect, "
                                 "status, ls, wait, check or revoke");
    }
    g->argc -= optind;
    g->argv += optind;
    optind = 0; /* this restarts getopt */
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(g->argv[0], commands[i].name) == 0) {
            g->subcommand = commands[i].name;
            return commands[i].run(env);
        }
    }
    return options_refuse(g, "unknown subcommand '%s'", g->argv[0]);
}

/* Ends zkr as if the signal had killed it, so that a script that runs zkr ends, too. */
static void die_of(int signo)
{
    sigset_t set;
    const struct sigaction normal = {.sa_handler = SIG_DFL};
    (void)sigemptyset(&set);
    (void)sigaddset(&set, signo);
    (void)sigaction(signo, &normal, NULL);
    (void)kill(0, signo);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

int main(int argc, char **argv)
{
    struct env env = {.die_of = 0};
    if (argc < 1) {
        return CLI_USAGE;
    }
    fds_begin();
    if (!signals_begin(&env.signals)) {
        return cli_fail_limits();
    }
    notify_begin();
    settings_begin(&env.globals);
    env.globals.argc = argc;
    env.globals.argv = argv;
    int status = run(&env);
    (void)zkr_client_close(env.client);
    settings_end(&env.globals);
    say_drain();
    if (env.die_of > 0) {
        die_of(env.die_of);
    }
    return status;
}
