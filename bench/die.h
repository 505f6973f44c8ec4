/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a measurement that fails. */
#ifndef ZKR_BENCH_DIE_H
#define ZKR_BENCH_DIE_H

/* Prints one line and ends the process, without its exit handlers. */
_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
