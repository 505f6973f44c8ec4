/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version and sessions of each server of the list. The version is the answer to the command "srvr", which servers allow by
 * default. The sessions come from "cons", or else from the AdminServer, if there is one. No ZooKeeper session is needed.
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
    char *sessions;   /* as answered; NULL: no answer */
    char version[48]; /* such as "3.9.4"; "" = not known */
    const char *note; /* why not known, or what is wrong with it; NULL: nothing */
};

struct peers {
    struct peer *list;
    size_t count;
    bool warned; /* peers_warn() was called */
};

/** Waits at most two seconds for each server. @tls: the servers only speak TLS. */
void peers_ask(struct peers *p, const char *servers, bool tls);
/** The first server that closes a new connection at once; the caller frees it. NULL: none. At most 0.5 s a server. */
char *peers_closing(const char *servers);
/** The server of a session; NULL: not known. */
const char *peers_find(const struct peers *p, int64_t session_id);
/** Prints a line for each server. */
void peers_print(const struct peers *p, FILE *out);
/** The member "servers"; null when nobody was asked. */
void peers_json(const struct peers *p, struct json *j);
/** Warns on stderr, once, of bad versions and of a server that does not tell its sessions. */
void peers_warn(struct peers *p);
/** peers_ask() may follow again. */
void peers_end(struct peers *p);

#endif
