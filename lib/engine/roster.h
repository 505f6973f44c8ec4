/* SPDX-License-Identifier: Apache-2.0 */
/* Read who is in a queue: all contenders of all clients, with their data. */
#ifndef ZKR_ENGINE_ROSTER_H
#define ZKR_ENGINE_ROSTER_H

#include <zkr/contenders.h>

#include "session/request.h"

/*
 * List @dir and read each sequential child, in two round trips. Blocks up to @deadline without
 * the lock. Nodes that go meanwhile are left out; a missing @dir gives an empty list. Returns
 * ZKR_OK, ZKR_ETIMEDOUT, ZKR_ENOMEM, or what ZooKeeper said.
 */
int zkr__roster_read(zkr_contenders **out,
                     zkr_client *c,
                     const char *dir,
                     const char *prefix,
                     int64_t deadline);

/*
 * The data of a node as text, allocated, or NULL: as many bytes as @len, ASCII controls, zeros
 * among them, as '?'. It need not be UTF-8.
 */
char *zkr__roster_text(const void *data, size_t len);

#endif
