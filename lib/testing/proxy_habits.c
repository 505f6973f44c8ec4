/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "testing/proxy.h"

enum { OP_CREATE2 = 15, OP_CREATE_CONTAINER = 19, OP_CREATE_TTL = 21 };

/* Behind length, version and last zxid a connect request has timeout, session, length of the password, and password. */
enum { TIMEOUT = 16, SESSION = 20, PASSWORD = 32, PASSWORD_SIZE = 16 };

/* As Keeper: a version that no server has, the timeout that was asked for, and no session. */
static void refuse_session(zkr_test_proxy *p, conn *c, const unsigned char *frame)
{
    enum { SIZE = 40, VERSION_AT = 7, TIMEOUT_AT = 8, LENGTH_AT = 23, VERSION = 42 };
    unsigned char answer[SIZE] = {
        [3] = SIZE - 4, [VERSION_AT] = VERSION, [LENGTH_AT] = PASSWORD_SIZE};

    memcpy(answer + TIMEOUT_AT, frame + TIMEOUT, 4);
    zkr__test_flow_put(p, c, ZKR__TO_CLIENT, answer, SIZE);
    c->closing = true;
}

bool zkr__test_habits_connect(zkr_test_proxy *p,
                              conn *c,
                              unsigned char *frame,
                              size_t size)
{
    if (size < PASSWORD + PASSWORD_SIZE) {
        return true;
    }
    if ((p->habits & ZKR_TEST_NO_LEADER) != 0) {
        refuse_session(p, c, frame);
        return false;
    }
    if ((p->habits & ZKR_TEST_NEW_SESSIONS) != 0) {
        memset(frame + SESSION, 0, 8);
        memset(frame + PASSWORD, 0, PASSWORD_SIZE);
    }
    return true;
}

static bool is_unknown(int habits, int op)
{
    if (op == OP_CREATE2) {
        return (habits & ZKR_TEST_NO_CREATE2) != 0;
    }
    return (op == OP_CREATE_CONTAINER || op == OP_CREATE_TTL) &&
           (habits & (ZKR_TEST_NO_CREATE2 | ZKR_TEST_NO_CONTAINERS)) != 0;
}

bool zkr__test_habits_refuse(zkr_test_proxy *p,
                             conn *c,
                             int op,
                             const unsigned char *frame)
{
    enum { XID = 4, SIZE = 20 };
    /* Its length, the xid, no zxid, -6. */
    unsigned char answer[SIZE] = {[3] = SIZE - 4, [16] = 0xff, 0xff, 0xff, 0xfa};

    if (!is_unknown(p->habits, op)) {
        return false;
    }
    if ((p->habits & ZKR_TEST_REFUSES) != 0) {
        memcpy(answer + XID, frame + XID, 4);
        zkr__test_flow_put(p, c, ZKR__TO_CLIENT, answer, SIZE);
    }
    c->closing = true;
    return true;
}
