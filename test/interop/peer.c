/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "keep.h"

enum { PATIENCE_MS = 40000, SESSION_MS = 10000, MOST = 2, SKIPPED = 77, USAGE = 64 };

#define JARS "/usr/share/java/"
static const char CLASSPATH[] = JARS
    "bsh.jar:" JARS "curator-recipes.jar:" JARS "curator-framework.jar:" JARS
    "curator-client.jar:" JARS "zookeeper.jar:" JARS "guava.jar:" JARS "slf4j-nop.jar";

struct peer {
    enum peer_kind kind;
    pid_t pid; /* 0 = the process was killed */
    int in[2], out[2];
};

/* From the arguments: the script of each kind, recognized by the end of its name, and zkr. OURS needs no script. */
static const char *const ends[PEERS] = {NULL, ".sh", ".bsh", "go_peer", ".py"};
static const char *script[PEERS], *zkr;
static bool there[PEERS] = {[OURS] = true};
static int of_each = 1;

static struct peer peers[PEERS][MOST];
static int taken[PEERS]; /* number that the current case uses */

/* --- requirements --- */

static const char *first_missing_jar(void)
{
    static char jar[128];
    for (const char *at = CLASSPATH; *at; at += *at == ':') {
        size_t len = strcspn(at, ":");
        (void)snprintf(jar, sizeof(jar), "%.*s", (int)len, at);
        if (access(jar, R_OK) != 0) {
            return jar;
        }
        at += len;
    }
    return NULL;
}

/* Returns what is missing for this kind's script, or NULL if nothing is. */
static const char *missing(enum peer_kind kind)
{
    if (kind == CURATOR) {
        return first_missing_jar();
    }
    if (kind == GO && access(script[GO], X_OK) != 0) {
        return "go-zookeeper, or a compiler for Go,";
    }
    if (kind == KAZOO &&
        system("/usr/bin/python3 -c 'import kazoo' 2>/dev/null") != 0) {
        return "kazoo for Python";
    }
    return NULL;
}

static enum peer_kind kind_of(const char *argument)
{
    unsigned kind = COMMAND;
    for (; kind < PEERS; kind++) {
        size_t size = strlen(argument), least = strlen(ends[kind]);
        if (size >= least && strcmp(argument + size - least, ends[kind]) == 0) {
            break;
        }
    }
    return (enum peer_kind)kind;
}

static bool some_left_out(void)
{
    for (int kind = 0; kind < PEERS; kind++) {
        if (script[kind] && !there[kind]) {
            return true;
        }
    }
    return false;
}

/* Read the arguments. If the language or the library of a script is missing, ctest reports "Skipped". */
static int look_at_arguments(char **argv, int *status)
{
    int i = 0;
    if (argv[0] && strcmp(argv[0], "--two") == 0) {
        of_each = MOST;
        i++;
    }
    for (enum peer_kind kind; argv[i] && (kind = kind_of(argv[i])) != PEERS; i++) {
        script[kind] = argv[i];
        const char *lacks = missing(kind);
        there[kind] = !lacks;
        if (lacks) {
            (void)printf("left out: %s is not installed\n", lacks);
        }
        if (kind == COMMAND) {
            zkr = argv[++i];
        }
    }
    const bool skipped = of_each == 1 && some_left_out();
    *status = skipped ? SKIPPED : USAGE;
    return i > 0 && !skipped ? i : -1;
}

bool peer_is_there(enum peer_kind kind)
{
    return there[kind];
}

/* --- the processes --- */

static int run(void *peer)
{
    const struct peer *p = peer;
    const char *self = script[p->kind], *servers = zkt_servers();
    (void)setpgid(0, 0);
    if (dup2(p->in[0], STDIN_FILENO) < 0 || dup2(p->out[1], STDOUT_FILENO) < 0 ||
        close_range(STDERR_FILENO + 1, ~0U, 0) != 0) {
        return 1;
    }
    switch (p->kind) {
    case OURS:
        return ours_live(servers);
    case COMMAND:
        execl("/bin/sh", "sh", self, servers, zkr, (char *)NULL);
        break;
    case CURATOR:
        execlp("java", "java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", CLASSPATH,
               "bsh.Interpreter", self, servers, (char *)NULL);
        break;
    case GO:
        execl(self, self, servers, (char *)NULL);
        break;
    case KAZOO:
        execl("/usr/bin/python3", "python3", self, servers, (char *)NULL);
        break;
    case PEERS:
        break;
    }
    return 127;
}

static void start_all(void)
{
    for (int kind = 0; kind < PEERS; kind++) {
        for (int i = 0; i < of_each && (script[kind] || of_each > 1); i++) {
            struct peer *p = &peers[kind][i];
            if (there[kind]) {
                p->kind = (enum peer_kind)kind;
                zkt_pipe(p->in);
                zkt_pipe(p->out);
                p->pid = zkt_fork(run, p);
                (void)close(p->in[0]); /* so that the end of the peer is noticed */
                (void)close(p->out[1]);
            }
        }
    }
}

static int end_all(void)
{
    for (int i = 0; i < PEERS * MOST; i++) {
        struct peer *p = &peers[i / MOST][i % MOST];
        if (p->pid) {
            /* Each case has waited for the end of the session. */
            (void)kill(-p->pid, SIGKILL);
            (void)zkt_join(p->pid, PATIENCE_MS);
            (void)close(p->in[1]);
            (void)close(p->out[0]);
        }
    }
    return some_left_out() ? SKIPPED : 0;
}

__attribute__((constructor)) static void register_it(void)
{
    zkt_at_start(look_at_arguments);
    zkt_around_cases(start_all, end_all);
}

/* --- words and answers --- */

void peer_say(struct peer *p, const char *text)
{
    char line[PATH_MAX + 64];
    int len = snprintf(line, sizeof(line), "%s\n", text);
    assert_int_equal(write(p->in[1], line, (size_t)len), len);
}

const char *peer_hear(struct peer *p)
{
    static char line[256];
    size_t len = 0;
    int byte;
    while ((byte = zkt_get_byte(p->out[0], PATIENCE_MS)) >= 0 && byte != '\n' &&
           len + 1 < sizeof(line)) {
        line[len++] = (char)byte;
    }
    line[len] = '\0';
    if (byte < 0) {
        zkt_fail("%s: %s, after \"%s\"", p->kind == OURS ? "ours" : script[p->kind],
                 byte == -1 ? "no answer" : "it has ended", line);
    }
    return line;
}

void peer_expect(struct peer *p, const char *answer)
{
    assert_string_equal(peer_hear(p), answer);
}

void peer_ask(struct peer *p, const char *line, const char *answer)
{
    peer_say(p, line);
    peer_expect(p, answer);
}

static bool speaks_within(const struct peer *p, int ms)
{
    struct pollfd fd = {.fd = p->out[0], .events = POLLIN};
    return poll(&fd, 1, ms) != 0;
}

bool peer_has_answered(const struct peer *p)
{
    return speaks_within(p, 0);
}

bool peer_is_silent(const struct peer *p)
{
    enum { WHILE_MS = 300 };
    return !speaks_within(p, WHILE_MS);
}

/* --- in a case --- */

static void end(void *peer)
{
    struct peer *p = peer;
    taken[p->kind]--;
    if (p->pid) {
        peer_ask(p, "end", "ok");
    }
}

void peer_end(struct peer *p)
{
    zkt_unkeep(p);
    end(p);
}

/* Begin a session. Answers that are left from a failed case are skipped. */
static void begin(struct peer *p, int session_ms)
{
    static int count;
    char line[256], ready[32];
    (void)snprintf(ready, sizeof(ready), "ready %d.%d", (int)getpid(), ++count);
    (void)snprintf(line, sizeof(line), "begin %s %s %d", ready + strlen("ready "),
                   zkt_path(), session_ms);
    peer_say(p, line);
    while (strcmp(peer_hear(p), ready) != 0) {
    }
}

struct peer *peer_start_with(enum peer_kind kind, int session_ms)
{
    assert_true(taken[kind] < of_each);
    struct peer *p = &peers[kind][taken[kind]++];
    assert_int_not_equal(p->pid, 0);
    zkt_keep(p, end);
    begin(p, session_ms);
    return p;
}

struct peer *peer_start(enum peer_kind kind)
{
    return peer_start_with(kind, SESSION_MS);
}

struct peer *peer_with_lock(enum peer_kind kind, const char *word, int session_ms)
{
    static const char *const words[] = {"mutex", "lock", "mutex", "lock", "subclass"};
    char line[64];
    struct peer *p = peer_start_with(kind, session_ms);
    (void)snprintf(line, sizeof(line), "lock %s", word ? word : words[kind]);
    peer_ask(p, line, "ok");
    return p;
}

void peer_kill(struct peer *p)
{
    assert_int_equal(kill(-p->pid, SIGKILL), 0);
    p->pid = 0;
}
