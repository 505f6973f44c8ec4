/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "keep.h"

enum { PATIENCE_MS = 30000 };

#define JARS "/usr/share/java/"
static const char CLASSPATH[] = JARS
    "bsh.jar:" JARS "curator-recipes.jar:" JARS "curator-framework.jar:" JARS
    "curator-client.jar:" JARS "zookeeper.jar:" JARS "guava.jar:" JARS "slf4j-nop.jar";

/* Of the arguments of this program, by the ends of their names. */
static const char *scripts[PEERS];

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), least = strlen(end);
    return size >= least && strcmp(text + size - least, end) == 0;
}

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

/* Of what the scripts need; NULL = all is there. */
static const char *missing(void)
{
    if (scripts[KAZOO] &&
        system("/usr/bin/python3 -c 'import kazoo' 2>/dev/null") != 0) {
        return "kazoo for Python";
    }
    return first_missing_jar();
}

/* Without the language or the library of a script ctest says "Skipped", and nothing worse. */
static int look_at_arguments(char **argv, int *status)
{
    int i = 0;
    for (; argv[i] && ends_with(argv[i], ".bsh"); i++) {
        scripts[CURATOR] = argv[i];
    }
    for (; argv[i] && ends_with(argv[i], ".py"); i++) {
        scripts[KAZOO] = argv[i];
    }
    enum { USAGE = 64, SKIPPED = 77 };
    const char *lacks = missing();
    if (lacks) {
        (void)printf("left out: %s is not installed\n", lacks);
    }
    *status = lacks ? SKIPPED : USAGE;
    return scripts[CURATOR] && !lacks ? i : -1;
}

__attribute__((constructor)) static void register_it(void)
{
    zkt_at_start(look_at_arguments);
}

struct peer {
    enum peer_kind kind;
    pid_t pid;
    int in[2], out[2];
};

static int run(void *arg)
{
    struct peer *j = arg;
    if (dup2(j->in[0], STDIN_FILENO) < 0 || dup2(j->out[1], STDOUT_FILENO) < 0) {
        return 1;
    }
    const char *script = scripts[j->kind];
    if (j->kind == KAZOO) {
        execlp("/usr/bin/python3", "python3", script, zkt_servers(), zkt_path(),
               (char *)NULL);
    } else {
        execlp("java", "java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", CLASSPATH,
               "bsh.Interpreter", script, zkt_servers(), zkt_path(), (char *)NULL);
    }
    return 127;
}

void peer_say(struct peer *j, const char *text)
{
    char line[128];
    int len = snprintf(line, sizeof(line), "%s\n", text);
    assert_int_equal(write(j->in[1], line, (size_t)len), len);
}

void peer_expect(struct peer *j, const char *answer)
{
    char line[128] = "";
    size_t len = 0;
    int byte;
    while ((byte = zkt_get_byte(j->out[0], PATIENCE_MS)) >= 0 && byte != '\n' &&
           len + 1 < sizeof(line)) {
        line[len++] = (char)byte;
    }
    assert_string_equal(line, answer);
}

void peer_ask(struct peer *j, const char *line, const char *answer)
{
    peer_say(j, line);
    peer_expect(j, answer);
}

bool peer_is_silent(const struct peer *j)
{
    enum { WHILE_MS = 300 };
    return zkt_get_byte(j->out[0], WHILE_MS) == -1;
}

static void end(void *peer)
{
    struct peer *j = peer;
    close(j->in[1]); /* the end of its input */
    j->in[1] = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_int_equal(zkt_join(j->pid, PATIENCE_MS), 0);
    zkt_pipe_close(j->in);
    zkt_pipe_close(j->out);
    free(j);
}

struct peer *peer_start(enum peer_kind kind)
{
    struct peer *j = calloc(1, sizeof(*j));
    assert_non_null(j);
    j->kind = kind;
    zkt_pipe(j->in);
    zkt_pipe(j->out);
    j->pid = zkt_fork(run, j);
    zkt_keep(j, end);
    peer_expect(j, "ready");
    return j;
}
