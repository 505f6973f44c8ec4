/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files that may hold secrets, and wipes secrets from memory. */
#ifndef ZKR_CLI_SECRET_H
#define ZKR_CLI_SECRET_H

#include <stddef.h>
#include <sys/types.h>

/** Files of this size in bytes, and larger ones, are not read. */
enum { SECRET_MOST = 262144 };

/**
 * Reads a whole file into a new string, which the caller frees with secret_free(text, SECRET_MOST). Sets *mode to the
 * file's mode, or to 0 if it is not known. Returns NULL with the reason in errno; EFBIG means that the file is too long.
 */
char *secret_read(const char *file, mode_t *mode);
/** Wipes the @size bytes of @text, and frees @text, which may be NULL. */
void secret_free(char *text, size_t size);

#endif
