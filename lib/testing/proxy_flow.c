/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "testing/net.h"
#include "testing/proxy.h"

/* If the first frame seems to be longer, it is not a frame, but a four-letter word or another protocol. */
enum { FRAME_MAX = 16 << 20, XID_EVENT = -1, XID_PING = -2 };
enum { RETRY_MS = 20, RETRIES_MS = 1000 };

static int32_t be32(const unsigned char *b)
{
    return (int32_t)((uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 |
                     (uint32_t)b[3]);
}

void zkr__test_conn_reset(conn *c, int side)
{
    if (c->fd[side] >= 0) {
        const struct linger now = {.l_onoff = 1, .l_linger = 0};
        (void)setsockopt(c->fd[side], SOL_SOCKET, SO_LINGER, &now, sizeof now);
        (void)close(c->fd[side]);
        c->fd[side] = -1;
    }
}

/* The server's side has failed with @error. Retries later, or resets the connection. */
static void server_failed(const zkr_test_proxy *p, conn *c, int error)
{
    const int64_t now = zkr__test_now_ms();

    if (p->framed || error != ECONNREFUSED || now >= c->give_up) {
        c->reset = true;
        return;
    }
    if (c->fd[1] >= 0) {
        (void)close(c->fd[1]);
        c->fd[1] = -1;
    }
    c->retry_at = now + RETRY_MS;
}

void zkr__test_conn_connect(zkr_test_proxy *p, conn *c)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        c->reset = true;
        return;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    c->fd[1] = fd;
    c->retry_at = 0;
    if (c->give_up == 0) {
        c->give_up = zkr__test_now_ms() + RETRIES_MS;
    }
    if (connect(fd, (struct sockaddr *)&p->target, sizeof p->target) != 0 &&
        errno != EINPROGRESS) {
        server_failed(p, c, errno);
    }
}

static void clear(flow *f)
{
    while (f->head != NULL) {
        chunk *next = f->head->next;
        free(f->head);
        f->head = next;
    }
    f->last = NULL;
    f->in_size = 0;
}

void zkr__test_conn_free(conn *c)
{
    for (int i = 0; i < 2; i++) {
        clear(&c->flow[i]);
        free(c->flow[i].in);
        if (c->fd[i] >= 0) {
            (void)close(c->fd[i]);
        }
    }
    zkr__test_changes_drop(c);
    free(c);
}

void zkr__test_flow_put(zkr_test_proxy *p,
                        conn *c,
                        int d,
                        const unsigned char *data,
                        size_t size)
{
    flow *f = &c->flow[d];
    chunk *k = malloc(sizeof *k + size);

    if (k == NULL) {
        c->reset = true;
        return;
    }
    k->next = NULL;
    k->due = zkr__test_now_ms() + p->delay_ms[d];
    k->size = size;
    k->sent = 0;
    memcpy(k->data, data, size);
    if (f->head == NULL) {
        f->head = k;
    } else {
        f->last->next = k;
    }
    f->last = k;
    p->counts.bytes[d] += (int64_t)size;
}

/* Decrements *left. Returns whether it has reached 0. */
static bool fires(zkr_test_proxy *p, int *left)
{
    if (*left <= 0 || --*left > 0) {
        return false;
    }
    p->triggered++;
    return true;
}

/* Resets the client. The server gets the queued data and then an orderly end. */
static void cut_client_now(conn *c)
{
    zkr__test_conn_reset(c, 0);
    clear(&c->flow[ZKR__TO_CLIENT]);
    c->flow[ZKR__TO_SERVER].eof = true;
}

static int32_t *op_of(conn *c, int32_t xid)
{
    return &c->ops[(uint32_t)xid % (sizeof c->ops / sizeof *c->ops)];
}

/* Applies the verdict. Returns whether the server gets the request. */
static bool obey(zkr_test_proxy *p, conn *c, const struct zkr__test_verdict *v)
{
    if (v->size > 0) {
        zkr__test_flow_put(p, c, ZKR__TO_CLIENT, v->answer, v->size);
    }
    c->closing = c->closing || v->refused;
    return !v->refused;
}

/* Passes a request on. Returns false if the request must not pass, or the connection ends. */
static bool pass_request(zkr_test_proxy *p,
                         conn *c,
                         int op,
                         const unsigned char *frame,
                         size_t size)
{
    const int n = (int)++p->counts.requests;
    void (*hook)(void *, int, int) = p->hook;
    void *ctx = p->hook_ctx;

    if (hook != NULL) {
        (void)pthread_mutex_unlock(&p->lock);
        hook(ctx, n, op);
        (void)pthread_mutex_lock(&p->lock);
        if (p->cut || p->drop_all || p->orphan || p->stop) {
            return false;
        }
    }
    if (fires(p, &p->before)) {
        cut_client_now(c);
        return false;
    }
    struct zkr__test_verdict v = {0};
    zkr__test_habits_request(p->habits, op, frame, &v);
    const bool passes = obey(p, c, &v);
    if (passes) {
        *op_of(c, be32(frame + 4)) = op;
        zkr__test_changes_request(p, c, op, frame, size);
        zkr__test_flow_put(p, c, ZKR__TO_SERVER, frame, size);
    }
    if (fires(p, &p->after)) {
        cut_client_now(c);
        return false;
    }
    return passes;
}

/* Queues an answer for the client, after the test has edited it. */
static void enqueue_edited(zkr_test_proxy *p,
                           conn *c,
                           int32_t op,
                           const unsigned char *frame,
                           size_t size)
{
    enum { MORE = 4096 };
    unsigned char *edited = p->edit != NULL ? malloc(size + MORE) : NULL;

    if (edited == NULL) {
        zkr__test_flow_put(p, c, ZKR__TO_CLIENT, frame, size);
        return;
    }
    memcpy(edited, frame, size);
    size = p->edit(p->edit_ctx, op, edited, size, size + MORE);
    if (size > 0) {
        zkr__test_flow_put(p, c, ZKR__TO_CLIENT, edited, size);
    }
    free(edited);
}

static bool pass_answer(zkr_test_proxy *p, conn *c, unsigned char *frame, size_t size)
{
    const int32_t xid = be32(frame + 4);

    p->counts.events += xid == XID_EVENT;
    if (xid > 0) {
        p->counts.replies++;
        zkr__test_changes_answer(p, c, frame, size);
        if (fires(p, &p->drop)) {
            c->cut_client = true;
            return false;
        }
        enqueue_edited(p, c, *op_of(c, xid), frame, size);
        return true;
    }
    zkr__test_flow_put(p, c, ZKR__TO_CLIENT, frame, size);
    return true;
}

static bool
pass_frame(zkr_test_proxy *p, conn *c, int d, unsigned char *frame, size_t size)
{
    flow *f = &c->flow[d];

    if (!f->first_seen || size < 12) {
        const bool answer = d == ZKR__TO_CLIENT && !f->first_seen;
        const bool asks = d == ZKR__TO_SERVER && !f->first_seen;
        f->first_seen = true;
        struct zkr__test_verdict v = {0};
        if (asks) {
            zkr__test_habits_connect(p->habits, frame, size, &v);
        }
        if (!obey(p, c, &v)) {
            return false;
        }
        if (answer) {
            enqueue_edited(p, c, 0, frame, size);
        } else {
            zkr__test_flow_put(p, c, d, frame, size);
        }
        return true;
    }
    if (d == ZKR__TO_CLIENT) {
        return pass_answer(p, c, frame, size);
    }
    const int32_t xid = be32(frame + 4);
    if (xid > 0) {
        return pass_request(p, c, be32(frame + 8), frame, size);
    }
    p->counts.pings += xid == XID_PING;
    zkr__test_flow_put(p, c, d, frame, size);
    return true;
}

static void pass_frames(zkr_test_proxy *p, conn *c, int d)
{
    flow *f = &c->flow[d];
    size_t at = 0;

    while (!c->opaque && f->in_size - at >= 4) {
        const int32_t size = be32(f->in + at);
        if (!f->first_seen && d == ZKR__TO_SERVER && (size < 0 || size > FRAME_MAX)) {
            c->opaque = true;
            break;
        }
        const size_t whole = 4 + (size_t)size;
        if (size < 0 || f->in_size - at < whole) {
            break;
        }
        if (!pass_frame(p, c, d, f->in + at, whole)) {
            f->in_size = 0;
            return;
        }
        at += whole;
    }
    if (c->opaque && f->in_size > at) {
        zkr__test_flow_put(p, c, d, f->in + at, f->in_size - at);
        at = f->in_size;
    }
    memmove(f->in, f->in + at, f->in_size - at);
    f->in_size -= at;
}

static bool make_room(flow *f)
{
    if (f->in_room - f->in_size < 4096) {
        const size_t room = f->in_room == 0 ? 16384 : f->in_room * 2;
        unsigned char *grown = realloc(f->in, room);
        if (grown == NULL) {
            return false;
        }
        f->in = grown;
        f->in_room = room;
    }
    return true;
}

void zkr__test_flow_read(zkr_test_proxy *p, conn *c, int d)
{
    flow *f = &c->flow[d];

    /* The hook may have changed anything, so this checks again each time. */
    while (zkr__test_flow_wants_input(p, c, d) && !c->reset && !p->cut &&
           !p->drop_all) {
        if (!make_room(f)) {
            c->reset = true;
            return;
        }
        ssize_t n =
            recv(c->fd[d], f->in + f->in_size, f->in_room - f->in_size, MSG_DONTWAIT);
        if (n < 0) {
            if (d == ZKR__TO_CLIENT && errno != EAGAIN && errno != EINTR) {
                server_failed(p, c, errno);
            } else if (errno != EAGAIN && errno != EINTR) {
                c->reset = true;
            }
            return;
        }
        if (n == 0) {
            f->eof = true;
            return;
        }
        if (c->fd[1 - d] < 0 || c->closing) {
            continue; /* no receiver, so all input is read and dropped */
        }
        f->in_size += (size_t)n;
        pass_frames(p, c, d);
    }
}

void zkr__test_flow_send(zkr_test_proxy *p, conn *c, int d)
{
    flow *f = &c->flow[d];
    const int to = c->fd[1 - d];
    const int64_t now = zkr__test_now_ms();

    if (to < 0 || p->frozen[d] || c->orphan) {
        return;
    }
    while (f->head != NULL && f->head->due <= now) {
        chunk *k = f->head;
        ssize_t n =
            send(to, k->data + k->sent, k->size - k->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0) {
            c->reset = c->reset || (errno != EAGAIN && errno != EINTR);
            return;
        }
        k->sent += (size_t)n;
        if (k->sent == k->size) {
            f->head = k->next;
            free(k);
        }
    }
    if (f->head != NULL) {
        return;
    }
    if (d == ZKR__TO_CLIENT && c->cut_client) {
        cut_client_now(c);
    } else if ((f->eof || c->closing) && !f->shut) {
        (void)shutdown(to, SHUT_WR);
        f->shut = true;
    }
}

bool zkr__test_flow_wants_input(const zkr_test_proxy *p, const conn *c, int d)
{
    return c->fd[d] >= 0 && !c->flow[d].eof && !p->frozen[d] && !c->orphan &&
           !c->cut_client && c->retry_at == 0;
}

bool zkr__test_flow_wants_room(const zkr_test_proxy *p,
                               const conn *c,
                               int d,
                               int64_t now)
{
    const flow *f = &c->flow[d];
    return c->fd[1 - d] >= 0 && !p->frozen[d] && !c->orphan && f->head != NULL &&
           f->head->due <= now;
}
