/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin with the static library in it is loaded, used and unloaded. libzookeeper stays: this program needs it too. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

typedef int (*lock_fn)(const char *servers, const char *path);

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

static void use(void *plugin)
{
    void *symbol = dlsym(plugin, "plugin_lock");
    lock_fn lock;
    assert_non_null(symbol);
    memcpy(&lock, &symbol, sizeof(lock));
    ZKT_MUST(lock(zkt_servers(), zkt_path()));
}

static void unload(void *plugin)
{
    assert_int_equal(dlclose(plugin), 0);
    assert_null(dlopen(plugin_file(), RTLD_NOW | RTLD_NOLOAD)); /* it has gone */
}

static pthread_barrier_t used, gone;

static void *use_then_outlive(void *plugin)
{
    use(plugin);
    (void)pthread_barrier_wait(&used);
    (void)pthread_barrier_wait(&gone);
    return NULL;
}

/* The end of a thread runs nothing of a library that is no longer there. */
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

/* A process has some thousand keys of threads; a plugin that goes gives back what it took. */
ZKT_CASE(a_plugin_leaves_no_key_behind)
{
    static pthread_key_t keys[KEYS_MAX];
    int count = 0;
    while (pthread_key_create(&keys[count], NULL) == 0) {
        count++;
        assert_in_range(count, 1, KEYS_MAX - 1);
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
