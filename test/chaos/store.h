/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_STORE_H
#define ZKC_STORE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The data outside ZooKeeper that the locks protect: two numbers for each path, in a separate process. The fenced
 * number refuses reads and writes with a token lower than the highest that it has seen. The plain number accepts
 * everything.
 */

enum zkc_store_op { ZKC_READ, ZKC_WRITE, ZKC_PLAIN_READ, ZKC_PLAIN_WRITE, ZKC_STATUS };

typedef struct zkc_store_request {
    int64_t op;
    int64_t path;
    int64_t token;
    int64_t value;
} zkc_store_request;

typedef struct zkc_store_reply {
    int64_t accepted; /* 0: the token is too low, or the path is wrong */
    int64_t value;    /* in replies to READ and STATUS */
    /* In replies to STATUS. */
    int64_t writes;
    int64_t refused;
    int64_t plain_value;
    int64_t plain_writes;
    int64_t plain_late;    /* writes after a higher token had been seen */
    int64_t plain_late_ns; /* longest delay of such a write */
} zkc_store_reply;

/** Run the process: serve @socket until it is killed. */
int zkc_store_serve(const char *socket);

/** Returns a connection for one thread, or -1. */
int zkc_store_connect(const char *socket);

/** Send a request, and receive the reply. Returns false if there is no answer. */
bool zkc_store_ask(int fd, const zkc_store_request *ask, zkc_store_reply *reply);

#endif
