/* SPDX-License-Identifier: Apache-2.0 */
#include "openmetrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAMILIES_MAX = 64, NAME_MAX_LEN = 128, LINE_LEN = 1024 };

struct reader {
    char families[FAMILIES_MAX][NAME_MAX_LEN];
    int count;
    char name[NAME_MAX_LEN]; /* the present family */
    char type[LINE_LEN];
    bool sampled, has_unit;
    /* The histogram that is being read. */
    char labels[LINE_LEN]; /* but for le */
    double bound, total;
    bool open, ended; /* a bucket has been seen; and that of +Inf */
    char fault[LINE_LEN + 64];
};

static bool is_name(const char *name, size_t len)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:";
    static const char rest[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:0123456789";
    return len > 0 && strchr(letters, name[0]) && strspn(name, rest) >= len;
}

static bool fail(struct reader *r, const char *why, const char *line)
{
    (void)snprintf(r->fault, sizeof(r->fault), "%s: %s", why, line);
    return false;
}

/* --- metadata --- */

static bool
begin_family(struct reader *r, const char *name, const char *type, const char *line)
{
    for (int i = 0; i < r->count; i++) {
        if (strcmp(r->families[i], name) == 0) {
            return fail(r, "a family comes twice", line);
        }
    }
    bool known = strcmp(type, "counter") == 0 || strcmp(type, "gauge") == 0 ||
                 strcmp(type, "histogram") == 0;
    if (r->count == FAMILIES_MAX || !known) {
        return fail(r, "too many families, or a type that is none", line);
    }
    if (r->open && !r->ended) {
        return fail(r, "the histogram before it is not complete", line);
    }
    (void)snprintf(r->families[r->count++], NAME_MAX_LEN, "%s", name);
    (void)snprintf(r->name, sizeof(r->name), "%s", name);
    (void)snprintf(r->type, sizeof(r->type), "%s", type);
    r->sampled = r->has_unit = r->open = r->ended = false;
    return true;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static bool read_metadata(struct reader *r, const char *line)
{
    char what[8], name[NAME_MAX_LEN], rest[LINE_LEN];
    if (sscanf(line, "# %7s %127s %1023[^\n]", what, name, rest) != 3) {
        return fail(r, "no metadata", line);
    }
    if (!is_name(name, strlen(name)) || ends_with(name, "_total")) {
        return fail(r, "no name of a family", line);
    }
    if (strcmp(what, "TYPE") == 0) {
        return begin_family(r, name, rest, line);
    }
    if (strcmp(name, r->name) != 0 || r->sampled) {
        return fail(r, "metadata of another family, or behind its samples", line);
    }
    if (strcmp(what, "UNIT") == 0) {
        char end[NAME_MAX_LEN];
        (void)snprintf(end, sizeof(end), "_%.100s", rest);
        r->has_unit = true;
        return ends_with(name, end) ||
               fail(r, "the name does not end in its unit", line);
    }
    return strcmp(what, "HELP") == 0 || fail(r, "metadata of no kind", line);
}

/* --- samples --- */

/* Labels from @at on, behind '{'. Copies all but le to r->labels' form in @others, le to @le. Returns what is behind '}'. */
static const char *read_labels(const char *at, char *others, char *le)
{
    size_t used = 0;
    *le = '\0';
    while (*at != '}') {
        const char *key = at;
        size_t key_len = strcspn(at, "=");
        if (!is_name(key, key_len) || strncmp(at + key_len, "=\"", 2) != 0) {
            return NULL;
        }
        bool is_le = key_len == 2 && strncmp(key, "le", 2) == 0;
        at += key_len + 2;
        const char *value = at;
        for (; *at != '"'; at++) {
            if (*at == '\0' || (*at == '\\' && !strchr("\\\"n", *++at))) {
                return NULL;
            }
        }
        size_t value_len = (size_t)(at - value);
        if (is_le) {
            (void)snprintf(le, 32, "%.*s", (int)value_len, value);
        } else {
            used += (size_t)snprintf(others + used, LINE_LEN - used, "%.*s;",
                                     (int)(at - key), key);
        }
        at++;
        if (*at == ',' && at[1] != '}') {
            at++;
        } else if (*at != '}') {
            return NULL;
        }
    }
    return at + 1;
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
        r->ended = false;
        r->bound = -1;
        r->total = 0;
    }
    bool last = strcmp(le, "+Inf") == 0;
    double bound = last ? 0 : strtod(le, NULL);
    if (!last && (bound <= r->bound || !strchr(le, '.'))) {
        return fail(r, "a bound that does not rise, or is no float", line);
    }
    if (number < r->total) {
        return fail(r, "buckets do not add up", line);
    }
    r->bound = bound;
    r->total = number;
    r->ended = last;
    return true;
}

static bool read_value(struct reader *r,
                       const char *suffix,
                       const char *labels,
                       const char *le,
                       double number,
                       const char *line)
{
    if (strcmp(r->type, "histogram") != 0) {
        bool counter = strcmp(r->type, "counter") == 0;
        return (strcmp(suffix, counter ? "_total" : "") == 0 &&
                (!counter || number >= 0)) ||
               fail(r, "a suffix or a number that is not of its type", line);
    }
    if (strcmp(suffix, "_bucket") == 0) {
        return read_bucket(r, labels, le, number, line);
    }
    bool same = r->ended && strcmp(labels, r->labels) == 0;
    bool count = strcmp(suffix, "_count") == 0, sum = strcmp(suffix, "_sum") == 0;
    return (same && (sum || (count && number == r->total))) ||
           fail(r, "not what belongs to the buckets before it", line);
}

static bool read_sample(struct reader *r, const char *line)
{
    char others[LINE_LEN] = "", le[32] = "";
    size_t name_len = strcspn(line, "{ ");
    const char *at = line + name_len;
    if (!is_name(line, name_len) || strncmp(line, r->name, strlen(r->name)) != 0) {
        return fail(r, "a sample of another family", line);
    }
    char suffix[NAME_MAX_LEN];
    (void)snprintf(suffix, sizeof(suffix), "%.*s", (int)(name_len - strlen(r->name)),
                   line + strlen(r->name));
    if (*at == '{') {
        at = read_labels(at + 1, others, le);
    }
    if (!at || *at != ' ') {
        return fail(r, "labels that are none", line);
    }
    char *end = NULL;
    double number = strtod(at + 1, &end);
    if (end == at + 1 || *end != '\0') {
        return fail(r, "a number that is none", line);
    }
    r->sampled = true;
    return read_value(r, suffix, others, le, number, line);
}

const char *zkt_openmetrics_fault(const char *text)
{
    static struct reader r;
    r = (struct reader){.count = 0};
    /* The address sanitizer reads a string to its end, whatever is looked for in it. */
    const char *line = text, *text_end = text + strlen(text);
    while (*line != '\0') {
        char copy[LINE_LEN];
        const char *end = memchr(line, '\n', (size_t)(text_end - line));
        if (!end || (size_t)(end - line) >= sizeof(copy)) {
            return "a line without an end, or a long one";
        }
        memcpy(copy, line, (size_t)(end - line));
        copy[end - line] = '\0';
        line = end + 1;
        if (strcmp(copy, "# EOF") == 0) {
            return *line != '\0' ? "more behind the EOF" : NULL;
        }
        if (!(copy[0] == '#' ? read_metadata(&r, copy) : read_sample(&r, copy))) {
            return r.fault;
        }
    }
    return "no EOF";
}

double zkt_openmetrics_value(const char *text, const char *name)
{
    const char *end = text + strlen(text);
    size_t len = strlen(name);
    for (const char *line = text; line && *line != '\0';) {
        if (strncmp(line, name, len) == 0 && line[len] == ' ') {
            return strtod(line + len, NULL);
        }
        line = memchr(line, '\n', (size_t)(end - line));
        line = line ? line + 1 : NULL;
    }
    return -1;
}
