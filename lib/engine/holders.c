/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/holders.h"

struct zkr__place *zkr__holder_place(struct zkr__holder *holder)
{
    return holder->rests_on ? &holder->rests_on->place
           : holder->shared ? &holder->shared->place
                            : &holder->place;
}

struct zkr__holder *zkr__holders_find(struct zkr__holder *table)
{
    uint64_t thread = zkr__thread_id();
    struct zkr__holder *holder;
    HASH_FIND(hh, table, &thread, sizeof(thread), holder);
    return holder;
}

/* Only holders are duties of threads. */
struct zkr__holder *zkr__holders_next_own(struct zkr__holder *holder)
{
    struct zkr__thread_duty *duty =
        holder ? holder->duty.next : zkr__thread_self()->duties;
    return duty ? ZKR__OWNER_OF(duty, struct zkr__holder, duty) : NULL;
}

bool zkr__holders_add(struct zkr__holder **table, struct zkr__holder *holder)
{
    holder->thread = zkr__thread_id();
    HASH_ADD(hh, *table, thread, sizeof(holder->thread), holder);
    if (!holder->hh.tbl) {
        return false;
    }
    if (!zkr__thread_duty_add(&holder->duty)) {
        HASH_DEL(*table, holder);
        return false;
    }
    return true;
}

void zkr__holders_remove(struct zkr__holder **table, struct zkr__holder *holder)
{
    zkr__thread_duty_drop(&holder->duty);
    HASH_DEL(*table, holder);
}
