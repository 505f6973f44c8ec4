/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin that contains the static library is loaded, used and unloaded. libzookeeper stays, because this program
 * needs it, too.
 */
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "threads.h"

enum { PATIENCE_MS = 30000 };

typedef int (*lock_fn)(const char *servers, const char *path);
typedef zkr_client *(*open_fn)(const char *servers);
typedef int (*close_fn)(zkr_client *c);

static const char *plugin_file(void)
{
    const char *file = getenv("ZKR_TEST_PLUGIN");
    assert_non_null(file);
    return file;
}

static void *load(void)
{
    void *plugin = dlopen(plugin_file(), RTLD_NOW | RTLD_LOCAL);
    assert_non_null(plugin);
    return plugin;
}

/* Set *@fn to a function of the plugin. */
static void find(void *plugin, const char *name, void *fn)
{
    void *symbol = dlsym(plugin, name);
    assert_non_null(symbol);
    memcpy(fn, &symbol, sizeof(symbol));
}

static void use_at(void *plugin, const char *servers)
{
    lock_fn lock;
    find(plugin, "plugin_lock", &lock);
    ZKT_MUST(lock(servers, zkt_path()));
}

static void use(void *plugin)
{
    use_at(plugin, zkt_servers());
}

static void unload(void *plugin)
{
    assert_int_equal(dlclose(plugin), 0);
    assert_null(dlopen(plugin_file(), RTLD_NOW | RTLD_NOLOAD)); /* it is unloaded */
}

static pthread_barrier_t used, gone;

static void *use_then_outlive(void *plugin)
{
    use(plugin);
    (void)pthread_barrier_wait(&used);
    (void)pthread_barrier_wait(&gone);
    return NULL;
}

/* The end of a thread calls nothing in an unloaded library. */
ZKT_CASE(a_thread_outlives_the_plugin_that_it_used)
{
    pthread_t thread;
    void *plugin = load();
    assert_int_equal(pthread_barrier_init(&used, NULL, 2), 0);
    assert_int_equal(pthread_barrier_init(&gone, NULL, 2), 0);
    assert_int_equal(pthread_create(&thread, NULL, use_then_outlive, plugin), 0);
    (void)pthread_barrier_wait(&used);
    unload(plugin);
    (void)pthread_barrier_wait(&gone);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

enum { KEYS_MAX = 4096, LEFT = 3, LOADS = 10 };

/* A process has only a limited number of thread-specific keys. An unloaded plugin has returned its keys. */
ZKT_CASE(a_plugin_leaves_no_key_behind)
{
    static pthread_key_t keys[KEYS_MAX];
    int count = 0;
    while (pthread_key_create(&keys[count], NULL) == 0) {
        count++;
        ZKT_IN_RANGE(count, 1, KEYS_MAX - 1);
    }
    for (int i = 0; i < LEFT; i++) {
        assert_int_equal(pthread_key_delete(keys[--count]), 0);
    }
    for (int i = 0; i < LOADS; i++) {
        void *plugin = load();
        use(plugin);
        unload(plugin);
    }
    while (count > 0) {
        assert_int_equal(pthread_key_delete(keys[--count]), 0);
    }
}

/* --- a thread that ends while it holds --- */

static _Thread_local bool ends;
static atomic_bool released, unloads;

/*
 * Replace the function of the C library. It is the last function that the library calls when a thread that ended as a
 * holder has released. Here, it takes long.
 */
int pthread_setcancelstate(int state, int *before)
{
    enum { LONG_MS = 200 };
    union {
        void *symbol;
        int (*call)(int state, int *before);
    } next = {dlsym(RTLD_NEXT, "pthread_setcancelstate")};
    if (ends && state == PTHREAD_CANCEL_ENABLE) {
        ends = false;
        atomic_store(&released, true);
        while (!atomic_load(&unloads)) {
            zkt_sleep_ms(1);
        }
        zkt_sleep_ms(LONG_MS);
    }
    return next.call(state, before);
}

struct hold {
    int (*hold)(zkr_client *c, const char *path, zkr_mutex **out);
    zkr_client *c;
    zkr_mutex *m;
};

static void *hold_and_end(void *arg)
{
    struct hold *h = arg;
    ZKT_MUST(h->hold(h->c, zkt_path(), &h->m));
    ends = true;
    return NULL;
}

/* The plugin is unloaded only after the thread has left its code. */
ZKT_CASE(a_thread_that_ends_while_it_holds_leaves_the_plugin_first)
{
    struct hold h = {0};
    pthread_t thread;
    open_fn open_client;
    close_fn close_client;
    int (*destroy)(zkr_mutex * m);
    void *plugin = load();
    find(plugin, "plugin_open", &open_client);
    find(plugin, "plugin_close", &close_client);
    find(plugin, "plugin_hold", &h.hold);
    find(plugin, "plugin_destroy", &destroy);
    h.c = open_client(zkt_servers());
    assert_non_null(h.c);
    assert_int_equal(pthread_create(&thread, NULL, hold_and_end, &h), 0);
    ZKT_EVENTUALLY(atomic_load(&released), PATIENCE_MS);
    ZKT_MUST(destroy(h.m));
    ZKT_MUST(close_client(h.c));
    atomic_store(&unloads, true);
    unload(plugin);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* --- forks --- */

/* The library runs functions at a fork only as long as it is loaded. */
ZKT_CASE(a_fork_runs_nothing_of_a_plugin_that_has_gone)
{
    void *plugin = load();
    use(plugin);
    unload(plugin);
    pid_t pid = fork();
    if (pid == 0) {
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* --- resolver threads --- */

#define NAME "zookeeper.test"
#define HERE "127.0.0.1"

typedef int (*getaddrinfo_fn)(const char *host,
                              const char *service,
                              const struct addrinfo *hints,
                              struct addrinfo **found);

static atomic_bool hangs; /* the lookup of NAME hangs */
static atomic_int asking;

/* Replace the function of the C library. NAME resolves to HERE. */
int getaddrinfo(const char *host,
                const char *service,
                const struct addrinfo *hints,
                struct addrinfo **found)
{
    union {
        void *symbol;
        getaddrinfo_fn call;
    } next = {dlsym(RTLD_NEXT, "getaddrinfo")};
    const bool numeric = hints && (hints->ai_flags & AI_NUMERICHOST);
    if (numeric || !host || strcmp(host, NAME) != 0) {
        return next.call(host, service, hints, found);
    }
    atomic_fetch_add(&asking, 1);
    while (atomic_load(&hangs)) {
        zkt_sleep_ms(1);
    }
    atomic_fetch_sub(&asking, 1);
    return next.call(HERE, service, hints, found);
}

static const char *named_servers(char servers[64])
{
    (void)snprintf(servers, 64, "%s%s", NAME, strrchr(zkt_servers(), ':'));
    return servers;
}

/* The thread has its answer, so it does not keep the plugin loaded. */
ZKT_CASE(a_plugin_whose_resolver_has_answered_is_unloaded)
{
    char servers[64];
    void *plugin = load();
    use_at(plugin, named_servers(servers));
    unload(plugin);
}

/* The code to which the thread will return stays loaded, and the next load finds it. */
ZKT_CASE(a_hanging_resolver_outlives_the_plugin)
{
    char servers[64];
    open_fn open_client;
    close_fn close_client;
    void *plugin = load();
    find(plugin, "plugin_open", &open_client);
    find(plugin, "plugin_close", &close_client);
    atomic_store(&hangs, true);
    zkr_client *c = open_client(named_servers(servers));
    assert_non_null(c);
    ZKT_BECOMES(atomic_load(&asking), 1, PATIENCE_MS);
    ZKT_MUST(close_client(c));
    assert_int_equal(dlclose(plugin), 0);
    atomic_store(&hangs, false);
    ZKT_BECOMES(zkt_threads_named("zkr-resolve", NULL, NULL), 0, PATIENCE_MS);
    plugin = load();
    use_at(plugin, servers);
    assert_int_equal(dlclose(plugin), 0);
}
