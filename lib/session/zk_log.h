/* SPDX-License-Identifier: Apache-2.0 */
/* The log of libzookeeper, which is one for the process. Its lines carry no handle. */
#ifndef ZKR_SESSION_ZK_LOG_H
#define ZKR_SESSION_ZK_LOG_H

/* What a handle is to do with its lines: pass them to @receiver, or drop them when that is NULL. */
void (*zkr__zk_log_to(void (*receiver)(int level, const char *line)))(const char *line);

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
