/* SPDX-License-Identifier: Apache-2.0 */
/* A hold that lasts and says since when: when it wants to, what it looks at afterwards, what may come in between. */
#include <zkr/client.h>

#include "engine/claim_state.h"
#include "unit.h"

enum { BADVERSION = ZKR_EZK(-103) };

static unsigned happens(struct zkr__claim_state *k, struct zkr__claim_event e)
{
    e.connected = e.sure = e.ample = e.patient = true;
    return zkr__claim_step(k, &e);
}

#define HAPPENS(k, ...) happens((k), (struct zkr__claim_event){__VA_ARGS__})

/* Listed with @verdict. */
static struct zkr__claim_state listed(struct zkr__claim_event verdict)
{
    struct zkr__claim_state k = {.phase = ZKR__PAUSED};
    verdict.kind = ZKR__EV_LISTED;
    verdict.found = true;
    (void)HAPPENS(&k, .kind = ZKR__EV_START);
    (void)HAPPENS(&k, .kind = ZKR__EV_CREATED, .ours = true);
    (void)happens(&k, verdict);
    return k;
}

static struct zkr__claim_state waiting(void)
{
    return listed((struct zkr__claim_event){.then = ZKR__THEN_OURS});
}

static struct zkr__claim_state held(void)
{
    struct zkr__claim_state k = listed((struct zkr__claim_event){.granted = true});
    k.has_metadata = true;
    return k;
}

/* Once; and behind the write it looks at its node, which leaves the watch. */
ZKT_UNIT_CASE(a_hold_is_noted_once)
{
    struct zkr__claim_state k = held();
    assert_true(zkr__claim_wants_metadata(&k));
    assert_int_equal(HAPPENS(&k, .kind = ZKR__EV_METADATA_SENT), ZKR__DO_GET_OWN);
    assert_false(zkr__claim_wants_metadata(&k));
    assert_int_equal(HAPPENS(&k, .kind = ZKR__EV_NOTED), 0);
    assert_int_equal(HAPPENS(&k, .kind = ZKR__EV_GOT_OWN, .ours = true, .version = 1,
                             .with_metadata = true),
                     0);
    assert_false(zkr__claim_wants_metadata(&k));
    assert_int_equal(k.phase, ZKR__HELD);
}

/* Neither one that waits, nor one without an owner text of ours. */
ZKT_UNIT_CASE(only_holds_are_noted)
{
    struct zkr__claim_state k = waiting();
    k.has_metadata = true;
    assert_false(zkr__claim_wants_metadata(&k));
    k = held();
    k.has_metadata = false;
    assert_false(zkr__claim_wants_metadata(&k));
}

/* A watch that was there is used up by our own write, and set again. */
ZKT_UNIT_CASE(a_watch_is_set_again)
{
    struct zkr__claim_state k = held();
    (void)HAPPENS(&k, .kind = ZKR__EV_QUIET);
    (void)HAPPENS(&k, .kind = ZKR__EV_GOT_OWN, .ours = true);
    assert_int_equal(HAPPENS(&k, .kind = ZKR__EV_METADATA_SENT), 0);
    assert_int_equal(HAPPENS(&k, .kind = ZKR__EV_OWN_CHANGED), ZKR__DO_GET_OWN);
    assert_int_equal(HAPPENS(&k, .kind = ZKR__EV_NOTED), 0);
    assert_int_equal(HAPPENS(&k, .kind = ZKR__EV_GOT_OWN, .ours = true, .version = 1,
                             .with_metadata = true),
                     0);
    assert_int_equal(k.own, ZKR__OWN_SET);
}

/* Asked to let go meanwhile: no loss; the wish is told, and the note is written with the text. */
ZKT_UNIT_CASE(another_version_is_no_loss)
{
    struct zkr__claim_state k = held();
    (void)HAPPENS(&k, .kind = ZKR__EV_METADATA_SENT);
    (void)HAPPENS(&k, .kind = ZKR__EV_NOTED, .code = BADVERSION, .refused = true);
    assert_int_equal(k.phase, ZKR__HELD);
    assert_int_equal(k.lost, 0);
    assert_false(zkr__claim_wants_metadata(&k)); /* until the version is known */
    assert_int_equal(HAPPENS(&k, .kind = ZKR__EV_GOT_OWN, .ours = true, .version = 1,
                             .revocation = 1),
                     ZKR__DO_TELL_REVOCATION | ZKR__DO_RESTORE);
    assert_false(zkr__claim_wants_metadata(&k)); /* the text goes with it */
    (void)HAPPENS(&k, .kind = ZKR__EV_OWN_CHANGED);
    (void)HAPPENS(&k, .kind = ZKR__EV_GOT_OWN, .ours = true, .version = 2,
                  .with_metadata = false);
    assert_true(zkr__claim_wants_metadata(&k)); /* it did not */
}

/* Whoever else changed the data: with the version that is there it is tried again. */
ZKT_UNIT_CASE(the_version_is_the_one_seen_last)
{
    struct zkr__claim_state k = held();
    (void)HAPPENS(&k, .kind = ZKR__EV_QUIET);
    (void)HAPPENS(&k, .kind = ZKR__EV_GOT_OWN, .ours = true);
    (void)HAPPENS(&k, .kind = ZKR__EV_OWN_CHANGED);
    assert_false(zkr__claim_wants_metadata(&k));
    (void)HAPPENS(&k, .kind = ZKR__EV_GOT_OWN, .ours = true, .version = 5);
    assert_true(zkr__claim_wants_metadata(&k));
    assert_int_equal(k.version, 5);
}

/* Refused for another's sake, or not answered: again. Forbidden: never again, for each probe would fail with it. */
ZKT_UNIT_CASE(a_note_that_is_forbidden_is_given_up)
{
    static const struct {
        int code;
        bool refused, again;
    } rows[] = {
        {ZKR_ENONODE, false, true},   {BADVERSION, false, true},
        {ZKR_ECONNLOSS, false, true}, {ZKR_ESESSION, false, true},
        {ZKR_EAUTH, true, false},     {ZKR_EINVAL, true, false},
        {ZKR_EZK(-110), true, false},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        struct zkr__claim_state k = held();
        (void)HAPPENS(&k, .kind = ZKR__EV_METADATA_SENT);
        assert_int_equal(HAPPENS(&k, .kind = ZKR__EV_NOTED, .code = rows[i].code,
                                 .refused = rows[i].refused),
                         0);
        assert_int_equal(zkr__claim_wants_metadata(&k), rows[i].again);
        assert_int_equal(k.phase, ZKR__HELD);
    }
}

/* A node made anew has none. */
ZKT_UNIT_CASE(another_node_is_another_note)
{
    struct zkr__claim_state k = waiting();
    k.has_metadata = true;
    (void)HAPPENS(&k, .kind = ZKR__EV_GOT_OWN, .ours = true, .version = 4,
                  .with_metadata = true);
    (void)HAPPENS(&k, .kind = ZKR__EV_OWN_GONE);
    assert_int_equal(k.phase, ZKR__CREATING);
    (void)HAPPENS(&k, .kind = ZKR__EV_CREATED, .ours = true);
    (void)HAPPENS(&k, .kind = ZKR__EV_LISTED, .found = true, .granted = true);
    assert_true(zkr__claim_wants_metadata(&k));
    assert_int_equal(k.version, 0);
}
