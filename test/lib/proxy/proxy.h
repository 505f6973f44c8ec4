/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_PROXY_H
#define ZKT_PROXY_H

#include <stdint.h>

/*
 * A TCP proxy in a thread of the test program, with faults. Every call that injects or
 * ends a fault returns after it took effect. Calls are allowed from any thread, and all
 * but zkt_proxy_stop() also from the hook.
 *
 * A connection of a client counts as: connect request, then requests, whose xid is > 0;
 * pings, auth and set-watches are passed on but are no requests. Closing a session is one.
 */
typedef struct zkt_proxy zkt_proxy;

enum { ZKT_TO_SERVER = 0, ZKT_TO_CLIENT = 1 };

typedef struct zkt_proxy_counts {
    int64_t connections; /* accepted so far */
    int64_t open;        /* with a client now */
    int64_t requests;
    int64_t replies;
    int64_t events;
    int64_t pings; /* sent by clients */
    int64_t bytes[2];
} zkt_proxy_counts;

/** Listen on a free loopback port for connections to @target, "host:port". Ended with the case. */
zkt_proxy *zkt_proxy_start(const char *target);

/** The same for a protocol that is not the clients': bytes only, no frames. */
zkt_proxy *zkt_proxy_start_raw(const char *target);

/** Listen at a loopback address and port of the caller's choice, which must be free. */
zkt_proxy *zkt_proxy_start_at(const char *address, int port, const char *target);

/** Close everything, end the thread, free. NULL is fine. */
void zkt_proxy_stop(zkt_proxy *p);

const char *zkt_proxy_host(const zkt_proxy *p);
int zkt_proxy_port(const zkt_proxy *p);

/** Where connections accepted from now on go. */
void zkt_proxy_target(zkt_proxy *p, const char *target);

/* ---- faults ---- */

/** Reset every connection, and every new one, until zkt_proxy_heal(). */
void zkt_proxy_cut(zkt_proxy *p);

/** Reset the connections of now; new ones work. */
void zkt_proxy_drop_connections(zkt_proxy *p);

/**
 * Reset the clients' side only, now and for new connections: the server is left with open
 * connections that say nothing, until zkt_proxy_heal() closes them.
 */
void zkt_proxy_orphan(zkt_proxy *p);

/** Pass nothing on, in one direction or in both: connections stay open and silent. */
void zkt_proxy_freeze(zkt_proxy *p, int direction);
void zkt_proxy_thaw(zkt_proxy *p, int direction);
void zkt_proxy_blackhole(zkt_proxy *p);

/** Hold back what is sent from now on by @ms; order is kept. */
void zkt_proxy_delay(zkt_proxy *p, int direction, int64_t ms);

/** End all of the above and disarm the triggers below; kept bytes go on in order. */
void zkt_proxy_heal(zkt_proxy *p);

/* ---- triggers: act once; n = 1 is the next, 0 disarms; new connections work ---- */

/**
 * Reset the client instead of passing on the @n-th request from now. Whatever came before
 * it reaches the server, whose side is closed in an orderly way.
 */
void zkt_proxy_cut_before_request(zkt_proxy *p, int n);

/**
 * Pass the @n-th request on and reset the client before any reply to it; what was sent
 * to the client before may be lost too. The server does execute the request.
 */
void zkt_proxy_cut_after_request(zkt_proxy *p, int n);

/** Pass on the replies before the @n-th, then reset the client. */
void zkt_proxy_drop_reply(zkt_proxy *p, int n);

/** How many triggers have acted since the start. */
int zkt_proxy_triggered(zkt_proxy *p);

zkt_proxy_counts zkt_proxy_counters(zkt_proxy *p);

/**
 * Call @hook in the proxy's thread before a request is passed on: @n counts from 1 since
 * the proxy started, @op is its operation. It holds up all connections of this proxy; cut,
 * drop_connections and orphan in it stop this very request. NULL removes it; the old hook
 * is then not running any more.
 */
void zkt_proxy_on_request(zkt_proxy *p,
                          void (*hook)(void *ctx, int n, int op),
                          void *ctx);

#endif
