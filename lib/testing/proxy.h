/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKR_TESTING_PROXY_H
#define ZKR_TESTING_PROXY_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <zkr/testing.h>

/*
 * proxy.c: the thread; proxy_control.c: what is called; proxy_flow.c: bytes and frames of one connection;
 * proxy_habits.c, proxy_changes.c: what the server is made to be.
 * Connections belong to the proxy's thread; everything else is guarded
 * by the lock, which that thread holds except in poll() and in the hook.
 */

typedef struct chunk {
    struct chunk *next;
    int64_t due;
    size_t size;
    size_t sent;
    unsigned char data[];
} chunk;

/* One direction of a connection. */
typedef struct flow {
    unsigned char *in; /* the start of a frame not complete yet */
    size_t in_size;
    size_t in_room;
    chunk *head; /* what the receiver has to get */
    chunk *last;
    bool first_seen; /* the connect request or its answer has passed */
    bool eof;        /* the sender has ended */
    bool shut;       /* the receiver knows */
} flow;

/* fd[0] is the client's side, fd[1] the server's; direction d reads from fd[d]. */
typedef struct conn {
    struct conn *next;
    int fd[2];
    flow flow[2];
    bool opaque;     /* not framed */
    bool reset;      /* reset both sides now */
    bool cut_client; /* reset the client once it has got what is queued */
    bool closing; /* both sides get what is queued, then an end; nothing else passes */
    bool orphan;  /* the client is gone, the server must not know */
    int64_t retry_at;    /* connect to the server again, when not 0 */
    int64_t give_up;     /* no more retries from then on */
    int32_t ops[256];    /* of the last requests, by their xids */
    struct asked *asked; /* see proxy_changes.c */
    struct asked *asked_last;
} conn;

enum { ZKR__TO_SERVER, ZKR__TO_CLIENT };

/*
 * May change the answer to operation @op, 0 = the connect request, whole with its length; @room: bytes for it. Returns
 * its size, 0 = it never comes.
 */
typedef size_t (
    *zkr__test_edit)(void *ctx, int op, unsigned char *frame, size_t size, size_t room);

struct zkr_test_proxy {
    pid_t owner;
    pthread_mutex_t lock;
    pthread_cond_t turned;
    pthread_t thread;
    int listener;
    int wake;
    int port;
    char host[32];
    bool framed;

    bool stop;
    uint64_t asked; /* turns of the loop asked for, and done */
    uint64_t turns;
    struct sockaddr_in target;
    bool cut;
    bool drop_all;
    bool orphan;
    bool frozen[2];
    int64_t delay_ms[2];
    int before;
    int after;
    int drop;
    int triggered;
    int habits;
    struct changed *changed; /* see proxy_changes.c */
    void (*hook)(void *ctx, int n, int op);
    void *hook_ctx;
    zkr__test_edit edit;
    void *edit_ctx;
    zkr_test_counts counts;
    conn *conns;
};

/** Read what the sender of direction @d has sent and queue what may pass. */
void zkr__test_flow_read(zkr_test_proxy *p, conn *c, int d);

/** Send what is due in direction @d, and its end. */
void zkr__test_flow_send(zkr_test_proxy *p, conn *c, int d);

/** Whether poll() must look for input of, or room in, direction @d. */
bool zkr__test_flow_wants_input(const zkr_test_proxy *p, const conn *c, int d);
bool zkr__test_flow_wants_room(const zkr_test_proxy *p,
                               const conn *c,
                               int d,
                               int64_t now);

/**
 * Connect to the target. Without frames (between servers), retry a refused connection for a second: a follower often
 * connects before its leader listens, and loses the election if we accept its connection and then reset it.
 */
void zkr__test_conn_connect(zkr_test_proxy *p, conn *c);

/** Reset one side and forget it. */
void zkr__test_conn_reset(conn *c, int side);
void zkr__test_conn_free(conn *c);

/** Queue bytes in direction @d. */
void zkr__test_flow_put(zkr_test_proxy *p,
                        conn *c,
                        int d,
                        const unsigned char *data,
                        size_t size);

/** How a server with habits treats a request. */
struct zkr__test_verdict {
    bool refused; /* it does not reach the server, and the connection ends */
    size_t size;  /* of the answer that the client gets before; 0 = none */
    unsigned char answer[40];
};

/** Judge a connect request, whole with its length, and change it to what such a server takes it for. @v is zeroed. */
void zkr__test_habits_connect(int habits,
                              unsigned char *frame,
                              size_t size,
                              struct zkr__test_verdict *v);
/** Judge any other request, with operation @op. @v is zeroed. */
void zkr__test_habits_request(int habits,
                              int op,
                              const unsigned char *frame,
                              struct zkr__test_verdict *v);

/** A request passes, and an answer to one: changes of children count, and the answer says so. */
void zkr__test_changes_request(zkr_test_proxy *p,
                               conn *c,
                               int op,
                               const unsigned char *frame,
                               size_t size);
void zkr__test_changes_answer(zkr_test_proxy *p,
                              conn *c,
                              unsigned char *frame,
                              size_t size);

/** Free what is remembered of the requests of a connection, and of the changes. */
void zkr__test_changes_drop(conn *c);
void zkr__test_changes_forget(zkr_test_proxy *p);

/** The thread of the proxy. */
void *zkr__test_proxy_run(void *arg);

/* ---- what tests of this library need besides zkr/testing.h ---- */

int zkr__test_proxy_port(const zkr_test_proxy *p);

/** Pass nothing on in direction @d, or do again. */
int zkr__test_proxy_freeze(zkr_test_proxy *p, int d, bool frozen);

/**
 * Reset the clients' side only, now and for new connections: the server is left with open connections that
 * say nothing, until zkr_test_proxy_heal() closes them.
 */
int zkr__test_proxy_orphan(zkr_test_proxy *p);

/** Pass on the replies before the @n-th, then reset the client. */
int zkr__test_proxy_drop_reply(zkr_test_proxy *p, int n);

/** How many requests or replies have been lost on purpose since the start. */
int zkr__test_proxy_triggered(zkr_test_proxy *p);

/**
 * Call @hook in the proxy's thread before a request is passed on: @n counts from 1 since the proxy started, @op is
 * its operation. It holds up all connections of this proxy; cut, drop and orphan in it stop this very request. NULL
 * removes it; the old hook is then not running any more.
 */
int zkr__test_proxy_on_request(zkr_test_proxy *p,
                               void (*hook)(void *ctx, int n, int op),
                               void *ctx);

/** Let @edit see each answer, in the proxy's thread; it calls nothing of the proxy. NULL removes it. */
int zkr__test_proxy_edit(zkr_test_proxy *p, zkr__test_edit edit, void *ctx);

#endif
