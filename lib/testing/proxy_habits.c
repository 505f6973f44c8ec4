/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "testing/proxy.h"

enum { OP_CREATE2 = 15, OP_CREATE_CONTAINER = 19, OP_CREATE_TTL = 21 };

void zkr__test_habits_connect(const zkr_test_proxy *p,
                              unsigned char *frame,
                              size_t size)
{
    /* Behind length, version, last zxid and timeout: the session; the length of the password, and that. */
    enum { SESSION = 20, PASSWORD = 32, END = PASSWORD + 16 };

    if ((p->habits & ZKR_TEST_NEW_SESSIONS) != 0 && size >= END) {
        memset(frame + SESSION, 0, 8);
        memset(frame + PASSWORD, 0, END - PASSWORD);
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
