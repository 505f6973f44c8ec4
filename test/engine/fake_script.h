/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts of requests that run on the fake ZooKeeper and on a real one. */
#ifndef ZKT_FAKE_SCRIPT_H
#define ZKT_FAKE_SCRIPT_H

/*
 * Run @script, which ends with NULL, on both sides with two sessions, a and b. The test fails unless each session is
 * told the same on both sides, word for word and in the same order.
 *
 * A line is "SESSION VERB [PATH...]". After each line, the script waits for all answers and events, unless the line
 * ends with "&". "/x" is a path below the path of the test, "$2" is the third node that was created, and "$2/y" is
 * below that node. The verbs are:
 * - create (ephemeral sequential), parent, container, delete, children, get, exists, sync, check, and creates, which
 *   creates in both paths at once. Verbs that read set a watch if they end with "!".
 * - Transactions: "build P Q" checks that P exists, creates Q, sets the data of Q, and creates a sequential node below
 *   Q. "finish P Q" sets the data of Q, checks P, and deletes P.
 * - "lose-request VERB..." and "lose-answer VERB..." cut the connection.
 * - "away" and "back" disconnect and reconnect the session. "expire" ends the session, and "close" closes the client.
 * - "- pass MS" lets time pass.
 */
void fake_script_compare(const char *const *script);

#endif
