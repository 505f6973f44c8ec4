/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file version.h
 * The version of this library. The number is only in this file, and the build reads it from here.
 *
 * Versions are semantic. Before 1.0, an incompatible change raises MINOR; from 1.0 on, it raises MAJOR. The SONAME,
 * libzkrecipes.so.0, numbers incompatible changes separately.
 */
#ifndef ZKR_VERSION_H
#define ZKR_VERSION_H

#include <zkr/export.h>

#define ZKR_VERSION_MAJOR 0
#define ZKR_VERSION_MINOR 2
#define ZKR_VERSION_PATCH 0

#define ZKR_VERSION_TEXT_(a, b, c) #a "." #b "." #c
#define ZKR_VERSION_TEXT(a, b, c) ZKR_VERSION_TEXT_(a, b, c)
#define ZKR_VERSION                                                                    \
    ZKR_VERSION_TEXT(ZKR_VERSION_MAJOR, ZKR_VERSION_MINOR, ZKR_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The version of the loaded library, which may differ from that of the header.
 *
 * Returns "MAJOR.MINOR.PATCH", a constant; never NULL.
 *
 * Blocks:   no.
 * Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API const char *zkr_version(void);

#ifdef __cplusplus
}
#endif

#endif
