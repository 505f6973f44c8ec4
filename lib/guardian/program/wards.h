/* SPDX-License-Identifier: Apache-2.0 */
/* The sessions, process groups and directories of the parent, as the parent has reported them. */
#ifndef ZKR_GUARDIAN_WARDS_H
#define ZKR_GUARDIAN_WARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guardian/wire.h"

/** A ward: a session that the guardian ends if the parent dies. */
struct ward {
    struct ward *next;
    uint64_t client;
    int64_t session;
    int timeout_ms;
    unsigned char password[ZKR__PASSWORD_SIZE];
    char *servers;
    const char *tls;         /* points into .servers; "" = no TLS */
    const char *credentials; /* points into .servers, in the format of wire.h */
    size_t text_size;        /* size of .servers with all these texts */
};

/** A directory in which a client may have nodes. */
struct directory {
    struct directory *next;
    uint64_t client;
    char path[];
};

/** Everything that the parent has reported. */
struct wards {
    struct ward *wards;
    struct group *groups;
    struct directory *directories;
};

/**
 * Process one record and the @size bytes of @text that follow it. @fds are -1, or descriptors that will belong to the
 * group. Returns false if the record cannot be understood or stored.
 */
bool wards_take(struct wards *w,
                const struct zkr__guardian_record *record,
                const char *text,
                size_t size,
                const int fds[ZKR__GROUP_FDS]);
/**
 * Iterate over the ward's credentials. *@at starts as ward.credentials. Returns a scheme and sets *@cert and
 * *@cert_len, or returns NULL at the end.
 */
const char *ward_credential(const struct ward *ward,
                            const char **at,
                            const char **cert,
                            uint32_t *cert_len);
/** Returns the ward of @session, or NULL. */
const struct ward *wards_find(const struct wards *w, int64_t session);
/** Returns the longest session timeout, or 0 if there is no session. */
int64_t wards_longest_ms(const struct wards *w);

/** Returns the client's first directory in the list that begins at @d, or NULL. */
const struct directory *wards_directory(const struct directory *d, uint64_t client);

#endif
