/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each server of the list says of itself: its version, by its command "srvr", which all allow unless told otherwise; and
 * which sessions it serves, by "cons" or else by its AdminServer, if it has one. No session of ours is needed for that.
 */
#ifndef ZKR_CLI_PEERS_H
#define ZKR_CLI_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"

struct peer {
    char *name;       /* host:port */
    char *sessions;   /* as it told; NULL: it did not */
    char version[16]; /* such as "3.9.4"; "": not known */
    const char *note; /* why it is not, or what is wrong with it; NULL: nothing */
};

struct peers {
    struct peer *list;
    size_t count;
    bool warned; /* by peers_warn() */
};

/** Takes two seconds for a server that does not answer. @tls: they speak nothing else. */
void peers_ask(struct peers *p, const char *servers, bool tls);

/** NULL: nobody has told. */
const char *peers_find(const struct peers *p, int64_t session_id);

/** A line for each. */
void peers_print(const struct peers *p, FILE *out);

/** The member "servers"; null when nobody was asked. */
void peers_json(const struct peers *p, struct json *j);

/** On stderr, the first time: whose version is bad, and who does not say what it serves. */
void peers_warn(struct peers *p);

/** A next peers_ask() may follow. */
void peers_end(struct peers *p);

#endif
