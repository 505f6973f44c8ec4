/* SPDX-License-Identifier: Apache-2.0 */
/* zkr: what its man page and its completion say. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* Runs a script of bash with zkr as $0, this program's sources of it as $1, and the path of the test as $2. */
#define SCRIPT(script) "bash", "-c", (script), cli_zkr(), ZKR_TOOLS_DIR, zkt_path()

static void run(const char *script)
{
    struct cli c;
    int status = CLI_RUN_AS(&c, SCRIPT(script));
    if (status != 0) {
        zkt_fail("status %d: %s%s", status, cli_out(&c), cli_err(&c));
    }
}

/* As bash would ask: zkr ls --re<TAB>, zkr lock --acl <TAB>. */
ZKT_CASE(words_are_completed)
{
    run(". \"$1/zkr.bash\"\n"
        "completes() { # EXPECTED WORD...\n"
        "  COMP_WORDS=(zkr \"${@:2}\") COMP_CWORD=$(($# - 1)); _zkr\n"
        "  [ \"${COMPREPLY[*]}\" = \"$1\" ] || { echo \"${*:2}: ${COMPREPLY[*]}\"; "
        "exit 1; }\n"
        "}\n"
        "completes 'lock ls' l\n"
        "completes once o\n"
        "completes --every once --ev\n"
        "completes --recursive ls --rec\n"
        "completes 'open creator' lock --acl ''\n"
        "completes --min-hold --auth-file x lock --min\n"
        "completes --command elect --id x --com\n"
        "bin=$(mktemp -d); : >$bin/zkt-tool; chmod +x $bin/zkt-tool; "
        "PATH=$bin:$PATH\n"
        "completes zkt-tool lock /p zkt-to\n"
        "completes zkt-tool elect -i x /p zkt-to\n"
        "completes zkt-tool lock --any /p /q -- zkt-to\n"
        "completes '--nonblock --nonblocking' lock --any /p /q --nonb\n"
        "rm -r $bin\n"
        "completes '-c --command' lock /p -\n"
        "completes --command elect /p --c\n"
        "completes '' status /p -\n"
        "completes '' ls /p --js\n"
        "completes '' revoke /p --fo");
}

/* The demo takes no servers but its own, or those that it is told of: $ZKR_SERVERS may be those of real locks. */
ZKT_CASE(the_demo_takes_no_servers_by_itself)
{
    run("b=$(mktemp -d); trap 'rm -r $b' EXIT; mkdir $b/examples $b/tools\n"
        "for f in examples/hold examples/scheduler examples/stock tools/zkr; do\n"
        "  printf '#!/bin/sh\\nexit 1\\n' >$b/$f; chmod +x $b/$f\n"
        "done\n"
        "demo() { ZKR_SERVERS=127.0.0.1:1 bash \"$1/../demo/demo.sh\" $b \"${@:2}\" "
        "2>&1; }\n"
        "out=$(demo \"$1\" || :)\n"
        "case $out in *127.0.0.1:1[\\ ,]*) echo \"$out\"; exit 1 ;; esac\n"
        "case $out in *'private ZooKeeper'*) ;; *) echo \"$out\"; exit 2 ;; esac\n"
        "out=$(demo \"$1\" --servers 127.0.0.1:2 || :)\n"
        "case $out in *'ZooKeeper at 127.0.0.1:2,'*'to be had at 127.0.0.1:2 '*) ;;\n"
        "*) echo \"$out\"; exit 3 ;; esac");
}

/* The example for a part of a script, as it is printed; what it does there is $WORK. */
static const char example[] =
    "part=$(sed -n '/^coproc zkr lock/,/^kill /p' \"$1/zkr.1\" |\n"
    "  sed -e 's/\\\\-/-/g' -e 's/^\\\\&\\.\\.\\.$/eval \"$WORK\"/' -e "
    "\"s|/jobs/part|$2|\")\n"
    "PATH=${0%/*}:$PATH path=$2; export path\n"
    "eval \"$part\"";

static void start_part(struct cli *c, const char *work)
{
    char script[2048];
    (void)snprintf(script, sizeof(script), "WORK='%s'\n%s", work, example);
    CLI_START_AS(c, SCRIPT(script));
}

ZKT_CASE(a_part_of_a_script_is_locked)
{
    struct cli c;
    start_part(&c, "zkr lock -n $path true; echo $?");
    assert_int_equal(cli_wait(&c), 0);
    assert_string_equal(cli_out(&c), "1\n");
    assert_int_equal(cli_queue(), 0);
}

/* With what it runs. */
ZKT_CASE(a_part_that_has_lost_its_lock_ends)
{
    struct cli c;
    start_part(&c, "echo begun; sleep 60; echo never");
    ZKT_BECOMES(strcmp(cli_out(&c), "begun\n"), 0, CLI_PATIENCE_MS);
    assert_int_equal(zkt_delete_children(zkt_servers(), zkt_path()), 0);
    assert_int_equal(cli_wait(&c), 128 + SIGTERM);
    assert_string_equal(cli_out(&c), "begun\n");
    cli_assert_one_line(&c);
    ZKT_EVENTUALLY(kill(-c.pid, 0) != 0,
                   CLI_PATIENCE_MS); /* nobody of its group is left */
}
