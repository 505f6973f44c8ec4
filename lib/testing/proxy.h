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
 * proxy.c: the thread; proxy_control.c: the public functions; proxy_flow.c: bytes and frames of one connection;
 * proxy_habits.c, proxy_changes.c: how the server seems to behave.
 *
 * Connections belong to the proxy's thread. The lock guards everything else. That thread holds it except in poll() and
 * in the hook.
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
    unsigned char *in; /* the start of an incomplete frame */
    size_t in_size;
    size_t in_room;
    chunk *head; /* queued for the receiver */
    chunk *last;
    bool first_seen; /* the connect request or its answer has passed */
    bool eof;        /* the sender has ended its side */
    bool shut;       /* the receiver has received that end */
} flow;

/* A connection. fd[0] is the client's side, fd[1] the server's; direction d reads from fd[d]. */
typedef struct conn {
    struct conn *next;
    int fd[2];
    flow flow[2];
    bool opaque;         /* bytes are passed on without a search for frames */
    bool reset;          /* both sides are to be reset now */
    bool cut_client;     /* the client is to be reset once it has the queued data */
    bool closing;        /* both sides end after the queued data; nothing else passes */
    bool orphan;         /* the client is gone, but the server does not notice */
    int64_t retry_at;    /* when to reconnect to the server; 0 = never */
    int64_t give_up;     /* no more retries after this time */
    int32_t ops[256];    /* operations of the last requests, indexed by xid */
    struct asked *asked; /* see proxy_changes.c */
    struct asked *asked_last;
} conn;

enum { ZKR__TO_SERVER, ZKR__TO_CLIENT };

/*
 * Edits the answer to operation @op (0 = the connect request) in @frame, which includes its length and has @room bytes.
 * Returns the new size, or 0 to drop the answer.
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
    uint64_t asked; /* number of turns of the loop that were requested */
    uint64_t turns; /* the value of `asked` at the last turn */
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

/** Reads from the sender of direction @d, and queues what may pass. */
void zkr__test_flow_read(zkr_test_proxy *p, conn *c, int d);

/** Sends the data that is due in direction @d, and then the end of the stream. */
void zkr__test_flow_send(zkr_test_proxy *p, conn *c, int d);

/** These return whether poll() must watch direction @d for input, and for room. */
bool zkr__test_flow_wants_input(const zkr_test_proxy *p, const conn *c, int d);
bool zkr__test_flow_wants_room(const zkr_test_proxy *p,
                               const conn *c,
                               int d,
                               int64_t now);

/**
 * Connects to the target. Without frames (between servers), retries a refused connection for a second. A follower often
 * connects before its leader listens, and loses the election if the proxy accepts its connection and then resets it.
 */
void zkr__test_conn_connect(zkr_test_proxy *p, conn *c);

/** Resets and closes one side. */
void zkr__test_conn_reset(conn *c, int side);
void zkr__test_conn_free(conn *c);

/** Queues bytes in direction @d. */
void zkr__test_flow_put(zkr_test_proxy *p,
                        conn *c,
                        int d,
                        const unsigned char *data,
                        size_t size);

/** How a server with habits (zkr_test_proxy_habits()) treats a request. */
struct zkr__test_verdict {
    bool refused; /* the server does not get the request, and the connection ends */
    size_t size;  /* size of the answer that the client gets first; 0 = no answer */
    unsigned char answer[40];
};

/**
 * Judges a connect request, which includes its length, and changes it to what such a server would read. @v is zeroed.
 */
void zkr__test_habits_connect(int habits,
                              unsigned char *frame,
                              size_t size,
                              struct zkr__test_verdict *v);
/** Judges any other request. @op is its operation. @v is zeroed. */
void zkr__test_habits_request(int habits,
                              int op,
                              const unsigned char *frame,
                              struct zkr__test_verdict *v);

/**
 * These handle a request and an answer that pass. A set of a child's data counts as a change, and the answer shows the
 * count.
 */
void zkr__test_changes_request(zkr_test_proxy *p,
                               conn *c,
                               int op,
                               const unsigned char *frame,
                               size_t size);
void zkr__test_changes_answer(zkr_test_proxy *p,
                              conn *c,
                              unsigned char *frame,
                              size_t size);

/** These free the remembered requests of a connection, and the counted changes. */
void zkr__test_changes_drop(conn *c);
void zkr__test_changes_forget(zkr_test_proxy *p);

/** The main function of the proxy's thread. */
void *zkr__test_proxy_run(void *arg);

/* ---- for tests of this library only; not in zkr/testing.h ---- */

int zkr__test_proxy_port(const zkr_test_proxy *p);

/** Stops or resumes direction @d. */
int zkr__test_proxy_freeze(zkr_test_proxy *p, int d, bool frozen);

/**
 * Resets the client's side of present and new connections. The server keeps its open connections, without traffic,
 * until zkr_test_proxy_heal() closes them.
 */
int zkr__test_proxy_orphan(zkr_test_proxy *p);

/** Passes the replies before the @n-th, and then resets the client. */
int zkr__test_proxy_drop_reply(zkr_test_proxy *p, int n);

/** Returns how many requests or replies were lost on purpose since the start. */
int zkr__test_proxy_triggered(zkr_test_proxy *p);

/**
 * Calls @hook in the proxy's thread before it passes on a request. @n counts requests since the start, from 1. @op is
 * the operation. The hook blocks all connections of this proxy. If the hook cuts, drops or orphans the connections,
 * the request does not pass. NULL removes the hook. When this function returns, the old hook no longer runs.
 */
int zkr__test_proxy_on_request(zkr_test_proxy *p,
                               void (*hook)(void *ctx, int n, int op),
                               void *ctx);

/** Passes each answer to @edit, in the proxy's thread. @edit must not call the proxy. NULL removes it. */
int zkr__test_proxy_edit(zkr_test_proxy *p, zkr__test_edit edit, void *ctx);

#endif
