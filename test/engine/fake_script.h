/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts of requests that run on the fake ZooKeeper and on a real one. */
#ifndef ZKT_FAKE_SCRIPT_H
#define ZKT_FAKE_SCRIPT_H

/*
 * Run @script, which ends with NULL, on both sides with two sessions, a and b, and fail the test
 * unless each is told the same, word for word and in order.
 *
 * A line is "SESSION VERB [PATH...]". Verbs: create (ephemeral-sequential), parent, container,
 * delete, children, get, exists, sync, check, creates (of both paths at once); those that read leave a watch with "!".
 * Transactions: "build P Q": P exists; make Q, set it, make a numbered node below it. "finish P Q": set Q, check P,
 * delete P.
 * "lose-request VERB..." and "lose-answer VERB..." cut the connection; away and back; expire, close.
 * "- pass MS" lets time go by.
 * "/x" is below the test's path, "$2" the third node that was created, "$2/y" is below that. After
 * a line all answers and events are awaited, unless it ends with "&".
 */
void fake_script_compare(const char *const *script);

#endif
