/* SPDX-License-Identifier: Apache-2.0 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zkr/testing.h>

#include "fourlw.h"
#include "raw_impl.h"
#include "server.h"
#include "testing/session.h"
#include "util.h"

enum { WAIT_MS = 5000, PACKET_MAX = 4 << 20 };

/* ---- packets ----------------------------------------------------------------------- */

static int lost(zkt_raw *s)
{
    if (s->fd >= 0) {
        (void)close(s->fd);
        s->fd = -1;
    }
    return ZKT_LOST;
}

/* Starts a packet. finish() fills in its length. If memory runs out, the packet is bad. */
zkt_packet zkt_raw_begin(size_t room)
{
    zkt_packet p = {.start = malloc(room + 512)};
    p.bad = p.start == NULL;
    p.at = p.start;
    p.end = p.bad ? NULL : p.start + room + 512;
    zkt_put_int(&p, 0);
    return p;
}

static void finish(zkt_packet *p)
{
    zkt_packet head = {.at = p->start, .end = p->end, .bad = p->bad};
    zkt_put_int(&head, (int32_t)(p->at - p->start - 4));
}

static int send_packet(zkt_raw *s, zkt_packet *p, int64_t deadline)
{
    finish(p);
    bool sent = !p->bad && s->fd >= 0 &&
                zkt_write_all(s->fd, p->start, (size_t)(p->at - p->start), deadline);
    free(p->start);
    return sent ? ZKT_OK : lost(s);
}

int zkt_raw_send(zkt_raw *s, zkt_packet *request)
{
    return send_packet(s, request, zkt_now_ms() + s->wait_ms);
}

static zkt_packet ping(void)
{
    zkt_packet p = zkt_raw_begin(0);
    zkt_put_int(&p, ZKT_XID_PING);
    zkt_put_int(&p, ZKT_OP_PING);
    return p;
}

/* Servers may forget a write, or the end of a session, until another message arrives (ZOOKEEPER-4537). */
static void nudge_while_silent(zkt_raw *s, int64_t deadline)
{
    enum { PATIENCE_MS = 1000 };
    struct pollfd fd = {.fd = s->fd, .events = POLLIN};
    while (s->fd >= 0 && zkt_now_ms() + PATIENCE_MS < deadline &&
           poll(&fd, 1, PATIENCE_MS) == 0) {
        zkt_packet p = ping();
        (void)send_packet(s, &p, deadline);
    }
}

/* Receives the next packet, which is valid until the next call. */
int zkt_raw_receive(zkt_raw *s, zkt_packet *p, int64_t deadline)
{
    unsigned char head[4];
    zkt_packet h = {.at = head, .end = head + 4};

    nudge_while_silent(s, deadline);
    if (s->fd < 0 || !zkt_read_all(s->fd, head, sizeof head, deadline)) {
        return lost(s);
    }
    int32_t size = zkt_take_int(&h);
    free(s->in);
    s->in = size >= 0 && size <= PACKET_MAX ? malloc((size_t)size + 1) : NULL;
    if (s->in == NULL || !zkt_read_all(s->fd, s->in, (size_t)size, deadline)) {
        return lost(s);
    }
    *p = (zkt_packet){.at = s->in, .end = s->in + size};
    return ZKT_OK;
}

/* Sends @request, whose header has @xid, and waits for the reply. Returns its code and body. */
int zkt_raw_call(zkt_raw *s, zkt_packet *request, int32_t xid, zkt_packet *reply)
{
    const int64_t deadline = zkt_now_ms() + s->wait_ms;

    if (send_packet(s, request, deadline) != ZKT_OK) {
        return ZKT_LOST;
    }
    for (;;) {
        if (zkt_raw_receive(s, reply, deadline) != ZKT_OK) {
            return ZKT_LOST;
        }
        int32_t got = zkt_take_int(reply);
        (void)zkt_take_long(reply);
        int32_t rc = zkt_take_int(reply);
        if (got == xid) {
            return reply->bad ? lost(s) : rc;
        }
        s->events += got == ZKT_XID_EVENT;
    }
}

int zkt_raw_ping(zkt_raw *s)
{
    zkt_packet p = ping(), reply;
    return zkt_raw_call(s, &p, ZKT_XID_PING, &reply);
}

zkt_packet zkt_raw_request(zkt_raw *s, int32_t op, size_t room)
{
    zkt_packet p = zkt_raw_begin(room);
    zkt_put_int(&p, ++s->xid);
    zkt_put_int(&p, op);
    return p;
}

void zkt_raw_put_path(const zkt_raw *s, zkt_packet *p, const char *path)
{
    const bool root = s->chroot[0] != '\0' && strcmp(path, "/") == 0;
    const size_t length = root ? 0 : strlen(path);
    zkt_put_int(p, (int32_t)(strlen(s->chroot) + length));
    zkt_put(p, s->chroot, strlen(s->chroot));
    zkt_put(p, path, length);
}

/* ---- sessions ---------------------------------------------------------------------- */

static int send_connect(zkt_raw *s, int timeout_ms, int64_t deadline)
{
    struct zkr__test_session asked = {.id = s->id, .timeout_ms = timeout_ms};

    memcpy(asked.password, s->passwd, sizeof s->passwd);
    return zkr__test_session_ask(s->fd, &asked, deadline) ? ZKT_OK : lost(s);
}

static int receive_connect(zkt_raw *s, int64_t deadline)
{
    struct zkr__test_session got;
    const int rc = zkr__test_session_answer(s->fd, &got, deadline);

    if (rc == ZKR_ECONNLOSS) {
        return lost(s);
    }
    s->id = got.id;
    memcpy(s->passwd, got.password, sizeof s->passwd);
    return rc == ZKR_OK ? ZKT_OK : ZKT_EXPIRED;
}

static zkt_raw *connected(const char *hosts, int64_t id, const void *passwd16)
{
    zkt_raw *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    s->wait_ms = WAIT_MS;
    s->id = id;
    if (passwd16 != NULL) {
        memcpy(s->passwd, passwd16, sizeof s->passwd);
    }
    (void)snprintf(s->hosts, sizeof s->hosts, "%s", hosts);
    (void)snprintf(s->chroot, sizeof s->chroot, "%s", zkt_chroot(hosts));
    s->fd = zkt_connect(zkt_direct(hosts), zkt_now_ms() + WAIT_MS);
    if (s->fd < 0) {
        free(s);
        return NULL;
    }
    return s;
}

static zkt_raw *
start(const char *hosts, int timeout_ms, int64_t id, const void *passwd16, int *rc)
{
    const int64_t deadline = zkt_now_ms() + WAIT_MS;
    zkt_raw *s = connected(hosts, id, passwd16);

    *rc = ZKT_LOST;
    if (s == NULL) {
        return NULL;
    }
    if (send_connect(s, timeout_ms, deadline) == ZKT_OK) {
        *rc = receive_connect(s, deadline);
    }
    if (*rc != ZKT_OK) {
        zkt_raw_abandon(s);
        return NULL;
    }
    return s;
}

zkt_raw *zkt_raw_open(const char *hosts, int timeout_ms)
{
    int rc;
    return start(hosts, timeout_ms, 0, NULL, &rc);
}

zkt_raw *
zkt_raw_resume(const char *hosts, int64_t session_id, const void *passwd16, int *rc)
{
    return start(hosts, 30000, session_id, passwd16, rc);
}

static int close_session(zkt_raw *s)
{
    zkt_packet p = zkt_raw_request(s, ZKT_OP_CLOSE, 0);
    zkt_packet reply;
    int rc = zkt_raw_call(s, &p, s->xid, &reply);
    zkt_raw_abandon(s);
    return rc;
}

int zkt_raw_close(zkt_raw *s)
{
    char hosts[sizeof s->hosts];

    (void)snprintf(hosts, sizeof hosts, "%s", s->hosts);
    int rc = close_session(s);
    zkt_settle(hosts);
    return rc;
}

void zkt_raw_abandon(zkt_raw *s)
{
    (void)lost(s);
    free(s->in);
    free(s);
}

int zkt_expire_session(const char *hosts, int64_t session_id)
{
    const int rc = zkr_test_expire_session(zkt_direct(hosts), session_id);
    if (rc != ZKR_OK && rc != ZKR_ESESSION) {
        return ZKT_LOST;
    }
    zkt_settle(hosts);
    return ZKT_OK;
}

int64_t zkt_raw_id(const zkt_raw *s)
{
    return s->id;
}

const void *zkt_raw_passwd(const zkt_raw *s)
{
    return s->passwd;
}

void zkt_raw_timeout(zkt_raw *s, int64_t ms)
{
    s->wait_ms = ms;
}

int zkt_raw_events(const zkt_raw *s)
{
    return s->events;
}

bool zkt_raw_wait_event(zkt_raw *s, int64_t timeout_ms)
{
    const int64_t deadline = zkt_now_ms() + timeout_ms;
    zkt_packet p;

    while (zkt_raw_receive(s, &p, deadline) == ZKT_OK) {
        if (zkt_take_int(&p) == ZKT_XID_EVENT) {
            s->events++;
            return true;
        }
    }
    return false;
}
