/* SPDX-License-Identifier: Apache-2.0 */
/* The fake's door, where opening and closing a handle take time while other threads run. */
#include "sim.h"

static void *open_handle(const struct zkr__open_args *args)
{
    sim_point();
    void *zh = zkf_door.open(args);
    sim_point(); /* its first events may arrive before this returns */
    return zh;
}

/* Returns when the handle makes no more calls to the library. */
static void close_handle(void *zh)
{
    if (sim_self()->locks != 0) {
        sim_violation("%s closes a handle with a lock held", sim_self()->name);
    }
    sim_point();
    while (zkf_calls(zh)) {
        sim_block(SIM_CLOSE, zh, ZKR__NEVER);
    }
    zkf_door.close(zh);
}

const struct zkr__door *sim_door(void)
{
    static struct zkr__door door;
    door = zkf_door;
    door.open = open_handle;
    door.close = close_handle;
    return &door;
}
