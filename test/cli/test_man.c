/* SPDX-License-Identifier: Apache-2.0 */
/* zkr: what its man page and its completion say. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* Runs a script of bash with zkr as $0, this program's sources of it as $1, and the path of the test as $2. */
#define SCRIPT(script)                                                                 \
    {                                                                                  \
        "bash", "-c", (script), cli_zkr(), ZKR_TOOLS_DIR, zkt_path(), NULL             \
    }

static void run(const char *script)
{
    struct cli c;
    const char *const argv[] = SCRIPT(script);
    cli_spawn(&c, false, argv);
    int status = cli_wait(&c);
    if (status != 0) {
        zkt_fail("status %d: %s%s", status, cli_out(&c), cli_err(&c));
    }
}

/* Each long option that a --help names. */
ZKT_CASE(options_are_in_the_page_and_in_the_completion)
{
    run("for sub in '' lock elect status ls revoke; do\n"
        "  for option in $(\"$0\" $sub --help | grep -oE -- '--[a-z][a-z-]+'); do\n"
        "    grep -qF -- \"$(printf %s \"$option\" | sed 's/-/\\\\-/g')\" \"$1/zkr.1\" "
        "||\n"
        "      { echo \"$option is not in zkr.1\"; exit 1; }\n"
        "    grep -qE -- \"(^|[ '])$option([ ')\\\"]|\\$)\" \"$1/zkr.bash\" ||\n"
        "      { echo \"$option is not in zkr.bash\"; exit 1; }\n"
        "  done\n"
        "done");
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
        "completes --recursive ls --rec\n"
        "completes 'open creator' lock --acl ''\n"
        "completes --min-hold --auth-file x lock --min\n"
        "completes --command elect --id x --com");
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
    const char *const argv[] = SCRIPT(script);
    cli_spawn(c, false, argv);
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
