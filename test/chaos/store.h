/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_STORE_H
#define ZKC_STORE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What the locks protect outside ZooKeeper: two numbers a path, in a process of its own. The
 * fenced one refuses reads and writes with a token lower than the highest it has seen; the
 * plain one takes everything.
 */

enum zkc_store_op { ZKC_READ, ZKC_WRITE, ZKC_PLAIN_READ, ZKC_PLAIN_WRITE, ZKC_STATUS };

typedef struct zkc_store_request {
    int64_t op;
    int64_t path;
    int64_t token;
    int64_t value;
} zkc_store_request;

typedef struct zkc_store_reply {
    int64_t accepted; /* 0: the token is too low */
    int64_t value;    /* READ, STATUS */
    /* STATUS */
    int64_t writes;
    int64_t refused;
    int64_t plain_value;
    int64_t plain_writes;
    int64_t plain_late;    /* writes after a higher token had been seen */
    int64_t plain_late_ns; /* the latest of them: how long after */
} zkc_store_reply;

/** The process: serves @socket until it is killed. */
int zkc_store_serve(const char *socket);

/** A connection for one thread, or -1. */
int zkc_store_connect(const char *socket);

/** False: no answer. */
bool zkc_store_ask(int fd, const zkc_store_request *ask, zkc_store_reply *reply);

#endif
