/* SPDX-License-Identifier: Apache-2.0 */
#include "door.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "session/request.h"
#include "session/zk.h"
#include "util.h"

enum { KINDS = ZKR__OP_CREATES + 1 };

static const char *const kind_names[KINDS] = {
    [ZKR__OP_CREATE] = "create",     [ZKR__OP_PARENT] = "parent",
    [ZKR__OP_DELETE] = "delete",     [ZKR__OP_SET] = "set",
    [ZKR__OP_CHILDREN] = "children", [ZKR__OP_GET] = "get",
    [ZKR__OP_SYNC] = "sync",         [ZKR__OP_EXISTS] = "exists",
    [ZKR__OP_CHECK] = "check",       [ZKR__OP_MULTI] = "multi",
    [ZKR__OP_CREATES] = "creates"};

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static const zkr_client *focus;
static int counts[KINDS];
static int nudges;
static int left;
static bool fired;
static void (*hook)(void *ctx);
static void *hook_ctx;

void zkt_door_focus(const zkr_client *c)
{
    pthread_mutex_lock(&mu);
    focus = c;
    memset(counts, 0, sizeof(counts));
    nudges = 0;
    left = 0;
    fired = false;
    hook = NULL;
    pthread_mutex_unlock(&mu);
}

int zkt_door_count(enum zkr__op_kind kind)
{
    pthread_mutex_lock(&mu);
    int count = counts[kind];
    pthread_mutex_unlock(&mu);
    return count;
}

int zkt_door_total(void)
{
    int total = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        total += zkt_door_count((enum zkr__op_kind)kind);
    }
    return total;
}

/* "create, 2 get". */
void zkt_door_write(char *text, size_t size)
{
    size_t len = 0;
    text[0] = '\0';
    for (int kind = 0; kind < KINDS; kind++) {
        int count = zkt_door_count((enum zkr__op_kind)kind);
        const char *comma = len > 0 ? ", " : "";
        if (count == 1) {
            len += (size_t)snprintf(text + len, size - len, "%s%s", comma,
                                    kind_names[kind]);
        } else if (count > 1) {
            len += (size_t)snprintf(text + len, size - len, "%s%d %s", comma, count,
                                    kind_names[kind]);
        }
    }
}

void zkt_door_check(const char *wanted, int64_t within_ms, const char *file, int line)
{
    char text[256];
    const int64_t end = zkt_now_ms() + within_ms;
    zkt_door_write(text, sizeof(text));
    while (strcmp(text, wanted) != 0 && zkt_now_ms() < end) {
        zkt_sleep_ms(2);
        zkt_door_write(text, sizeof(text));
    }
    if (strcmp(text, wanted) != 0) {
        zkt_fail_at(file, line, "asked for '%s', not for '%s'", text, wanted);
    }
}

int zkt_door_nudges(void)
{
    pthread_mutex_lock(&mu);
    int count = nudges;
    pthread_mutex_unlock(&mu);
    return count;
}

void zkt_door_before(int n, void (*fn)(void *ctx), void *ctx)
{
    pthread_mutex_lock(&mu);
    left = n;
    fired = false;
    hook = fn;
    hook_ctx = ctx;
    pthread_mutex_unlock(&mu);
}

bool zkt_door_fired(void)
{
    pthread_mutex_lock(&mu);
    bool is = fired;
    pthread_mutex_unlock(&mu);
    return is;
}

void zkt_door_session(zkr_client *c, int64_t *id, unsigned char password[16])
{
    zkr__lock(c);
    const clientid_t *session = zoo_client_id(c->link->zh);
    *id = session->client_id;
    memcpy(password, session->passwd, 16);
    zkr__unlock(c);
}

/* The link is the context that a handle was opened with. */
static const zkr_client *client_of(void *zh)
{
    const struct zkr__link *link = zoo_get_context(zh);
    return link->c;
}

static bool is_nudge(const struct zkr__op *op)
{
    return op->kind == ZKR__OP_EXISTS && strcmp(op->path, "/") == 0;
}

static size_t scratch(const struct zkr__op *op)
{
    return zkr__zk_real.scratch(op);
}

static int submit(void *zh,
                  const struct zkr__op *op,
                  struct zkr__asker *asker,
                  struct zkr__handle_owner *owner)
{
    void (*fire)(void *ctx) = NULL;
    pthread_mutex_lock(&mu);
    if (focus && client_of(zh) == focus && is_nudge(op)) {
        nudges++;
    } else if (focus && client_of(zh) == focus) {
        counts[op->kind]++;
        if (left > 0 && --left == 0) {
            fire = hook;
            fired = true;
        }
    }
    pthread_mutex_unlock(&mu);
    if (fire) {
        fire(hook_ctx);
    }
    return zkr__zk_real.submit(zh, op, asker, owner);
}

static void *open_handle(const struct zkr__open_args *args)
{
    return zkr__zk_real.open(args);
}

static void close_handle(void *zh)
{
    zkr__zk_real.close(zh);
}

static int add_auth(void *zh, const char *scheme, const void *cert, size_t len)
{
    return zkr__zk_real.add_auth(zh, scheme, cert, len);
}

static bool connected_to(void *zh, const char *servers)
{
    return zkr__zk_real.connected_to(zh, servers);
}

static bool set_servers(void *zh, const char *servers, bool anew)
{
    return zkr__zk_real.set_servers(zh, servers, anew);
}

static int64_t session_id(void *zh)
{
    return zkr__zk_real.session_id(zh);
}

static void password(void *zh, unsigned char out[16])
{
    zkr__zk_real.password(zh, out);
}

static int timeout_ms(void *zh)
{
    return zkr__zk_real.timeout_ms(zh);
}

static _Atomic int64_t stopped_at;

static int64_t boot(void)
{
    int64_t at = atomic_load(&stopped_at);
    return at != 0 ? at : zkr__clock_boot();
}

void zkt_door_stop_clock(int64_t ns)
{
    atomic_store(&stopped_at, ns);
}

const struct zkr__door zkt_door = {
    .open = open_handle,
    .close = close_handle,
    .scratch = scratch,
    .submit = submit,
    .add_auth = add_auth,
    .connected_to = connected_to,
    .set_servers = set_servers,
    .session_id = session_id,
    .password = password,
    .timeout_ms = timeout_ms,
    .now = zkr__clock_now,
    .boot = boot,
};
