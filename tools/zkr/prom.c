/* SPDX-License-Identifier: Apache-2.0 */
#include "prom.h"

#include <stdbool.h>
#include <string.h>

/* The family that a line "# TYPE zkr_x counter" begins. */
struct family {
    const char *name; /* not terminated */
    size_t length;
    bool counter;
};

static bool starts(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

static void put_label(FILE *out, const char *path)
{
    (void)fputs("path=\"", out);
    for (; *path; path++) {
        if (*path == '"' || *path == '\\') {
            (void)fputc('\\', out);
        }
        (void)fputc(*path, out);
    }
    (void)fputc('"', out);
}

static void put_sample(FILE *out, const char *line, size_t length, const char *path)
{
    size_t name = strcspn(line, "{ ");
    const char *rest = line + name;
    (void)fwrite(line, 1, name, out);
    if (*rest == ' ') {
        (void)fputc('{', out);
        put_label(out, path);
        (void)fputc('}', out);
    } else if (!starts(rest, "{path=")) {
        (void)fputc('{', out);
        put_label(out, path);
        (void)fputc(',', out);
        rest++;
    }
    (void)fwrite(rest, 1, length - (size_t)(rest - line), out);
}

/* "# TYPE name ..." and "# HELP name ...". */
static void put_about(FILE *out, const char *line, size_t length, struct family *f)
{
    enum { WORD = sizeof("# TYPE ") - 1 };
    const char *name = line + WORD;
    size_t name_length = strcspn(name, " \n");
    if (starts(line, "# TYPE ")) {
        *f = (struct family){name, name_length,
                             starts(name + name_length, " counter\n")};
    }
    bool same = name_length == f->length && memcmp(name, f->name, name_length) == 0;
    (void)fwrite(line, 1, WORD + name_length, out);
    (void)fputs(same && f->counter ? "_total" : "", out);
    (void)fwrite(name + name_length, 1, length - WORD - name_length, out);
}

void prom_write(FILE *out, const char *text, const char *path)
{
    struct family family = {.name = ""};
    for (size_t length; *text; text += length) {
        length = strcspn(text, "\n");
        length += text[length] == '\n';
        if (starts(text, "# TYPE ") || starts(text, "# HELP ")) {
            put_about(out, text, length, &family);
        } else if (*text != '#') {
            put_sample(out, text, length, path);
        }
    }
}
