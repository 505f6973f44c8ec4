/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_STACK_H
#define ZKT_STACK_H

/** From now on, a failed check, an abort() or a crash prints the lines that led there, with the help of addr2line. */
void zkt_stack_at_failure(void);

#endif
