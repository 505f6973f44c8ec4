/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <zkr/version.h>

#include "cli.h"
#include "parse.h"
#include "settings.h"

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
    return parse_seconds(value, to);
}

bool option_int(void *range, char *value)
{
    const struct option_range *r = range;
    return parse_int(value, r->least, r->most, r->to);
}

bool option_signal(void *to, char *value)
{
    return parse_signal(value, to);
}

/* --- all options --- */

/* Codes of getopt_long() for options without a letter. The code is one of these plus the index in its table. */
enum { OWN_CODE = 256, VERBOSE_CODE = 384, SETTING_CODE = 512 };

struct parser {
    struct globals *g;
    const char *usage;
    const struct option_row *rows;
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

/* Wipes the secret after the @nth @mark, because ps shows arguments. */
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
                                .subcommand = p->g->subcommand};
    int rc = settings_take(p->g, setting, optarg, &from);
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
        return options_refuse(p->g, "%s%s: %s", dashes, name, row->needs);
    }
    return row->take(row->to, optarg)
               ? GO_ON
               : options_refuse(p->g, "%s%s needs %s, not '%s'", dashes, name,
                                row->needs, optarg);
}

/* Returns the length of an option without its value, which may be a secret. */
static int name_length(const char *word)
{
    return (int)strcspn(word, "=");
}

static int refuse_option(const struct parser *p, int code)
{
    const char *word = p->g->argv[optind - 1];
    bool is_long = strncmp(word, "--", 2) == 0;
    if (code == ':') {
        return is_long ? options_refuse(p->g, "%s needs an argument", word)
                       : options_refuse(p->g, "-%c needs an argument", optopt);
    }
    if (optopt > 0 && !is_long) {
        return options_refuse(p->g, "unknown option -%c", optopt);
    }
    return options_refuse(p->g, "option %.*s is unknown or takes no argument",
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
        p->g->log_level = p->g->log_level == 0 ? ZKR_LOG_INFO : ZKR_LOG_DEBUG;
        p->g->verbose = true;
        return GO_ON;
    case VERBOSE_CODE:
        p->g->verbose = true;
        return GO_ON;
    case 'h':
        (void)fputs(p->usage, stdout);
        (void)fputs(*p->g->subcommand ? "  -h, --help\n  -V, --version\n" : "", stdout);
        return cli_flush();
    case 'V':
        (void)printf("zkr %s\n", zkr_version());
        return cli_flush();
    default:
        return refuse_option(p, code);
    }
}

int options_take(struct globals *g, const char *usage, const struct option_row *rows)
{
    struct parser p = {.g = g, .usage = usage, .rows = rows};
    int code, rc;
    add_all(&p);
    do {
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread exists yet */
        code = getopt_long(g->argc, g->argv, p.letters, p.table, NULL);
        rc = code != -1 ? take(&p, code) : GO_ON;
    } while (code != -1 && rc == GO_ON);
    return rc;
}

int options_check(const struct globals *g, const struct option_fault *faults)
{
    for (; faults->text; faults++) {
        if (faults->is) {
            return options_refuse(g, "%s", faults->text);
        }
    }
    return GO_ON;
}

/* --- PATH --- */

int options_check_path(const struct globals *g, const char *path)
{
    static const char own[] = "/zookeeper";
    size_t length = strlen(path);
    if (path[0] != '/') {
        return cli_fail(CLI_PATH, "'%.1000s' is not a path; a path starts with /",
                        path);
    }
    if (length == 1) {
        return cli_fail(CLI_PATH, "/ cannot be a lock; use a path below it");
    }
    if (path[length - 1] == '/') {
        return cli_fail(CLI_PATH, "'%.1000s' ends with /; remove the last /", path);
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
    return GO_ON;
}

int options_settle(struct globals *g)
{
    int rc = settings_take_rest(g);
    return rc == GO_ON ? options_check_path(g, g->path) : rc;
}

/* Returns whether @word, which follows PATH, is an option. */
static bool is_option(const char *word)
{
    return word && word[0] == '-' && word[1] != '\0' && strcmp(word, "--") != 0;
}

static int refuse_late(const struct globals *g, const char *word)
{
    return options_refuse(g, "put the option '%.*s' before PATH", name_length(word),
                          word);
}

int options_path(struct globals *g, const char *usage, const struct option_row *rows)
{
    int rc = options_take(g, usage, rows);
    char **words = g->argv + optind;
    if (rc != GO_ON || (!words[0] && g->path)) {
        return rc;
    }
    g->path = words[0];
    if (!words[0]) {
        return options_refuse(g, "PATH is missing");
    }
    if (words[1]) {
        return is_option(words[1]) ? refuse_late(g, words[1])
                                   : options_refuse(g, "give exactly one PATH");
    }
    return GO_ON;
}

/* --- COMMAND --- */

/* Runs $SHELL -c TEXT, as flock does. */
static void use_shell(struct globals *g, const char *text)
{
    static char sh[] = "/bin/sh", dash_c[] = "-c";
    const char *shell = parse_variable("SHELL");
    g->shell[0] = shell ? (char *)(uintptr_t)shell : sh;
    g->shell[1] = dash_c;
    g->shell[2] = (char *)(uintptr_t)text;
    g->command = g->shell;
}

int options_command(struct globals *g, const char *usage, const struct option_row *r)
{
    int rc = options_take(g, usage, r);
    if (rc != GO_ON) {
        return rc;
    }
    char **words = g->argv + optind;
    g->paths = words;
    g->path = *words;
    if (!g->path) {
        return options_refuse(g, "PATH is missing");
    }
    if (g->alone) {
        optind++;
        rc = options_take(g, usage, r);
        return rc == GO_ON && g->argv[optind]
                   ? options_refuse(g, "give exactly one PATH")
                   : rc;
    }
    do {
        words++;
        g->path_count++;
    } while (g->several && *words && **words == '/');
    /* Like flock, zkr also accepts -c after PATH. */
    bool after =
        *words && (strcmp(*words, "-c") == 0 || strcmp(*words, "--command") == 0);
    if (is_option(*words) && !after) {
        return refuse_late(g, *words);
    }
    if (after ? !words[1] || words[2] || g->text : g->text && *words) {
        return options_refuse(g, "-c needs exactly one text and no COMMAND");
    }
    if (g->several && *words && strcmp(*words, "--") != 0 && !after) {
        return options_refuse(g, "put -- between the paths of --any and COMMAND");
    }
    if (after || g->text) {
        use_shell(g, after ? words[1] : g->text);
        return GO_ON;
    }
    if (*words && strcmp(*words, "--") == 0) {
        words++;
    }
    g->command = *words ? words : NULL;
    return GO_ON;
}
