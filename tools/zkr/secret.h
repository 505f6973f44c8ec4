/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files that may hold secrets, and wipes secrets from memory. */
#ifndef ZKR_CLI_SECRET_H
#define ZKR_CLI_SECRET_H

#include <stddef.h>
#include <sys/types.h>

/** The longest file that is read, in bytes. */
enum { SECRET_MOST = 262144 };

/**
 * Reads a whole file as a string into a buffer of SECRET_MOST bytes. Sets *mode to the file's mode, or to 0 if it is
 * not known. Returns NULL with the reason in errno.
 */
char *secret_read(const char *file, mode_t *mode);
/** Wipes the @size bytes of @text, and frees @text, which may be NULL. */
void secret_free(char *text, size_t size);

#endif
