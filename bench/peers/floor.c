/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lower bound that the servers set: creates and deletes a node whose name is as long as ours, and waits for each
 * answer. This locks nothing. Each session has one thread.
 */
#include <stdio.h>
#include <stdlib.h>

#include "die.h"
#include "driver.h"
#include "raw.h"

struct room {
    struct raw *session;
    char path[256];
};

static void *open_session(void)
{
    return raw_open(driver_options.servers);
}

static void *make_parent(void *session, const char *path, int number)
{
    (void)number;
    struct room *r = malloc(sizeof(*r));
    if (!r) {
        bench_die("out of memory");
    }
    r->session = session;
    (void)snprintf(r->path, sizeof(r->path), "%s", path);
    raw_make(session, path);
    return r;
}

static bool create(void *room, bool wait)
{
    struct room *r = room;
    (void)wait;
    raw_create(r->session, r->path);
    return true;
}

static void delete (void *room)
{
    raw_delete(((struct room *)room)->session);
}

static void close_session(void *session)
{
    raw_close(session);
}

int main(int argc, char **argv)
{
    static const struct driver_peer peer = {.open = open_session,
                                            .make = make_parent,
                                            .lock = create,
                                            .unlock = delete,
                                            .close = close_session};
    return driver_main(argc, argv, &peer);
}
