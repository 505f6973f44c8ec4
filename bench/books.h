/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how much memory this process uses, according to the allocator and to the kernel. */
#ifndef ZKR_BENCH_BOOKS_H
#define ZKR_BENCH_BOOKS_H

double books_heap(void);     /* bytes in use, in all arenas and in separate mappings */
double books_resident(void); /* bytes of memory that the process has touched */
double books_threads(void);

#endif
