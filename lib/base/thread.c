/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* for syscall(), pthread_setname_np(), dladdr1() */

#include "base/thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool key_made;
static atomic_bool unloaded;
static atomic_int ending; /* how many threads are in end_thread() */
static atomic_uint generation;
static atomic_uint_fast64_t last_id;

static _Thread_local struct zkr__thread self;

struct zkr__thread *zkr__thread_self(void)
{
    return &self;
}

static void count_fork(void)
{
    atomic_fetch_add(&generation, 1);
    atomic_store(&ending, 0);
}

static void unlink_hook(struct zkr__exit_hook *hook)
{
    *hook->link = hook->next;
    if (hook->next) {
        hook->next->link = hook->link;
    }
    hook->next = NULL;
    hook->link = NULL;
    if (!self.exit_hooks && !atomic_load(&unloaded)) {
        (void)pthread_setspecific(key, NULL); /* so that end_thread() does not run */
    }
}

static void end_thread(void *unused)
{
    (void)unused;
    atomic_fetch_add(&ending, 1);
    while (self.exit_hooks) {
        struct zkr__exit_hook *hook = self.exit_hooks;
        unlink_hook(hook);
        hook->at_exit(hook);
    }
    atomic_fetch_sub(&ending, 1);
}

static void prepare(void)
{
    (void)pthread_atfork(NULL, NULL, count_fork);
    key_made = pthread_key_create(&key, end_thread) == 0;
}

/*
 * Runs when a plugin that contains the static library is unloaded, or when the process ends. Threads that used the
 * library may end later, when end_thread() is no longer mapped. So this function deletes the key, which also returns it
 * to the process. A thread that is now in end_thread() must leave it first. The wait for such threads is limited,
 * because at process exit they may be blocked.
 */
__attribute__((destructor)) static void give_back_key(void)
{
    enum { PAUSES = 100 };
    if (key_made && !atomic_exchange(&unloaded, true)) {
        (void)pthread_key_delete(key);
        for (int i = 0; i < PAUSES && atomic_load(&ending) > 0; i++) {
            zkr__thread_rest();
        }
    }
}

/* --- start --- */

struct errand {
    const char *name;
    void *(*fn)(void *arg);
    void *arg;
    bool replaces; /* `other` is joined first */
    pthread_t other;
};

static void *run(void *arg)
{
    struct errand errand = *(struct errand *)arg;
    int before;
    zkr__mem_free(arg);
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    (void)pthread_setname_np(pthread_self(), errand.name);
    self.ours = true;
    self.arg = errand.arg;
    if (errand.replaces) {
        (void)pthread_join(errand.other, NULL);
    }
    return errand.fn(errand.arg);
}

static void fill_blocked(sigset_t *set)
{
    static const int open[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL,
                               SIGTRAP, SIGSYS, SIGPROF};
    (void)sigfillset(set);
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
        (void)sigdelset(set, open[i]);
    }
}

static int start(pthread_t *thread, const struct errand *what)
{
    struct errand *errand = zkr__mem_alloc(sizeof(*errand));
    if (!errand) {
        return ENOMEM;
    }
    *errand = *what;
    sigset_t blocked, before;
    fill_blocked(&blocked);
    /*
     * A new thread inherits the mask. Setting the mask in the new thread would be too late for a signal that arrives at
     * once.
     */
    (void)pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int rc = pthread_create(thread, NULL, run, errand);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0) {
        zkr__mem_free(errand);
    }
    return rc;
}

int zkr__thread_start(pthread_t *thread,
                      const char *name,
                      void *(*fn)(void *arg),
                      void *arg)
{
    const struct errand errand = {.name = name, .fn = fn, .arg = arg};
    return start(thread, &errand);
}

int zkr__thread_replace(pthread_t *thread,
                        const char *name,
                        void *(*fn)(void *arg),
                        void *arg)
{
    const struct errand errand = {
        .name = name, .fn = fn, .arg = arg, .replaces = true, .other = pthread_self()};
    pthread_t other = *thread;
    int rc = start(thread, &errand);
    if (rc != 0) {
        *thread = other; /* after a failed pthread_create(), *thread is undefined */
    }
    return rc;
}

void zkr__thread_rest(void)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    (void)nanosleep(&pause, NULL);
}

void zkr__thread_join(pthread_t thread)
{
    (void)pthread_join(thread, NULL);
}

void zkr__thread_detach(pthread_t thread)
{
    (void)pthread_detach(thread);
}

bool zkr__thread_pin_code(void)
{
    Dl_info unused;
    void *object = NULL;
    (void)dladdr1(&key, &unused, &object, RTLD_DL_LINKMAP);
    const struct link_map *map = object;
    /* The main program has an empty name and is never unloaded. */
    return !map || map->l_name[0] == '\0' ||
           dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* --- calls into the application --- */

struct visit {
    void (*fn)(void *arg);
    void (*finish)(void *arg, bool cut);
    void *arg;
    bool cut;
};

/*
 * AddressSanitizer's function, if present. Without this call, AddressSanitizer would treat stack frames that a
 * cancellation left behind as live.
 */
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
void __asan_handle_no_return(void) __attribute__((weak));

static void leave(void *arg)
{
    const struct visit *visit = arg;
    if (visit->cut && __asan_handle_no_return) {
        __asan_handle_no_return();
    }
    visit->finish(visit->arg, visit->cut);
}

void zkr__thread_call(void (*fn)(void *arg),
                      void (*finish)(void *arg, bool cut),
                      void *arg)
{
    struct visit visit = {.fn = fn, .finish = finish, .arg = arg, .cut = true};
    pthread_cleanup_push(leave, &visit);
    visit.fn(visit.arg);
    visit.cut = false;
    pthread_cleanup_pop(1);
}

static void call_cancelable(void *arg)
{
    const struct visit *visit = arg;
    int before;
    if (self.ours) {
        (void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
    }
    visit->fn(visit->arg);
    if (self.ours) {
        /* A cancellation of this call must not affect the next one. */
        pthread_testcancel();
        (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    }
}

static void finish_cancelable(void *arg, bool cut)
{
    const struct visit *visit = arg;
    visit->finish(visit->arg, cut);
}

void zkr__thread_call_cancelable(void (*fn)(void *arg),
                                 void (*finish)(void *arg, bool cut),
                                 void *arg)
{
    struct visit visit = {.fn = fn, .finish = finish, .arg = arg};
    zkr__thread_call(call_cancelable, finish_cancelable, &visit);
}

/* --- a test for room for two threads --- */

struct trial {
    pthread_mutex_t *gate;
    pthread_t thread;
    long id;
};

static void *wait_at_gate(void *arg)
{
    struct trial *trial = arg;
    trial->id = zkr__thread_os_id();
    (void)pthread_mutex_lock(trial->gate);
    (void)pthread_mutex_unlock(trial->gate);
    return NULL;
}

/* The system counts a joined thread against its limits until the kernel has removed it. */
static bool await_end(struct trial *trial)
{
    enum { PATIENCE = 1000 }; /* number of tries, 0.1 ms apart */
    const struct timespec pause = {.tv_nsec = 100000};
    int tries = 0;
    zkr__thread_join(trial->thread);
    while (syscall(SYS_tgkill, getpid(), trial->id, 0) == 0) {
        if (tries++ == PATIENCE) {
            return false;
        }
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

int zkr__thread_try_two(void)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    struct trial trials[2] = {{.gate = &gate}, {.gate = &gate}};
    int started = 0, error = 0;
    (void)pthread_mutex_lock(&gate);
    while (started < 2 && error == 0) {
        struct trial *trial = &trials[started];
        error = zkr__thread_start(&trial->thread, "zkr-service", wait_at_gate, trial);
        started += error == 0;
    }
    (void)pthread_mutex_unlock(&gate);
    while (started-- > 0) {
        error = await_end(&trials[started]) || error != 0 ? error : EAGAIN;
    }
    (void)pthread_mutex_destroy(&gate);
    return error;
}

/* --- identity --- */

bool zkr__thread_is_self(pthread_t thread)
{
    return pthread_equal(thread, pthread_self()) != 0;
}

uint64_t zkr__thread_id(void)
{
    if (self.id == 0) {
        self.id = atomic_fetch_add(&last_id, 1) + 1;
    }
    return self.id;
}

long zkr__thread_os_id(void)
{
    return syscall(SYS_gettid);
}

unsigned zkr__fork_generation(void)
{
    (void)pthread_once(&once, prepare);
    return atomic_load_explicit(&generation, memory_order_relaxed);
}

/* --- exit hooks --- */

bool zkr__exit_hook_add(struct zkr__exit_hook *hook)
{
    (void)pthread_once(&once, prepare);
    /* The destructor runs for any value other than NULL. */
    if (!key_made || (pthread_setspecific(key, &key) != 0 && !atomic_load(&unloaded))) {
        return false;
    }
    hook->next = self.exit_hooks;
    hook->link = &self.exit_hooks;
    if (self.exit_hooks) {
        self.exit_hooks->link = &hook->next;
    }
    self.exit_hooks = hook;
    return true;
}

void zkr__exit_hook_drop(struct zkr__exit_hook *hook)
{
    if (hook->link) {
        unlink_hook(hook);
    }
}
