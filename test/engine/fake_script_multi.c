/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_script_multi.h"

#include <stdio.h>
#include <string.h>

#include "session/zk_multi.h"

static void add_create(struct script_multi *m, const char *path, int flags)
{
    zoo_create_op_init(&m->ops[m->count], path, "made", 4, &ZOO_OPEN_ACL_UNSAFE, flags,
                       m->names[m->count], SCRIPT_NAME);
    m->count++;
}

static void add_set(struct script_multi *m, const char *path)
{
    zoo_set_op_init(&m->ops[m->count++], path, "set", 3, -1, &m->stat);
}

static char below[SCRIPT_NAME];

bool script_multi(struct script_multi *m,
                  const char *verb,
                  const char *const paths[2],
                  struct zkr__op *op)
{
    memset(m, 0, sizeof(*m));
    *op = (struct zkr__op){.kind = ZKR__OP_MULTI, .ops = m->ops};
    if (strcmp(verb, "build") == 0) {
        (void)snprintf(below, sizeof(below), "%s/n-", paths[1]);
        op->paths = paths;
        op->path_count = 1;
        add_create(m, paths[1], 0);
        add_set(m, paths[1]);
        add_create(m, below, ZOO_SEQUENCE);
    } else if (strcmp(verb, "finish") == 0) {
        add_set(m, paths[1]);
        zoo_check_op_init(&m->ops[m->count++], paths[0], -1);
        m->deleted = paths[0];
        op->deleted = &m->deleted;
        op->deleted_count = 1;
    }
    op->op_count = (size_t)m->count;
    return m->count > 0;
}

char *script_multi_words(struct script_multi *m,
                         const struct zkr__answer *a,
                         size_t skip,
                         char *text,
                         size_t size)
{
    size_t len = 0;
    text[0] = '\0';
    zkr__zk_results(a, m->ops, (size_t)m->count, m->results);
    for (int i = 0; i < m->count; i++) {
        const zoo_op_result_t *r = &m->results[i];
        const char *name = r->value ? r->value : "";
        len += (size_t)snprintf(text + len, size - len, " %d%s%s%s", r->err,
                                name[0] ? name + skip : "", r->stat ? " stat" : "",
                                r->stat && r->stat->mzxid > 0 ? "!" : "");
    }
    (void)snprintf(text + len, size - len, " failed %d", (int)a->failed_at);
    return text;
}
