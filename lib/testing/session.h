/* SPDX-License-Identifier: Apache-2.0 */
/* Sends the first packets of a session itself: libzookeeper cannot take over a session and end it in one go. */
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
 * The password that servers give to the session @s->id: they compute it from the id, and keep no others.
 * So whoever knows the id of a session can take it over.
 */
void zkr__test_session_password(struct zkr__test_session *s);

/* Ask for a new session (id 0), or to take @s over. */
bool zkr__test_session_ask(int fd, const struct zkr__test_session *s, int64_t deadline);

/* Returns ZKR_OK and what was granted, ZKR_ESESSION (no such session), ZKR_ECONNLOSS. */
int zkr__test_session_answer(int fd, struct zkr__test_session *s, int64_t deadline);

#endif
