/* SPDX-License-Identifier: Apache-2.0 */
#include "lies.h"

#include <stdio.h>
#include <string.h>

#include "expect.h"
#include "raw_impl.h"

enum { OP_CONNECT = 0, OP_MULTI = 14, OP_CREATE2 = 15, OP_CHILDREN2 = 12 };
/* Offsets in a frame: after its length, in the answer to a connect request, and after a header. */
enum { LENGTH = 4, TIMEOUT = 8, SESSION = 12, CODE = 16, BODY = 20 };
enum { UNIMPLEMENTED = -6 };
/* Offsets in a Stat. */
enum { STAT = 68, STAT_CZXID = 0, STAT_OWNER = 44 };

static zkt_packet part(unsigned char *frame, size_t from, size_t until)
{
    return (zkt_packet){
        .start = frame, .at = frame + from, .end = frame + until, .bad = from > until};
}

static size_t size_of(const zkt_packet *p)
{
    return (size_t)(p->at - p->start);
}

/* Returns the size of the buffer at the beginning of the body, including its length. */
static size_t first_buffer(unsigned char *frame, size_t size)
{
    zkt_packet p = part(frame, BODY, size);
    size_t length;
    (void)zkt_take_buffer(&p, &length);
    return LENGTH + length;
}

static bool put_number(unsigned char *frame, size_t at, int64_t number, bool is_long)
{
    zkt_packet p = part(frame, at, at + sizeof number);
    if (is_long) {
        zkt_put_long(&p, number);
    } else {
        zkt_put_int(&p, (int32_t)number);
    }
    return true;
}

static size_t put_path(unsigned char *frame, size_t size, size_t room, const char *text)
{
    unsigned char stat[STAT];
    memcpy(stat, frame + size - STAT, STAT);
    zkt_packet p = part(frame, BODY, room);
    zkt_put_text(&p, text);
    zkt_put(&p, stat, STAT);
    return size_of(&p);
}

/* Replaces the ten digits at the end of the path. */
static size_t
put_digits(unsigned char *frame, size_t size, size_t room, const char *text)
{
    enum { DIGITS = 10 };
    char path[1024];
    zkt_packet p = part(frame, BODY, size);
    size_t length;
    const char *made = (const char *)zkt_take_buffer(&p, &length);
    (void)snprintf(path, sizeof(path), "%.*s%s", (int)length - DIGITS, made, text);
    return put_path(frame, size, room, path);
}

/* Replaces the names of a list by the name @text. NULL = no names. */
static size_t
put_names(unsigned char *frame, size_t size, size_t room, const char *text)
{
    unsigned char stat[STAT];
    memcpy(stat, frame + size - STAT, STAT);
    zkt_packet p = part(frame, BODY, room);
    zkt_put_int(&p, text != NULL);
    if (text != NULL) {
        zkt_put_text(&p, text);
    }
    zkt_put(&p, stat, STAT);
    return size_of(&p);
}

/* Ends the results after the first, which is a create, an error, or the result of an operation without a body. */
static size_t put_end(unsigned char *frame, size_t size)
{
    enum { HEADER = 9 };
    zkt_packet type = part(frame, BODY, size);
    zkt_packet p = part(frame, BODY + HEADER, size);
    size_t length;
    const int32_t what = zkt_take_int(&type);
    if (what == ZKT_OP_CREATE) {
        (void)zkt_take_buffer(&p, &length);
    } else if (what == -1) {
        (void)zkt_take_int(&p);
    }
    zkt_put_int(&p, -1);
    zkt_put_bool(&p, true);
    zkt_put_int(&p, -1);
    return size_of(&p);
}

/* Returns the new size of the frame, or 0 if the lie does not apply to this answer. */
static size_t
tell(const struct zkt_lie *lie, int op, unsigned char *frame, size_t size, size_t room)
{
    zkt_packet code = part(frame, CODE, size);
    const bool fine = op != OP_CONNECT && zkt_take_int(&code) == ZKT_OK;
    const bool made = op == OP_CREATE2 && fine;
    const bool listed = op == OP_CHILDREN2 && fine;
    size_t stat;

    switch (lie->kind) {
    case ZKT_LIE_TIMEOUT:
        return op == OP_CONNECT && put_number(frame, TIMEOUT, lie->number, false) ? size
                                                                                  : 0;
    case ZKT_LIE_SESSION:
        return op == OP_CONNECT && put_number(frame, SESSION, lie->number, true) ? size
                                                                                 : 0;
    case ZKT_LIE_PATH:
        return made ? put_path(frame, size, room, lie->text) : 0;
    case ZKT_LIE_DIGITS:
        return made ? put_digits(frame, size, room, lie->text) : 0;
    case ZKT_LIE_CZXID:
        return made && put_number(frame, size - STAT + STAT_CZXID, lie->number, true)
                   ? size
                   : 0;
    case ZKT_LIE_OWNER:
        return made && put_number(frame, size - STAT + STAT_OWNER, lie->number, true)
                   ? size
                   : 0;
    case ZKT_LIE_CODE:
        return made && put_number(frame, CODE, lie->number, false) ? BODY : 0;
    case ZKT_LIE_REFUSED:
        return op == lie->op && fine && put_number(frame, CODE, lie->number, false)
                   ? BODY
                   : 0;
    case ZKT_LIE_UNKNOWN:
        return (op == OP_CREATE2 || op == OP_MULTI) &&
                       put_number(frame, CODE, UNIMPLEMENTED, false)
                   ? BODY
                   : 0;
    case ZKT_LIE_FEW:
        return op == OP_MULTI && fine ? put_end(frame, size) : 0;
    case ZKT_LIE_NAMES:
        return listed ? put_names(frame, size, room, lie->text) : 0;
    case ZKT_LIE_NO_NAMES:
        return listed ? put_names(frame, size, room, NULL) : 0;
    case ZKT_LIE_NO_STRANGER:
        stat = op == ZKT_OP_GET && fine ? BODY + first_buffer(frame, size) : size;
        if (stat + STAT == size) {
            zkt_packet p = part(frame, stat + STAT_OWNER, size);
            const int64_t owner = zkt_take_long(&p);
            return owner != 0 && owner != lie->number &&
                           put_number(frame, CODE, ZKT_NONODE, false)
                       ? BODY
                       : 0;
        }
        return 0;
    }
    return 0;
}

static size_t edit(void *ctx, int op, unsigned char *frame, size_t size, size_t room)
{
    struct zkt_lie *lie = ctx;
    const bool silent = lie->times > 0 && atomic_load(&lie->told) >= lie->times;
    const size_t told = silent ? 0 : tell(lie, op, frame, size, room);
    if (told == 0) {
        return size;
    }
    (void)atomic_fetch_add(&lie->told, 1);
    (void)put_number(frame, 0, (int64_t)(told - LENGTH), false);
    return told;
}

void zkt_proxy_lie(zkt_proxy *p, struct zkt_lie *lie)
{
    ZKT_MUST(zkr__test_proxy_edit(p, lie != NULL ? edit : NULL, lie));
}
