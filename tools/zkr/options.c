/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zkr/version.h>

#include "cli.h"

/* --- one option --- */

bool option_on(void *to, char *value)
{
    (void)value;
    *(bool *)to = true;
    return true;
}

bool option_off(void *to, char *value)
{
    (void)value;
    *(bool *)to = false;
    return true;
}

bool option_text(void *to, char *value)
{
    *(const char **)to = value;
    return true;
}

bool option_seconds(void *to, char *value)
{
    return cli_parse_seconds(value, to);
}

bool option_ignored(void *to, char *value)
{
    (void)to;
    (void)value;
    return true;
}

/* --- all of them --- */

/* What getopt_long() returns for an option without a letter: one of these codes plus the index in its table. */
enum { OWN_CODE = 256, VERBOSE_CODE = 384, SETTING_CODE = 512 };

struct parser {
    struct globals *globals;
    const char *usage;
    const struct option_row *rows;
    char **argv;
    const char *subcommand; /* "" = ahead of it */
    struct option table[64];
    size_t count;
    char letters[64];
};

static void
add(struct parser *p, const char *name, bool has_value, int letter, int code)
{
    size_t used = strlen(p->letters);
    if (letter) {
        (void)snprintf(p->letters + used, sizeof(p->letters) - used, "%c%s", letter,
                       has_value ? ":" : "");
    }
    if (name) {
        p->table[p->count++] =
            (struct option){name, has_value, NULL, letter ? letter : code};
    }
}

static bool is_end(const struct option_row *row)
{
    return !row->name && row->letter == 0;
}

static void add_all(struct parser *p)
{
    strcpy(p->letters, "+:");
    for (int i = 0; !is_end(&p->rows[i]); i++) {
        const struct option_row *row = &p->rows[i];
        add(p, row->name, row->take && row->needs, row->letter, OWN_CODE + i);
    }
    for (int i = 0; i < SETTINGS; i++) {
        add(p, setting_names[i].name, true, setting_names[i].letter, SETTING_CODE + i);
    }
    add(p, "verbose", false, 0, VERBOSE_CODE);
    add(p, NULL, false, 'v', 0);
    add(p, "help", false, 'h', 0);
    add(p, "version", false, 'V', 0);
}

/* Wipes a secret from where ps shows it: what follows the @nth @mark. */
static void wipe(char *argument, char mark, int nth)
{
    for (; argument && nth > 0; nth--) {
        argument = strchr(argument, mark);
        argument = argument ? argument + 1 : NULL;
    }
    if (argument) {
        memset(argument, 'x', strlen(argument));
    }
}

static int take_setting(const struct parser *p, enum setting setting)
{
    const struct origin from = {.kind = ORIGIN_COMMAND,
                                .name = setting_names[setting].option,
                                .subcommand = p->subcommand};
    int rc = settings_take(p->globals, setting, optarg, &from);
    if (setting == SETTING_AUTH) {
        wipe(optarg, ':', 1);
    } else if (setting == SETTING_TLS) {
        wipe(optarg, ',', TLS_FILES);
    }
    return rc;
}

static int take_row(const struct parser *p, const struct option_row *row)
{
    const char letter[] = {'-', (char)row->letter, '\0'};
    const char *dashes = row->letter ? "" : "--";
    const char *name = row->letter ? letter : row->name;
    if (!row->take) {
        return options_refuse(p->subcommand, "%s%s: %s", dashes, name, row->needs);
    }
    return row->take(row->to, optarg)
               ? OPTIONS_GO_ON
               : options_refuse(p->subcommand, "%s%s needs %s, not '%s'", dashes, name,
                                row->needs, optarg);
}

/* The length of an option without its value, which may be a secret. */
static int name_length(const char *word)
{
    return (int)strcspn(word, "=");
}

static int refuse_option(const struct parser *p, int code)
{
    const char *word = p->argv[optind > 0 ? optind - 1 : 0];
    bool is_long = strncmp(word, "--", 2) == 0;
    if (code == ':') {
        return is_long ? options_refuse(p->subcommand, "%s needs an argument", word)
                       : options_refuse(p->subcommand, "-%c needs an argument", optopt);
    }
    if (optopt > 0 && optopt < OWN_CODE && !is_long) {
        return options_refuse(p->subcommand, "unknown option -%c", optopt);
    }
    return options_refuse(p->subcommand, "unknown option %.*s, or it takes no argument",
                          name_length(word), word);
}

static int take(const struct parser *p, int code)
{
    for (int i = 0; !is_end(&p->rows[i]); i++) {
        if (code == (p->rows[i].letter ? p->rows[i].letter : OWN_CODE + i)) {
            return take_row(p, &p->rows[i]);
        }
    }
    for (int i = 0; i < SETTINGS; i++) {
        if (code == SETTING_CODE + i || code == setting_names[i].letter) {
            return take_setting(p, (enum setting)i);
        }
    }
    switch (code) {
    case 'v':
        p->globals->log_level =
            p->globals->log_level == 0 ? ZKR_LOG_INFO : ZKR_LOG_DEBUG;
        p->globals->verbose = true;
        return OPTIONS_GO_ON;
    case VERBOSE_CODE:
        p->globals->verbose = true;
        return OPTIONS_GO_ON;
    case 'h':
        (void)fputs(p->usage, stdout);
        return cli_flush();
    case 'V':
        (void)printf("zkr %s\n", zkr_version());
        return cli_flush();
    default:
        return refuse_option(p, code);
    }
}

int options_take(struct globals *g,
                 const char *usage,
                 const struct option_row *rows,
                 int argc,
                 char **argv)
{
    struct parser p = {.globals = g, .usage = usage, .rows = rows, .argv = argv};
    int code, rc;
    p.subcommand = strcmp(argv[0], "zkr") == 0 ? "" : argv[0];
    add_all(&p);
    do {
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
        code = getopt_long(argc, argv, p.letters, p.table, NULL);
        rc = code != -1 ? take(&p, code) : OPTIONS_GO_ON;
    } while (code != -1 && rc == OPTIONS_GO_ON);
    return rc;
}

/* --- PATH --- */

int options_check_path(const struct globals *g, const char *path)
{
    static const char own[] = "/zookeeper";
    size_t length = strlen(path);
    if (path[0] != '/') {
        return cli_fail(CLI_PATH, "a path starts with /: '%.1000s' does not", path);
    }
    if (length == 1) {
        return cli_fail(CLI_PATH, "/ cannot be a lock; use a path below it");
    }
    if (path[length - 1] == '/') {
        return cli_fail(CLI_PATH, "leave out the / at the end of '%.1000s'", path);
    }
    const char *chroot = strchr(g->servers, '/');
    bool at_root = !chroot || chroot[1] == '\0';
    if (at_root && strncmp(path, own, sizeof(own) - 1) == 0 &&
        (path[sizeof(own) - 1] == '/' || path[sizeof(own) - 1] == '\0')) {
        return cli_fail(CLI_PATH,
                        "%.1000s: paths below /zookeeper belong to the servers; use "
                        "another path",
                        path);
    }
    return OPTIONS_GO_ON;
}

int options_settle(struct globals *g, const char *path)
{
    int rc = settings_take_rest(g);
    return rc == OPTIONS_GO_ON ? options_check_path(g, path) : rc;
}

/* Is @word, which follows PATH, an option? */
static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0' && strcmp(word, "--") != 0;
}

static int refuse_late(const char *subcommand, const char *word)
{
    return options_refuse(subcommand, "options come before PATH: '%.*s'",
                          name_length(word), word);
}

int options_alone(const char *subcommand, char *const *operands)
{
    if (!operands[0]) {
        return options_refuse(subcommand, "which PATH?");
    }
    if (operands[1]) {
        return is_option(operands[1]) ? refuse_late(subcommand, operands[1])
                                      : options_refuse(subcommand, "one PATH, please");
    }
    return OPTIONS_GO_ON;
}

/* --- COMMAND --- */

/* Like flock: $SHELL -c TEXT. */
static int use_shell(struct command *c, const char *text)
{
    static char sh[] = "/bin/sh", dash_c[] = "-c";
    const char *shell = cli_variable("SHELL");
    c->shell[0] = shell ? (char *)(uintptr_t)shell : sh;
    c->shell[1] = dash_c;
    c->shell[2] = (char *)(uintptr_t)text;
    c->argv = c->shell;
    return OPTIONS_GO_ON;
}

/* Like flock, zkr takes -c after PATH as well. */
static bool is_dash_c(const char *word)
{
    return word && (strcmp(word, "-c") == 0 || strcmp(word, "--command") == 0);
}

int options_command(struct command *c, const char *subcommand, char **operands)
{
    char **words = operands + 1;
    if (!operands[0]) {
        return options_refuse(subcommand, "which PATH?");
    }
    bool after = is_dash_c(*words);
    if (*words && is_option(*words) && !after) {
        return refuse_late(subcommand, *words);
    }
    if (after ? !words[1] || words[2] || c->text : c->text && *words) {
        return options_refuse(subcommand, "-c needs one text, and no command besides");
    }
    if (after || c->text) {
        return use_shell(c, after ? words[1] : c->text);
    }
    if (*words && strcmp(*words, "--") == 0) {
        words++;
    }
    c->argv = *words ? words : NULL;
    return OPTIONS_GO_ON;
}
