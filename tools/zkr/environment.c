/* SPDX-License-Identifier: Apache-2.0 */
#include "environment.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OURS = 4 }; /* our own variables, which are first in the list */

/* Returns whether one of our variables replaces @var, which an outer zkr has set. */
static bool is_ours(const char *var, char *const *ours)
{
    for (int i = 0; i < OURS; i++) {
        if (strncmp(var, ours[i], strcspn(ours[i], "=") + 1) == 0) {
            return true;
        }
    }
    return false;
}

void environment_free(char **vars)
{
    for (int i = 0; vars && i < OURS; i++) {
        free(vars[i]);
    }
    free(vars);
}

char **environment_make(const struct grant *g, const char *path)
{
    size_t count = 0, n = OURS;
    while (environ[count]) {
        count++;
    }
    char **vars = calloc(OURS + count + 1, sizeof(*vars));
    if (!vars || asprintf(&vars[0], "ZKR_LOCK_PATH=%s", path) < 0 ||
        asprintf(&vars[1], "ZKR_LOCK_NODE=%s", g->node) < 0 ||
        asprintf(&vars[2], "ZKR_FENCING_TOKEN=%" PRId64, g->token) < 0 ||
        asprintf(&vars[3], "ZKR_SESSION_ID=0x%" PRIx64, (uint64_t)g->session_id) < 0) {
        environment_free(vars);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_ours(environ[i], vars)) {
            vars[n++] = environ[i];
        }
    }
    return vars;
}
