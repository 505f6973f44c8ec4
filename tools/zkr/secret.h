/* SPDX-License-Identifier: Apache-2.0 */
/* Files that may have secrets in them, and the memory of secrets. */
#ifndef ZKR_CLI_SECRET_H
#define ZKR_CLI_SECRET_H

#include <stddef.h>
#include <sys/types.h>

/** The longest file. */
enum { SECRET_MOST = 262144 };

/** A whole file as a string in SECRET_MOST bytes. *mode: its mode, 0 = not known. NULL: errno says why. */
char *secret_read(const char *file, mode_t *mode);
/** Wipes the @size bytes of a text, and frees it. NULL is fine. */
void secret_free(char *text, size_t size);

#endif
