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
    [ZKR__OP_ACL] = "acl",           [ZKR__OP_CHECK] = "check",
    [ZKR__OP_MULTI] = "multi",       [ZKR__OP_CREATES] = "creates"};

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static const zkr_client *focus;
static int counts[KINDS];
static int nudges;
static int left;
static int fired;
static void (*hook)(void *ctx);
static void *hook_ctx;

void zkt_door_focus(const zkr_client *c)
{
    pthread_mutex_lock(&mu);
    focus = c;
    memset(counts, 0, sizeof(counts));
    nudges = 0;
    left = 0;
    fired = 0;
    hook = NULL;
    pthread_mutex_unlock(&mu);
}

static int read_locked(const int *number)
{
    pthread_mutex_lock(&mu);
    int value = *number;
    pthread_mutex_unlock(&mu);
    return value;
}

int zkt_door_count(enum zkr__op_kind kind)
{
    return read_locked(&counts[kind]);
}

int zkt_door_total(void)
{
    int total = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        total += zkt_door_count((enum zkr__op_kind)kind);
    }
    return total;
}

/* Writes the counts in a form such as "create, 2 get". */
void zkt_door_write(char *text, size_t size)
{
    size_t len = 0;
    text[0] = '\0';
    for (int kind = 0; kind < KINDS; kind++) {
        int count = zkt_door_count((enum zkr__op_kind)kind);
        const char *comma = len > 0 ? ", " : "";
        char number[16] = "";
        if (count > 1) {
            (void)snprintf(number, sizeof(number), "%d ", count);
        }
        if (count > 0) {
            len += (size_t)snprintf(text + len, size - len, "%s%s%s", comma, number,
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
    return read_locked(&nudges);
}

void zkt_door_before(int n, void (*fn)(void *ctx), void *ctx)
{
    pthread_mutex_lock(&mu);
    left = n;
    fired = 0;
    hook = fn;
    hook_ctx = ctx;
    pthread_mutex_unlock(&mu);
}

bool zkt_door_fired(void)
{
    return read_locked(&fired);
}

void zkt_door_session(zkr_client *c, int64_t *id, unsigned char password[16])
{
    zkr__lock(c);
    const clientid_t *session = zoo_client_id(c->link->zh);
    *id = session->client_id;
    memcpy(password, session->passwd, 16);
    zkr__unlock(c);
}

/* A handle is opened with the link as its context. */
static const zkr_client *client_of(void *zh)
{
    const struct zkr__link *link = zoo_get_context(zh);
    return link->c;
}

static bool is_nudge(const struct zkr__op *op)
{
    return op->kind == ZKR__OP_EXISTS && strcmp(op->path, "/") == 0;
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
            fired = 1;
        }
    }
    pthread_mutex_unlock(&mu);
    if (fire) {
        fire(hook_ctx);
    }
    return zkr__zk_real.submit(zh, op, asker, owner);
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

const struct zkr__nearby_door *zkt_nearby_door;
struct zkr__door zkt_door;

__attribute__((constructor)) static void begin_door(void)
{
    zkt_door = zkr__zk_real;
    zkt_door.submit = submit;
    zkt_door.boot = boot;
}
