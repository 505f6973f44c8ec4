/* SPDX-License-Identifier: Apache-2.0 */
/* The door to ZooKeeper: libzookeeper_mt. */
#ifndef ZKR_SESSION_ZK_REAL_H
#define ZKR_SESSION_ZK_REAL_H

#include "session/zk.h"

extern const struct zkr__door zkr__zk_real;

#endif
