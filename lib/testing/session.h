/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends the first packets of a session directly, because libzookeeper cannot take over a session and close it at once.
 */
#ifndef ZKR_TESTING_SESSION_H
#define ZKR_TESTING_SESSION_H

#include <stdbool.h>
#include <stdint.h>

struct zkr__test_session {
    int64_t id;
    int64_t timeout_ms;
    unsigned char password[16];
};

/*
 * Computes the password of the session @s->id. Servers compute the password from the ID and do not store it, so the ID
 * is enough to take over a session.
 */
void zkr__test_session_password(struct zkr__test_session *s);

/* Requests a new session (ID 0), or takes over @s. */
bool zkr__test_session_ask(int fd, const struct zkr__test_session *s, int64_t deadline);

/* Returns ZKR_OK with the granted session in @s, ZKR_ESESSION (no such session) or ZKR_ECONNLOSS. */
int zkr__test_session_answer(int fd, struct zkr__test_session *s, int64_t deadline);

#endif
