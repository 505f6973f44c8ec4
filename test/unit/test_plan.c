/* SPDX-License-Identifier: Apache-2.0 */
/* How a claim waits behind the child that the rule chose. */
#include "queue/claim_plan.h"
#include "unit.h"

enum { AHEAD = 7 };

static struct zkr__claim_event plan(struct zkr__verdict verdict,
                                    struct zkr__standing standing)
{
    struct zkr__child list[] = {{.name = "a", .sequence = AHEAD - 1},
                                {.name = "b", .sequence = AHEAD}};
    const struct zkr__children children = {.list = list, .count = ZKT_COUNT(list)};
    const struct zkr__claim_state k = {.phase = ZKR__LISTING};
    struct zkr__claim_event e = {.kind = ZKR__EV_LISTED};
    zkr__plan_wait(&e, &k, &verdict, &children, &standing);
    return e;
}

/*
 * Behind a node of this client that holds, the end of the hold grants. If a node is ahead of that holder, a client has
 * chosen its number, and only a list shows whether it blocks.
 */
ZKT_UNIT_CASE(a_node_ahead_of_a_holder_needs_a_list)
{
    static const struct {
        size_t watch;
        bool neighbour, held;
        enum zkr__then then;
    } rows[] = {
        {0, true, true, ZKR__THEN_OURS_IF_HELD},
        {1, true, true, ZKR__THEN_LOOK},
        {1, true, false, ZKR__THEN_OURS_IF_HELD},
        {1, false, false, ZKR__THEN_OURS_IF_HELD},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        const struct zkr__verdict verdict = {.watch = rows[i].watch,
                                             .then = ZKR__THEN_OURS_IF_HELD,
                                             .before = ZKR__NOBODY};
        const struct zkr__standing standing = {
            .known = true, .neighbour = rows[i].neighbour, .held = rows[i].held};
        struct zkr__claim_event e = plan(verdict, standing);
        assert_int_equal(e.then, rows[i].then);
        assert_int_equal(e.ahead, rows[i].watch == 1 ? AHEAD : AHEAD - 1);
        assert_int_equal(e.wait,
                         rows[i].neighbour ? ZKR__WAIT_NEIGHBOUR : ZKR__WAIT_NODE);
        assert_int_equal(e.look, ZKR__LOOKS_NOT);
    }
}

/* A claim looks ahead of another client's node if it is allowed to and if looking ahead is worthwhile. */
ZKT_UNIT_CASE(a_claim_looks_ahead_where_that_pays)
{
    static const struct {
        struct zkr__verdict verdict;
        struct zkr__standing standing;
        enum zkr__look_ahead look;
    } rows[] = {
        {{.watch = 1, .then = ZKR__THEN_OURS, .before = ZKR__NOBODY},
         {.known = true, .may_look = true},
         ZKR__BEHIND_FIRST},
        {{.watch = 1, .before = 0}, {.known = true, .may_look = true}, ZKR__LOOKS_NOT},
        {{.watch = 1, .before = 0},
         {.known = true, .may_look = true, .pays = true},
         ZKR__BEHIND_MORE},
        {{.watch = 1, .before = 0, .last = true},
         {.known = true, .may_look = true, .pays = true},
         ZKR__BEHIND_TWO},
        {{.watch = 1, .before = ZKR__NOBODY},
         {.known = true, .may_look = true, .pays = true},
         ZKR__LOOKS_NOT},
        {{.watch = 1, .before = 0}, {.known = true, .pays = true}, ZKR__LOOKS_NOT},
        {{.watch = 1, .before = 0}, {.may_look = true, .pays = true}, ZKR__LOOKS_NOT},
        {{.watch = 1, .before = 0},
         {.known = true, .may_look = true, .pays = true, .neighbour = true},
         ZKR__LOOKS_NOT},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        assert_int_equal(plan(rows[i].verdict, rows[i].standing).look, rows[i].look);
    }
}
