/* SPDX-License-Identifier: Apache-2.0 */
/* A claim that is asked to let go: while it waits, as it is granted, while it holds. */
#include "claim_script.h"

enum { TELL = ZKR__DO_TELL_WISH, RESTORE = ZKR__DO_RESTORE, VERSION = 3 };

#define WATCH_OWN                                                                      \
    {                                                                                  \
        WELL(.kind = ZKR__EV_QUIET), ZKR__DO_GET_OWN, ZKR__HELD                        \
    }
#define CHANGED(phase)                                                                 \
    {                                                                                  \
        WELL(.kind = ZKR__EV_OWN_CHANGED), ZKR__DO_GET_OWN, phase                      \
    }
#define GOT_WISH(version, actions, phase)                                              \
    {                                                                                  \
        WELL(.kind = ZKR__EV_GOT_OWN, .ours = true, .wish = (version)), actions, phase \
    }

/* The owner hears of it, and its text is written back. The change that this makes is looked at, too. */
static void a_holder_is_told_and_its_text_restored(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        GRANTED,
        WATCH_OWN,
        GOT_WISH(0, 0, ZKR__HELD),
        CHANGED(ZKR__HELD),
        GOT_WISH(VERSION, TELL | RESTORE, ZKR__HELD),
        CHANGED(ZKR__HELD),
        {WELL(.kind = ZKR__EV_RESTORED), 0, ZKR__HELD},
        GOT_WISH(0, 0, ZKR__HELD),
    };
    assert_int_equal(ZKT_CLAIM_AFTER(steps).told, VERSION);
}

/* Written before the watch was there, it is seen by the get that sets the watch. */
static void a_wish_between_grant_and_watch_is_not_missed(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START, CREATED, GRANTED, WATCH_OWN, GOT_WISH(1, TELL | RESTORE, ZKR__HELD),
    };
    (void)ZKT_CLAIM_AFTER(steps);
}

/* The same wish, seen again after a break, is told once; another is told, too. */
static void each_wish_is_told_once(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        GRANTED,
        WATCH_OWN,
        GOT_WISH(1, TELL | RESTORE, ZKR__HELD),
        {DOWN(.kind = ZKR__EV_RESTORED, .code = ZKR_ECONNLOSS), ZKR__DO_QUIET,
         ZKR__HELD},
        {WELL(.kind = ZKR__EV_CONNECTED), ZKR__DO_QUIET, ZKR__HELD},
        WATCH_OWN,
        GOT_WISH(1, RESTORE, ZKR__HELD),
        {WELL(.kind = ZKR__EV_RESTORED, .code = ZKR_EZK(-103)), 0, ZKR__HELD},
        CHANGED(ZKR__HELD),
        GOT_WISH(2, TELL | RESTORE, ZKR__HELD),
    };
    (void)ZKT_CLAIM_AFTER(steps);
}

/* A server too busy for the write is asked again; one that forbids it is not. */
static void a_text_that_was_not_written_is_written_again(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        GRANTED,
        WATCH_OWN,
        GOT_WISH(1, TELL | RESTORE, ZKR__HELD),
        {WELL(.kind = ZKR__EV_RESTORED, .code = ZKR_EZK(-127)), ZKR__DO_QUIET,
         ZKR__HELD},
        WATCH_OWN,
        GOT_WISH(1, RESTORE, ZKR__HELD),
        {WELL(.kind = ZKR__EV_RESTORED, .code = ZKR_EAUTH), 0, ZKR__HELD},
    };
    (void)ZKT_CLAIM_AFTER(steps);
}

/* Who waits is not told, and writes nothing; what was meant for a holder is told with the grant. */
static void one_who_waits_is_told_when_it_holds(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        SECOND,
        WATCHED,
        CHANGED(ZKR__PARKED),
        GOT_WISH(1, 0, ZKR__PARKED),
        {WELL(.kind = ZKR__EV_AHEAD_GONE), ZKR__DO_NOTIFY | TELL | RESTORE, ZKR__HELD},
    };
    (void)ZKT_CLAIM_AFTER(steps);
    static const struct zkt_claim_step confirmed[] = {
        START,
        CREATED,
        SECOND,
        {WELL(.kind = ZKR__EV_AHEAD_GONE), 0, ZKR__CONFIRMING},
        GOT_WISH(1, ZKR__DO_NOTIFY | TELL | RESTORE, ZKR__HELD),
    };
    (void)ZKT_CLAIM_AFTER(confirmed);
}

/* Withdrawn before the grant, or written to a node that is no more, it is no wish. */
static void a_wish_that_is_no_more_is_not_told(void **state)
{
    (void)state;
    static const struct zkt_claim_step withdrawn[] = {
        START,
        CREATED,
        SECOND,
        WATCHED,
        CHANGED(ZKR__PARKED),
        GOT_WISH(1, 0, ZKR__PARKED),
        CHANGED(ZKR__PARKED),
        GOT_WISH(0, 0, ZKR__PARKED),
        {WELL(.kind = ZKR__EV_AHEAD_GONE), ZKR__DO_NOTIFY, ZKR__HELD},
    };
    (void)ZKT_CLAIM_AFTER(withdrawn);
    static const struct zkt_claim_step anew[] = {
        START,
        CREATED,
        SECOND,
        WATCHED,
        CHANGED(ZKR__PARKED),
        GOT_WISH(1, 0, ZKR__PARKED),
        {WELL(.kind = ZKR__EV_OWN_GONE), ZKR__DO_STEP_ASIDE | ZKR__DO_CREATE,
         ZKR__CREATING},
        CREATED,
        GRANTED,
        WATCH_OWN,
        GOT_WISH(1, TELL | RESTORE, ZKR__HELD), /* the first change of another node */
    };
    (void)ZKT_CLAIM_AFTER(anew);
}

/* Granted by a release of this client while the connection is down: told now, written later. */
static void without_a_connection_nothing_is_written(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        BEHIND_OURS,
        WATCHED,
        CHANGED(ZKR__PARKED),
        GOT_WISH(1, 0, ZKR__PARKED),
        {DOWN(.kind = ZKR__EV_AHEAD_RELEASED), ZKR__DO_NOTIFY | TELL, ZKR__HELD},
        {WELL(.kind = ZKR__EV_CONNECTED), ZKR__DO_QUIET, ZKR__HELD},
        WATCH_OWN,
        GOT_WISH(1, RESTORE, ZKR__HELD),
    };
    (void)ZKT_CLAIM_AFTER(steps);
}

/* The answer to the write gets lost in a doubt: held again, it looks whether its text is there. */
static void after_a_doubt_the_text_is_looked_at(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        GRANTED,
        WATCH_OWN,
        GOT_WISH(1, TELL | RESTORE, ZKR__HELD),
        {UNSURE(.kind = ZKR__EV_LEASE_EXPIRED),
         ZKR__DO_PROVE | ZKR__DO_COUNT_LOSS | ZKR__DO_NOTIFY, ZKR__DOUBTED},
        {WELL(.kind = ZKR__EV_RESTORED, .code = ZKR_EZK(-127)), 0, ZKR__DOUBTED},
        {WELL(.kind = ZKR__EV_PROVED), ZKR__DO_NOTIFY | ZKR__DO_QUIET, ZKR__HELD},
        WATCH_OWN,
        GOT_WISH(1, RESTORE, ZKR__HELD),
    };
    struct zkr__claim_state k = {.keeps_place = true};
    ZKT_PLAY(&k, steps);
}

/* Who has let go is not asked to, any more. */
static void one_who_leaves_is_not_told(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        GRANTED,
        WATCH_OWN,
        {WELL(.kind = ZKR__EV_LEAVE), ZKR__DO_HAND_OVER | ZKR__DO_REMOVE,
         ZKR__REMOVING},
        GOT_WISH(1, 0, ZKR__REMOVING),
        REMOVED,
    };
    (void)ZKT_CLAIM_AFTER(steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_holder_is_told_and_its_text_restored),
        cmocka_unit_test(a_wish_between_grant_and_watch_is_not_missed),
        cmocka_unit_test(each_wish_is_told_once),
        cmocka_unit_test(a_text_that_was_not_written_is_written_again),
        cmocka_unit_test(one_who_waits_is_told_when_it_holds),
        cmocka_unit_test(a_wish_that_is_no_more_is_not_told),
        cmocka_unit_test(without_a_connection_nothing_is_written),
        cmocka_unit_test(after_a_doubt_the_text_is_looked_at),
        cmocka_unit_test(one_who_leaves_is_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
