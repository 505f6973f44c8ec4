/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file export.h
 * ZKR_API marks every name that the shared library exports. All other names are hidden.
 */
#ifndef ZKR_EXPORT_H
#define ZKR_EXPORT_H

#if defined(__GNUC__)
#define ZKR_API __attribute__((visibility("default")))
#else
#define ZKR_API
#endif

#endif
