/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that are impossible. Lies that could be true, for example that another client's node is gone, are not used,
 * because no client could detect them.
 */
#include <stdio.h>
#include <string.h>

#include "fake_impl.h"
#include "session/zk_value.h"

static const char *some_path(const char *path)
{
    static const char *const texts[] = {
        "", "/", "0000000001", "/0000000001", "/x\n/0000000001", NULL};
    const size_t len = strlen(path);
    const int64_t what = zkf_below(9);
    char *other = zkf__alloc(len + 3);
    if (what < 6) {
        return texts[what];
    }
    memcpy(other, path, len);
    if (what == 6) {
        memcpy(other + len, "1", 2); /* one more digit */
    } else if (what == 7) {
        other[len - 1] = '\0';
    } else {
        memmove(other + 2, other, len); /* in another directory */
        memcpy(other, "/x", 2);
    }
    return other;
}

static int64_t some_czxid(void)
{
    static const int64_t none[] = {0, -1, INT64_MIN};
    return none[zkf_below(3)];
}

/* Adds one name more than there are, or changes one name. */
static void add_name(struct zkr__answer *a)
{
    static const char *const texts[] = {"",  "/", "..", "a/0000000000", "\n0000000000",
                                        NULL};
    const char **names = zkf__alloc((a->name_count + 1) * sizeof(*names));
    for (size_t i = 0; i < a->name_count; i++) {
        names[i] = a->names[i];
    }
    names[zkf_below((int64_t)a->name_count + 1)] = texts[zkf_below(6)];
    a->name_count += names[a->name_count] || a->name_count == 0;
    a->names = names;
}

/* Hides the client's own nodes. */
static void hide_names(const struct zkf__handle *h,
                       const struct zkf__req *req,
                       struct zkr__answer *a)
{
    const char **names = zkf__alloc((a->name_count + 1) * sizeof(*names));
    size_t count = 0;
    for (size_t i = 0; i < a->name_count; i++) {
        char path[256];
        (void)snprintf(path, sizeof(path), "%s/%s", req->path, a->names[i]);
        const struct zkf_node *node = zkf_find(path);
        if (!node || node->owner != h->session) {
            names[count++] = a->names[i];
        }
    }
    a->names = names;
    a->name_count = count;
}

void zkf__lie(const struct zkf__handle *h,
              const struct zkf__req *req,
              struct zkr__answer *a)
{
    static const int codes[] = {1, 1000, INT32_MAX, INT32_MIN};
    bool (*may_hide)(int client) = zkf__w.config.hooks.may_hide;
    const bool made = req->kind == ZKR__OP_CREATE || req->kind == ZKR__OP_CREATES;
    if (a->code != ZKR_OK || (!made && req->kind != ZKR__OP_CHILDREN) ||
        !zkf__fails(zkf__w.door.lie)) {
        return;
    }
    zkf__did.lies++;
    zkf_trace("fault: client %d is told a lie", h->client);
    if (!made && zkf_chance(50) && may_hide && may_hide(h->client)) {
        hide_names(h, req, a);
    } else if (!made) {
        add_name(a);
    } else if (zkf_chance(10)) {
        *a = (struct zkr__answer){.zk_rc = codes[zkf_below(4)], .failed_at = SIZE_MAX};
        a->code = zkr__zk_code(a->zk_rc);
    } else if (zkf_chance(30)) {
        a->czxid = some_czxid();
    } else if (req->kind == ZKR__OP_CREATES) {
        const char **names = zkf__alloc((a->name_count + 1) * sizeof(*names));
        memcpy(names, a->names, a->name_count * sizeof(*names));
        const int64_t at = zkf_below((int64_t)a->name_count);
        names[at] = some_path(names[at]);
        a->names = names;
        a->name_count -= zkf_chance(30);
    } else if (zkf_chance(30)) {
        a->owner = zkf_chance(50) ? 0 : a->owner + 1;
    } else {
        a->path = some_path(a->path);
    }
}

void zkf__lie_of_session(struct zkf__handle *h)
{
    static const int none[] = {0, -1, INT32_MIN, 1, INT32_MAX};
    h->lie = ZKF__TRUTH;
    if (zkf__fails(zkf__w.door.lie)) {
        zkf__did.lies++;
        h->lie = zkf_chance(20) ? ZKF__NO_SESSION : ZKF__NO_TIMEOUT;
        h->told_ms = none[zkf_below(5)];
        zkf_trace("fault: client %d is told of no session", h->client);
    }
}
