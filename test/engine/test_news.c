/* SPDX-License-Identifier: Apache-2.0 */
/*
 * News of a release between processes: which are sent, and which are believed. The messages wait until a case
 * delivers them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <zkr/guard.h>

#include "actor.h"
#include "fixture.h"
#include "nearby/nearby.h"
#include "queue/claim.h"
#include "session/client.h"

enum { SESSION_MS = 20000, PATIENCE_MS = 20000, BOXES = 8, LETTERS = 64 };
enum { NAME_AT = ZKR__NEAR_HOST + ZKR__NEAR_WHO };

/* --- messages --- */

static struct box {
    struct zkr__mailbox_owner *owner;
    struct zkr__near_address self;
} boxes[BOXES];
static atomic_int box_count;

static struct letter {
    struct zkr__near_address from, to;
    char text[2048];
    size_t len;
} letters[LETTERS];
static atomic_int letter_count;

static void *open_box(struct zkr__mailbox_owner *owner, struct zkr__near_address *self)
{
    int number = atomic_fetch_add(&box_count, 1);
    assert_true(number < BOXES);
    struct box *box = &boxes[number];
    box->owner = owner;
    (void)snprintf(box->self.text, sizeof(box->self.text), "%024d%016d%032d", 1, 2,
                   number);
    *self = box->self;
    return box;
}

static void
send_letter(void *of, const struct zkr__near_address *to, const void *text, size_t len)
{
    const struct box *box = of;
    int at = atomic_load(&letter_count);
    assert_true(at < LETTERS && len <= sizeof(letters[at].text));
    letters[at].from = box->self;
    letters[at].to = *to;
    letters[at].len = len;
    memcpy(letters[at].text, text, len);
    atomic_store(&letter_count, at + 1);
}

static void close_box(void *of)
{
    ((struct box *)of)->owner = NULL;
}

static const struct zkr__nearby_door post = {.open = open_box,
                                             .send = send_letter,
                                             .close = close_box};

static void deliver(const struct letter *letter)
{
    for (int i = 0; i < atomic_load(&box_count); i++) {
        if (boxes[i].owner && strcmp(boxes[i].self.text, letter->to.text) == 0) {
            boxes[i].owner->take(boxes[i].owner, &letter->from, letter->text,
                                 letter->len);
        }
    }
}

/* Returns the last message of this kind, or NULL. */
static struct letter *last_of(enum zkr__news_kind kind)
{
    struct letter *last = NULL;
    for (int i = 0; i < atomic_load(&letter_count); i++) {
        struct zkr__news news;
        assert_true(zkr__letter_read(&news, letters[i].text, letters[i].len));
        last = news.kind == kind ? &letters[i] : last;
    }
    return last;
}

/* --- a holder behind a proxy, and a waiter that has sent it a message --- */

static struct scene {
    zkt_proxy *proxy;
    zkr_client *a, *b;
    zkr_mutex *held, *wanted;
    struct zkt_actor waiter;
} s;

static zkr_client *client(const char *hosts)
{
    return ZKT_CLIENT_WITH(hosts, .session_timeout_ms = SESSION_MS, .nearby = 1);
}

static int64_t ignored(zkr_client *c)
{
    zkr__lock(c);
    int64_t count = c->news_ignored;
    zkr__unlock(c);
    return count;
}

/* Returns the phase of the client's only claim. */
static enum zkr__phase phase_of(zkr_client *c)
{
    zkr__lock(c);
    const struct zkr__engine *engine = c->engine;
    enum zkr__phase phase = engine->claims ? engine->claims->k.phase : ZKR__GONE;
    zkr__unlock(c);
    return phase;
}

static bool is_watched(zkr_client *c)
{
    zkr__lock(c);
    const struct zkr__engine *engine = c->engine;
    bool set = engine->claims->k.own == ZKR__OWN_SET;
    zkr__unlock(c);
    return set;
}

/* @hosts is for the waiter. */
static void prepare_at(const char *hosts, const zkr_mutex_options *o)
{
    atomic_store(&box_count, 0);
    atomic_store(&letter_count, 0);
    zkt_nearby_door = &post;
    s.proxy = zkt_proxy_start(zkt_servers());
    s.a = client(zkt_proxy_host(s.proxy));
    s.b = client(hosts);
    s.held = zkt_mutex_with(s.a, o);
    s.wanted = zkt_mutex(s.b);
}

static void prepare(const zkr_mutex_options *o)
{
    prepare_at(zkt_servers(), o);
}

static void wait_behind(void)
{
    zkt_actor_queue(&s.waiter, s.b, s.wanted, NULL);
    ZKT_EVENTUALLY(is_watched(s.b), PATIENCE_MS);
}

static void meet_prepared(void)
{
    ZKT_MUST(zkr_mutex_acquire(s.held, PATIENCE_MS));
    wait_behind();
    ZKT_EVENTUALLY(last_of(ZKR__NEWS_NEXT), PATIENCE_MS);
    deliver(last_of(ZKR__NEWS_NEXT));
}

static void meet(const zkr_mutex_options *o)
{
    prepare(o);
    meet_prepared();
}

/* Hold up everything that the holder sends to the servers. */
static void hold_back(void)
{
    zkt_proxy_freeze(s.proxy, ZKT_TO_SERVER);
}

static void grant_by_news(void)
{
    hold_back();
    ZKT_MUST(zkr_mutex_release(s.held));
    deliver(last_of(ZKR__NEWS_RELEASED));
    ZKT_MUST(zkt_actor_acquired(&s.waiter));
}

/* Check that the waiter is granted, by the event if not by news. */
static void part(void)
{
    zkt_proxy_heal(s.proxy);
    zkt_actor_is_served(&s.waiter);
    zkt_nearby_door = NULL;
}

static const zkr_mutex_options plain = ZKR_MUTEX_OPTIONS_INIT;

/* --- sent --- */

/* The waiter holds while the node of the previous holder still exists. */
ZKT_CASE(news_grants_before_the_servers_know)
{
    meet(&plain);
    hold_back();
    ZKT_MUST(zkr_mutex_release(s.held));
    assert_int_equal(phase_of(s.b), ZKR__PARKED);
    deliver(last_of(ZKR__NEWS_RELEASED));
    ZKT_MUST(zkt_actor_acquired(&s.waiter));
    assert_int_equal(zkt_nodes(), 2);
    assert_int_equal(ignored(s.a) + ignored(s.b), 0);
    part();
}

/* A waiter that comes between the release and the deletion of the node gets the news at once. */
ZKT_CASE(a_late_waiter_is_told)
{
    prepare(&plain);
    ZKT_MUST(zkr_mutex_acquire(s.held, PATIENCE_MS));
    hold_back();
    ZKT_MUST(zkr_mutex_release(s.held));
    wait_behind();
    ZKT_EVENTUALLY(last_of(ZKR__NEWS_NEXT), PATIENCE_MS);
    assert_null(last_of(ZKR__NEWS_RELEASED));
    deliver(last_of(ZKR__NEWS_NEXT));
    deliver(last_of(ZKR__NEWS_RELEASED));
    ZKT_MUST(zkt_actor_acquired(&s.waiter));
    part();
}

/* The holder notifies the waiter that was the last to claim to be next, so an earlier false claim does no harm. */
ZKT_CASE(the_last_that_says_so_is_told)
{
    prepare(&plain);
    ZKT_MUST(zkr_mutex_acquire(s.held, PATIENCE_MS));
    wait_behind();
    ZKT_EVENTUALLY(last_of(ZKR__NEWS_NEXT), PATIENCE_MS);
    struct letter other = *last_of(ZKR__NEWS_NEXT);
    other.from.text[NAME_AT] = '7';
    deliver(&other);
    deliver(last_of(ZKR__NEWS_NEXT));
    ZKT_MUST(zkr_mutex_release(s.held));
    assert_string_equal(last_of(ZKR__NEWS_RELEASED)->to.text, boxes[1].self.text);
    part();
}

/* The previous holder's writes may still be on their way to this server, so the first read waits for a sync. */
ZKT_CASE(a_read_after_news_syncs)
{
    zkr_node node;
    meet(&plain);
    grant_by_news();
    zkt_door_focus(s.b);
    ZKT_MUST(zkr_client_get(s.b, "/", NULL, 0, &node, sizeof(node)));
    assert_int_equal(zkt_door_count(ZKR__OP_SYNC), 1);
    ZKT_MUST(zkr_client_get(s.b, "/", NULL, 0, &node, sizeof(node)));
    assert_int_equal(zkt_door_count(ZKR__OP_SYNC), 1);
    zkt_door_focus(NULL);
    part();
}

/* A sync that was not answered counts for nothing. The next read sends another one. */
ZKT_CASE(a_read_after_a_lost_sync_syncs)
{
    zkr_node node;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    prepare_at(zkt_proxy_host(p), &plain);
    meet_prepared();
    grant_by_news();
    zkt_proxy_cut_before_request(p, 1);
    ZKT_RC(zkr_client_get(s.b, "/", NULL, 0, &node, sizeof(node)), ZKR_ECONNLOSS);
    ZKT_BECOMES(zkr_client_state(s.b), ZKR_STATE_CONNECTED, PATIENCE_MS);
    zkt_door_focus(s.b);
    ZKT_MUST(zkr_client_get(s.b, "/", NULL, 0, &node, sizeof(node)));
    assert_int_equal(zkt_door_count(ZKR__OP_SYNC), 1);
    zkt_door_focus(NULL);
    part();
}

/* Between a holder without the option and a waiter, no messages are sent. */
ZKT_CASE(a_client_without_the_option_has_no_news)
{
    prepare(&plain);
    zkr_client *other =
        ZKT_CLIENT_WITH(zkt_servers(), .session_timeout_ms = SESSION_MS);
    zkr_mutex *m = zkt_mutex(other);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    wait_behind();
    ZKT_MUST(zkr_mutex_release(m));
    part();
    assert_int_equal(atomic_load(&letter_count), 0);
}

/* --- never sent --- */

static void release_untold(void)
{
    ZKT_MUST(zkr_mutex_release(s.held));
    assert_null(last_of(ZKR__NEWS_RELEASED));
    part();
}

/* The owner may write with the guard at any time, and so even after the next grant. */
ZKT_CASE(a_hold_with_a_guard_tells_nothing)
{
    zoo_op_t guard;
    meet(&plain);
    ZKT_MUST(zkr_mutex_guard(s.held, &guard));
    release_untold();
}

static int set_something(zkr_mutex *m, int64_t timeout_ms)
{
    zoo_op_t op;
    zoo_op_result_t result;
    zoo_set_op_init(&op, zkt_path(), "x", 1, -1, NULL);
    return zkr_mutex_multi(m, 1, &op, &result, timeout_ms);
}

/* A write of the holder is still on its way at the release. */
ZKT_CASE(a_hold_with_a_write_on_its_way_tells_nothing)
{
    meet(&plain);
    hold_back();
    ZKT_RC(set_something(s.held, 100), ZKR_ECONNLOSS);
    ZKT_MUST(zkr_mutex_release(s.held));
    assert_null(last_of(ZKR__NEWS_RELEASED));
    part();
}

/* The connection breaks. The write has failed for its owner, but may still be executed. */
ZKT_CASE(a_hold_with_a_lost_write_tells_nothing)
{
    meet(&plain);
    hold_back();
    ZKT_RC(set_something(s.held, 100), ZKR_ECONNLOSS);
    zkt_proxy_cut(s.proxy);
    ZKT_EVENTUALLY(zkr_client_state(s.a) == ZKR_STATE_SUSPENDED, PATIENCE_MS);
    zkt_proxy_heal(s.proxy);
    ZKT_EVENTUALLY(zkr_client_state(s.a) == ZKR_STATE_CONNECTED, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(s.held));
    assert_null(last_of(ZKR__NEWS_RELEASED));
    part();
}

/* A write that was answered is no obstacle. */
ZKT_CASE(a_hold_with_an_answered_write_tells)
{
    meet(&plain);
    ZKT_MUST(set_something(s.held, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_release(s.held));
    assert_non_null(last_of(ZKR__NEWS_RELEASED));
    part();
}

/* The release is a transaction, which may fail. */
ZKT_CASE(a_release_with_a_write_tells_after_the_answer)
{
    zoo_op_t op;
    zoo_op_result_t result;
    meet(&plain);
    zoo_set_op_init(&op, zkt_path(), "x", 1, -1, NULL);
    hold_back();
    ZKT_RC(zkr_mutex_release_multi(s.held, 1, &op, &result, 100), ZKR_ECONNLOSS);
    assert_null(last_of(ZKR__NEWS_RELEASED));
    part();
}

/* The record must be written first. */
ZKT_CASE(a_robust_hold_tells_nothing)
{
    prepare(&(const zkr_mutex_options){.size = sizeof(plain), .robust = 1});
    int rc = zkr_mutex_acquire(s.held, PATIENCE_MS);
    assert_true(rc == ZKR_OK);
    wait_behind();
    assert_int_equal(atomic_load(&letter_count), 0);
    release_untold();
}

/* The node remains for the next hold of the client. */
ZKT_CASE(a_kept_node_tells_nothing)
{
    prepare(&(const zkr_mutex_options){.size = sizeof(plain), .keep_ms = 1000});
    ZKT_MUST(zkr_mutex_acquire(s.held, PATIENCE_MS));
    wait_behind();
    assert_int_equal(atomic_load(&letter_count), 0);
    release_untold();
}

/* The delete is not on its way. */
ZKT_CASE(a_hold_without_a_connection_tells_nothing)
{
    meet(&plain);
    zkt_proxy_cut(s.proxy);
    ZKT_EVENTUALLY(zkr_client_state(s.a) != ZKR_STATE_CONNECTED, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(s.held));
    assert_null(last_of(ZKR__NEWS_RELEASED));
    part();
}

/*
 * The hold was granted, but the application did not take it before the end of the lease. Another contender may
 * already hold.
 */
ZKT_CASE(a_hold_past_its_lease_tells_nothing)
{
    prepare(&plain);
    zkr_ticket *t;
    ZKT_MUST(zkr_mutex_request(s.held, ZKR_FOREVER, NULL, NULL, &t));
    ZKT_EVENTUALLY(phase_of(s.a) == ZKR__HELD, PATIENCE_MS);
    wait_behind();
    ZKT_EVENTUALLY(last_of(ZKR__NEWS_NEXT), PATIENCE_MS);
    deliver(last_of(ZKR__NEWS_NEXT));
    zkt_door_stop_clock(zkr__clock_boot() + 3 * SESSION_MS * ZKR__MS);
    (void)zkr_ticket_release(t); /* the code depends on the lease */
    zkt_door_stop_clock(0);
    ZKT_MUST(zkr_ticket_destroy(t));
    assert_null(last_of(ZKR__NEWS_RELEASED));
    part();
}

/* --- believed --- */

/* Deliver a message RELEASED in which @change has changed one thing. The waiter must ignore it, and count that. */
static void refuse(void (*change)(struct letter *letter, struct zkr__news *news))
{
    meet(&plain);
    hold_back();
    ZKT_MUST(zkr_mutex_release(s.held));
    struct letter wrong = *last_of(ZKR__NEWS_RELEASED);
    const struct letter right = wrong;
    struct zkr__news news;
    assert_true(zkr__letter_read(&news, wrong.text, wrong.len));
    change(&wrong, &news);
    int64_t before = ignored(s.b);
    deliver(&wrong);
    assert_int_equal(phase_of(s.b), ZKR__PARKED);
    assert_int_equal(ignored(s.b), before + 1);
    deliver(&right);
    ZKT_MUST(zkt_actor_acquired(&s.waiter));
    deliver(&right); /* the same message again */
    assert_int_equal(ignored(s.b), before + 2);
    part();
}

static void of_another_process(struct letter *letter, struct zkr__news *news)
{
    letter->from.text[NAME_AT - 1] = '7';
}

static void of_another_user(struct letter *letter, struct zkr__news *news)
{
    letter->from.text[ZKR__NEAR_HOST + 7] = '7';
}

static void of_another_socket(struct letter *letter, struct zkr__news *news)
{
    letter->from.text[NAME_AT] = '7';
}

/* The numbers precede the texts: the kind, the token, the key. */
static void with_another_token(struct letter *letter, struct zkr__news *news)
{
    letter->text[8] = (char)(letter->text[8] ^ 1);
}

static void with_another_key(struct letter *letter, struct zkr__news *news)
{
    letter->text[16] = (char)(letter->text[16] ^ 1);
}

static void about_another_node(struct letter *letter, struct zkr__news *news)
{
    char *end = letter->text + (news->holder - letter->text) + strlen(news->holder);
    end[-1] = (char)(end[-1] ^ 1);
}

static void cut_short(struct letter *letter, struct zkr__news *news)
{
    letter->len--;
}

static void of_another_format(struct letter *letter, struct zkr__news *news)
{
    letter->text[0] = (char)(letter->text[0] ^ 1);
}

static void (*const changes[])(struct letter *, struct zkr__news *) = {
    of_another_process, of_another_user,    of_another_socket, with_another_token,
    with_another_key,   about_another_node, cut_short,         of_another_format};

ZKT_CASE_WAYS(wrong_news,
              {"news_of_another_process_is_ignored", wrong_news, 0, NULL},
              {"news_of_another_user_is_ignored", wrong_news, 1, NULL},
              {"news_of_another_socket_is_ignored", wrong_news, 2, NULL},
              {"news_of_an_older_node_is_ignored", wrong_news, 3, NULL},
              {"news_that_answers_another_letter_is_ignored", wrong_news, 4, NULL},
              {"news_of_another_node_is_ignored", wrong_news, 5, NULL},
              {"half_a_letter_is_ignored", wrong_news, 6, NULL},
              {"a_letter_of_another_format_is_ignored", wrong_news, 7, NULL})
{
    refuse(changes[zkt_way()]);
}

ZKT_CASE(news_for_a_wait_that_is_over_is_ignored)
{
    meet(&plain);
    ZKT_MUST(zkr_mutex_release(s.held));
    const struct letter late = *last_of(ZKR__NEWS_RELEASED);
    part();
    ZKT_BECOMES(phase_of(s.b), ZKR__GONE, PATIENCE_MS);
    const int64_t before = ignored(s.b);
    deliver(&late);
    assert_int_equal(ignored(s.b), before + 1);
}

/* No news can come from a process on another host, from another user, or from this client's own previous session. */
ZKT_CASE(other_hosts_and_users_are_not_told)
{
    prepare(&plain);
    struct zkr__near_address of;
    char data[256];
    int len = snprintf(data, sizeof(data), "x%s", zkr__nearby_field(s.a));
    assert_true(zkr__nearby_find(s.b, data, (size_t)len, &of));
    assert_string_equal(of.text, boxes[0].self.text);
    assert_false(zkr__nearby_find(s.a, data, (size_t)len, &of));
    assert_false(zkr__nearby_find(s.b, data, (size_t)len - 1, &of));
    /* A digit of the host, and a digit of the user. */
    static const int digits[] = {0, ZKR__NEAR_HOST};
    for (size_t i = 0; i < sizeof(digits) / sizeof(digits[0]); i++) {
        char *digit = &data[len - ZKR__NEAR_ADDRESS + digits[i]];
        char was = *digit;
        *digit = '7';
        assert_false(zkr__nearby_find(s.b, data, (size_t)len, &of));
        *digit = was;
    }
    zkt_nearby_door = NULL;
}
