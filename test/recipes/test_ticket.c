/* SPDX-License-Identifier: Apache-2.0 */
/* What tickets promise as a lock: a place in the queue and a hold without a thread. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "actor.h"
#include "recipes/ticket.h"
#include "tickets.h"

/* --- as a lock --- */

/* Tickets and threads of one object are served in the order in which they queued. */
ZKT_CASE(tickets_and_threads_are_served_in_order)
{
    enum { PAIRS = 5 };
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    struct zkt_actor actors[PAIRS];
    struct told told[PAIRS] = {0};
    atomic_int turn = 0;
    zkr_ticket *first = queue(m, NULL);
    ZKT_MUST(zkr_ticket_wait(first, PATIENCE_MS));
    for (int i = 0; i < PAIRS; i++) {
        told[i].turns = &turn;
        (void)queue(m, &told[i]);
        zkt_actor_queue(&actors[i], c, m, &turn);
    }
    end(first);
    for (int i = 0; i < PAIRS; i++) {
        ZKT_BECOMES(told[i].held, 1, PATIENCE_MS);
        assert_int_equal(told[i].turn, 2 * i + 1);
        assert_int_equal(atomic_load(&actors[i].acquired), ZKT_NOT_YET);
        end(told[i].t);
        ZKT_MUST(zkt_actor_acquired(&actors[i]));
        assert_int_equal(actors[i].granted_as, 2 * i + 2);
        ZKT_MUST(zkt_actor_end(&actors[i]));
    }
}

/* The owner text is the mutex's; by default it names the thread that asked. */
ZKT_CASE(the_owner_text_is_the_mutexs)
{
    char pid[32];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    zkr_ticket *one = queue(ZKT_MUTEX_WITH(c, .owner = "a ticket"), NULL);
    zkr_ticket *two = queue(m, NULL);
    const zkr_contenders *list = zkt_contenders(m);
    (void)snprintf(pid, sizeof(pid), "/%ld/%ld", (long)getpid(), (long)gettid());
    assert_string_equal(zkr_contenders_get(list, 0)->owner, "a ticket");
    assert_non_null(strstr(zkr_contenders_get(list, 1)->owner, pid));
    end(one);
    end(two);
}

/* --- the place in the queue --- */

static int64_t ahead_of(zkr_ticket *t)
{
    int64_t ahead = -1;
    int rc = zkr_ticket_position(t, &ahead);
    return rc == ZKR_OK ? ahead : -1;
}

/* Of two clients in turn: behind a neighbour it follows, behind another client it is what was seen last. */
ZKT_CASE(a_ticket_knows_how_many_are_in_front)
{
    enum { MANY = 6 };
    zkr_client *c[2] = {zkt_client(zkt_servers(), SESSION_MS),
                        zkt_client(zkt_servers(), SESSION_MS)};
    zkr_mutex *m[2] = {zkt_mutex(c[0]), zkt_mutex(c[1])};
    zkr_ticket *t[MANY];
    int64_t ahead;
    for (int i = 0; i < MANY; i++) {
        t[i] = queue(m[i % 4 / 2], NULL); /* 0 0 1 1 0 0 */
        ZKT_BECOMES(ahead_of(t[i]), i, PATIENCE_MS);
    }
    ZKT_MUST(zkr_ticket_release(t[0]));
    ZKT_BECOMES(ahead_of(t[1]), 0, PATIENCE_MS);
    assert_in_range(ahead_of(t[3]), 2, 3);
    ZKT_MUST(zkr_ticket_release(t[1]));
    ZKT_BECOMES(ahead_of(t[2]), 0, PATIENCE_MS);
    ZKT_BECOMES(ahead_of(t[3]), 1, PATIENCE_MS);
    ZKT_RC(zkr_ticket_position(t[0], &ahead), ZKR_ESTATE);
    ZKT_RC(zkr_ticket_position(t[1], NULL), ZKR_EINVAL);
    ZKT_RC(zkr_ticket_position(NULL, &ahead), ZKR_EINVAL);
    for (int i = 0; i < MANY; i++) {
        zkt_end_ticket(t[i]);
    }
}

/* The owner text of the nearest in front, or why it is not known. */
static const char *nearest_of(zkr_ticket *t, bool holds, bool metadata)
{
    static char text[64];
    zkr_contenders *list = NULL;
    int rc = zkr_ticket_ahead(t, &list);
    const zkr_contender *who = zkr_contenders_get(list, 0);
    if (!who) {
        return zkr_err_name(rc);
    }
    assert_int_equal(zkr_contenders_count(list), 1);
    bool as_told = who->holds == holds && (who->held_since_ms > 0) == metadata;
    (void)snprintf(text, sizeof(text), "%s%s", who->owner, as_told ? "" : "?");
    zkr_contenders_free(list);
    return text;
}

/* Of two clients in turn, of a lock that lasts until its holder has written since when; no request is for that. */
ZKT_CASE(a_ticket_knows_who_is_in_front)
{
    enum { MANY = 4 };
    zkr_client *c[2];
    for (int i = 0; i < 2; i++) {
        c[i] = ZKT_CLIENT_WITH(zkt_servers(), .session_timeout_ms = SESSION_MS,
                               .tell_ahead = 1);
    }
    zkr_mutex *here = ZKT_MUTEX_WITH(c[0], .owner = "here");
    zkr_mutex *there = ZKT_MUTEX_WITH(c[1], .owner = "there");
    zkr_mutex *m[MANY] = {here, there, there, here};
    zkr_ticket *t[MANY];
    zkr_contenders *list = NULL;
    for (int i = 0; i < MANY; i++) {
        t[i] = queue(m[i], NULL);
        ZKT_BECOMES(ahead_of(t[i]), i, PATIENCE_MS);
    }
    ZKT_EVENTUALLY(strcmp(nearest_of(t[1], true, true), "here") == 0, PATIENCE_MS);
    assert_string_equal(nearest_of(t[2], false, false), "there");
    assert_string_equal(nearest_of(t[3], false, false), "there");
    ZKT_RC(zkr_ticket_ahead(t[0], &list), ZKR_ESTATE);
    ZKT_RC(zkr_ticket_ahead(t[1], NULL), ZKR_EINVAL);
    ZKT_RC(zkr_ticket_ahead(NULL, &list), ZKR_EINVAL);
    ZKT_MUST(zkr_ticket_release(t[0]));
    ZKT_BECOMES(ahead_of(t[1]), 0, PATIENCE_MS);
    assert_string_equal(nearest_of(t[2], true, true), "there");
    ZKT_MUST(zkr_ticket_release(t[1]));
    ZKT_EVENTUALLY(strcmp(nearest_of(t[3], true, true), "there") == 0, PATIENCE_MS);
    assert_null(list);
    for (int i = 0; i < MANY; i++) {
        zkt_end_ticket(t[i]);
    }
}

struct queued {
    atomic_int calls, state[4]; /* in their order */
    int64_t ahead;
};

static void note_queued(zkr_ticket *t, int state, void *ctx)
{
    struct queued *q = ctx;
    if (state == ZKR_TICKET_QUEUED) {
        q->ahead = ahead_of(t);
    }
    q->state[q->calls] = state;
    q->calls++;
}

/* Only who has asked for it is told, and only of a wait. */
ZKT_CASE(a_callback_hears_that_it_has_to_wait)
{
    zkr_mutex *m =
        ZKT_MUTEX_WITH(zkt_client(zkt_servers(), SESSION_MS), .tell_queued = 1);
    zkr_mutex *theirs = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    struct queued first = {0}, second = {0}, quiet = {0};
    zkr_ticket *t[3];
    ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, note_queued, &first, &t[0]));
    ZKT_BECOMES(first.calls, 1, PATIENCE_MS);
    assert_int_equal(first.state[0], ZKR_TICKET_HELD);
    ZKT_MUST(zkr_mutex_request(theirs, ZKR_FOREVER, note_queued, &quiet, &t[1]));
    ZKT_BECOMES(ahead_of(t[1]), 1, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, note_queued, &second, &t[2]));
    ZKT_BECOMES(second.calls, 1, PATIENCE_MS);
    assert_int_equal(second.state[0], ZKR_TICKET_QUEUED);
    assert_int_equal(second.ahead, 2);
    assert_int_equal(zkr_ticket_state(t[2]), ZKR_TICKET_WAITING);
    ZKT_MUST(zkr_ticket_release(t[0]));
    ZKT_BECOMES(quiet.calls, 1, PATIENCE_MS);
    assert_int_equal(quiet.state[0], ZKR_TICKET_HELD);
    ZKT_MUST(zkr_ticket_release(t[1]));
    ZKT_BECOMES(second.calls, 2, PATIENCE_MS);
    assert_int_equal(second.state[1], ZKR_TICKET_HELD);
    for (int i = 0; i < 3; i++) {
        zkt_end_ticket(t[i]);
    }
}
