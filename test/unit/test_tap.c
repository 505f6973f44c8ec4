/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes count as the answer to the end of a session: zk_tap.h, on sockets without a server. */
#include <sys/socket.h>
#include <unistd.h>

#include "session/zk_tap.h"
#include "unit.h"

enum { EVENT = -1, PING = -2, REFUSED = -115 };

struct line {
    int ours, servers;
};

static void set_up(struct line *l)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    *l = (struct line){pair[0], pair[1]};
}

static void put_number(unsigned char *at, int32_t number)
{
    for (int i = 0; i < 4; i++) {
        at[i] = (unsigned char)((uint32_t)number >> (24 - 8 * i));
    }
}

/* Send the answer to the request @number, with @rest bytes behind its header. */
static void answer(const struct line *l, int32_t number, int32_t error, int rest)
{
    enum { LENGTH = 4, NUMBER_AT = 4, ERROR_AT = 16, HEAD = 20, MOST = 4000 };
    unsigned char bytes[HEAD + MOST] = {0};
    put_number(bytes, HEAD - LENGTH + rest);
    put_number(bytes + NUMBER_AT, number);
    put_number(bytes + ERROR_AT, error);
    assert_int_equal(write(l->servers, bytes, (size_t)(HEAD + rest)), HEAD + rest);
}

/* Close the server's end of the connection. Returns whether the session counts as over if @answers answers were due. */
static bool ends(const struct line *l, size_t answers)
{
    (void)close(l->servers);
    return zkr__zk_tap_end(l->ours, answers);
}

/* Events, pings and other answers may arrive first. */
ZKT_CASE(the_last_answer_confirms_the_end)
{
    struct line l;
    set_up(&l);
    answer(&l, EVENT, 0, 70);
    answer(&l, 7, 0, 3000);
    answer(&l, PING, 0, 0);
    answer(&l, 8, -101, 0);
    answer(&l, 9, 0, 0);
    assert_true(ends(&l, 3));
}

/* The connection breaks early, or the server refuses. */
ZKT_CASE(fewer_answers_or_an_error_confirm_nothing)
{
    struct line l;
    set_up(&l);
    answer(&l, 8, 0, 0);
    assert_false(ends(&l, 2));
    set_up(&l);
    answer(&l, EVENT, 0, 0);
    assert_false(ends(&l, 1));
    set_up(&l);
    answer(&l, 9, REFUSED, 0);
    assert_false(ends(&l, 1));
    set_up(&l);
    answer(&l, 9, 0, 80); /* the answer to a read */
    assert_false(ends(&l, 1));
}

/* The handle has read the beginning of an answer, so the bytes that follow are not a whole answer. */
ZKT_CASE(what_cannot_be_read_confirms_nothing)
{
    static const unsigned char middle[20] = "/locks/a-name-0000";
    struct line l;
    set_up(&l);
    assert_int_equal(write(l.servers, middle, sizeof(middle)), sizeof(middle));
    answer(&l, 9, 0, 0);
    assert_false(ends(&l, 1));
}

/* The descriptor may belong to another socket by then, so nothing is read from the descriptor. */
ZKT_CASE(a_socket_that_somebody_else_has_is_not_read)
{
    struct line l;
    unsigned char byte;
    set_up(&l);
    int other = dup(l.ours);
    answer(&l, 9, 0, 0);
    assert_false(ends(&l, 1));
    assert_int_equal(read(other, &byte, 1), 1);
    assert_int_equal(byte, 0);
    (void)close(other);
}
