/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of libzookeeper. Its level is one for the process, and its lines carry no handle; but each handle has a
 * callback of its own, without a context. So there are some of them, slots, and a slot serves one client at a time.
 */
#ifndef ZKR_SESSION_ZK_LOG_H
#define ZKR_SESSION_ZK_LOG_H

/* One more than these is for all who found none free. */
enum { ZKR__LOG_SLOTS = 16 };

typedef void (*zkr__zk_log_fn)(int slot, int level, const char *line);

/* What a handle is to do with its lines: pass them to @receiver with @slot, or drop them when that is NULL. */
void (*zkr__zk_log_to(zkr__zk_log_fn receiver, int slot))(const char *line);

/* Make lines up to this ZKR_LOG_... level. */
void zkr__zk_log_level(int level);

/*
 * Around a fork. libzookeeper stamps its lines with localtime_r(), whose lock a child inherits: one
 * that was held at the fork stays locked there for ever. So no line is begun between the two, and
 * those that have been begun are given the time to get past that lock.
 */
void zkr__zk_log_pause(void);
void zkr__zk_log_resume(void);

#endif
