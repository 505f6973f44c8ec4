/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of the ensemble: a server leaves and returns; servers run another release. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fourlw.h"
#include "raw.h"
#include "strike.h"
#include "util.h"

enum { ASK_MS = 2000, LONG_MS = 60000, STEP_MS = 50, BY_ITSELF_MS = 10000 };

static zkt_server *server(const struct strike *x, int index)
{
    return zkt_ensemble_server(x->s->ensemble, index % ZKC_SERVERS);
}

/* Writes the entry of a member in a configuration. */
static void member(const struct strike *x, int index, char *out, size_t size)
{
    const zkt_server *s = server(x, index);
    (void)snprintf(out, size, "server.%d=127.0.0.1:%d:%d:participant;127.0.0.1:%d",
                   index + 1, s->quorum_port, s->election_port, s->port);
}

/* Returns 1 if that server's configuration has the member, 0 if it has not, -1 if there is no answer. */
static int has_member(zkt_raw *raw, int index)
{
    char text[1024];
    char name[16];
    size_t size = sizeof text - 1;
    if (raw == NULL ||
        zkt_raw_get(raw, "/zookeeper/config", text, &size, NULL) != ZKT_OK) {
        return -1;
    }
    text[size] = '\0';
    (void)snprintf(name, sizeof name, "server.%d=", index + 1);
    return strstr(text, name) != NULL;
}

/*
 * Retries until the other servers have the wanted configuration, because a request whose answer is lost may have been
 * executed.
 */
static bool reconfigure(const struct strike *x, int index, bool in)
{
    const int64_t end = zkt_now_ms() + LONG_MS;
    char joining[128];
    char leaving[8];
    bool done = false;
    member(x, index, joining, sizeof joining);
    (void)snprintf(leaving, sizeof leaving, "%d", index + 1);
    for (int i = 1; !done && zkt_now_ms() < end && zkc_stage_pass(x->s, STEP_MS); i++) {
        /* The other two servers by turns. */
        zkt_raw *raw =
            zkt_raw_open(zkt_server_host(server(x, index + 1 + i % 2)), 10000);
        if (raw != NULL) {
            zkt_raw_timeout(raw, ASK_MS);
            if (has_member(raw, index) == !in &&
                zkt_raw_auth(raw, "digest", ZKC_SUPER) == ZKT_OK) {
                (void)zkt_raw_reconfig(raw, in ? joining : NULL, in ? NULL : leaving);
            }
            done = has_member(raw, index) == in;
            (void)zkt_raw_close(raw);
        }
    }
    return done;
}

/* A new member must know all members, including itself. */
static void write_members(const struct strike *x, int index)
{
    static const char key[] = "dynamicConfigFile=";
    char path[256];
    char line[512] = "";
    char text[128];
    (void)snprintf(path, sizeof path, "%s/zoo.cfg", zkt_server_dir(server(x, index)));
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL &&
           strncmp(line, key, sizeof key - 1) != 0) {
        line[0] = '\0';
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    line[strcspn(line, "\n")] = '\0';
    file = line[0] != '\0' ? fopen(line + sizeof key - 1, "we") : NULL;
    for (int i = 0; file != NULL && i < ZKC_SERVERS; i++) {
        member(x, i, text, sizeof text);
        (void)fprintf(file, "%s\n", text);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
}

/* Restarts a server, with an empty disk or as it is. */
static void start_again(const struct strike *x, int index, bool wipe)
{
    zkc_stage_kill(server(x, index));
    if (wipe) {
        (void)zkr__test_server_wipe(server(x, index));
    }
    write_members(x, index);
    zkt_server_launch(server(x, index));
}

/*
 * Removes the leader or another server. Meanwhile the server runs on, or a server with an empty disk replaces it. The
 * replacement starts before it is a member, as ZooKeeper requires.
 */
bool zkc_reconfigure(const struct strike *x)
{
    const int which = (x->leader + (int)(x->f->who % ZKC_SERVERS)) % ZKC_SERVERS;
    const bool replaced = x->f->how % 2 == 0;
    const bool gone = reconfigure(x, which, false);
    (void)zkc_stage_pass(x->s, x->f->span_ms);
    if (gone && replaced) {
        start_again(x, which, true);
    }
    const bool back = reconfigure(x, which, true);
    const int64_t end = zkt_now_ms() + BY_ITSELF_MS;
    while (!zkt_server_wait(server(x, which), STEP_MS) && zkt_now_ms() < end &&
           zkc_stage_pass(x->s, STEP_MS)) {
    }
    if (!zkt_server_wait(server(x, which), STEP_MS)) {
        start_again(x, which, false);
    }
    return gone && back;
}

/* ---- a rolling restart ---------------------------------------------------------------- */

/* Writes the release of a server, such as "3.8.0", or an empty string if it is unknown. */
static void release_of(const struct strike *x, int index, char *out, size_t size)
{
    static const char key[] = "Zookeeper version: ";
    char text[512] = "";
    (void)zkt_4lw(zkt_server_host(server(x, index)), "srvr", text, sizeof text);
    const char *at = strstr(text, key);
    (void)snprintf(out, size, "%.*s",
                   at != NULL ? (int)strcspn(at + sizeof key - 1, "-,") : 0,
                   at != NULL ? at + sizeof key - 1 : "");
}

/*
 * Restarts one server after the other, the leader last. Returns false if a server does not serve or its release has not
 * changed.
 */
static bool roll(const struct strike *x, bool other)
{
    bool done = true;
    for (int i = 1; i <= ZKC_SERVERS && done; i++) {
        const int which = (x->leader + i) % ZKC_SERVERS;
        char before[16];
        char after[16];
        release_of(x, which, before, sizeof before);
        zkc_stage_kill(server(x, which));
        (void)zkt_other_release(zkt_server_dir(server(x, which)), other);
        zkt_server_launch(server(x, which));
        done = zkc_wait_server(x->s, which, zkt_now_ms() + LONG_MS);
        release_of(x, which, after, sizeof after);
        done =
            done && before[0] != '\0' && after[0] != '\0' && strcmp(before, after) != 0;
    }
    return done;
}

bool zkc_roll(const struct strike *x)
{
    if (!zkt_other_release(zkt_server_dir(server(x, 0)), true)) {
        (void)fprintf(
            stderr,
            "chaos: $ZKR_TEST_OTHER_CLASSPATH does not name the jars of a release\n");
        return false;
    }
    const bool there = roll(x, true);
    (void)zkc_stage_pass(x->s, x->f->span_ms);
    const bool back = roll(x, false);
    for (int i = 0; i < ZKC_SERVERS; i++) {
        (void)zkt_other_release(zkt_server_dir(server(x, i)), false);
    }
    return there && back;
}
