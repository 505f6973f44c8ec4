/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock --stats: a file for node_exporter. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

struct place {
    char dir[32], file[48];
};

static struct place make_place(void)
{
    struct place p = {.dir = "/tmp/zkt-stats-XXXXXX"};
    assert_non_null(mkdtemp(p.dir));
    (void)snprintf(p.file, sizeof(p.file), "%s/x.prom", p.dir);
    return p;
}

/* Nothing but the file is left there. */
static void remove_place(const struct place *p)
{
    assert_int_equal(unlink(p->file), 0);
    assert_int_equal(rmdir(p->dir), 0);
}

static char *read_file(const char *name)
{
    static char text[65536];
    FILE *in = fopen(name, "re");
    size_t n = in ? fread(text, 1, sizeof(text) - 1, in) : 0;
    text[n] = '\0';
    if (in) {
        (void)fclose(in);
    }
    return text;
}

/* Has it a line that begins with name and labels, and ends in this value? */
static bool says(const struct place *p, const char *name, const char *value)
{
    char line[400];
    (void)snprintf(line, sizeof(line), "\n%s{path=\"%s\"} %s\n", name, zkt_path(),
                   value);
    return strstr(read_file(p->file), line) != NULL;
}

static ino_t inode(const struct place *p)
{
    struct stat st;
    return stat(p->file, &st) == 0 ? st.st_ino : 0;
}

/*
 * What the text format of Prometheus asks for: each family has its TYPE once and ahead of its samples, and a type that it
 * knows; each sample is a name, labels and a number, and stands in no other file of this host: the path is among its labels.
 */
static void check_format(const char *text)
{
    char family[128] = "", types[8192] = "";
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        char name[128], rest[256], mark[160];
        if (sscanf(line, "# TYPE %127s %255s", name, rest) == 2) {
            (void)snprintf(mark, sizeof(mark), " %s ", name);
            assert_null(strstr(types, mark));
            (void)strcat(types, mark);
            (void)snprintf(family, sizeof(family), "%s", name);
            assert_true(strcmp(rest, "counter") == 0 || strcmp(rest, "gauge") == 0 ||
                        strcmp(rest, "histogram") == 0);
        } else if (sscanf(line, "# HELP %127s", name) == 1) {
            assert_string_equal(name, family);
        } else {
            char *end;
            assert_int_equal(strncmp(line, family, strlen(family)), 0);
            assert_non_null(strstr(line, "{path=\"/"));
            const char *value = strchr(strchr(line, '}'), ' ') + 1;
            (void)strtod(value, &end);
            assert_true(end != value && *end == '\n');
        }
    }
}

/* Through the life of a lock; whoever collects may read it, and never sees a part of it. */
ZKT_CASE(the_file_follows_the_lock)
{
    struct place p = make_place();
    struct cli other, c;
    cli_hold(&other);
    CLI_START(&c, "lock", "--stats", p.file, zkt_path(), "sleep", "60");
    ZKT_EVENTUALLY(says(&p, "zkr_waiting", "1"), CLI_PATIENCE_MS); /* by time alone */
    cli_stop(&other, SIGTERM);
    ZKT_EVENTUALLY(says(&p, "zkr_held", "1"), CLI_PATIENCE_MS);
    struct stat st;
    assert_int_equal(stat(p.file, &st), 0);
    assert_true((st.st_mode & 0444) == 0444);
    ino_t before = inode(&p);
    ZKT_EVENTUALLY(inode(&p) != before, CLI_PATIENCE_MS);
    cli_stop(&c, SIGTERM);
    assert_true(says(&p, "zkr_held", "0"));
    assert_true(says(&p, "zkr_acquired_total", "1"));
    assert_true(says(&p, "zkr_contended_total", "1"));
    assert_true(says(&p, "zkr_pending_deletes", "0"));
    check_format(read_file(p.file));
    remove_place(&p);
}

/* Also when nothing came of it. */
ZKT_CASE(a_conflict_is_counted)
{
    struct place p = make_place();
    struct cli other;
    cli_hold(&other);
    assert_int_equal(CLI("lock", "-n", "--stats", p.file, zkt_path(), "true"), 1);
    assert_true(says(&p, "zkr_timed_out_total", "1"));
    cli_stop(&other, SIGTERM);
    remove_place(&p);
}

/* What is no file would be replaced by one: as root, /dev/null. */
ZKT_CASE(what_is_no_file_is_not_replaced)
{
    struct place p = make_place();
    struct stat st;
    assert_int_equal(mkfifo(p.file, 0600), 0);
    CLI_REFUSED(64, "lock", "--stats", p.file, zkt_path(), "true");
    assert_int_equal(stat(p.file, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    assert_int_equal(unlink(p.file), 0);
    assert_int_equal(symlink("elsewhere", p.file), 0);
    CLI_REFUSED(64, "lock", "--stats", p.file, zkt_path(), "true");
    assert_int_equal(lstat(p.file, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    remove_place(&p);
}
