/* SPDX-License-Identifier: Apache-2.0 */
#include "openmetrics.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_LEN = 1024 };

struct reader {
    char seen[8192];                     /* names of families, each between spaces */
    char name[LINE_LEN], type[LINE_LEN]; /* of the current family */
    bool sampled;
    /* The current histogram. */
    char labels[LINE_LEN]; /* without le */
    double bound, total;
    bool open, ended; /* a bucket was read; the +Inf bucket was read */
    char fault[LINE_LEN + 64];
};

static bool fail(struct reader *r, const char *why, const char *line)
{
    (void)snprintf(r->fault, sizeof(r->fault), "%s: %s", why, line);
    return false;
}

/* --- lines --- */

#define NAME "[a-zA-Z_:][a-zA-Z0-9_:]*"
#define LABEL NAME "=\"([^\"\\]|\\\\[\\\"n])*\""
#define NUMBER "-?[0-9]+(\\.[0-9]+)?(e[-+]?[0-9]+)?"

static regex_t metadata, sample;

__attribute__((constructor)) static void compile(void)
{
    if (regcomp(&metadata, "^# (TYPE|UNIT|HELP) (" NAME ") (.+)$", REG_EXTENDED) ||
        regcomp(&sample, "^(" NAME ")(\\{(" LABEL "(," LABEL ")*)?\\})? (" NUMBER ")$",
                REG_EXTENDED)) {
        abort();
    }
}

static void copy(char to[LINE_LEN], const char *line, regmatch_t part)
{
    (void)snprintf(to, LINE_LEN, "%.*s", (int)(part.rm_eo - part.rm_so),
                   part.rm_so < 0 ? "" : line + part.rm_so);
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* --- metadata --- */

static bool
begin_family(struct reader *r, const char *name, const char *type, const char *line)
{
    char mark[LINE_LEN + 2];
    size_t used = strlen(r->seen);
    (void)snprintf(mark, sizeof(mark), " %s ", name);
    if (strstr(r->seen, mark)) {
        return fail(r, "a family comes twice", line);
    }
    if (strcmp(type, "counter") != 0 && strcmp(type, "gauge") != 0 &&
        strcmp(type, "histogram") != 0) {
        return fail(r, "a type that is none", line);
    }
    if (r->open && !r->ended) {
        return fail(r, "the histogram before it is not complete", line);
    }
    (void)snprintf(r->seen + used, sizeof(r->seen) - used, "%s", mark);
    (void)snprintf(r->name, sizeof(r->name), "%s", name);
    (void)snprintf(r->type, sizeof(r->type), "%s", type);
    r->sampled = r->open = r->ended = false;
    return true;
}

static bool read_metadata(struct reader *r, const char *line)
{
    char name[LINE_LEN], rest[LINE_LEN];
    regmatch_t m[4];
    if (regexec(&metadata, line, 4, m, 0) != 0) {
        return fail(r, "no metadata", line);
    }
    copy(name, line, m[2]);
    copy(rest, line, m[3]);
    if (ends_with(name, "_total")) {
        return fail(r, "no name of a family", line);
    }
    if (line[m[1].rm_so] == 'T') {
        return begin_family(r, name, rest, line);
    }
    if (strcmp(name, r->name) != 0 || r->sampled) {
        return fail(r, "metadata of another family, or behind its samples", line);
    }
    char unit[LINE_LEN + 1];
    (void)snprintf(unit, sizeof(unit), "_%s", rest);
    return line[m[1].rm_so] != 'U' || ends_with(name, unit) ||
           fail(r, "the name does not end in its unit", line);
}

/* --- samples --- */

/* Cut le, the last label, from @labels. Returns its value. */
static const char *cut_le(char *labels)
{
    char *le = strstr(labels, "le=\"");
    if (!le || (le > labels && le[-1] != ',') || strchr(le, ',')) {
        return "";
    }
    le[-(le > labels)] = '\0';
    return le + strlen("le=\"");
}

static bool read_bucket(struct reader *r,
                        const char *labels,
                        const char *le,
                        double number,
                        const char *line)
{
    if (!r->open || r->ended || strcmp(labels, r->labels) != 0) {
        if (r->open && !r->ended) {
            return fail(r, "the buckets before it are not complete", line);
        }
        (void)snprintf(r->labels, sizeof(r->labels), "%s", labels);
        r->open = true;
        r->bound = -1;
        r->total = 0;
    }
    r->ended = strcmp(le, "+Inf\"") == 0;
    double bound = strtod(le, NULL);
    if (!r->ended && (bound <= r->bound || !strchr(le, '.'))) {
        return fail(r, "a bound that does not rise, or is no float", line);
    }
    if (number < r->total) {
        return fail(r, "buckets do not add up", line);
    }
    r->bound = bound;
    r->total = number;
    return true;
}

static bool read_sample(struct reader *r, const char *line)
{
    char name[LINE_LEN], labels[LINE_LEN];
    regmatch_t m[8];
    if (regexec(&sample, line, 8, m, 0) != 0) {
        return fail(r, "no name, labels and number", line);
    }
    copy(name, line, m[1]);
    copy(labels, line, m[3]);
    double number = strtod(line + m[7].rm_so, NULL);
    if (strncmp(name, r->name, strlen(r->name)) != 0) {
        return fail(r, "a sample of another family", line);
    }
    r->sampled = true;
    const char *suffix = name + strlen(r->name);
    if (strcmp(r->type, "histogram") != 0) {
        bool counter = strcmp(r->type, "counter") == 0;
        return (strcmp(suffix, counter ? "_total" : "") == 0 &&
                (!counter || number >= 0)) ||
               fail(r, "a suffix or a number that is not of its type", line);
    }
    if (strcmp(suffix, "_bucket") == 0) {
        const char *le = cut_le(labels);
        return read_bucket(r, labels, le, number, line);
    }
    bool same = r->ended && strcmp(labels, r->labels) == 0;
    bool count = strcmp(suffix, "_count") == 0, sum = strcmp(suffix, "_sum") == 0;
    return (same && (sum || (count && number == r->total))) ||
           fail(r, "not what belongs to the buckets before it", line);
}

const char *zkt_openmetrics_fault(const char *text)
{
    static struct reader r;
    r = (struct reader){.sampled = false};
    /* The line is copied, because the address sanitizer reads a string to its end whatever a function looks for. */
    const char *line = text, *text_end = text + strlen(text);
    while (*line != '\0') {
        char copy_of[LINE_LEN];
        const char *end = memchr(line, '\n', (size_t)(text_end - line));
        if (!end || (size_t)(end - line) >= sizeof(copy_of)) {
            return "a line without an end, or a long one";
        }
        memcpy(copy_of, line, (size_t)(end - line));
        copy_of[end - line] = '\0';
        line = end + 1;
        if (strcmp(copy_of, "# EOF") == 0) {
            return *line != '\0' ? "more behind the EOF" : NULL;
        }
        if (!(copy_of[0] == '#' ? read_metadata(&r, copy_of)
                                : read_sample(&r, copy_of))) {
            return r.fault;
        }
    }
    return "no EOF";
}

double zkt_openmetrics_value(const char *text, const char *name)
{
    char line[LINE_LEN]; /* the sample is never in the first line, which is metadata */
    (void)snprintf(line, sizeof(line), "\n%s ", name);
    const char *at = strstr(text, line);
    return at ? strtod(at + strlen(line), NULL) : -1;
}
