/* SPDX-License-Identifier: Apache-2.0 */
/* Apache Curator and we on one path, in both directions. Argument: curator.bsh. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "actor.h"
#include "fixture.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000 };

#define JARS "/usr/share/java/"
static const char CLASSPATH[] = JARS
    "bsh.jar:" JARS "curator-recipes.jar:" JARS "curator-framework.jar:" JARS
    "curator-client.jar:" JARS "zookeeper.jar:" JARS "guava.jar:" JARS "slf4j-nop.jar";

static const char *script;

struct curator {
    pid_t pid;
    int in[2], out[2];
};

static int run_java(void *arg)
{
    struct curator *j = arg;
    if (dup2(j->in[0], STDIN_FILENO) < 0 || dup2(j->out[1], STDOUT_FILENO) < 0) {
        return 1;
    }
    execlp("java", "java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", CLASSPATH,
           "bsh.Interpreter", script, zkt_servers(), zkt_path(), (char *)NULL);
    return 127;
}

static void say(struct curator *j, const char *text)
{
    char line[128];
    int len = snprintf(line, sizeof(line), "%s\n", text);
    assert_int_equal(write(j->in[1], line, (size_t)len), len);
}

static void expect(struct curator *j, const char *answer)
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

static void ask(struct curator *j, const char *line, const char *answer)
{
    say(j, line);
    expect(j, answer);
}

static void start(struct curator *j)
{
    zkt_pipe(j->in);
    zkt_pipe(j->out);
    j->pid = zkt_fork(run_java, j);
    expect(j, "ready");
}

static void end(struct curator *j)
{
    close(j->in[1]); /* the end of its input */
    j->in[1] = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_int_equal(zkt_join(j->pid, PATIENCE_MS), 0);
    zkt_pipe_close(j->in);
    zkt_pipe_close(j->out);
}

/* Curator holds: a try fails, and a wait ends with its release. */
static void we_respect_curator(void **state)
{
    (void)state;
    struct curator j;
    start(&j);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ask(&j, "acquire 5000", "true");
    assert_int_equal(zkr_mutex_acquire(m, 0), ZKR_ETIMEDOUT);
    struct zkt_actor actor;
    zkt_actor_queue(&actor, c, m, NULL);
    ask(&j, "release", "ok");
    assert_int_equal(zkt_actor_acquired(&actor), ZKR_OK);
    assert_int_equal(zkt_actor_end(&actor), ZKR_OK);
    zkt_destroy(m);
    zkt_close(c);
    end(&j);
}

/* We hold: Curator's time-out passes, and a wait of it ends with our release. */
static void curator_respects_us(void **state)
{
    (void)state;
    struct curator j;
    start(&j);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ask(&j, "acquire 300", "false");
    say(&j, "acquire 20000");
    ZKT_EVENTUALLY(zkt_children_count(zkt_servers(), zkt_path()) == 2, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(m));
    expect(&j, "true");
    ask(&j, "release", "ok");
    zkt_destroy(m);
    zkt_close(c);
    end(&j);
}

/* First come, first served, whatever the language. */
static void the_queue_is_one(void **state)
{
    (void)state;
    struct curator j;
    start(&j);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    say(&j, "acquire 20000");
    ZKT_EVENTUALLY(zkt_children_count(zkt_servers(), zkt_path()) == 2, PATIENCE_MS);
    struct zkt_actor actor;
    zkt_actor_queue(&actor, c, m, NULL);
    zkr_contenders *list = NULL;
    ZKT_MUST(zkr_mutex_contenders(m, &list));
    assert_int_equal(zkr_contenders_count(list), 3);
    assert_int_not_equal(zkr_contenders_get(list, 1)->session_id,
                         zkr_client_session_id(c));
    zkr_contenders_free(list);
    ZKT_MUST(zkr_mutex_release(m));
    expect(&j, "true");
    assert_int_equal(zkt_waiting(c), 1);
    ask(&j, "release", "ok");
    assert_int_equal(zkt_actor_acquired(&actor), ZKR_OK);
    assert_int_equal(zkt_actor_end(&actor), ZKR_OK);
    zkt_destroy(m);
    zkt_close(c);
    end(&j);
}

/* One leader among latches of both, each of which can name the other. */
static void latches_elect_together(void **state)
{
    (void)state;
    struct curator j;
    char id[64];
    start(&j);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *l = NULL;
    ZKT_MUST(zkr_leader_latch_create(&l, c, zkt_path(), "ours", NULL));
    ask(&j, "start theirs", "ok");
    ask(&j, "leads 10000", "true");
    ZKT_MUST(zkr_leader_latch_start(l));
    assert_int_equal(zkr_leader_latch_await(l, 300), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_leader_latch_leader(l, id, sizeof(id)));
    assert_string_equal(id, "theirs");
    ask(&j, "stop", "ok");
    ZKT_MUST(zkr_leader_latch_await(l, PATIENCE_MS));
    ask(&j, "start again", "ok");
    ask(&j, "leads 300", "false");
    ask(&j, "leader", "ours");
    assert_true(zkr_leader_latch_has_leadership(l));
    ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_SILENT));
    ask(&j, "leads 10000", "true");
    ask(&j, "stop", "ok");
    ZKT_MUST(zkr_leader_latch_destroy(l));
    zkt_close(c);
    end(&j);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        ZKT_TEST(we_respect_curator),
        ZKT_TEST(curator_respects_us),
        ZKT_TEST(the_queue_is_one),
        ZKT_TEST(latches_elect_together),
    };
    if (argc != 2) {
        return 64;
    }
    script = argv[1];
    return cmocka_run_group_tests(tests, zkt_group_setup, zkt_group_teardown);
}
