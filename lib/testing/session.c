/* SPDX-License-Identifier: Apache-2.0 */
#include "testing/session.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <zkr/testing.h>

#include "testing/net.h"

static void put(unsigned char *at, uint64_t value, size_t size)
{
    while (size-- > 0) {
        at[size] = (unsigned char)value;
        value >>= 8;
    }
}

static uint64_t get(const unsigned char *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        value = value << 8 | at[i];
    }
    return value;
}

/* Makes one step of java.util.Random, and returns the top 32 of its 48 bits. */
static uint32_t next(uint64_t *seed)
{
    *seed = (*seed * 0x5DEECE66DU + 0xBU) & ((1ULL << 48) - 1);
    return (uint32_t)(*seed >> 16);
}

/* As in ZooKeeperServer.generatePasswd(): new Random(id ^ 0xB3415C00).nextBytes(), the lowest byte first. */
void zkr__test_session_password(struct zkr__test_session *s)
{
    uint64_t seed = ((uint64_t)s->id ^ 0xB3415C00U ^ 0x5DEECE66DU) & ((1ULL << 48) - 1);
    for (size_t i = 0; i < sizeof s->password; i += 4) {
        const uint32_t word = next(&seed);
        for (size_t j = 0; j < 4; j++) {
            s->password[i + j] = (unsigned char)(word >> (8 * j));
        }
    }
}

bool zkr__test_session_ask(int fd, const struct zkr__test_session *s, int64_t deadline)
{
    unsigned char p[4 + 45] = {0};

    put(p, sizeof p - 4, 4); /* length; protocol version 0; last zxid 0 */
    put(p + 16, (uint64_t)s->timeout_ms, 4);
    put(p + 20, (uint64_t)s->id, 8);
    put(p + 28, sizeof s->password, 4);
    memcpy(p + 32, s->password, sizeof s->password); /* not read-only */
    return zkr__test_write_all(fd, p, sizeof p, deadline);
}

int zkr__test_session_answer(int fd, struct zkr__test_session *s, int64_t deadline)
{
    unsigned char p[64];

    if (!zkr__test_read_all(fd, p, 4, deadline)) {
        return ZKR_ECONNLOSS;
    }
    const size_t size = (size_t)get(p, 4);
    if (size < 36 || size > sizeof p || !zkr__test_read_all(fd, p, size, deadline)) {
        return ZKR_ECONNLOSS;
    }
    s->timeout_ms = (int64_t)get(p + 4, 4);
    s->id = (int64_t)get(p + 8, 8);
    memcpy(s->password, p + 20, sizeof s->password);
    return s->timeout_ms > 0 ? ZKR_OK : ZKR_ESESSION;
}

enum { TRY_MS = 1000, CLOSE_MS = 100, ALL_MS = 5000 };

/*
 * Tries once to take over the session and close it. The owner takes its session back within milliseconds, so the close
 * request is sent together with the connect request. The answer to the close request proves nothing, and may never
 * arrive. Only a refusal to connect is proof. Returns ZKR_ENOANSWER if nothing was sent, else the result of
 * zkr__test_session_answer().
 */
static int take_and_close(const char *servers, int64_t id)
{
    static const unsigned char end[4 + 8] = {0, 0, 0,   8,   0,   0,
                                             0, 1, 255, 255, 255, 245};
    struct zkr__test_session s = {.id = id, .timeout_ms = 30000};
    const int64_t deadline = zkr__test_now_ms() + TRY_MS;
    const int fd = zkr__test_connect(servers, deadline);
    int rc = ZKR_ENOANSWER;
    char byte;

    zkr__test_session_password(&s);
    if (fd >= 0 && zkr__test_session_ask(fd, &s, deadline) &&
        zkr__test_write_all(fd, end, sizeof end, deadline)) {
        rc = zkr__test_session_answer(fd, &s, deadline);
    }
    if (rc == ZKR_OK) {
        (void)zkr__test_read_some(fd, &byte, 1, zkr__test_now_ms() + CLOSE_MS);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return rc;
}

int zkr_test_expire_session(const char *servers, int64_t session_id)
{
    const int64_t end = zkr__test_now_ms() + ALL_MS;
    bool taken = false;

    if (servers == NULL || session_id == 0) {
        return zkr__test_fail(ZKR_EINVAL, 0, "no servers, or no session");
    }
    do {
        const int rc = take_and_close(servers, session_id);
        /*
         * If the owner reconnects just before the session is closed, the server (3.8) leaves that connection open and
         * silent. The next connect request for the session, such as this one, closes that connection and is refused.
         */
        if (rc == ZKR_ESESSION && taken) {
            return ZKR_OK;
        }
        if (rc == ZKR_ESESSION) {
            return zkr__test_fail(
                ZKR_ESESSION, 0,
                "%.100s: session 0x%llx does not exist or has already ended", servers,
                (unsigned long long)session_id);
        }
        taken = taken || rc != ZKR_ENOANSWER;
        zkr__test_sleep_ms(rc == ZKR_OK ? 0 : 5);
    } while (zkr__test_now_ms() < end);
    return zkr__test_fail(ZKR_ENOANSWER, 0, "%.100s: no server ended session 0x%llx",
                          servers, (unsigned long long)session_id);
}
