/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads hold a re-entrant lock. */
#include <pthread.h>

#include "recipes/reentrant.h"
#include "unit.h"

enum { THREADS = 8, MANY = 200 };

static struct zkr__holder *table;
static pthread_mutex_t table_lock =
    PTHREAD_MUTEX_INITIALIZER; /* in place of the client's lock */

static bool enter(struct zkr__holder *holder)
{
    (void)pthread_mutex_lock(&table_lock);
    bool entered = zkr__holders_add(&table, holder);
    (void)pthread_mutex_unlock(&table_lock);
    return entered;
}

static struct zkr__holder *find(void)
{
    (void)pthread_mutex_lock(&table_lock);
    struct zkr__holder *holder = zkr__holders_find(table);
    (void)pthread_mutex_unlock(&table_lock);
    return holder;
}

static void leave(struct zkr__holder *holder)
{
    (void)pthread_mutex_lock(&table_lock);
    zkr__holders_remove(&table, holder);
    (void)pthread_mutex_unlock(&table_lock);
}

/* The function that the lock calls when a thread ends while it holds the lock. */
static void at_exit(struct zkr__exit_hook *hook)
{
    struct zkr__holder *holder = ZKR__OWNER_OF(hook, struct zkr__holder, hook);
    holder->depth = -1;
    leave(holder);
}

/* A thread finds its own entry until it removes the entry. It may then enter again. */
ZKT_UNIT_CASE(a_thread_finds_its_own_entry)
{
    struct zkr__holder holder = {.hook = {.at_exit = at_exit}};
    assert_null(find());
    for (int i = 0; i < 2; i++) {
        assert_true(enter(&holder));
        assert_ptr_equal(find(), &holder);
        assert_int_equal(holder.thread, zkr__thread_id());
        leave(&holder);
        assert_null(find());
        assert_null(table);
        assert_null(holder.hook.link);
    }
}

static void *hold_and_leave(void *arg)
{
    bool *right = arg;
    for (int i = 0; i < MANY; i++) {
        struct zkr__holder holder = {.hook = {.at_exit = at_exit}};
        if (find() || !enter(&holder) || find() != &holder) {
            return NULL;
        }
        leave(&holder);
    }
    *right = true;
    return NULL;
}

/* A thread finds only its own entry, however many threads hold. */
ZKT_UNIT_CASE(a_thread_sees_no_entry_of_another)
{
    pthread_t threads[THREADS];
    bool right[THREADS] = {false};
    struct zkr__holder mine = {.hook = {.at_exit = at_exit}};
    assert_true(enter(&mine));
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, hold_and_leave, &right[i]),
                         0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(right[i]);
    }
    assert_ptr_equal(find(), &mine);
    leave(&mine);
    assert_null(table);
}

static void *hold_to_the_end(void *arg)
{
    return enter(arg) ? arg : NULL;
}

/* When a thread ends while it holds, its entry is removed and at_exit() is called. Other entries stay. */
ZKT_UNIT_CASE(the_end_of_a_thread_takes_its_entry_out)
{
    pthread_t thread;
    void *entered = NULL;
    struct zkr__holder mine = {.depth = 1, .hook = {.at_exit = at_exit}};
    struct zkr__holder theirs = {.depth = 1, .hook = {.at_exit = at_exit}};
    assert_true(enter(&mine));
    assert_int_equal(pthread_create(&thread, NULL, hold_to_the_end, &theirs), 0);
    assert_int_equal(pthread_join(thread, &entered), 0);
    assert_ptr_equal(entered, &theirs);
    assert_int_equal(theirs.depth, -1);
    assert_int_equal(HASH_COUNT(table), 1);
    assert_ptr_equal(find(), &mine);
    leave(&mine);
    assert_int_equal(mine.depth, 1);
}

/* Without memory, no entry is added and no hook is left. A later attempt succeeds. */
ZKT_UNIT_CASE(an_entry_needs_memory)
{
    struct zkr__holder holder = {.hook = {.at_exit = at_exit}};
    int failures = 0;
    bool entered = false;
    while (!entered) {
        zkt_allow_allocations(failures);
        entered = enter(&holder);
        zkt_allow_allocations(-1);
        assert_int_equal(find() == &holder, entered);
        if (!entered) {
            failures++;
            assert_null(table);
            assert_null(holder.hook.link);
        }
    }
    assert_true(failures > 0);
    leave(&holder);
}
