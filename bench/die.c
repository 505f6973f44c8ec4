/* SPDX-License-Identifier: Apache-2.0 */
#include "die.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void bench_die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fprintf(stderr, "bench: ");
    (void)vfprintf(stderr, format, args);
    (void)fprintf(stderr, "\n");
    va_end(args);
    _exit(1);
}
