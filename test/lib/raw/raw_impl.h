/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_RAW_IMPL_H
#define ZKT_RAW_IMPL_H

#include <stdlib.h>
#include <string.h>

#include "raw.h"

/* Shared by raw_session.c (packets, sessions) and raw.c (requests). */

enum {
    ZKT_OP_CREATE = 1,
    ZKT_OP_DELETE = 2,
    ZKT_OP_EXISTS = 3,
    ZKT_OP_GET = 4,
    ZKT_OP_SET = 5,
    ZKT_OP_SET_ACL = 7,
    ZKT_OP_CHILDREN = 8,
    ZKT_OP_PING = 11,
    ZKT_OP_RECONFIG = 16,
    ZKT_OP_CREATE_CONTAINER = 19,
    ZKT_OP_AUTH = 100,
    ZKT_OP_CLOSE = -11
};
enum { ZKT_XID_EVENT = -1, ZKT_XID_PING = -2, ZKT_XID_AUTH = -4 };

/* A packet that is being written or read, with the position and the end. @bad: the end was passed. */
typedef struct zkt_packet {
    unsigned char *at;
    unsigned char *end;
    unsigned char *start;
    bool bad;
} zkt_packet;

struct zkt_raw {
    int fd;
    int32_t xid;
    int64_t id;
    int64_t wait_ms;
    int events;
    unsigned char passwd[16];
    char hosts[256]; /* the hosts to settle at the end, or empty */
    char chroot[256];
    unsigned char *in;
};

/* ---- jute: the encoding of fields in a packet ------------------------------------------ */

static inline void zkt_put(zkt_packet *p, const void *data, size_t size)
{
    if (p->bad || (size_t)(p->end - p->at) < size) {
        p->bad = true;
        return;
    }
    if (size > 0) {
        memcpy(p->at, data, size);
        p->at += size;
    }
}

static inline void zkt_put_int(zkt_packet *p, int32_t value)
{
    const uint32_t v = (uint32_t)value;
    const unsigned char b[4] = {(unsigned char)(v >> 24), (unsigned char)(v >> 16),
                                (unsigned char)(v >> 8), (unsigned char)v};
    zkt_put(p, b, sizeof b);
}

static inline void zkt_put_long(zkt_packet *p, int64_t value)
{
    zkt_put_int(p, (int32_t)((uint64_t)value >> 32));
    zkt_put_int(p, (int32_t)((uint64_t)value & 0xffffffffU));
}

static inline void zkt_put_bool(zkt_packet *p, bool value)
{
    const unsigned char b = value;
    zkt_put(p, &b, 1);
}

static inline void zkt_put_buffer(zkt_packet *p, const void *data, size_t size)
{
    zkt_put_int(p, (int32_t)size);
    zkt_put(p, data, size);
}

static inline void zkt_put_text(zkt_packet *p, const char *text)
{
    zkt_put_buffer(p, text, strlen(text));
}

static inline const unsigned char *zkt_take(zkt_packet *p, size_t size)
{
    if (p->bad || (size_t)(p->end - p->at) < size) {
        p->bad = true;
        return NULL;
    }
    p->at += size;
    return p->at - size;
}

static inline int32_t zkt_take_int(zkt_packet *p)
{
    const unsigned char *b = zkt_take(p, 4);
    if (b == NULL) {
        return 0;
    }
    return (int32_t)((uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 |
                     (uint32_t)b[3]);
}

static inline int64_t zkt_take_long(zkt_packet *p)
{
    const uint64_t high = (uint32_t)zkt_take_int(p);
    return (int64_t)(high << 32 | (uint32_t)zkt_take_int(p));
}

static inline const unsigned char *zkt_take_buffer(zkt_packet *p, size_t *size)
{
    int32_t length = zkt_take_int(p);
    *size = length > 0 ? (size_t)length : 0;
    return zkt_take(p, *size);
}

static inline void zkt_take_stat(zkt_packet *p, zkt_stat *out)
{
    zkt_stat st;
    st.czxid = zkt_take_long(p);
    st.mzxid = zkt_take_long(p);
    st.ctime = zkt_take_long(p);
    st.mtime = zkt_take_long(p);
    st.version = zkt_take_int(p);
    st.cversion = zkt_take_int(p);
    st.aversion = zkt_take_int(p);
    st.ephemeral_owner = zkt_take_long(p);
    st.data_length = zkt_take_int(p);
    st.num_children = zkt_take_int(p);
    st.pzxid = zkt_take_long(p);
    if (out != NULL && !p->bad) {
        *out = st;
    }
}

/* ---- functions of raw_session.c -------------------------------------------------------- */

/** Begin a request with the xid s->xid. @room is how many bytes of paths and data it will need. */
zkt_packet zkt_raw_request(zkt_raw *s, int32_t op, size_t room);

/** Begin a packet. The caller writes xid and operation. */
zkt_packet zkt_raw_begin(size_t room);

/** Append the chroot and @path. */
void zkt_raw_put_path(const zkt_raw *s, zkt_packet *p, const char *path);

/**
 * Send @request, and wait for the reply with @xid. Watch events that arrive meanwhile are counted. Returns the server's
 * code. @reply is the body, valid until the next call.
 */
int zkt_raw_call(zkt_raw *s, zkt_packet *request, int32_t xid, zkt_packet *reply);

/** Send @request. Its reply will be skipped. */
int zkt_raw_send(zkt_raw *s, zkt_packet *request);

/** Receive the next packet of any kind. */
int zkt_raw_receive(zkt_raw *s, zkt_packet *p, int64_t deadline);

#endif
