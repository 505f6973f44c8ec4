/* SPDX-License-Identifier: Apache-2.0 */
/* The sessions, process groups and directories of the parent, as it has reported them. */
#ifndef ZKR_GUARDIAN_WARDS_H
#define ZKR_GUARDIAN_WARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guardian/wire.h"

/** A session to be ended. */
struct ward {
    struct ward *next;
    uint64_t client;
    int64_t session;
    int timeout_ms;
    unsigned char password[ZKR__PASSWORD_SIZE];
    char *servers;
    const char *tls;         /* in the same memory; "" = no TLS */
    const char *credentials; /* in the same memory, as wire.h has them */
    size_t text_size;        /* of all that */
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

#endif
