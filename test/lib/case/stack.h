/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_STACK_H
#define ZKT_STACK_H

/**
 * From now on a failed check, an abort() or a crash prints which lines led there, from the innermost,
 * before the process dies of it. Needs addr2line; without it nothing is printed.
 */
void zkt_stack_at_failure(void);

#endif
