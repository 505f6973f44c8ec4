/* SPDX-License-Identifier: Apache-2.0 */
#include "absence.h"

#include <string.h>

#include <zkr/survey.h>

#include "cli.h"
#include "text.h"

struct look {
    zkr_client *c;
    const char *path;
    zkr_survey *found;
};

static int read_survey(void *ctx)
{
    struct look *l = ctx;
    return zkr_survey_read(l->c, l->path, 0, &l->found);
}

int absence_look(struct absence *a,
                 zkr_client *c,
                 const struct globals *g,
                 const char *path)
{
    struct look l = {.c = c, .path = path};
    int status;
    int rc = connect_try(c, g, read_survey, &l, &status);
    a->missing = rc == ZKR_ENONODE;
    a->below = zkr_survey_count(l.found);
    for (size_t i = 0; i < a->below; i++) {
        const zkr_survey_entry *e = zkr_survey_get(l.found, i);
        a->semaphore =
            a->semaphore || (e->kind == ZKR_KIND_LEASE && strcmp(e->path, path) == 0);
    }
    zkr_survey_free(l.found);
    return status != 0 || rc == ZKR_OK || a->missing ? status : cli_fail_rc(rc);
}

void absence_print(const struct absence *a, FILE *out, const char *path)
{
    if (a->below > 0) {
        (void)fprintf(out, "no lock; %zu below, see zkr ls\n", a->below);
        return;
    }
    (void)fputs("nobody", out);
    if (a->missing) {
        (void)fputs("; there is no ", out);
        text_print(out, path, 0);
    }
    (void)fputc('\n', out);
}
