/* SPDX-License-Identifier: Apache-2.0 */
/* zkr: locks of ZooKeeper for the command line. See zkr.1. */
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "commands.h"

static const char usage[] =
    "usage: zkr [OPTION]... SUBCOMMAND [ARGUMENT]...\n"
    "\n"
    "  lock    run a command while holding a lock, as flock(1) does on one host\n"
    "  elect   run a command while being the leader, or watch who is\n"
    "  status  who holds a lock, and who waits for it\n"
    "  ls      the locks below a path\n"
    "  revoke  ask the holder of a lock to release it\n"
    "\n"
    "  -z, --servers LIST         host:port,host:port/chroot; default $ZKR_SERVERS,\n"
    "                             else 127.0.0.1:2181\n"
    "  -t, --session-timeout MS   default 10000; servers have limits of their own\n"
    "      --connect-timeout SEC  give up with status 75 after this; default 15,\n"
    "                             with lock -n 5\n"
    "      --auth SCHEME:CRED     such as digest:user:password; default $ZKR_AUTH\n"
    "      --auth-file FILE       with one SCHEME:CRED a line; default $ZKR_AUTH_FILE\n"
    "      --acl ACL              of what is made: open, creator or "
    "SCHEME:ID:PERMS,...;\n"
    "                             default $ZKR_ACL, else open\n"
    "      --tls CA,CERT,KEY[,PASSWORD]\n"
    "                             connect by TLS with these PEM files; default "
    "$ZKR_TLS\n"
    "  -v                         log on stderr; twice: libzookeeper's as well\n"
    "      --verbose              say how long it took\n"
    "  -h, --help                 this text; after a subcommand, its own\n"
    "  -V, --version\n"
    "\n"
    "These settings may stand in /etc/zkr.conf, or $ZKR_CONFIG, as ZKR_NAME=value.\n"
    "See zkr(1) for exit codes and examples.\n";

static const struct {
    const char *name;
    int (*run)(struct env *env, int argc, char **argv);
} commands[] = {{"lock", cmd_lock},
                {"elect", cmd_elect},
                {"status", cmd_status},
                {"ls", cmd_ls},
                {"revoke", cmd_revoke}};

static int dispatch(struct env *env, int argc, char **argv)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(argv[0], commands[i].name) == 0) {
            return commands[i].run(env, argc, argv);
        }
    }
    return options_refuse("", "there is no subcommand '%s'", argv[0]);
}

static int run(struct env *env, int argc, char **argv)
{
    static const struct option_row none[] = {OPTIONS_END};
    static char name[] = "zkr";
    argv[0] = name;
    opterr = 0;
    int rc = options_take(&env->globals, usage, none, argc, argv);
    if (rc != OPTIONS_GO_ON) {
        return rc;
    }
    if (optind >= argc) {
        return options_refuse("",
                              "which subcommand? lock, elect, status, ls or revoke");
    }
    int skip = optind;
    optind = 0; /* of getopt: start afresh */
    return dispatch(env, argc - skip, argv + skip);
}

/* Ends like a process killed by the signal, so that a script that runs zkr ends as well. */
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
    if (!fds_begin(&env.fds) || !signals_begin(&env.signals)) {
        return cli_fail(CLI_INTERNAL,
                        "out of memory or descriptors; raise the limits (ulimit)");
    }
    notify_begin(&env.notify);
    env.signals.notify = &env.notify;
    settings_begin(&env.globals);
    int status = run(&env, argc, argv);
    settings_end(&env.globals);
    signals_end(&env.signals);
    fds_end(&env.fds);
    if (env.die_of > 0) {
        die_of(env.die_of);
    }
    return status;
}
