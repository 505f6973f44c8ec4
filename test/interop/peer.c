/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"

enum { PATIENCE_MS = 30000 };

#define JARS "/usr/share/java/"
static const char CLASSPATH[] = JARS
    "bsh.jar:" JARS "curator-recipes.jar:" JARS "curator-framework.jar:" JARS
    "curator-client.jar:" JARS "zookeeper.jar:" JARS "guava.jar:" JARS "slf4j-nop.jar";

static bool is_python(const char *script)
{
    const char *end = strrchr(script, '.');
    return end && strcmp(end, ".py") == 0;
}

static int run(void *arg)
{
    struct peer *j = arg;
    if (dup2(j->in[0], STDIN_FILENO) < 0 || dup2(j->out[1], STDOUT_FILENO) < 0) {
        return 1;
    }
    if (is_python(j->script)) {
        execlp("/usr/bin/python3", "python3", j->script, zkt_servers(), zkt_path(),
               (char *)NULL);
    } else {
        execlp("java", "java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", CLASSPATH,
               "bsh.Interpreter", j->script, zkt_servers(), zkt_path(), (char *)NULL);
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

void peer_start(struct peer *j)
{
    zkt_pipe(j->in);
    zkt_pipe(j->out);
    j->pid = zkt_fork(run, j);
    peer_expect(j, "ready");
}

void peer_end(struct peer *j)
{
    close(j->in[1]); /* the end of its input */
    j->in[1] = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_int_equal(zkt_join(j->pid, PATIENCE_MS), 0);
    zkt_pipe_close(j->in);
    zkt_pipe_close(j->out);
}
