/* SPDX-License-Identifier: Apache-2.0 */
/* Start, identity and end of threads, and the fork generation. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/thread.h"
#include "clean.h"
#include "unit.h"

enum { THREADS = 1000, AT_ONCE = 8 };

/* --- start --- */

struct seen {
    char name[16];
    sigset_t mask;
};

static void *look_at_oneself(void *arg)
{
    struct seen *seen = arg;
    return pthread_getname_np(pthread_self(), seen->name, sizeof(seen->name)) == 0 &&
                   pthread_sigmask(SIG_SETMASK, NULL, &seen->mask) == 0
               ? arg
               : NULL;
}

/* The thread has its name and blocks the application's signals. The signal mask of the caller stays the same. */
ZKT_UNIT_CASE(a_thread_is_started_with_name_and_mask)
{
    struct seen seen = {.name = ""};
    sigset_t before;
    sigset_t after;
    pthread_t thread;
    void *result = NULL;
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
    assert_int_equal(
        zkr__thread_start(&thread, "fifteen-letters", look_at_oneself, &seen), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, &seen);
    assert_string_equal(seen.name, "fifteen-letters");
    assert_int_equal(sigismember(&seen.mask, SIGTERM), 1);
    assert_int_equal(sigismember(&seen.mask, SIGSEGV), 0);
    zkt_allow_allocations(0);
    assert_int_equal(zkr__thread_start(&thread, "none", look_at_oneself, &seen),
                     ENOMEM);
    zkt_allow_allocations(-1);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
    for (int signo = 1; signo <= SIGRTMAX; signo++) {
        assert_int_equal(sigismember(&before, signo), sigismember(&after, signo));
    }
}

/* Two threads can usually be started, and have ended afterwards. Without memory, none can. */
ZKT_UNIT_CASE(two_threads_are_tried)
{
    int before = zkt_thread_count();
    for (int i = 0; i < 100; i++) {
        assert_int_equal(zkr__thread_try_two(), 0);
        assert_int_equal(zkt_thread_count(), before);
    }
    zkt_allow_allocations(0);
    assert_int_equal(zkr__thread_try_two(), ENOMEM);
    zkt_allow_allocations(-1);
}

/* --- identity --- */

static void *note_id(void *arg)
{
    uint64_t *id = arg;
    *id = zkr__thread_id();
    return *id == zkr__thread_id() ? arg : NULL;
}

static int by_value(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x;
    uint64_t b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

/* A thousand threads have a thousand ids, although most of them reuse the pthread_t of an ended thread. */
ZKT_UNIT_CASE(an_id_is_never_used_again)
{
    static uint64_t ids[THREADS + 1];
    pthread_t threads[AT_ONCE];
    for (int i = 0; i < THREADS; i += AT_ONCE) {
        for (int j = 0; j < AT_ONCE; j++) {
            assert_int_equal(pthread_create(&threads[j], NULL, note_id, &ids[i + j]),
                             0);
        }
        for (int j = 0; j < AT_ONCE; j++) {
            void *same = NULL;
            assert_int_equal(pthread_join(threads[j], &same), 0);
            assert_non_null(same);
        }
    }
    ids[THREADS] = zkr__thread_id();
    qsort(ids, THREADS + 1, sizeof(ids[0]), by_value);
    assert_true(ids[0] != 0);
    for (int i = 0; i < THREADS; i++) {
        assert_true(ids[i] != ids[i + 1]);
    }
}

/* The system's id of the first thread is the process id. */
ZKT_UNIT_CASE(the_first_thread_has_the_process_id)
{
    assert_int_equal(zkr__thread_os_id(), getpid());
}

/* --- hooks --- */

struct hook {
    struct zkr__exit_hook hook;
    int done;
    uint64_t thread;
    struct hook *also; /* dropped or added when the hook runs */
    bool add, refused;
};

static void run_hook(struct zkr__exit_hook *hook)
{
    struct hook *d = (struct hook *)hook;
    d->done++;
    d->thread = zkr__thread_id();
    if (d->also && d->add) {
        d->refused = !zkr__exit_hook_add(&d->also->hook);
    } else if (d->also) {
        zkr__exit_hook_drop(&d->also->hook);
    }
}

struct errand {
    struct hook hooks[4];
    uint64_t thread;
};

static void *take_duties(void *arg)
{
    struct errand *errand = arg;
    errand->thread = zkr__thread_id();
    for (size_t i = 0; i < ZKT_COUNT(errand->hooks); i++) {
        errand->hooks[i].hook.at_exit = run_hook;
        if (!zkr__exit_hook_add(&errand->hooks[i].hook)) {
            return NULL;
        }
    }
    zkr__exit_hook_drop(&errand->hooks[1].hook);
    /* No effect, because it was dropped before. */
    zkr__exit_hook_drop(&errand->hooks[1].hook);
    return arg;
}

static void run_thread(void *(*fn)(void *arg), void *arg)
{
    pthread_t thread;
    void *result = NULL;
    assert_int_equal(pthread_create(&thread, NULL, fn, arg), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, arg);
}

/* Each hook that a thread has left runs once, in that thread, when the thread ends. A dropped hook does not run. */
ZKT_UNIT_CASE(duties_are_done_at_the_end_of_the_thread)
{
    struct errand errand = {0};
    run_thread(take_duties, &errand);
    for (size_t i = 0; i < ZKT_COUNT(errand.hooks); i++) {
        assert_int_equal(errand.hooks[i].done, i != 1);
        assert_null(errand.hooks[i].hook.link);
        assert_true(i == 1 || errand.hooks[i].thread == errand.thread);
    }
}

/* Returns how many thread-specific values the calling thread has. */
static int count_values(void)
{
    enum { KEYS = 1024 };
    int count = 0;
    for (pthread_key_t key = 0; key < KEYS; key++) {
        count += pthread_getspecific(key) != NULL;
    }
    return count;
}

/* Add the two hooks of @arg, and drop them. Returns @arg if the thread has a thread-specific value only meanwhile. */
static void *take_and_drop_duties(void *arg)
{
    struct hook *hooks = arg;
    int before = count_values();
    if (!zkr__exit_hook_add(&hooks[0].hook) || !zkr__exit_hook_add(&hooks[1].hook)) {
        return NULL;
    }
    zkr__exit_hook_drop(&hooks[0].hook);
    bool kept = count_values() == before + 1;
    zkr__exit_hook_drop(&hooks[1].hook);
    return kept && count_values() == before ? arg : NULL;
}

/* The end of a thread without hooks runs no code of this library, which may have been unloaded with a plugin. */
ZKT_UNIT_CASE(a_thread_without_duties_leaves_no_value)
{
    struct hook hooks[2] = {{.done = 0}};
    run_thread(take_and_drop_duties, hooks);
}

static void *take_linked_duties(void *arg)
{
    struct hook *hooks = arg;
    for (size_t i = 0; i < 3; i++) {
        hooks[i].hook.at_exit = run_hook;
    }
    return zkr__exit_hook_add(&hooks[0].hook) && zkr__exit_hook_add(&hooks[1].hook)
               ? arg
               : NULL;
}

/* A hook that runs may drop another hook or add one. */
ZKT_UNIT_CASE(a_duty_may_drop_and_add_others)
{
    for (int first = 0; first < 2; first++) {
        struct hook hooks[3] = {{.done = 0}};
        hooks[0].also = &hooks[1];
        hooks[1].also = &hooks[0];
        run_thread(take_linked_duties, hooks);
        assert_int_equal(hooks[0].done + hooks[1].done, 1);
    }
    struct hook hooks[3] = {{.done = 0}};
    hooks[0].also = &hooks[2];
    hooks[0].add = true;
    run_thread(take_linked_duties, hooks);
    assert_int_equal(hooks[0].done, 1);
    assert_int_equal(hooks[1].done, 1);
    assert_int_equal(hooks[2].done, 1);
    assert_false(hooks[0].refused);
}

/* --- fork --- */

/* Returns whether @fn is true in a child, and the generation of this process stays the same. Without assertions,
   because children call it, too. */
static bool child_agrees(bool (*fn)(unsigned before))
{
    unsigned before = zkr__fork_generation();
    pid_t pid = fork();
    if (pid == 0) {
        _exit(fn(before) ? 0 : 1);
    }
    int status = -1;
    return waitpid(pid, &status, 0) == pid && status == 0 &&
           zkr__fork_generation() == before;
}

static bool is_another(unsigned before)
{
    return zkr__fork_generation() != before;
}

static bool has_a_child_of_its_own(unsigned before)
{
    unsigned mine = zkr__fork_generation();
    return mine != before && child_agrees(is_another) && zkr__fork_generation() == mine;
}

/* A child has another generation, and so has its own child. The generation of the parent stays the same. */
ZKT_UNIT_CASE(a_forked_child_is_of_another_generation)
{
    assert_true(child_agrees(is_another));
    assert_true(child_agrees(has_a_child_of_its_own));
}
