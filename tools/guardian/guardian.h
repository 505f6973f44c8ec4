/* SPDX-License-Identifier: Apache-2.0 */
/* zkr-guardian: what it knows of its parent's sessions and process groups, and what it does when the parent is dead. */
#ifndef ZKR_GUARDIAN_PROGRAM_H
#define ZKR_GUARDIAN_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zookeeper/zookeeper.h>

#include "session/guardian_wire.h"

/** A session to be ended. */
struct ward {
    struct ward *next;
    uint64_t client;
    int64_t session;
    int timeout_ms;
    unsigned char password[ZKR__PASSWORD_SIZE];
    char *servers;
    const char *tls;         /* in the same memory; "" = no TLS */
    const char *credentials; /* in the same memory, as guardian_wire.h has them */
    size_t text_size;        /* of all that */
};

/** A process group that acts under the holds of a client; or a pipe that tells when nothing does. */
struct group {
    struct group *next;
    uint64_t client;
    int fds
        [ZKR__GROUP_FDS]; /* see guardian_wire.h; of a pipe there is the reader alone */
    bool over;            /* a byte has come from the pipe */
    int64_t look_at;      /* no look at /proc before this */
};

/** The parent of nodes of a client. */
struct directory {
    struct directory *next;
    uint64_t client;
    char path[];
};

/** All that the parent has told. */
struct wards {
    struct ward *wards;
    struct group *groups;
    struct directory *directories;
};

/** Milliseconds of a clock that goes on while the machine sleeps. */
int64_t now_ms(void);

/**
 * Take one record in, with the @size bytes of @text behind it. @fds are -1, or belong to the group. False: it is the end,
 * or cannot be understood.
 */
bool wards_take(struct wards *w,
                const struct zkr__guardian_record *record,
                const char *text,
                size_t size,
                const int fds[ZKR__GROUP_FDS]);
/**
 * The credential of the ward at *@at, which moves on to the next; at first *@at is ward.credentials. Returns the scheme,
 * and NULL behind the last.
 */
const char *ward_credential(const struct ward *ward,
                            const char **at,
                            const char **cert,
                            uint32_t *cert_len);
/** NULL = there is no such session. */
const struct ward *wards_find(const struct wards *w, int64_t session);
/** The longest session timeout, 0 = there is no session. */
int64_t wards_longest_ms(const struct wards *w);

/** From @d on, the first directory of the client; NULL = none. */
const struct directory *wards_directory(const struct directory *d, uint64_t client);

/** One pass over the directories of a ward, with a handle that has another session than the ward's. */
struct sweep {
    zhandle_t *zh;
    const struct ward *ward;
    const struct directory *next; /* where it goes on; at first those of all clients */
    /** Called by a thread of libzookeeper: an answer has come; the pass is over, and all the nodes are gone, or not. */
    void (*progress)(void *context);
    void (*done)(void *context, bool whole);
    void *context;
    /* --- the sweep's own --- */
    const struct directory *here;
    size_t awaited; /* answers, about this directory */
    bool failed;
};

/** Delete the ward's nodes. The sweep ends with done(), or with the close of the handle. */
void sweep_begin(struct sweep *s);

/** Kill the group, unless it is gone; a pipe is only read. True: the group is gone, or only zombies are left of it. */
bool group_is_gone(struct group *g);

/** The parent is dead: kill its groups; end each session when its client's group is gone. Returns by @deadline. */
void wards_end(const struct wards *w, int64_t deadline);

#endif
