/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_NAMES_H
#define ZKC_NAMES_H

#include "control.h"

/* Server names whose addresses change. This program's own getaddrinfo() resolves them. */

#define ZKC_NAME "server%d.chaos"
#define ZKC_HERE "127.0.0.1"
#define ZKC_THERE "127.0.0.2"

/** Until this is called, the names cannot be resolved. */
void zkc_names_begin(const struct zkc_control *control);

#endif
