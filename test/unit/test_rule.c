/* SPDX-License-Identifier: Apache-2.0 */
/* Which contenders hold, and which node each other contender watches. */
#include "queue/rule.h"
#include "unit.h"

enum { QUEUE_MAX = 8 };

static struct zkr__verdict judge(size_t count, size_t self)
{
    struct zkr__child list[QUEUE_MAX] = {{.name = NULL}};
    const struct zkr__children children = {.list = list, .count = count};
    return zkr__rule_first(&children, self, 7);
}

/* The second contender is granted by the end of the first one. A contender further behind is granted only if the node
   ahead held. */
ZKT_UNIT_CASE(only_the_second_in_line_waits_for_one_node_alone)
{
    for (size_t self = 1; self < QUEUE_MAX; self++) {
        assert_int_equal(judge(QUEUE_MAX, self).then,
                         self == 1 ? ZKR__THEN_OURS : ZKR__THEN_OURS_IF_HELD);
    }
}

/*
 * Every contender from the third on looks ahead, and needs no list if only two nodes are ahead. It does not look ahead
 * if the node ahead may become a reader, or holds beside others. A writer that is first may leave a reader in its
 * place.
 */
ZKT_UNIT_CASE(the_third_needs_the_end_of_two)
{
    for (size_t self = 0; self < QUEUE_MAX; self++) {
        struct zkr__verdict v = judge(QUEUE_MAX, self);
        assert_true(self == 0 || v.before == (self == 1 ? ZKR__NOBODY : self - 2));
        assert_int_equal(v.last, self == 2);
    }
    for (size_t ahead = 0; ahead <= ZKR__NAME_OTHER; ahead++) {
        for (size_t before = 0; before <= ZKR__NAME_OTHER; before++) {
            struct zkr__child list[] = {{.kind = (enum zkr__name_kind)before},
                                        {.kind = (enum zkr__name_kind)ahead},
                                        {.kind = ZKR__NAME_LOCK}};
            const struct zkr__children all = {.list = list, .count = 3};
            struct zkr__verdict v = zkr__rule_first(&all, 2, 0);
            bool looks = ahead != ZKR__NAME_WRITE && ahead != ZKR__NAME_READ &&
                         ahead != ZKR__NAME_LEASE;
            assert_true(v.before == (looks ? 0 : ZKR__NOBODY));
            assert_int_equal(v.last, looks && before != ZKR__NAME_WRITE);
            struct zkr__verdict reader = zkr__rule_reader(&all, 2, 0);
            assert_true(reader.granted || reader.before == ZKR__NOBODY);
            assert_true(zkr__rule_permits(&all, 2, 1).before == ZKR__NOBODY);
        }
    }
}

/*
 * The holders at the head of a queue: readers and leases hold together, other nodes alone. In Curator's downgrade, one
 * number has two nodes.
 */
ZKT_UNIT_CASE(holders_are_the_first_or_those_of_its_kind)
{
    enum { LOCK = ZKR__NAME_LOCK, READ = ZKR__NAME_READ, WRITE = ZKR__NAME_WRITE };
    enum { LEASE = ZKR__NAME_LEASE };
    static const struct {
        size_t count;
        int kinds[3];
        int64_t numbers[3];
        size_t holders;
    } rows[] = {
        {0, {0}, {0}, 0},
        {1, {LOCK}, {1}, 1},
        {2, {LOCK, LOCK}, {1, 2}, 1},
        {2, {LOCK, READ}, {1, 1}, 1},
        {1, {READ}, {1}, 1},
        {3, {READ, READ, WRITE}, {1, 2, 3}, 2},
        {3, {LEASE, LEASE, LEASE}, {1, 2, 3}, 3},
        {1, {WRITE}, {1}, 1},
        {2, {WRITE, WRITE}, {1, 1}, 1},
        {3, {WRITE, READ, READ}, {1, 1, 2}, 2},
        {2, {WRITE, READ}, {1, 2}, 1},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        struct zkr__child list[3];
        for (size_t at = 0; at < 3; at++) {
            list[at] =
                (struct zkr__child){.kind = (enum zkr__name_kind)rows[i].kinds[at],
                                    .sequence = rows[i].numbers[at]};
        }
        const struct zkr__children all = {.list = list, .count = rows[i].count};
        assert_int_equal(zkr__rule_holders(&all), rows[i].holders);
    }
}

/* --- read-write locks --- */

/* Returns a short queue of mutex nodes, readers and writers. The base-3 digits of @code choose the kinds. */
static struct zkr__children
queue_of(struct zkr__child list[QUEUE_MAX], size_t count, unsigned code)
{
    static const enum zkr__name_kind kinds[] = {ZKR__NAME_LOCK, ZKR__NAME_READ,
                                                ZKR__NAME_WRITE};
    for (size_t i = 0; i < count; i++) {
        list[i] = (struct zkr__child){.kind = kinds[code % 3]};
        code /= 3;
    }
    return (struct zkr__children){.list = list, .count = count};
}

static struct zkr__verdict by_kind(const struct zkr__children *all, size_t self)
{
    bool reads = all->list[self].kind == ZKR__NAME_READ;
    return reads ? zkr__rule_reader(all, self, 0) : zkr__rule_first(all, self, 0);
}

static void for_each_queue(void (*check)(const struct zkr__children *all, size_t self))
{
    enum { MOST = 6, CODES = 729 };
    struct zkr__child list[QUEUE_MAX];
    for (unsigned code = 0; code < CODES; code++) {
        for (size_t self = 0; self < MOST; self++) {
            const struct zkr__children all = queue_of(list, MOST, code);
            check(&all, self);
        }
    }
}

static struct zkr__verdict permit(size_t count, size_t self, size_t strays, int64_t max)
{
    struct zkr__child list[QUEUE_MAX] = {{.name = NULL}};
    const struct zkr__children children = {
        .list = list, .count = count, .strays = strays};
    return zkr__rule_permits(&children, self, max);
}

/*
 * As many contenders hold as there are permits, whatever stands behind them. The others look again at each change. A
 * child without a number takes up a permit, too, because Curator counts it. An unknown or impossible maximum grants
 * nothing.
 */
ZKT_UNIT_CASE(as_many_hold_as_there_are_permits)
{
    static const int64_t maxima[] = {INT64_MIN, -1, 0, 1, 2, 3,        4,
                                     5,         6,  7, 8, 9, INT64_MAX};
    for (size_t i = 0; i < ZKT_COUNT(maxima); i++) {
        for (size_t count = 1; count <= QUEUE_MAX; count++) {
            for (size_t self = 0; self < count; self++) {
                for (size_t strays = 0; strays <= 3; strays++) {
                    struct zkr__verdict v = permit(count, self, strays, maxima[i]);
                    assert_int_equal(v.granted, (int64_t)(self + strays) < maxima[i]);
                    assert_true(v.watch == ZKR__ALL_CHILDREN);
                    assert_int_equal(v.then, ZKR__THEN_LOOK);
                }
            }
        }
    }
}

static void check_granted(const struct zkr__children *all, size_t self)
{
    bool reads = all->list[self].kind == ZKR__NAME_READ;
    size_t others = 0;
    for (size_t i = 0; i < self; i++) {
        others += !reads || all->list[i].kind != ZKR__NAME_READ;
    }
    assert_int_equal(by_kind(all, self).granted, others == 0);
}

/* A reader is granted if only readers are ahead. Any other contender is granted when it is first. */
ZKT_UNIT_CASE(readers_hold_together_and_writers_alone)
{
    for_each_queue(check_granted);
}

static void check_watched(const struct zkr__children *all, size_t self)
{
    struct zkr__verdict v = by_kind(all, self);
    if (v.granted) {
        return;
    }
    bool reads = all->list[self].kind == ZKR__NAME_READ;
    assert_true(v.watch < self);
    assert_true(!reads || all->list[v.watch].kind != ZKR__NAME_READ);
    for (size_t i = v.watch + 1; i < self; i++) {
        assert_true(reads && all->list[i].kind == ZKR__NAME_READ);
    }
}

/* Each contender watches the nearest node that blocks it. */
ZKT_UNIT_CASE(the_nearest_that_blocks_is_watched)
{
    for_each_queue(check_watched);
}

/* Returns whether @self is granted after the watched node has ended, by a downgrade if @stays. */
static bool granted_after(const struct zkr__children *all, size_t self, bool stays)
{
    size_t gone = by_kind(all, self).watch;
    struct zkr__child list[QUEUE_MAX];
    struct zkr__children left = {.list = list};
    size_t now = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (i == self) {
            now = left.count;
        }
        if (i != gone || stays) {
            list[left.count++] = all->list[i];
            list[left.count - 1].kind = i == gone ? ZKR__NAME_READ : all->list[i].kind;
        }
    }
    return by_kind(&left, now).granted;
}

static void check_then(const struct zkr__children *all, size_t self)
{
    struct zkr__verdict v = by_kind(all, self);
    if (v.granted) {
        return;
    }
    bool writer = all->list[v.watch].kind == ZKR__NAME_WRITE;
    bool always =
        granted_after(all, self, false) && (!writer || granted_after(all, self, true));
    assert_int_equal(v.then == ZKR__THEN_OURS, always);
    if (v.then == ZKR__THEN_OURS_IF_HELD) { /* then it was first */
        assert_true(zkr__holds_alone(&all->list[v.watch]));
    }
}

/* The end of a node grants alone exactly if it grants in every way the node can end. A writer may become a reader. */
ZKT_UNIT_CASE(the_end_alone_grants_only_when_nothing_can_be_left)
{
    for_each_queue(check_then);
}

/* Members whose grant depends on another claim hold as soon as they exist. */
ZKT_UNIT_CASE(the_rule_for_companions_grants_all)
{
    for (size_t self = 0; self < QUEUE_MAX; self++) {
        struct zkr__child list[QUEUE_MAX] = {{.name = NULL}};
        const struct zkr__children children = {.list = list, .count = QUEUE_MAX};
        assert_true(zkr__rule_any(&children, self, 0).granted);
    }
}
