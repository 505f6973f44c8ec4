/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <stdio.h>

#include "fourlw.h"

enum { PATIENCE_MS = 20000 };

static char path[128];

int zkt_enter(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof(path), "%s", zkt_unique_path("t"));
    zkt_door_focus(NULL);
    zkt_baseline();
    return 0;
}

int zkt_leave(void **state)
{
    (void)state;
    zkt_check_clean(path);
    return 0;
}

const char *zkt_path(void)
{
    return path;
}

int64_t zkt_watches(void)
{
    return zkt_watches_under(zkt_servers(), path);
}

int64_t zkt_latest_claim(zkr_mutex *m)
{
    int64_t latest = 0;
    for (int64_t left = 1; left > 0; zkt_sleep_ms(1)) {
        left = zkr_mutex_valid_for_ms(m);
        int64_t now = zkt_now_ms();
        latest = left > 0 && now + left > latest ? now + left : latest;
    }
    return latest;
}

void zkt_check(int rc, const char *call, const char *file, int line)
{
    if (rc != ZKR_OK) {
        print_error("%s: %s: %s\n", call, zkr_err_name(rc), zkr_last_error()->message);
        _fail(file, line);
    }
}

zkr_client *zkt_client_with(const char *hosts, const zkr_client_options *options)
{
    static const struct zkr__env env = {.door = &zkt_door};
    zkr_client *c = NULL;
    ZKT_MUST(zkr__client_open(&c, hosts, options, &env));
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    return c;
}

zkr_client *zkt_client(const char *hosts, int64_t session_ms)
{
    zkr_client_options options = ZKR_CLIENT_OPTIONS_INIT;
    options.session_timeout_ms = session_ms;
    return zkt_client_with(hosts, &options);
}

void zkt_close(zkr_client *c)
{
    ZKT_MUST(zkr_client_close(c));
}

zkr_mutex *zkt_mutex(zkr_client *c)
{
    zkr_mutex *m = NULL;
    ZKT_MUST(zkr_mutex_create(&m, c, path, NULL));
    return m;
}

void zkt_destroy(zkr_mutex *m)
{
    ZKT_MUST(zkr_mutex_destroy(m));
}

void zkt_expire_start(zkr_client *c)
{
    int64_t id;
    unsigned char password[16];
    zkt_door_session(c, &id, password);
    zkt_expire_session(zkt_servers(), id, password);
}

void zkt_expire(zkr_client *c)
{
    int64_t id = zkr_client_session_id(c);
    zkt_expire_start(c);
    ZKT_EVENTUALLY(zkr_client_session_id(c) != id, PATIENCE_MS);
}
