/* SPDX-License-Identifier: Apache-2.0 */
/* Which lines of libzookeeper pass to the application's log. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "session/zk_log.h"
#include "unit.h"

enum { MINUTE = 60000, SHORT = 50 };

static int64_t now; /* ms */
static int stamp;

static bool passes(struct zkr__echo *e, unsigned connected, const char *text)
{
    char line[200];
    (void)snprintf(line, sizeof(line), "2026-01-01 %d:4711(0x%x):ZOO_%s", stamp, stamp,
                   text);
    stamp++;
    return zkr__echo_passes(e, connected, line, now * ZKR__MS);
}

/* Each distinct line passes at once. Of repeated lines, one passes per minute. After each connection, all are new again. */
ZKT_UNIT_CASE(what_is_said_again_passes_once_a_minute)
{
    static const char *const texts[] = {"ERROR@f@1: 10.0.0.1:2181 refused",
                                        "ERROR@f@1: 10.0.0.2:2181 refused",
                                        "WARN@g@2: all servers"};
    struct zkr__echo e = {0};
    for (unsigned connected = 0; connected < 3; connected++) {
        int64_t begun = now;
        for (size_t i = 0; i < ZKT_COUNT(texts); i++) {
            assert_true(passes(&e, connected, texts[i]));
        }
        int passed = 0;
        for (; now < begun + 3 * MINUTE + MINUTE / 2; now += SHORT) {
            for (size_t i = 0; i < ZKT_COUNT(texts); i++) {
                passed += passes(&e, connected, texts[i]);
            }
        }
        assert_int_equal(passed, 3);
        assert_true(passes(&e, connected, "ERROR@f@1: 10.0.0.1:2181 timed out"));
    }
}

/* Lines that differ only in a duration are not distinct. Only the first ZKR__ECHOES distinct lines pass at once. */
ZKT_UNIT_CASE(numbers_that_go_on_are_no_news)
{
    struct zkr__echo e = {0};
    assert_true(passes(&e, 1, "WARN@h@3: Exceeded deadline by 11ms"));
    assert_false(passes(&e, 1, "WARN@h@3: Exceeded deadline by 2345ms"));
    int passed = 0;
    for (int i = 0; i < 1000; i++) {
        char text[50];
        (void)snprintf(text, sizeof(text), "INFO@i@4: context=%d", i);
        passed += passes(&e, 1, text);
    }
    assert_int_equal(passed, ZKR__ECHOES - 1);
    assert_false(zkr__echo_passes(&e, 1, "", now * ZKR__MS));
}
