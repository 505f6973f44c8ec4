/* SPDX-License-Identifier: Apache-2.0 */
/* What this process uses, by the allocator's and the kernel's books. */
#ifndef ZKR_BENCH_BOOKS_H
#define ZKR_BENCH_BOOKS_H

double books_heap(void); /* bytes in use, of all arenas, and in mappings of their own */
double books_resident(void); /* bytes of memory the process has touched */
double books_threads(void);

#endif
