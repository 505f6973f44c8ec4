/* SPDX-License-Identifier: Apache-2.0 */
/* Shared parts of the fuzz targets: assertions that end the run, and functions that split the input. */
#ifndef ZKT_FUZZ_H
#define ZKT_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Assert a property. libFuzzer keeps the input if the property does not hold. */
#define FUZZ_TRUE(property)                                                            \
    ((property) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #property))

_Noreturn static inline void fuzz_broken(const char *file, int line, const char *what)
{
    (void)fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
    abort();
}

/* libFuzzer calls this with each input. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* libFuzzer calls this once, if it is defined. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* The rest of the input. When it is used up, all bytes are 0. */
struct fuzz_input {
    const uint8_t *at;
    size_t left;
};

static inline uint8_t fuzz_byte(struct fuzz_input *in)
{
    if (in->left == 0) {
        return 0;
    }
    in->left--;
    return *in->at++;
}

static inline uint64_t fuzz_number(struct fuzz_input *in, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) {
        value = value << 8 | fuzz_byte(in);
    }
    return value;
}

/* Returns a string in a block of exactly its own size, so that a sanitizer reports each access beyond it. The caller
   frees it. */
static inline char *fuzz_copy(const void *data, size_t size)
{
    char *text = malloc(size + 1);
    FUZZ_TRUE(text != NULL);
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    return text;
}

/* Returns the bytes up to @end or the end of the input, as a string that may contain zeros. The caller frees it. */
static inline char *fuzz_field(struct fuzz_input *in, char end, size_t *size)
{
    const uint8_t *stop = in->left > 0 ? memchr(in->at, end, in->left) : NULL;
    size_t taken = stop ? (size_t)(stop - in->at) : in->left;
    char *text = fuzz_copy(in->at, taken);
    in->at += taken + (stop != NULL);
    in->left -= taken + (stop != NULL);
    if (size) {
        *size = taken;
    }
    return text;
}

#endif
