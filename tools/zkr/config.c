/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static const char usual[] = "/etc/zkr.conf";

static const struct {
    const char *name;
    enum setting setting;
} names[] = {{"ZKR_SERVERS", SETTING_SERVERS},
             {"ZKR_SESSION_TIMEOUT", SETTING_SESSION},
             {"ZKR_CONNECT_TIMEOUT", SETTING_CONNECT},
             {"ZKR_AUTH", SETTING_AUTH},
             {"ZKR_AUTH_FILE", SETTING_AUTH_FILE},
             {"ZKR_ACL", SETTING_ACL},
             {"ZKR_TLS", SETTING_TLS}};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

/* NULL: it is not set, or empty. */
static const char *variable(const char *name)
{
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* --- the file --- */

static int cannot_read(const char *file, int why)
{
    return cli_fail(CLI_USAGE, "cannot read %.1000s: %s", file, strerrordesc_np(why));
}

/* All of it, with a zero behind it; NULL and errno. */
static char *read_all(int fd)
{
    enum { MOST = 65536 };
    char *text = calloc(1, MOST + 1);
    size_t used = 0;
    ssize_t n = 1;
    while (text && n > 0 && used < MOST) {
        n = read(fd, text + used, MOST - used);
        used += n > 0 ? (size_t)n : 0;
    }
    if (n < 0 || used == MOST) {
        free(text);
        errno = n < 0 ? errno : EFBIG;
        return NULL;
    }
    return text;
}

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1])) {
        length--;
    }
    text[length] = '\0';
    return text;
}

/* Nothing of a line that is no setting is repeated: it may be a secret. */
static bool is_name(const char *text)
{
    return *text != '\0' &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(text);
}

static bool has_secret(enum setting setting, const char *value)
{
    int commas = 0;
    for (; setting == SETTING_TLS && *value; value++) {
        commas += *value == ',';
    }
    return setting == SETTING_AUTH || commas >= TLS_FILES;
}

static int take_value(struct globals *g,
                      enum setting setting,
                      const char *value,
                      const struct origin *from,
                      bool is_open)
{
    if (!is_open || !has_secret(setting, value) ||
        settings_is_overridden(g, setting, from->kind)) {
        return settings_take(g, setting, value, from);
    }
    return setting == SETTING_AUTH
               ? settings_refuse(from, "others may read ZKR_AUTH here; put it into "
                                       "another file, and name that in ZKR_AUTH_FILE")
               : settings_refuse(from, "others may read the password in ZKR_TLS here; "
                                       "chmod 600 mends that, or a key without one");
}

static int take_line(struct globals *g, char *line, struct origin *from, bool is_open)
{
    char *equals = strchr(line, '=');
    if (equals) {
        *equals = '\0';
        from->name = trim(line);
    }
    if (!equals || !is_name(from->name)) {
        return settings_refuse(from, "this line is not ZKR_NAME=value");
    }
    for (size_t i = 0; i < NAMES; i++) {
        if (strcmp(from->name, names[i].name) == 0) {
            return take_value(g, names[i].setting, trim(equals + 1), from, is_open);
        }
    }
    return settings_refuse(from, "unknown setting '%.200s'", from->name);
}

static int take_lines(struct globals *g, const char *file, bool is_open)
{
    struct origin from = {.kind = ORIGIN_FILE, .file = file};
    int rc = OPTIONS_GO_ON;
    for (char *rest = g->config; rest && rc == OPTIONS_GO_ON;) {
        char *line = trim(strsep(&rest, "\n"));
        from.line++;
        if (*line && *line != '#') {
            rc = take_line(g, line, &from, is_open);
        }
    }
    return rc;
}

static int take_file(struct globals *g)
{
    const char *told = variable("ZKR_CONFIG"), *file = told ? told : usual;
    int fd =
        open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe may have no writer */
    if (fd < 0) {
        return errno == ENOENT && !told ? OPTIONS_GO_ON : cannot_read(file, errno);
    }
    struct stat st = {.st_mode = S_IRWXO};
    (void)fstat(fd, &st);
    bool is_open = (st.st_mode & S_IRWXO) != 0;
    g->config = read_all(fd);
    int why = errno;
    (void)close(fd);
    return g->config ? take_lines(g, file, is_open) : cannot_read(file, why);
}

/* --- the environment --- */

int config_take(struct globals *g)
{
    int rc = OPTIONS_GO_ON;
    for (size_t i = 0; i < NAMES && rc == OPTIONS_GO_ON; i++) {
        const struct origin from = {.kind = ORIGIN_ENVIRONMENT, .name = names[i].name};
        const char *value = variable(names[i].name);
        rc = value ? settings_take(g, names[i].setting, value, &from) : OPTIONS_GO_ON;
    }
    return rc == OPTIONS_GO_ON ? take_file(g) : rc;
}
