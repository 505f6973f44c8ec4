/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "testing/proxy.h"

enum { OP_CREATE2 = 15, OP_CREATE_CONTAINER = 19, OP_CREATE_TTL = 21 };

/* Offsets. A connect request has length, version, last zxid, timeout, session, length of the password, and password. */
enum { TIMEOUT = 16, SESSION = 20, PASSWORD = 32, PASSWORD_SIZE = 16 };

/* Refuses the session as Keeper does, with a version that no server has, the requested timeout, and no session. */
static void refuse_session(const unsigned char *frame, struct zkr__test_verdict *v)
{
    enum { SIZE = 40, VERSION_AT = 7, TIMEOUT_AT = 8, LENGTH_AT = 23, VERSION = 42 };

    v->refused = true;
    v->size = SIZE;
    v->answer[3] = SIZE - 4;
    v->answer[VERSION_AT] = VERSION;
    v->answer[LENGTH_AT] = PASSWORD_SIZE;
    memcpy(v->answer + TIMEOUT_AT, frame + TIMEOUT, 4);
}

void zkr__test_habits_connect(int habits,
                              unsigned char *frame,
                              size_t size,
                              struct zkr__test_verdict *v)
{
    if (size < PASSWORD + PASSWORD_SIZE) {
        return;
    }
    if ((habits & ZKR_TEST_NO_LEADER) != 0) {
        refuse_session(frame, v);
    } else if ((habits & ZKR_TEST_NEW_SESSIONS) != 0) {
        memset(frame + SESSION, 0, 8);
        memset(frame + PASSWORD, 0, PASSWORD_SIZE);
    }
}

static bool is_unknown(int habits, int op)
{
    if (op == OP_CREATE2) {
        return (habits & ZKR_TEST_NO_CREATE2) != 0;
    }
    return (op == OP_CREATE_CONTAINER || op == OP_CREATE_TTL) &&
           (habits & (ZKR_TEST_NO_CREATE2 | ZKR_TEST_NO_CONTAINERS)) != 0;
}

void zkr__test_habits_request(int habits,
                              int op,
                              const unsigned char *frame,
                              struct zkr__test_verdict *v)
{
    enum { XID = 4, SIZE = 20 };
    /* Length, xid, zxid 0, and code -6 (unimplemented). */
    static const unsigned char answer[SIZE] = {
        [3] = SIZE - 4, [16] = 0xff, 0xff, 0xff, 0xfa};

    v->refused = is_unknown(habits, op);
    if (v->refused && (habits & ZKR_TEST_REFUSES) != 0) {
        v->size = SIZE;
        memcpy(v->answer, answer, SIZE);
        memcpy(v->answer + XID, frame + XID, 4);
    }
}
