/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock: conflicts, waiting and turns. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli.h"

static void hold(struct cli *c)
{
    CLI_START(c, "lock", "-i", "the holder", zkt_path(), "sleep", "60");
    ZKT_EVENTUALLY(cli_queue() == 1, CLI_PATIENCE_MS);
}

static void end(struct cli *c)
{
    assert_int_equal(kill(c->pid, SIGTERM), 0);
    assert_int_equal(cli_wait(c), 143);
    cli_free(c);
}

static void a_conflict_is_1_or_what_was_asked_for(void **state)
{
    (void)state;
    struct cli holder;
    hold(&holder);
    CLI_REFUSED(1, "lock", "-n", zkt_path(), "true");
    CLI_REFUSED(1, "lock", "--nb", zkt_path(), "true");
    CLI_REFUSED(1, "lock", "--nonblock", zkt_path(), "true");
    CLI_REFUSED(1, "lock", "-w", "0", zkt_path(), "true");
    CLI_REFUSED(1, "lock", "-w0.5", zkt_path(), "true");
    CLI_REFUSED(0, "lock", "-n", "-E", "0", zkt_path(), "true");
    CLI_REFUSED(255, "lock", "-n", "--conflict-exit-code=255", zkt_path(), "true");
    CLI_REFUSED(42, "lock", "--timeout", "0.5", "-E42", zkt_path(), "true");
    end(&holder);
    assert_int_equal(cli_queue(), 0);
}

static void a_wait_takes_as_long_as_asked_for(void **state)
{
    (void)state;
    struct cli holder;
    hold(&holder);
    int64_t started = zkt_now_ms();
    assert_int_equal(CLI("lock", "--wait", "0.4", zkt_path(), "true"), 1);
    int64_t took = zkt_now_ms() - started;
    assert_true(took >= 400 && took < 2400);
    end(&holder);
}

static void a_waiter_is_granted_when_the_holder_ends(void **state)
{
    (void)state;
    struct cli holder, waiter;
    hold(&holder);
    CLI_START(&waiter, "lock", "-w", "30", zkt_path(), "echo", "mine");
    ZKT_EVENTUALLY(cli_queue() == 2, CLI_PATIENCE_MS);
    assert_string_equal(cli_out(&waiter), "");
    end(&holder);
    assert_int_equal(cli_wait(&waiter), 0);
    assert_string_equal(cli_out(&waiter), "mine\n");
    cli_free(&waiter);
}

/* Told to stop, it leaves the queue at once. */
static void a_waiter_told_to_stop_leaves_the_queue(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    struct cli holder;
    hold(&holder);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        struct cli waiter;
        CLI_START(&waiter, "lock", zkt_path(), "echo", "never");
        ZKT_EVENTUALLY(cli_queue() == 2, CLI_PATIENCE_MS);
        assert_int_equal(kill(waiter.pid, signals[i]), 0);
        assert_int_equal(cli_wait(&waiter), 128 + signals[i]);
        assert_int_equal(cli_queue(), 1);
        assert_string_equal(cli_out(&waiter), "");
        cli_free(&waiter);
    }
    end(&holder);
}

/* While it still looks for a server as well. */
static void one_that_connects_can_be_told_to_stop(void **state)
{
    (void)state;
    struct cli c;
    CLI_START(&c, "-z", "127.0.0.1:1", "lock", zkt_path(), "true");
    zkt_sleep_ms(200);
    assert_int_equal(kill(c.pid, SIGTERM), 0);
    assert_int_equal(cli_wait(&c), 143);
    cli_free(&c);
}

/* A file that commands can open by @name, and that ends with this process. */
static int shared_file(char *name, size_t size)
{
    int fd = memfd_create("shared", MFD_CLOEXEC);
    assert_true(fd >= 0);
    (void)snprintf(name, size, "/proc/%d/fd/%d", (int)getpid(), fd);
    return fd;
}

static void a_dozen_waiters_are_served_in_order(void **state)
{
    (void)state;
    enum { WAITERS = 12 };
    struct cli holder, waiters[WAITERS];
    char name[32], text[160], expected[128] = "";
    int fd;
    fd = shared_file(name, sizeof(name));
    hold(&holder);
    for (int i = 0; i < WAITERS; i++) {
        (void)snprintf(text, sizeof(text), "echo %d >> %s", i, name);
        CLI_START(&waiters[i], "lock", zkt_path(), "-c", text);
        ZKT_EVENTUALLY(cli_queue() == i + 2, CLI_PATIENCE_MS);
        (void)snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected),
                       "%d\n", i);
    }
    end(&holder);
    for (int i = 0; i < WAITERS; i++) {
        assert_int_equal(cli_wait(&waiters[i]), 0);
        cli_free(&waiters[i]);
    }
    ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    (void)close(fd);
    assert_string_equal(text, expected);
}

/* Thirty take one each from a stock of a hundred; reading and writing take their time. */
static void thirty_processes_leave_seventy(void **state)
{
    (void)state;
    enum { TAKERS = 30 };
    struct cli takers[TAKERS];
    char name[32], text[160];
    int fd = shared_file(name, sizeof(name));
    assert_int_equal(write(fd, "100\n", 4), 4);
    (void)snprintf(text, sizeof(text), "n=$(cat %s); sleep 0.01; echo $((n-1)) > %s",
                   name, name);
    for (int i = 0; i < TAKERS; i++) {
        CLI_START(&takers[i], "lock", zkt_path(), "-c", text);
    }
    for (int i = 0; i < TAKERS; i++) {
        assert_int_equal(cli_wait(&takers[i]), 0);
        cli_free(&takers[i]);
    }
    ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    (void)close(fd);
    assert_string_equal(text, "70\n");
}

int main(int argc, char **argv)
{
    int status;
    if (cli_main(argc, argv, &status)) {
        return status;
    }
    const struct CMUnitTest tests[] = {
        CLI_TEST(a_conflict_is_1_or_what_was_asked_for),
        CLI_TEST(a_wait_takes_as_long_as_asked_for),
        CLI_TEST(a_waiter_is_granted_when_the_holder_ends),
        CLI_TEST(a_waiter_told_to_stop_leaves_the_queue),
        CLI_TEST(one_that_connects_can_be_told_to_stop),
        CLI_TEST(a_dozen_waiters_are_served_in_order),
        CLI_TEST(thirty_processes_leave_seventy),
    };
    return cmocka_run_group_tests(tests, zkt_group_setup, zkt_group_teardown);
}
