/* SPDX-License-Identifier: Apache-2.0 */
/* Requests whose answers come when nobody waits for them any more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "session/session.h"

/* A door that keeps what it is given. */
static struct {
    void *ctx, *tag, *watch_tag;
    int closed;
} door;

static void *open_kept(const struct zkr__open_args *args)
{
    door.ctx = args->ctx;
    return &door;
}

static void close_kept(void *zh)
{
    (void)zh;
    door.closed++;
}

static int submit_kept(void *zh, const struct zkr__op *op, void *tag, void *watch_tag)
{
    (void)zh;
    (void)op;
    door.tag = tag;
    door.watch_tag = watch_tag;
    return 0;
}

static int64_t session_id_kept(void *zh)
{
    (void)zh;
    return 1;
}

static int timeout_kept(void *zh)
{
    (void)zh;
    return 1000;
}

static const struct zkr__door kept = {
    .open = open_kept,
    .close = close_kept,
    .submit = submit_kept,
    .session_id = session_id_kept,
    .timeout_ms = timeout_kept,
    .now = zkr__clock_now,
    .boot = zkr__clock_boot,
};

static void count_answer(void *ctx, unsigned tag, const struct zkr__answer *answer)
{
    (void)tag;
    (void)answer;
    ++*(int *)ctx;
}

/* A session that was given up answers once more, and then an event comes for the watch set by
 * that: both find what they point to, and nobody is told. */
static void event_of_a_session_given_up_finds_its_watch(void **state)
{
    (void)state;
    const struct zkr__env env = {.door = &kept, .no_threads = true};
    zkr_client *c;
    int answers = 0;
    assert_int_equal(zkr__client_open(&c, "127.0.0.1:1", NULL, &env), ZKR_OK);
    zkr__lock(c);
    (void)zkr__service_run(c);
    zkr__unlock(c);
    zkr__link_session(door.ctx, ZKR__SESSION_UP);

    struct zkr__op op = {.kind = ZKR__OP_GET, .path = "/x", .watch = true};
    zkr__lock(c);
    assert_int_equal(zkr__submit(c, &op, count_answer, &answers, 0), ZKR_OK);
    zkr__session_over(c, "by the test");
    zkr__unlock(c);
    assert_int_equal(answers, 1); /* ZKR_ESESSION */

    const struct zkr__answer late = {.code = ZKR_OK};
    zkr__request_answer(door.tag, &late);
    zkr__request_event(door.watch_tag, ZKR__NODE_DELETED);
    assert_int_equal(answers, 1);

    assert_int_equal(zkr_client_close(c), ZKR_OK);
    assert_int_equal(door.closed, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event_of_a_session_given_up_finds_its_watch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
