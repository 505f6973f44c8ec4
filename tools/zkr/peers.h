/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version and the sessions of each server in the list. The version comes from the command "srvr", which servers
 * allow by default. The sessions come from the command "cons", or else from the AdminServer. No ZooKeeper session is
 * needed.
 */
#ifndef ZKR_CLI_PEERS_H
#define ZKR_CLI_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "json.h"

struct peer {
    char *name;       /* host:port */
    char *sessions;   /* the answer; NULL: no answer */
    char version[48]; /* for example "3.9.4"; "" = not known */
    /* The fault of the server, such as "does not answer"; NULL: the server has none. */
    const char *note;
};

struct peers {
    struct peer *list;
    size_t count;
    bool warned; /* peers_warn() has been called */
};

/** Asks each server, and waits at most two seconds for it. With @tls, the servers accept only TLS. */
void peers_ask(struct peers *p, const char *servers, bool tls);
/**
 * Returns the first server that closes a new connection at once, or NULL. The caller frees the text. Waits at most 0.5
 * s for each server.
 */
char *peers_closing(const char *servers);
/** Returns the server of a session, or NULL if it is not known. */
const char *peers_find(const struct peers *p, int64_t session_id);
/** Prints a line for each server. */
void peers_print(const struct peers *p, FILE *out);
/** Writes the member "servers", which is null without peers_ask(). */
void peers_json(const struct peers *p, struct json *j);
/** Warns on stderr, once, about bad versions and about servers that do not list their sessions. */
void peers_warn(struct peers *p);
/** Frees the list. After this, peers_ask() may be called again. */
void peers_end(struct peers *p);

#endif
