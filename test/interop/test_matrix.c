/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks of this library and of others on one path, every pair in both directions: does the second one wait for the
 * first one? docs/interop.md shows the results in a table between two marks. This program compares each row. With
 * ZKR_WRITE_MATRIX=1, it writes the table. Arguments: --two, and all peers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "fourlw.h"
#include "peer.h"

enum { PATIENCE_MS = 40000, SESSION_MS = 10000 };

struct kind {
    const char *row, *column; /* in the table */
    enum peer_kind peer;
    const char *word;    /* its name for this lock */
    bool one_queue;      /* locks of this kind respect each other */
    const char *warning; /* in our log while this lock is held; NULL = none */
};

static const struct kind kinds[] = {
    {"`zkr_mutex`, by a thread", "mutex", OURS, "mutex", true, NULL},
    {"`zkr_mutex`, by a ticket", "ticket", OURS, "ticket", true, NULL},
    {"`zkr lock`", "`zkr`", COMMAND, "lock", true, NULL},
    {"Curator `InterProcessMutex`", "Curator", CURATOR, "mutex", true, NULL},
    {"go-zookeeper `Lock`", "Go", GO, "lock", true, NULL},
    {"kazoo `CuratorLock` (below)", "kazoo (below)", KAZOO, "subclass", true, NULL},
    {"kazoo `Lock` with `extra_lock_patterns=[\"-lock-\"]`", "kazoo (patterns)", KAZOO,
     "patterns", false, "kazoo uses this path"},
    {"kazoo `Lock` without options", "kazoo", KAZOO, "plain", false,
     "kazoo uses this path"},
    {"writer of `zkr_rwlock`", "rwlock", OURS, "write", false, "read-write lock"},
    {"writer of Curator `InterProcessReadWriteLock`", "Curator RW", CURATOR, "write",
     false, "read-write lock"},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

enum outcome { LEFT_OUT, WAITS, HOLDS_TOO, FAILS };
static const char *const cells[] = {NULL, "yes", "**no**", "error"};

/* --- a pair --- */

static void hold(struct peer *p)
{
    peer_ask(p, "acquire 30000", "true");
}

static void let_go(struct peer *p)
{
    peer_ask(p, "release", "ok");
}

/* Returns the owner of the only node, and writes its path. */
static int64_t owner_of_holder(char *node, size_t size)
{
    zkt_stat stat;
    ZKT_BECOMES(zkt_nodes(), 1, PATIENCE_MS);
    zkt_lone_node(node, size);
    assert_int_equal(zkt_get(zkt_servers(), node, (char[1]){0}, 1, &stat), ZKT_OK);
    return stat.ephemeral_owner;
}

/* Let @waiter acquire while @holder holds. A contender that waits watches the holder's node, and is granted later. */
static enum outcome meet(struct peer *holder, struct peer *waiter)
{
    char node[256];
    hold(holder);
    int64_t owner = owner_of_holder(node, sizeof(node));
    peer_say(waiter, "acquire 30000");
    ZKT_EVENTUALLY(peer_has_answered(waiter) ||
                       zkt_watchers_but(zkt_servers(), node, owner) > 0,
                   PATIENCE_MS);
    enum outcome o = WAITS;
    if (peer_has_answered(waiter)) {
        o = strcmp(peer_hear(waiter), "true") == 0 ? HOLDS_TOO : FAILS;
    }
    /* A contender that fails leaves its node. */
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    let_go(holder);
    if (o == WAITS) {
        peer_expect(waiter, "true");
    }
    if (o != FAILS) {
        let_go(waiter);
    }
    return o;
}

/* Check the warnings of a waiter, which is a mutex of ours. */
static void expect_warning(struct peer *mutex, const struct kind *holder)
{
    char line[64];
    (void)snprintf(line, sizeof(line), "warnings %s",
                   holder->warning ? holder->warning : "");
    peer_ask(mutex, line, holder->warning ? "1 1" : "0 0");
}

static enum outcome pair(const struct kind *h, const struct kind *w)
{
    struct peer *holder = peer_with_lock(h->peer, h->word, SESSION_MS);
    struct peer *waiter = peer_with_lock(w->peer, w->word, SESSION_MS);
    enum outcome o = meet(holder, waiter);
    print_message("%s holds, %s comes: %s\n", h->row, w->row, cells[o]);
    if (h->one_queue && w->one_queue) {
        assert_int_equal(o, WAITS);
    } else if (w->peer == GO && ZKR_GO_PARSES) {
        /*
         * With releases that can parse the names of other recipes, it waits. The table is about the other releases,
         * with which it fails.
         */
        assert_int_equal(o, WAITS);
        o = FAILS;
    }
    if (w == &kinds[0]) {
        expect_warning(waiter, h);
    }
    peer_end(waiter);
    peer_end(holder);
    ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
    return o;
}

/* --- the table --- */

static const char begin_mark[] = "<!-- interop:begin -->\n",
                  end_mark[] = "<!-- interop:end -->\n";

static char *read_page(void)
{
    enum { MOST = 1 << 20 };
    char *text = calloc(1, MOST);
    FILE *f = fopen(ZKR_INTEROP_PAGE, "re");
    assert_true(text && f && fread(text, 1, MOST - 1, f) > 0);
    (void)fclose(f);
    return text;
}

/* Returns the line between the marks that begins with @start, else the second mark. */
static char *find_line(char *text, const char *start)
{
    char *at = strstr(text, begin_mark), *end = strstr(text, end_mark);
    assert_true(at && end && at < end);
    for (at += strlen(begin_mark); at < end; at = strchr(at, '\n') + 1) {
        if (strncmp(at, start, strlen(start)) == 0) {
            return at;
        }
    }
    return end;
}

static void write_line(char *text, char *at, const char *line)
{
    FILE *f = fopen(ZKR_INTEROP_PAGE, "we");
    const char *rest =
        strncmp(at, end_mark, strlen(end_mark)) == 0 ? at : strchr(at, '\n') + 1;
    assert_non_null(f);
    (void)fprintf(f, "%.*s%s%s", (int)(at - text), text, line, rest);
    assert_int_equal(fclose(f), 0);
}

/* Compare @line with the line of docs/interop.md that begins with @start, or write it. */
static void compare(const char *start, const char *line)
{
    char *text = read_page(), *at = find_line(text, start);
    print_message("%s", line);
    if (getenv("ZKR_WRITE_MATRIX")) {
        write_line(text, at, line);
    } else if (strncmp(at, line, strlen(line)) != 0) {
        zkt_fail("docs/interop.md has not this line between its marks, but %.*s\n"
                 "ZKR_WRITE_MATRIX=1 writes it",
                 (int)strcspn(at, "\n"), at);
    }
    free(text);
}

/*
 * Copy cell @column of the line of docs/interop.md that begins with @start. Kinds that are left out keep their
 * old results.
 */
static void copy_cell(const char *start, int column, char *cell, size_t size)
{
    char *text = read_page();
    const char *at = find_line(text, start);
    for (int i = 0; i < column + 2 && at; i++) {
        at = strchr(at, '|');
        at += at != NULL;
    }
    (void)snprintf(cell, size, "%.*s", at ? (int)strcspn(at + 1, "|\n") - 1 : 0,
                   at + 1);
    free(text);
}

/* --- the cases --- */

ZKT_CASE(the_table_has_these_columns)
{
    char line[512] = "| holder |", rule[128] = "|---|";
    for (int i = 0; i < KINDS; i++) {
        size_t len = strlen(line);
        (void)snprintf(line + len, sizeof(line) - len, " %s |", kinds[i].column);
        (void)strcat(rule, "---|");
    }
    (void)strcat(line, "\n");
    (void)strcat(rule, "\n");
    compare("| holder", line);
    compare("|---", rule);
}

/* One kind holds, and all kinds acquire one after the other. */
ZKT_CASE_WAYS(row,
              {"a_mutex_holds", row, 0, NULL},
              {"a_ticket_holds", row, 1, NULL},
              {"the_command_holds", row, 2, NULL},
              {"curator_holds", row, 3, NULL},
              {"go_holds", row, 4, NULL},
              {"kazoo_holds_with_curators_names", row, 5, NULL},
              {"kazoo_holds_with_patterns", row, 6, NULL},
              {"kazoo_holds_as_it_comes", row, 7, NULL},
              {"a_writer_holds", row, 8, NULL},
              {"a_writer_of_curators_holds", row, 9, NULL})
{
    const struct kind *h = &kinds[zkt_way()];
    char start[128], line[512], cell[64];
    if (!peer_is_there(h->peer)) {
        print_message("%s is left out\n", h->row);
        return;
    }
    (void)snprintf(start, sizeof(start), "| %s |", h->row);
    (void)snprintf(line, sizeof(line), "%s", start);
    for (int i = 0; i < KINDS; i++) {
        if (peer_is_there(kinds[i].peer)) {
            (void)snprintf(cell, sizeof(cell), "%s", cells[pair(h, &kinds[i])]);
        } else {
            copy_cell(start, i, cell, sizeof(cell));
        }
        size_t len = strlen(line);
        (void)snprintf(line + len, sizeof(line) - len, " %s |", cell);
    }
    (void)strcat(line, "\n");
    compare(start, line);
}

/*
 * Contenders of all languages are served in the order of their requests. Each kind queues directly behind every other
 * kind in some round.
 */
ZKT_CASE(they_are_one_queue)
{
    enum { ALL = 6, PRIME = ALL + 1 };
    struct peer *p[ALL];
    for (int i = 0; i < ALL; i++) {
        const struct kind *k = &kinds[i];
        assert_true(k->one_queue);
        p[i] = peer_is_there(k->peer) ? peer_with_lock(k->peer, k->word, SESSION_MS)
                                      : NULL;
    }
    for (int step = 1; step < PRIME; step++) {
        struct peer *queue[ALL];
        int count = 0;
        for (int i = 1; i < PRIME; i++) {
            struct peer *next = p[i * step % PRIME - 1];
            if (next) {
                queue[count++] = next;
                peer_say(next, "acquire 30000");
                ZKT_BECOMES(zkt_nodes(), count, PATIENCE_MS);
            }
        }
        for (int i = 0; i < count; i++) {
            peer_expect(queue[i], "true");
            for (int later = i + 1; later < count; later++) {
                assert_false(peer_has_answered(queue[later]));
            }
            let_go(queue[i]);
        }
        ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
    }
}

/*
 * Other recipes of Curator on the path of a mutex: whether each respects the other, and the single warning in the log.
 */
ZKT_CASE(other_recipes_and_a_mutex)
{
    static const struct {
        const char *word, *we, *warning; /* whether we are granted beside them */
    } list[] = {
        {"read", "false", "read-write lock"},
        {"semaphore-mutex", "true", "semaphore"}, /* it leaves its directories */
    };
    for (int i = 0; peer_is_there(CURATOR) && i < 2; i++) {
        const struct kind as_holder = {.warning = list[i].warning};
        struct peer *j = peer_with_lock(CURATOR, list[i].word, SESSION_MS);
        struct peer *ours = peer_with_lock(OURS, "mutex", SESSION_MS);
        hold(j);
        for (int tries = 0; tries < 2; tries++) {
            peer_ask(ours, "acquire 0", list[i].we);
            if (strcmp(list[i].we, "true") == 0) {
                let_go(ours);
            }
        }
        let_go(j);
        hold(ours);
        hold(j);
        let_go(j);
        let_go(ours);
        expect_warning(ours, &as_holder);
        peer_end(ours);
        peer_end(j);
    }
}
