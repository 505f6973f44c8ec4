/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

bool command_is_c(const char *word)
{
    return strcmp(word, "-c") == 0 || strcmp(word, "--command") == 0;
}

/* As flock does: $SHELL -c TEXT. */
static void use_shell(struct command *c, char *text)
{
    static char sh[] = "/bin/sh", dash_c[] = "-c";
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
    char *shell = getenv("SHELL");
    c->shell[0] = shell && *shell ? shell : sh;
    c->shell[1] = dash_c;
    c->shell[2] = text;
    c->argv = c->shell;
}

int command_take(struct command *c, const char *subcommand, char **words)
{
    static const char one_text[] = "-c needs one text, and no command besides";
    if (*words && command_is_c(*words)) {
        if (!words[1] || words[2] || c->text) {
            return options_refuse(subcommand, one_text);
        }
        use_shell(c, words[1]);
        return OPTIONS_GO_ON;
    }
    if (c->text) {
        if (*words) {
            return options_refuse(subcommand, one_text);
        }
        use_shell(c, (char *)(uintptr_t)c->text);
        return OPTIONS_GO_ON;
    }
    if (*words && strcmp(*words, "--") == 0) {
        words++;
    }
    c->argv = *words ? words : NULL;
    return OPTIONS_GO_ON;
}
