/* SPDX-License-Identifier: Apache-2.0 */
#include "on_fake.h"

#include <string.h>

#include "keep.h"

struct between between;

/* A request gives its asker one function for its answers, so each kind of request has a function here. */
static void (*real_answer)(struct zkr__asker *asker, const struct zkr__answer *answer);

static void
change(enum zkr__op_kind kind, struct zkr__asker *asker, const struct zkr__answer *a)
{
    struct zkr__answer answer = *a;
    if (between.on_answer) {
        between.on_answer(kind, &answer);
    }
    real_answer(asker, &answer);
}

#define CHANGER(kind)                                                                  \
    static void change_##kind(struct zkr__asker *asker, const struct zkr__answer *a)   \
    {                                                                                  \
        change(ZKR__OP_##kind, asker, a);                                              \
    }
CHANGER(CREATE)
CHANGER(PARENT)
CHANGER(DELETE)
CHANGER(CHILDREN)
CHANGER(GET)
CHANGER(EXISTS)
CHANGER(ACL)
CHANGER(CHECK)
CHANGER(CREATES)

static void (*const changers[ZKR__OP_CREATES + 1])(struct zkr__asker *asker,
                                                   const struct zkr__answer *answer) = {
    [ZKR__OP_CREATE] = change_CREATE,     [ZKR__OP_PARENT] = change_PARENT,
    [ZKR__OP_DELETE] = change_DELETE,     [ZKR__OP_GET] = change_GET,
    [ZKR__OP_CHILDREN] = change_CHILDREN, [ZKR__OP_EXISTS] = change_EXISTS,
    [ZKR__OP_ACL] = change_ACL,           [ZKR__OP_CHECK] = change_CHECK,
    [ZKR__OP_CREATES] = change_CREATES,
};

static int submit(void *zh,
                  const struct zkr__op *op,
                  struct zkr__asker *asker,
                  struct zkr__handle_owner *owner)
{
    struct zkr__op changed = *op;
    between.refusal = 0;
    if (between.on_submit) {
        between.on_submit(&changed);
    }
    if (between.refusal != 0) {
        return between.refusal;
    }
    if (changers[op->kind]) {
        real_answer = asker->answer;
        asker->answer = changers[op->kind];
    }
    return zkf_door.submit(zh, &changed, asker, owner);
}

static int64_t boot(void)
{
    return zkf_door.boot() + between.asleep;
}

static void end_client(void *c)
{
    zkf_close(c);
}

zkr_client *open_client_by(void *(*open)(const struct zkr__open_args *args),
                           const zkr_client_options *more)
{
    static struct zkr__door door;
    zkt_keep_end();
    zkt_keep_begin();
    door = zkf_door;
    door.open = open;
    door.submit = submit;
    door.boot = boot;
    memset(&between, 0, sizeof(between));
    zkr_client *c = zkf_open(&door, more);
    zkt_keep(c, end_client);
    return c;
}

zkr_client *open_client(const zkr_client_options *more)
{
    return open_client_by(zkf_door.open, more);
}

static void end_mutex(void *m)
{
    ZKT_MUST(zkr_mutex_destroy(m));
}

zkr_mutex *mutex_at(zkr_client *c, const char *path, const zkr_mutex_options *o)
{
    zkr_mutex *m = NULL;
    ZKT_MUST(zkr_mutex_create(&m, c, path, o));
    zkt_keep(m, end_mutex);
    return m;
}

static void end_ticket(void *t)
{
    (void)zkr_ticket_release(t);
    ZKT_MUST(zkr_ticket_destroy(t));
}

zkr_ticket *ask(zkr_mutex *m, int64_t timeout_ms)
{
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_mutex_request(m, timeout_ms, NULL, NULL, &t));
    zkt_keep(t, end_ticket);
    return t;
}

zkr_ticket *hold(zkr_client *c, zkr_mutex *m)
{
    zkr_ticket *t = ask(m, ZKR_FOREVER);
    zkf_pass_to(c, SECOND, t, ZKR_TICKET_HELD);
    return t;
}

void end(zkr_ticket *t)
{
    zkt_unkeep(t);
    end_ticket(t);
}

static void end_latch(void *l)
{
    (void)zkr_leader_latch_stop(l, ZKR_LATCH_SILENT);
    ZKT_MUST(zkr_leader_latch_destroy(l));
}

zkr_leader_latch *latch_with(zkr_client *c, const zkr_leader_latch_options *o)
{
    zkr_leader_latch *l = NULL;
    ZKT_MUST(zkr_leader_latch_create(&l, c, "/latch", "x", o));
    zkt_keep(l, end_latch);
    return l;
}
