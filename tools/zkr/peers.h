/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version and the sessions of each server of the list. The version comes from the command "srvr", which servers
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
    char *sessions;   /* the answer; NULL: none */
    char version[48]; /* for example "3.9.4"; "" = not known */
    const char *note; /* why it is not known, or what is wrong with it; NULL: nothing */
};

struct peers {
    struct peer *list;
    size_t count;
    bool warned; /* peers_warn() has been called */
};

/** Waits at most two seconds for each server. @tls: the servers speak only TLS. */
void peers_ask(struct peers *p, const char *servers, bool tls);
/** Returns the first server that closes a new connection at once, or NULL; the caller frees it. Waits at most 0.5 s for
 * each server. */
char *peers_closing(const char *servers);
/** Returns the server of a session; NULL: not known. */
const char *peers_find(const struct peers *p, int64_t session_id);
/** Prints a line for each server. */
void peers_print(const struct peers *p, FILE *out);
/** Writes the member "servers"; null without peers_ask(). */
void peers_json(const struct peers *p, struct json *j);
/** Warns on stderr, once, of bad versions and of a server that does not list its sessions. */
void peers_warn(struct peers *p);
/** Frees the list; peers_ask() may follow again. */
void peers_end(struct peers *p);

#endif
