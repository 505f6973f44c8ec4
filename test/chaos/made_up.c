/* SPDX-License-Identifier: Apache-2.0 */
#include "made_up.h"

#include <string.h>

#include <zkr/error.h>

struct made_up t;

zkc_record *add(enum zkc_kind kind, int who, int path, int64_t at_ms)
{
    zkc_record *r = &t.all[t.n++];
    assert_true(t.n < ROOM);
    *r = (zkc_record){.at = t.now + at_ms * MS,
                      .until = t.now + (at_ms + 1) * MS,
                      .kind = (uint16_t)kind,
                      .life = 1,
                      .process = (uint8_t)(who / ZKC_THREADS),
                      .thread = (uint8_t)(who % ZKC_THREADS),
                      .path = (uint8_t)path};
    return r;
}

zkc_record *visit(int who, int path)
{
    static const enum zkc_kind kinds[VISIT] = {
        [GRANT] = ZKC_GRANT,      [SURE] = ZKC_SURE,       [STORE] = ZKC_STORE,
        [AGAIN] = ZKC_AGAIN,      [PLAIN] = ZKC_PLAIN,     [TRY] = ZKC_GUARD_TRY,
        [WRITTEN] = ZKC_GUARD_OK, [RELEASE] = ZKC_RELEASE, [RELEASED] = ZKC_RELEASED,
    };
    zkc_record *first = &t.all[t.n];
    const int64_t token = t.token += 10;
    for (int i = 0; i < VISIT; i++) {
        add(kinds[i], who, path, i + 1)->token = token;
    }
    set_as(first,
           path == ZKC_PERMITS_PATH                       ? ZKC_AS_PERMITS
           : path == ZKC_RW_PATH && t.visits / 2 % 2 == 0 ? ZKC_AS_READER
           : path == ZKC_RW_PATH                          ? ZKC_AS_WRITER
                                                          : ZKC_AS_MUTEX,
           path == ZKC_PERMITS_PATH ? ZKC_PERMITS_MAX : 0);
    first[GRANT].value = path == ZKC_KEPT_PATH ? -1 : t.sequence++;
    first[GRANT].by = (uint8_t)(t.visits++ % ZKC_BYS);
    first[GRANT].limit = -1;
    first[SURE].value = PROMISE_MS;
    first[STORE].code = 1;
    first[AGAIN].value = token;
    first[WRITTEN].value = first[TRY].value = ++t.expected.paths[path].counter;
    first[WRITTEN].limit = token + 5;
    t.expected.paths[path].store_value++;
    t.expected.paths[path].store_writes++;
    t.now += ROUND_MS * (int64_t)MS;
    return first;
}

void set_as(zkc_record *hold, enum zkc_as as, int permits)
{
    for (int i = 0; i < VISIT; i++) {
        hold[i].as = (uint8_t)as;
        hold[i].permits = (uint8_t)permits;
    }
}

zkc_record *visit_both(int who)
{
    zkc_record *first = visit(who, ZKC_SHORT_PATH);
    set_as(first, ZKC_AS_BOTH, 0);
    for (int i = 0; i < VISIT; i++) {
        first[i].also = ZKC_RARE_PATH;
    }
    for (int i = 0; i < 2; i++) {
        zkc_record *r =
            add(ZKC_LOOKED, who, i == 0 ? ZKC_SHORT_PATH : ZKC_RARE_PATH, 0);
        r->at = first[SURE].at;
        r->until = first[SURE].until;
        r->value = r->token = first[GRANT].token;
    }
    return first;
}

zkc_record *visit_downgraded(int who)
{
    zkc_record *first = visit(who, ZKC_RW_PATH);
    set_as(first, ZKC_AS_WRITER, 0);
    for (int i = 0; i < 2; i++) {
        zkc_record *r =
            add(i == 0 ? ZKC_DOWNGRADE : ZKC_DOWNGRADED, who, ZKC_RW_PATH, 0);
        r->at = first[GRANT].until + (int64_t)3 * MS;
        r->value = r->token = first[GRANT].token;
    }
    return first;
}

zkc_record *failed(int code, int64_t limit_ms)
{
    zkc_record *r = add(ZKC_FAIL, 0, 0, 0);
    r->limit = limit_ms;
    r->code = code;
    r->until = r->at + limit_ms * MS;
    return r;
}

int made_up_setup(void **state)
{
    (void)state;
    memset(&t, 0, sizeof t);
    t.now = 1000 * (int64_t)MS;
    t.token = (int64_t)1 << 48; /* as large as tokens on a kept path are */
    t.expected.seconds = 10;
    t.expected.kinds = ZKC_USUAL;
    t.expected.ended = true;
    failed(ZKR_ETIMEDOUT, 30);
    zkc_record *canceled = failed(ZKR_ECANCELED, 3000);
    canceled->until -= 2000 * (int64_t)MS;
    canceled->by = ZKC_BY_CALLBACK;
    return 0;
}

void calm(void)
{
    visit_both(0);
    visit_downgraded(0);
    add(ZKC_CALM, 0, 0, 0);
    for (int i = 0; i < ZKC_PROCESSES * ZKC_THREADS * ZKC_PATHS; i++) {
        visit(i / ZKC_PATHS, i % ZKC_PATHS);
    }
}

void judge(void)
{
    zkc_check(t.all, t.n, &t.expected, &t.verdict);
    for (int i = 0; i < ZKC_BAD_KINDS; i++) {
        if (t.verdict.bad[i] > 0) {
            print_message("%s: %s\n", zkc_bad_name((enum zkc_bad)i),
                          t.verdict.first[i]);
        }
    }
}

void expect_good(void)
{
    judge();
    assert_int_equal(zkc_bad_count(&t.verdict), 0);
}

void expect_only(enum zkc_bad kind)
{
    judge();
    assert_int_not_equal(t.verdict.bad[kind], 0);
    assert_int_equal(zkc_bad_count(&t.verdict), t.verdict.bad[kind]);
}

void strike_out(zkc_record *r)
{
    r->kind = ZKC_NONE;
}
