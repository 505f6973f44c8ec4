/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that come when nobody waits for them any more. */
#include "engine/claim.h"
#include "unit.h"

/* A round that was given up has no answers: what they tell was true of another node, or another session. */
/* Without a client there is no lock. */
ZKR__TSA(no_thread_safety_analysis)
ZKT_UNIT_CASE(an_answer_of_an_earlier_round_is_dropped)
{
    enum { ROUNDS = 5 };
    const struct zkr__answer answer = {.code = ZKR_ECONNLOSS, .zk_rc = -4};
    for (unsigned asked = 0; asked < ROUNDS; asked++) {
        for (unsigned now = 0; now < ROUNDS; now++) {
            struct zkr__claim claim = {.k = {.phase = ZKR__PARKED, .round = now}};
            struct zkr__claim_event e = {.kind = ZKR__EV_KINDS};
            bool heard = zkr__claim_take_answer(
                &claim, zkr__asked_tag(ZKR__ASKED_PROVE, asked), &answer, &e);
            assert_int_equal(heard, asked == now);
            assert_int_equal(e.kind, heard ? ZKR__EV_PROVED : ZKR__EV_KINDS);
            assert_int_equal(claim.detail, heard ? answer.zk_rc : 0);
        }
    }
}
