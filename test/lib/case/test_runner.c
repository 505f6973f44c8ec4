/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the runner with a program that fails in every way: what the runner reports, and that the other cases run. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "runner.h"

enum { OUTPUT_MAX = 65536 };

/* ---- cases that fail --------------------------------------------------------------- */

static int refused(void)
{
    return zkr__fail(ZKR_EBUSY, "/p", "%s is taken", "/p");
}

static void helper(void)
{
    ZKT_RC(refused(), ZKR_ETIMEDOUT);
}

static void a_code(void **state)
{
    helper();
}

static void a_number(void **state)
{
    ZKT_IN_RANGE(2 + 3, 5, 5);
    ZKT_IN_RANGE(2 - 3, 0, 5);
}

static void a_wait(void **state)
{
    ZKT_BECOMES(2 + 3, 4, 20);
}

static void a_wait_for_a_code(void **state)
{
    ZKT_BECOMES(ZKR_EBUSY, ZKR_OK, 20);
}

static void a_hang(void **state)
{
    (void)pause();
}

static void a_crash(void **state)
{
    (void)raise(SIGSEGV);
}

static void an_exit(void **state)
{
    exit(3);
}

static void *asserts(void *arg)
{
    assert_non_null(arg);
    return NULL;
}

static void a_thread(void **state)
{
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, asserts, NULL), 0);
    (void)pthread_join(t, NULL);
}

static void not_here(void **state)
{
    zkt_skip("there is none here");
}

static void good(void **state)
{
    assert_string_equal(*state, "from the group");
}

static int group(void **state)
{
    static char text[] = "from the group";
    *state = text;
    return 0;
}

static int torn_down(void **state)
{
    (void)printf("torn down\n");
    return 0;
}

static const struct CMUnitTest bad[] = {
    cmocka_unit_test_teardown(a_code, torn_down),
    cmocka_unit_test(a_number),
    cmocka_unit_test(a_wait),
    cmocka_unit_test(a_wait_for_a_code),
    cmocka_unit_test(a_hang),
    cmocka_unit_test(a_crash),
    cmocka_unit_test(an_exit),
    cmocka_unit_test(a_thread),
    cmocka_unit_test(not_here),
    cmocka_unit_test_teardown(good, torn_down),
};

/* ---- what the runner reports ------------------------------------------------------- */

static char output[OUTPUT_MAX];
struct call {
    FILE *out;
    const char *arguments;
};

static int run_bad(void *arg)
{
    const struct call *c = arg;
    char text[128];
    char *argv[8] = {text};
    int argc = 1;
    (void)snprintf(text, sizeof text, "program %s", c->arguments);
    (void)strtok(text, " ");
    for (char *at = NULL; (at = strtok(NULL, " ")) != NULL; argc++) {
        argv[argc] = at;
    }
    (void)dup2(fileno(c->out), STDOUT_FILENO);
    (void)dup2(fileno(c->out), STDERR_FILENO);
    (void)setenv("ZKT_CASE_SECONDS", "1", 1);
    return zkt_run_cases(argc, argv, bad, sizeof bad / sizeof *bad, group, NULL);
}

/* Runs the cases above that @arguments select, and stores their output. Returns the exit status. */
static int run(const char *arguments)
{
    struct call c = {.out = tmpfile(), .arguments = arguments};
    assert_non_null(c.out);
    const int status = zkt_join(zkt_fork(run_bad, &c), 60000);
    rewind(c.out);
    output[fread(output, 1, sizeof output - 1, c.out)] = '\0';
    (void)fclose(c.out);
    return status;
}

static void says(const char *text)
{
    if (strstr(output, text) == NULL) {
        zkt_fail("not said: %s\n---- but:\n%s----", text, output);
    }
}

/* Each failure is reported with its name and in its own way, and the last lines sum up. */
static void all_run_whatever_one_does(void **state)
{
    assert_int_equal(run(""), 1);
    says("refused() is ZKR_EBUSY, not ZKR_ETIMEDOUT: /p is taken\n");
    says("[  FAILED  ] a_code, ");
    says("2 - 3 is -1, not from 0 to 5\n");
    says("not within 20 ms: 2 + 3 == 4; it is 5, not 4\n");
    says("it is ZKR_EBUSY, not ZKR_OK\n");
    says("[  FAILED  ] a_hang: not over after 1 s\n");
    says("[  FAILED  ] a_crash");
    says("[  FAILED  ] an_exit: exit status 3, after ");
    says("[  FAILED  ] a_thread, ");
    says("skipped: there is none here\n[  SKIPPED ] not_here\n");
    says("[ RUN      ] good\ntorn down\n[       OK ] good, ");
    says("1 of 10 passed in ");
    says(" s, 1 skipped; failed: a_code, a_number, a_wait, a_wait_for_a_code, a_hang, "
         "a_crash, an_exit, a_thread\n");
}

/* The lines that led to a failure or a hang are reported. A failure is not followed by a teardown. */
static void a_failure_tells_where_it_was(void **state)
{
    if (access("/usr/bin/addr2line", X_OK) == 0) {
        assert_int_equal(run("a_code a_hang"), 1);
        says(", helper()\n        ZKT_RC(refused(), ZKR_ETIMEDOUT);\n");
        says("test/lib/case/test_runner.c:");
        says(", a_code()\n        helper();\n");
        says(", a_hang()\n        (void)pause();\n");
        assert_null(strstr(output, "torn down"));
    }
}

/* Arguments select cases by the beginnings of their names, list the cases, or are refused. */
static void arguments_choose(void **state)
{
    assert_int_equal(run("good"), 0);
    says("1 of 1 passed in ");
    assert_int_equal(run("goo not"), 0);
    says("1 of 2 passed in ");
    assert_int_equal(run("-l"), 0);
    assert_int_equal(strncmp(output, "a_code\na_number\n", 16), 0);
    assert_int_equal(run("good nobody"), 64);
    says("no case 'nobody'; -l lists them\n");
    assert_int_equal(run("--no-fork good"), 0);
    says("[ RUN      ] good\ntorn down\n");
    assert_null(strstr(output, "passed"));
}

static void *waits(void *arg)
{
    (void)pause();
    return NULL;
}

static int says_that_it_lives(void *arg)
{
    zkt_put_byte(*(int *)arg, 'l');
    (void)pause();
    return 0;
}

static int ends[2];

static void leaves_a_thread_and_a_process(void **state)
{
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, waits, NULL), 0);
    (void)pthread_detach(t);
    (void)zkt_fork(says_that_it_lives, &ends[1]);
    assert_int_equal(zkt_get_byte(ends[0], 10000), 'l');
}

/* Threads and processes of a case are gone before the next case: no process still has an end of its pipe. */
static void nothing_outlives_a_case(void **state)
{
    char name[] = "program";
    const struct CMUnitTest leaves[] = {
        cmocka_unit_test(leaves_a_thread_and_a_process)};
    zkt_pipe(ends);
    assert_int_equal(zkt_run_cases(1, (char *[]){name, NULL}, leaves, 1, NULL, NULL),
                     0);
    (void)close(ends[1]);
    ends[1] = -1;
    assert_int_equal(zkt_get_byte(ends[0], 10000), -2);
    zkt_pipe_close(ends);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_run_whatever_one_does),
        cmocka_unit_test(a_failure_tells_where_it_was),
        cmocka_unit_test(arguments_choose),
        cmocka_unit_test(nothing_outlives_a_case),
    };
    return zkt_run(argc, argv, tests, NULL, NULL);
}
