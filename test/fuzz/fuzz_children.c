/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of children with hostile names, under the rules. The order is total, and does not depend on the order in which
 * a server lists the children. There is one chain of predecessors. Each end of a child wakes at most one waiter, or
 * readers. One contender holds, or readers hold together. All get their turn, in order.
 */
#include <zkr/error.h>

#include "base/mem.h"
#include "fuzz.h"
#include "queue/children.h"
#include "queue/rule.h"

enum { CHILDREN_MAX = 24, NAME_ROOM = 96 };

struct names {
    char *list[CHILDREN_MAX];
    size_t count;
};

/* Returns a name as some client makes it, a hostile name, or random bytes. */
static char *make_name(struct fuzz_input *in)
{
    static const char *const forms[] = {
        "_c_01234567-89ab-4def-8123-456789abcdef-lock-",
        "_c_01234567-89ab-4def-8123-456789abcde0-lock-",
        "0123456789ab4def8123456789abcdef__lock__",
        "x-72057594037927936-",
        "lock-",
        "lock-lock-",
        "_c_-latch-",
        "_c_01234567-89ab-4def-8123-456789abcdef-__READ__",
        "_c_01234567-89ab-4def-8123-456789abcde0-__WRIT__",
        "_c_01234567-89ab-4def-8123-456789abcde0-__READ__",
        "",
    };
    enum { BYTES = FUZZ_COUNT(forms) };
    char number[32];
    char name[NAME_ROOM];
    uint8_t choice = fuzz_byte(in);
    size_t form = choice % (FUZZ_COUNT(forms) + 1);
    if (form == BYTES) {
        return fuzz_field(in, '\n', NULL);
    }
    bool wide = choice & 0x80;
    int64_t value = wide ? (int32_t)(uint32_t)fuzz_number(in, 4) : fuzz_byte(in) % 16;
    (void)snprintf(number, sizeof(number), "%s%010lld", value < 0 ? "-" : "",
                   value < 0 ? -(long long)value : (long long)value);
    (void)snprintf(name, sizeof(name), "%s%s", forms[form], number);
    return fuzz_copy(name, strlen(name));
}

static bool is_listed(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->list[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* No server has two children with the same name. */
static void make_names(struct names *names, struct fuzz_input *in)
{
    while (in->left > 0 && names->count < CHILDREN_MAX) {
        char *name = make_name(in);
        if (is_listed(names, name)) {
            free(name);
        } else {
            names->list[names->count++] = name;
        }
    }
}

static struct zkr__children order(char *const *names, size_t count)
{
    struct zkr__children children;
    FUZZ_TRUE(zkr__children_order(&children, (const char *const *)names, count,
                                  ZKR__ANY_NUMBER, NULL, NULL) == ZKR_OK);
    return children;
}

/* --- properties --- */

static bool reads(const struct zkr__children *c, size_t i)
{
    return c->list[i].kind == ZKR__NAME_READ;
}

static struct zkr__verdict judge(const struct zkr__children *c, size_t self)
{
    return reads(c, self) ? zkr__rule_reader(c, self, 0) : zkr__rule_first(c, self, 0);
}

static void check_order(const struct zkr__children *c, const struct names *names)
{
    size_t numbered = 0;
    for (size_t i = 0; i < names->count; i++) {
        int64_t sequence;
        enum zkr__name_kind kind;
        bool has = zkr__name_parse(names->list[i], &kind, &sequence);
        size_t at = zkr__children_find(c, names->list[i]);
        FUZZ_TRUE(has == (at < c->count));
        FUZZ_TRUE(!has ||
                  (c->list[at].sequence == sequence && c->list[at].kind == kind));
        numbered += has;
    }
    FUZZ_TRUE(c->count == numbered);
    for (size_t i = 1; i < c->count; i++) {
        const struct zkr__child *a = &c->list[i - 1], *b = &c->list[i];
        FUZZ_TRUE(a->sequence <= b->sequence);
        bool alike = reads(c, i - 1) == reads(c, i);
        FUZZ_TRUE(a->sequence < b->sequence ||
                  (alike ? strcmp(a->name, b->name) < 0 : reads(c, i)));
    }
}

/* A list in another order gives the same result. */
static void check_shuffled(const struct zkr__children *c,
                           const struct names *names,
                           struct fuzz_input in)
{
    struct names other = *names;
    for (size_t i = other.count; i > 1; i--) {
        size_t at = (fuzz_byte(&in) * 7U + i) % i;
        char *name = other.list[i - 1];
        other.list[i - 1] = other.list[at];
        other.list[at] = name;
    }
    struct zkr__children d = order(other.list, other.count);
    FUZZ_TRUE(c->count == d.count);
    for (size_t i = 0; i < c->count; i++) {
        FUZZ_TRUE(c->list[i].name == d.list[i].name);
        FUZZ_TRUE(c->list[i].kind == d.list[i].kind);
    }
    zkr__mem_free(d.list);
}

/* The first contender holds, and so do readers behind readers. Each other contender watches the nearest node that
   blocks it. */
static void check_chain(const struct zkr__children *c)
{
    size_t others = 0; /* than readers */
    for (size_t self = 0; self < c->count; self++) {
        struct zkr__verdict v = judge(c, self);
        size_t blocking = reads(c, self) ? others : self;
        FUZZ_TRUE(v.granted == (blocking == 0));
        if (!v.granted) {
            bool may_stay = !reads(c, self) && c->list[v.watch].kind == ZKR__NAME_WRITE;
            FUZZ_TRUE((v.then == ZKR__THEN_OURS) == (blocking == 1 && !may_stay));
            FUZZ_TRUE(v.then != ZKR__THEN_OURS_IF_HELD ||
                      zkr__holds_alone(&c->list[v.watch]));
            FUZZ_TRUE(v.watch < self && (reads(c, self) || v.watch == self - 1));
            FUZZ_TRUE(!reads(c, self) || !reads(c, v.watch));
        }
        others += !reads(c, self);
    }
}

static bool is_gone(void *ctx, const char *name)
{
    const struct names *gone = ctx;
    return is_listed(gone, name);
}

/*
 * Children end one by one, holders or not. A contender that is then granted was granted before, or watched the child
 * that ended. So none is forgotten, and all get their turn.
 */
static void check_turns(const struct names *names, struct fuzz_input in)
{
    struct names gone = {.count = 0};
    struct zkr__children before = order(names->list, names->count);
    while (before.count > 0) {
        struct zkr__children after;
        size_t end = fuzz_byte(&in) % before.count;
        size_t granted = 0;
        gone.list[gone.count++] = (char *)(uintptr_t)before.list[end].name;
        FUZZ_TRUE(zkr__children_order(&after, (const char *const *)names->list,
                                      names->count, ZKR__ANY_NUMBER, is_gone,
                                      &gone) == ZKR_OK);
        FUZZ_TRUE(after.count == before.count - 1);
        for (size_t self = 0; self < after.count; self++) {
            size_t was = zkr__children_find(&before, after.list[self].name);
            struct zkr__verdict old = judge(&before, was);
            struct zkr__verdict now = judge(&after, self);
            FUZZ_TRUE(now.granted || !old.granted);
            if (now.granted && !old.granted) {
                bool may_stay = before.list[end].kind == ZKR__NAME_WRITE;
                FUZZ_TRUE(old.watch == end);
                FUZZ_TRUE(old.then == ZKR__THEN_OURS ||
                          (may_stay && !reads(&after, self)));
                granted += !reads(&after, self);
            }
        }
        FUZZ_TRUE(granted <= 1);
        zkr__mem_free(before.list);
        before = after;
    }
    zkr__mem_free(before.list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    struct names names = {.count = 0};
    make_names(&names, &in);
    struct zkr__children children = order(names.list, names.count);
    const struct fuzz_input all = {data, size};
    check_order(&children, &names);
    check_shuffled(&children, &names, all);
    check_chain(&children);
    check_turns(&names, all);
    zkr__mem_free(children.list);
    for (size_t i = 0; i < names.count; i++) {
        free(names.list[i]);
    }
    return 0;
}
