/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_STRIKE_H
#define ZKC_STRIKE_H

#include "nemesis.h"

/* The context of a fault; @leader is the leader right before it. */
struct strike {
    zkc_stage *s;
    const zkc_fault *f;
    int leader;
};

/*
 * The faults. Each function returns when it has healed what it did, except for servers that are still starting. It
 * returns false if the fault had no effect.
 */
bool zkc_kill_client(const struct strike *x);
bool zkc_kill_guardian(const struct strike *x);
bool zkc_freeze_clients(const struct strike *x);
bool zkc_drop_connections(const struct strike *x);
bool zkc_cut_off(const struct strike *x);
bool zkc_refuse(const struct strike *x);
bool zkc_slow_down(const struct strike *x);
bool zkc_lose_reply(const struct strike *x);
bool zkc_move_servers(const struct strike *x);
bool zkc_delete_parent(const struct strike *x);
bool zkc_delete_holder(const struct strike *x);
bool zkc_replace_holder(const struct strike *x);
bool zkc_forbid(const struct strike *x);
bool zkc_lack(const struct strike *x);
bool zkc_renew_sessions(const struct strike *x);
bool zkc_refuse_sessions(const struct strike *x);
bool zkc_count_changes(const struct strike *x);
bool zkc_step_walls(const struct strike *x);
bool zkc_slow_disk(const struct strike *x);
bool zkc_fill_disk(const struct strike *x);
bool zkc_reconfigure(const struct strike *x);
bool zkc_roll(const struct strike *x);
bool zkc_take_snapshot(const struct strike *x);
bool zkc_restore_snapshot(const struct strike *x);

/**
 * Wait until that server serves, or until @end. Launch it again if it has ended, as when it could not bind its port.
 * Returns false otherwise.
 */
bool zkc_wait_server(zkc_stage *s, int index, int64_t end);

/** Do @what to all proxies between one client and the servers. */
void zkc_doors(const struct strike *x, void (*what)(zkt_proxy *p));

/**
 * Wait at most @ms until the holder of the long path is connected to server @index, so that a fault there hits a
 * holder. Then make holders that sit on a lock stay.
 */
void zkc_aim(const struct strike *x, int index, int64_t ms);

#endif
